"""Older op types give what their successors give."""
import numpy as np
import pytest

RANDOM = np.random.RandomState(0)
SQUARE = RANDOM.randn(2, 3, 3) + 3 * np.eye(3)
POSITIVE = SQUARE @ np.swapaxes(SQUARE, -1, -2)
RIGHT = RANDOM.randn(2, 3, 2)


@pytest.mark.parametrize("name, inputs", [
    ("Cholesky", [POSITIVE]), ("MatrixDeterminant", [SQUARE]), ("MatrixInverse", [SQUARE]), ("MatrixSolve", [SQUARE, RIGHT]),
    ("MatrixTriangularSolve", [SQUARE, RIGHT]), ("MatrixSolveLs", [SQUARE, RIGHT, np.float64(0)]), ("SelfAdjointEigV2", [POSITIVE]),
    ("Svd", [SQUARE]), ("MatrixDiag", [RIGHT]), ("MatrixDiagPart", [SQUARE]), ("MatrixSetDiag", [SQUARE, RIGHT[..., 0]]),
    ("MatrixBandPart", [SQUARE, np.int64(0), np.int64(1)]), ("FFT2D", [SQUARE.astype(np.complex64)]),
    ("IFFT", [SQUARE.astype(np.complex64)])])
def test_batched(tf, run, name, inputs):
    newer, older = (getattr(tf.raw_ops, prefix + name)(*[tf.constant(x) for x in inputs]) for prefix in ("", "Batch"))
    np.testing.assert_equal(run(older), run(newer))


def test_eigenvectors_below_eigenvalues(tf, run):
    found = run(tf.raw_ops.SelfAdjointEig(input=tf.constant(POSITIVE[0])))
    np.testing.assert_allclose(POSITIVE[0] @ found[1:], found[0] * found[1:], rtol=1e-9)


def test_gradients_of_volumes(tf, run):
    x, w, g = (tf.constant(RANDOM.randn(*s)) for s in ((1, 3, 4, 3, 2), (2, 2, 2, 2, 3), (1, 3, 4, 3, 3)))
    attrs = {"strides": [1] * 5, "padding": "SAME"}
    older = [getattr(tf.raw_ops, f"Conv3DBackprop{which}")(x, w, g, **attrs) for which in ("Input", "Filter")]
    newer = [tf.raw_ops.Conv3DBackpropInputV2([1, 3, 4, 3, 2], w, g, **attrs),
             tf.raw_ops.Conv3DBackpropFilterV2(x, [2, 2, 2, 2, 3], g, **attrs)]
    np.testing.assert_equal(run(older), run(newer))


def test_the_time_passes(tf):
    now = tf.timestamp()
    with tf.Session() as session:
        assert 0 < session.run(now) <= session.run(now)


def test_a_slice_is_replaced_in_a_copy(tf, run):
    found = tf.raw_ops.TensorStridedSliceUpdate(input=tf.zeros([3, 3]), begin=[1, 0], end=[3, 3], strides=[1, 2],
                                                value=tf.ones([2, 2]))
    assert run(found).tolist() == [[0, 0, 0], [1, 0, 1], [1, 0, 1]]


def test_empty(tf, run):
    found = tf.raw_ops.Empty(shape=[2, 3], dtype=tf.float32)
    assert found.shape.as_list() == [2, 3] and run(found).shape == (2, 3)


def test_the_gradient_of_tile(tf, run):
    x = tf.constant(RANDOM.randn(2, 3))
    grad = tf.constant(RANDOM.randn(4, 9))
    expected = tf.gradients(tf.tile(x, [2, 3]), x, grad)[0]
    np.testing.assert_allclose(*run([tf.raw_ops.TileGrad(input=grad, multiples=[2, 3]), expected]))


def test_contrast_with_limits(tf, run):
    image = tf.constant(RANDOM.rand(1, 4, 4, 3).astype(np.float32))
    older = tf.raw_ops.AdjustContrast(images=image, contrast_factor=3.0, min_value=0.0, max_value=1.0)
    newer = tf.clip_by_value(tf.image.adjust_contrast(image, 3.0), 0.0, 1.0)
    np.testing.assert_allclose(*run([older, newer]), atol=1e-6)


def test_numbers_from_the_system_differ_from_run_to_run(tf):
    drawn = tf.raw_ops.NonDeterministicInts(shape=[4], dtype=tf.int64)
    with tf.Session() as session:
        assert session.run(drawn).tolist() != session.run(drawn).tolist()


@pytest.mark.parametrize("size, corners", [
    ([10, 5], [(31, 16), (25, 22), (25, 17), (23, 13)]),
    ([50, 5], [(0, 16), (0, 22), (0, 17), (0, 13)]),
    ([10, 40], [(37, 0), (12, 0), (9, 0), (23, 0)]),
    ([50, 40], [(0, 0)] * 4)])
def test_windows_of_images_stand_where_tensorflow_cuts_them(tf, size, corners):
    image = np.arange(2000).reshape(50, 40, 1)
    crop = tf.raw_ops.RandomCrop(image=image, size=size, seed=3, seed2=7)
    assert crop.shape.as_list() == [None, None, None]
    with tf.Session() as session:
        found = [session.run(crop) for _ in range(4)]
    assert [crop.shape for crop in found] == [(*size, 1)] * 4
    assert [divmod(int(crop[0, 0, 0]), 40) for crop in found] == corners        # TensorFlow 1.15.5 gives these


def test_windows_fit_in_images(tf, run):
    with pytest.raises(tf.errors.FailedPreconditionError, match="height must be >= target_height: height = 4, target_height = 5"):
        run(tf.raw_ops.RandomCrop(image=np.zeros([4, 4, 1]), size=[5, 1]))
    with pytest.raises(ValueError, match="rank"):
        tf.raw_ops.RandomCrop(image=np.zeros([4, 4]), size=[2, 1])
