"""Tensors without elements, whose sizes before the run nobody knows: shapes are TensorFlow's, compiled and by reference."""
import numpy as np
import pytest

SHAPES = [(0,), (4, 0), (0, 4), (4, 0, 2), (0, 0), (2, 3, 0)]


def results(tf, make, shape, jit):
    x = tf.placeholder(tf.float32, [None] * len(shape))
    with tf.Session(jit=jit) as session:
        return session.run(make(tf, x, shape), {x: np.zeros(shape)})


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("jit", ["always", "off"])
class TestShapes:
    def test_dynamic_stitch(self, tf, shape, jit):
        found = results(tf, lambda tf, x, s: tf.dynamic_stitch([np.arange(s[0]), [1, 0]], [x, tf.ones([2, *s[1:]])]), shape, jit)
        assert found.shape == (max(shape[0], 2), *shape[1:])
        assert (found[:2] == 1).all()

    def test_dynamic_stitch_of_it_alone(self, tf, shape, jit):
        assert results(tf, lambda tf, x, s: tf.dynamic_stitch([np.arange(s[0])], [x]), shape, jit).shape == shape

    def test_reductions(self, tf, shape, jit):
        for axis in range(len(shape)):
            found = results(tf, lambda tf, x, s, axis=axis: [
                tf.tanh(tf.reduce_sum(x, axis)), tf.reduce_logsumexp(x, axis),
                tf.tanh(tf.reduce_sum(tf.tile(x, [2] * len(s)), axis))], shape, jit)
            rest = shape[:axis] + shape[axis + 1:]
            assert [f.shape for f in found] == [rest, rest, tuple(2 * d for d in rest)]
            assert not found[0].any() and np.isneginf(found[1][found[1] != 0]).all()

    def test_unstack(self, tf, shape, jit):
        assert len(tf.unstack(tf.zeros(shape))) == shape[0]


@pytest.mark.parametrize("shape, wanted, expected", [
    ((0,), [0, -1, 3], (0, 0, 3)), ((3, 0), [-1, 2, 0], (1, 2, 0)), ((0, 0), [0, -1], (0, 1)), ((0, 3), [-1, 0], (3, 0)),
    ((0, 5), [-1, 5], (0, 5)), ((0, 5), [2, -1], (2, 0))])
@pytest.mark.parametrize("jit", ["always", "off"])
def test_reshape_by_a_size_of_0(tf, shape, wanted, expected, jit):
    assert results(tf, lambda tf, x, s: tf.reshape(x, wanted), shape, jit).shape == expected


@pytest.mark.parametrize("jit", ["always", "off"])
def test_the_diagonal_of_nothing(tf, jit):
    assert results(tf, lambda tf, x, s: tf.diag_part(x), (0, 0), jit).shape == (0,)


BATCHES = {
    "conv2d": (lambda tf, x, w: tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), (0, 5, 7, 3), (3, 3, 3, 4), (0, 3, 4, 4)),
    "depthwise_conv2d": (lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), (0, 5, 7, 3), (3, 3, 3, 2),
                         (0, 5, 7, 6)),
    "max_pool": (lambda tf, x, w: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), (0, 5, 7, 3), (1,), (0, 3, 4, 3)),
    "patches": (lambda tf, x, w: tf.image.extract_image_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1] * 4, "SAME"), (0, 4, 4, 3), (1,),
                (0, 2, 2, 12)),
    "batch_gather": (lambda tf, x, w: tf.batch_gather(x, tf.cast(w, tf.int32)), (0, 3), (0, 2), (0, 2)),
    "matmul": (lambda tf, x, w: tf.matmul(x, w), (2, 0, 3), (2, 3, 2), (2, 0, 2)),
}


@pytest.mark.parametrize("name", list(BATCHES))
@pytest.mark.parametrize("jit", ["always", "off"])
def test_a_batch_of_nothing_and_its_gradients(tf, name, jit):
    make, *shapes, expected = BATCHES[name]
    x, w = (tf.placeholder(tf.float32, [None] * len(s)) for s in shapes)
    y = make(tf, x, w)
    gradients = [(t, s) for t, s in zip(tf.gradients(y, [x, w]), shapes) if t is not None and name != "patches"]
    with tf.Session(jit=jit) as session:
        found, *slopes = session.run([y, *(t for t, _ in gradients)], {x: np.zeros(shapes[0]), w: np.zeros(shapes[1])})
    assert found.shape == expected and [s.shape for s in slopes] == [s for _, s in gradients]


CONVOLUTIONS = {
    "conv2d": (lambda tf, x, w: tf.nn.conv2d(x, w, [1] * 4, "SAME"), 2, lambda depth, out: out),
    "depthwise_conv2d": (lambda tf, x, w: tf.nn.depthwise_conv2d_native(x, w, [1] * 4, "SAME"), 2, lambda depth, out: depth * out),
    "conv3d": (lambda tf, x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"), 3, lambda depth, out: out),
}


@pytest.mark.parametrize("name", list(CONVOLUTIONS))
@pytest.mark.parametrize("batch, side, taps, out", [(2, 4, 2, 0), (0, 4, 2, 0), (2, 0, 2, 0), (2, 0, 2, 3), (2, 4, 0, 3)])
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("jit", ["always", "off"])
def test_convolutions_by_filters_of_nothing(tf, name, batch, side, taps, out, known, jit):
    """Without channels, pixels or taps there is nothing to add: what results has its shape, and zeros."""
    make, axes, depth = CONVOLUTIONS[name]
    shapes = [(batch, *[side] * axes, 2), (*[taps] * axes, 2, out)]
    x, w = (tf.placeholder(tf.float32, s if known else [None] * len(s)) for s in shapes)
    y = make(tf, x, w)
    fetches = [y, *tf.gradients(y, [x, w])]
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            found = session.run(fetches, {x: np.ones(shapes[0]), w: np.ones(shapes[1])})
            assert [f.shape for f in found] == [(batch, *[side] * axes, depth(2, out)), *shapes]
            assert not any(f.any() for f in found)


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("shape, axis, looks", [((0, 3, 1), 1, False), ((0, 3), 1, False), ((3, 0), 0, True), ((2, 3, 0), 1, True)])
def test_an_index_outside_of_a_table_without_elements(tf, jit, shape, axis, looks):
    """TensorFlow looks at indices unless there is nothing before the axis."""
    params, indices = tf.placeholder(tf.float32, [None] * len(shape)), tf.placeholder(tf.int32, [None])
    rows = tf.gather(params, indices, axis=axis)
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            feeds = {params: np.zeros(shape), indices: [3, 1]}
            if looks:
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 3 is not in \[0, 3\)"):
                    session.run(rows, feeds)
            else:
                assert session.run(rows, feeds).size == 0


OUT_OF_RANGE = {
    "gather": (lambda tf, x, i: tf.gather(x, i), True),
    "gather_nd": (lambda tf, x, i: tf.gather_nd(x, i[:, None]), True),
    "scatter_nd": (lambda tf, x, i: tf.scatter_nd(i[:, None], x[:2], [4, 0]), True),
    "tensor_scatter_update": (lambda tf, x, i: tf.tensor_scatter_update(x, i[:, None], x[:2]), True),
    "gather of columns": (lambda tf, x, i: tf.gather(tf.transpose(x), i, axis=1), False),
    "unsorted_segment_sum": (lambda tf, x, i: tf.unsorted_segment_sum(x[:2], i, 5), False),
}


@pytest.mark.parametrize("jit", ["always", "off"])
@pytest.mark.parametrize("operation", OUT_OF_RANGE)
def test_indices_of_rows_without_elements(tf, operation, jit):
    """Some operations look at them, some do not; TensorFlow 1.15 said which."""
    make, fails = OUT_OF_RANGE[operation]
    x, i = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.int32, [None])
    with tf.Session(jit=jit) as session:
        feeds = {x: np.zeros((4, 0)), i: [1, 9]}
        if fails:
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(make(tf, x, i), feeds)
        else:
            assert session.run(make(tf, x, i), feeds).size == 0
