"""What the graph refuses by its shapes and constants, before anything runs; and what only a run can refuse."""
import numpy as np
import pytest


def offsets(tf, axis, shapes):
    return tf.raw_ops.ConcatOffset(concat_dim=axis, shape=shapes)


def test_one_shape_beside_scalars(tf, run):
    assert tf.betainc(tf.placeholder(tf.float32, [2, None]), 0.5, tf.placeholder(tf.float32, [None, 3])).shape == [2, 3]
    with pytest.raises(ValueError, match="must be equal rank, but are 1 and 2"):
        tf.betainc(0.5, [0.5], [[0.5]])
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.betainc(a, b, 0.5), {a: [1.0, 2.0], b: [[1.0, 2.0]]})


def test_blocks_of_space(tf, run):
    unknown, crops = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    assert tf.batch_to_space(unknown, crops, block_size=4).shape.ndims == 4
    assert tf.space_to_batch(unknown, crops, block_size=4).shape.ndims == 4
    with pytest.raises(ValueError, match="must have rank 4"):
        tf.batch_to_space(tf.placeholder(tf.float32, [None] * 5), crops, block_size=4)
    image, blocks = tf.placeholder(tf.float32, [None, None, None, 2]), tf.placeholder(tf.int32, [2])
    assert tf.batch_to_space_nd(image, blocks, crops).shape.as_list() == [None, None, None, 2]
    x = np.zeros([4, 2, 2, 1], np.float32)
    for wrong, match in (([[3, 2], [0, 0]], "must be non-negative"), ([[-1, 2], [0, 0]], "crops cannot be negative")):
        with pytest.raises(ValueError, match=match):
            tf.batch_to_space_nd(x, [2, 2], wrong)
    with pytest.raises(ValueError, match="paddings cannot be negative"):
        tf.space_to_batch_nd(x, [2, 2], [[-2, 2], [0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"cropped_shape\[0\]=-1 must be non-negative"):
        run(tf.batch_to_space_nd(x, [2, 2], crops), {crops: [[3, 2], [0, 0]]})


@pytest.mark.parametrize("build, match", [
    (lambda tf: tf.diag(0.0), "at least rank 1"),
    (lambda tf: tf.roll(7, 1, 0), "at least rank 1"),
    (lambda tf: tf.contrib.nn.nth_element(5, 0), "at least rank 1"),
    (lambda tf: tf.contrib.nn.nth_element([5, 3], -1), "non-negative"),
    (lambda tf: tf.contrib.nn.nth_element([5, 3], 2), "last dimension > n = 2 but is 2"),
    (lambda tf: tf.contrib.nn.nth_element([5, 3], [0]), "rank 0"),
    (lambda tf: tf.reverse_sequence(tf.zeros([4, 2, 3]), [1] * 4, seq_axis=3), "seq_dim must be < input rank: 3 vs. 3"),
    (lambda tf: tf.reverse_sequence(tf.zeros([4, 2, 3]), [1] * 4, seq_axis=1, batch_axis=3), "batch_dim must be < input rank"),
    (lambda tf: tf.dynamic_stitch([[0, 1, 2], [3, 4]], [[0, 1, 2], [3]]), "must be equal, but are 2 and 1"),
    (lambda tf: tf.random_uniform([9], minval=[1, 2], maxval=3, dtype=tf.int32), "rank 0 but is rank 1 for minval"),
    (lambda tf: tf.random_uniform([9], minval=1, maxval=[3], dtype=tf.int32), "rank 0 but is rank 1 for maxval"),
    (lambda tf: tf.sparse_segment_sum(tf.zeros([9, 4]), [8, 3], [0, 1], num_segments=-2), "negative value for num_segments"),
    (lambda tf: tf.sparse_segment_mean(tf.zeros([9, 4]), [8, 3], [0, 1], num_segments=[2]), "rank 0 but is rank 1"),
    (lambda tf: tf.histogram_fixed_width([1.0, 2.0], 1.0), "rank 1 but is rank 0 for value_range"),
    (lambda tf: tf.histogram_fixed_width([1.0, 2.0], [1.0, 2.0, 3.0]), "must be equal, but are 3 and 2"),
    (lambda tf: tf.histogram_fixed_width([1.0, 2.0], [1.0, 2.0], nbins=[1]), "rank 0 but is rank 1 for nbins"),
    (lambda tf: tf.histogram_fixed_width([1.0, 2.0], [1.0, 2.0], nbins=-5), "Requires nbins > 0"),
    (lambda tf: tf.image.adjust_contrast(np.zeros([1, 2, 2, 3], np.uint8), [2.0]), "rank 0 but is rank 1 for contrast_factor"),
    (lambda tf: tf.nn.conv_transpose(tf.zeros([1, 4, 1]), tf.zeros([2, 1, 1]), None, 1), "must be a tensor or sized collection"),
    (lambda tf: tf.sort([3, 4, 5], axis=-4), "axis -4 is out of bounds"),
    (lambda tf: tf.argsort([3, 4, 5], axis=1), "axis 1 is out of bounds"),
    (lambda tf: tf.repeat([1, 2, 3], [3, 0, 2], axis=-2), "axis=-2 out of bounds"),
    (lambda tf: tf.repeat(tf.placeholder(tf.int32), 2, axis=-1), "rank of the input is known"),
    (lambda tf: tf.switch_case(0, [(k, lambda: tf.constant(0)) for k in (0, 1, 0)]), "contiguous range of .* found {0, 0, 1}"),
    (lambda tf: tf.matrix_diag([1, 2, 3], k=1, num_rows=5, num_cols=6), "not consistent with"),
    (lambda tf: tf.matrix_diag([1, 2, 3], k=1, num_rows=2), "num_rows is too small"),
    (lambda tf: tf.matrix_diag_part(tf.zeros([3, 3]), k=(2, 3)), "upper_diag_index is out of bound"),
    (lambda tf: tf.IdentityReader().restore_state([b"a", b"b"]), "rank 0 but is rank 1"),
    (lambda tf: tf.ConditionalAccumulator(tf.float32, shape=[3, 2]).apply_grad([[1.0, 2.0], [3.0, 4.0]]), "are incompatible"),
    (lambda tf: tf.convert_to_tensor(tf.TensorShape([2 ** 31, 2]), dtype=tf.int32), "dimension is too large"),
])
def test_when_the_graph_is_built(tf, build, match):
    with pytest.raises(ValueError, match=match):
        build(tf)


@pytest.mark.parametrize("build, match", [
    (lambda tf: offsets(tf, 1, [[2, 3, 5], [2, 7, 5, 9]]), "input 1 should contain 3 elements, but got 4"),
    (lambda tf: offsets(tf, 1, [[2, 3, 5], [2, 7, 9]]), r"All dimensions except 1 must match.*\[2 7 9\]"),
    (lambda tf: offsets(tf, 4, [[2, 3, 5], [2, 7, 5]]), "Concat dim is out of range: 4 vs. 3"),
    (lambda tf: offsets(tf, 1, [[[2, 3]], [[2, 7]]]), "should be a vector"),
    (lambda tf: tf.raw_ops.SparseSegmentMeanGrad(grad=tf.zeros([1, 4]), indices=[8, 3, 0], segment_ids=[0, 1, 0], output_dim0=9),
     r"Segment id 1 out of range \[0, 1\)"),
    (lambda tf: tf.raw_ops.SparseSegmentSqrtNGrad(grad=tf.zeros([1, 4]), indices=[8, 3], segment_ids=[0, 1], output_dim0=9),
     "Invalid number of segments"),
    (lambda tf: tf.nn.ctc_loss(tf.SparseTensor(np.zeros([0, 2], np.int64), np.zeros(0, np.int32), [5, 5]), tf.zeros([1, 0, 2]),
                               np.zeros(0, np.int32)), "batch_size must not be 0"),
])
def test_when_it_runs(tf, run, build, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        run(build(tf))


@pytest.mark.parametrize("text", [b"YQ=", b"YQ===", b"YWJj====", b"====", b"="])
def test_padding_of_base64_is_all_or_none(tf, run, text):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.decode_base64(text))


def test_diagonals_of_booleans(tf, run):
    assert run(tf.matrix_diag([True, True], k=1)).tolist() == [[False, True, False], [False, False, True], [False] * 3]
    assert run(tf.matrix_diag_part([[True, True], [True, True]], k=(0, 1), padding_value=False)).tolist() == [
        [True, False], [True, True]]


def test_a_norm_of_one_element_keeps_its_sign(tf, run):
    x = tf.placeholder(tf.float32, [2, None])
    norm = tf.math.reduce_euclidean_norm(x, axis=1)
    for _ in range(2):                          # interpreted, and compiled
        assert run(norm, {x: [[-3.0], [2.0]]}).tolist() == [-3.0, 2.0]
        assert run(norm, {x: [[-3.0, 4.0], [6.0, 8.0]]}).tolist() == [5.0, 10.0]
    assert run(tf.math.reduce_euclidean_norm([[-3.0]])) == -3.0


def test_the_spectral_norm(tf, run):
    """Of complex matrices, and of tensors of unknown rank."""
    value = np.array([[1 + 2j, 0], [2, 1j]])
    assert run(tf.norm(value, ord=2, axis=(0, 1))) == pytest.approx(np.linalg.norm(value, 2))
    x = tf.placeholder(tf.complex128)
    stack = np.stack([value, 2 * value], axis=1)
    found = run(tf.norm(x, ord=2, axis=(-3, -1)), {x: stack})
    assert found == pytest.approx(np.linalg.norm(value, 2) * np.array([1, 2]))


def test_scalars_are_repeated_as_vectors(tf, run):
    x, n = tf.placeholder(tf.int32), tf.placeholder(tf.int32, [None])
    assert run(tf.repeat(3, 4, axis=0)).tolist() == [3] * 4
    for repeats in (4, [4]):
        assert run(tf.repeat(x, repeats, axis=0), {x: 3}).tolist() == [3] * 4
    assert run(tf.repeat(x, n, axis=0), {x: [1, 2], n: [2]}).tolist() == [1, 1, 2, 2]


def test_boxes_of_int64(tf, run):
    """Offsets and sizes may be of either kind of integers."""
    image, box = np.arange(1, 10).reshape(3, 3, 1), tf.constant([1, 0, 4, 3], tf.int64)
    padded = tf.image.pad_to_bounding_box(image, box[0], box[1], box[2], box[3])
    assert run(padded)[..., 0].tolist() == [[0, 0, 0], [1, 2, 3], [4, 5, 6], [7, 8, 9]]
    part = tf.constant([1, 0, 2, 3], tf.int64)
    assert run(tf.image.crop_to_bounding_box(image, part[0], part[1], part[2], part[3]))[..., 0].tolist() == [[4, 5, 6], [7, 8, 9]]


def test_places_in_histograms_are_int32(tf):
    assert tf.histogram_fixed_width_bins([1.0, 2.0], [0.0, 5.0], dtype=tf.int64).dtype == tf.int32


def test_the_op_called_any(tf, run):
    """It is no name of Python's typing."""
    assert run(tf.raw_ops.Any(input=[True, False], axis=0))
