"""What the registry tests do not see: the public functions on arrays, their arguments, nodes and errors."""
import numpy as np
import pytest

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def nodes(tf):
    return [(op.name, op.type) for op in tf.get_default_graph().get_operations()]


def test_known_shapes_are_constants(tf):
    tf.shape(tf.placeholder(tf.float32, [2, 3], name="x"))
    assert nodes(tf)[-1] == ("Shape", "Const")
    tf.shape(tf.placeholder(tf.float32, [None, 3], name="y"))
    assert nodes(tf)[-1] == ("Shape_1", "Shape")
    from jitgraph.ops.arrays.shape import shape_internal

    shape_internal(tf.placeholder(tf.float32, [2]), optimize=False)
    assert nodes(tf)[-1] == ("Shape_2", "Shape")


def test_small_zeros_are_constants_and_large_ones_are_filled(tf):
    tf.zeros([10, 99])
    assert nodes(tf) == [("zeros", "Const")]
    tf.zeros([10, 100])
    assert nodes(tf)[1:] == [("zeros_1/shape_as_tensor", "Const"), ("zeros_1/Const", "Const"), ("zeros_1", "Fill")]


@pytest.mark.parametrize("index", [
    np.s_[1], np.s_[-1, ::2], np.s_[..., 1], np.s_[:, None, 1:], np.s_[::-1, 2:0:-1], np.s_[5:], np.s_[:, :, -3:-1],
    np.s_[None, ..., None], np.s_[0, 1, 2], np.s_[:, 10:0:-3]])
def test_indexing_is_numpys(tf, run, index):
    fed = tf.placeholder(tf.float32, [None, None, 4])
    for x, feed in ((tf.constant(A), None), (fed, {fed: A})):
        y = x[index]
        got = run(y, feed)
        np.testing.assert_array_equal(got, A[index])
        assert y.shape.is_compatible_with(got.shape)


@pytest.mark.parametrize("index", [np.s_[1], np.s_[:, ::2], np.s_[::-1, 2:0:-1, 1:], np.s_[:, None, 1], np.s_[:0]])
def test_the_gradient_of_indexing_goes_back_to_its_place(tf, run, index):
    x = tf.constant(A)
    wanted = np.zeros_like(A)
    wanted[index] = 2 * A[index]
    np.testing.assert_array_equal(run(tf.gradients(tf.reduce_sum(x[index] ** 2.0), x)[0]), wanted)


def test_index_out_of_range(tf, run):
    with pytest.raises(ValueError, match="out of bounds"):
        tf.constant(A)[2]
    n = tf.placeholder(tf.int32, [])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        run(tf.constant(A)[n], {n: 2})


def test_reshape_errors_name_the_numbers(tf, run):
    with pytest.raises(ValueError, match="24 elements"):
        tf.reshape(tf.constant(A), [5, 5])
    with pytest.raises(ValueError, match="evenly divisible by 5 but is 24"):
        tf.reshape(tf.constant(A), [-1, 5])
    with pytest.raises(ValueError, match="evenly divisible by 5 but is 24"):
        tf.reshape(tf.constant(A), [tf.placeholder(tf.int32, []), 5])
    with pytest.raises(ValueError, match="evenly divisible by 4 but is 3"):
        tf.reshape(tf.placeholder(tf.float32, [None, 4]), [3])
    for wrong in (24, [[24]]):
        with pytest.raises(ValueError, match="must be rank 1 but is rank"):
            tf.reshape(tf.constant(A), wrong)
    shape = tf.placeholder(tf.int32)
    for wrong, text in (([5, 5], "a tensor with 24 values, but the requested shape has 25"),
                        ([-1, 5], "multiple of 5|divisible by 5"),
                        ([-1, -1], "Only one input size may be -1, not both 0 and 1"), ([-1, 0], "requested shape has 0"),
                        ([24, -2], "Size 1 must be non-negative, not -2"), (24, "must be 1-D|must be rank 1"),
                        ([[24]], "must be 1-D|must be rank 1")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            run(tf.reshape(tf.constant(A), shape), {shape: wrong})
    twice = tf.reshape(tf.constant(A), [-1, -1])
    assert twice.shape.as_list() == [None, None]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Only one input size may be -1, not both 0 and 1"):
        run(twice)


def test_reshape_finds_out_one_unknown_size(tf, run):
    n, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [None, 4])
    for tensor, wanted in ((tf.reshape(tf.constant(A), [n, 4]), [A.size // 4, 4]), (tf.reshape(x, [n, 4]), [None, 4]),
                           (tf.reshape(x, [tf.shape(x)[0], 2, 2]), [None, 2, 2]), (tf.reshape(x, [n, -1]), [None, None]),
                           (tf.reshape(x, [2, -1]), [2, None]), (tf.reshape(x, [-1, 0]), [None, 0])):
        assert tensor.shape.as_list() == wanted
    shape = tf.placeholder(tf.int32, [2])
    for empty, sizes, wanted in ((np.zeros((0, 4)), [-1, 0], (4, 0)), (np.zeros(0), [0, -1], (0, 1)),
                                 (np.zeros(0), [3, 0], (3, 0))):
        assert run(tf.reshape(tf.constant(empty), shape), {shape: sizes}).shape == wanted


def test_gather_out_of_range(tf, run):
    i = tf.placeholder(tf.int32, [None])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 3 is not in \[0, 3\)"):
        run(tf.gather(tf.constant([1.0, 2.0, 3.0]), i), {i: [0, 3]})


def test_deprecated_argument_names(tf):
    x = tf.constant(A)
    assert tf.expand_dims(x, dim=1).shape.as_list() == [2, 1, 3, 4]
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.expand_dims(x, axis=1, dim=1)
    with pytest.raises(ValueError, match="Must specify an axis"):
        tf.expand_dims(x)


@pytest.mark.parametrize("make", [
    lambda tf: tf.string_split(["a b"], sep=" ", delimiter=" "), lambda tf: tf.strings.split(["a"], source=["b"]),
    lambda tf: tf.reduce_join(["a"], axis=0, reduction_indices=0), lambda tf: tf.reduce_join(["a"], keep_dims=True, keepdims=True),
    lambda tf: tf.string_to_number("1", input="2"), lambda tf: tf.string_to_hash_bucket("1", 3, input="2"),
    lambda tf: tf.space_to_batch(A, [[0, 0]], 1, block_shape=[1]), lambda tf: tf.batch_to_space(A, [[0, 0]], 1, block_shape=[1])])
def test_an_argument_is_given_by_one_of_its_names(tf, make):
    with pytest.raises(ValueError, match="Cannot specify both"):
        make(tf)


def test_concat_checks_shapes(tf, run):
    with pytest.raises(ValueError):
        tf.concat([tf.zeros([2, 3]), tf.zeros([3, 3])], 1)
    with pytest.raises(ValueError):
        tf.concat([tf.zeros([2]), tf.zeros([2, 2])], 0)
    assert tf.concat([tf.zeros([2, 3])], 0).op.type == "Identity"


def test_stack_keeps_the_dtypes_of_arrays(tf, run):
    wide, whole = np.array([1.0, 2.0]), np.array([3, 4])
    for axis in 0, 1, -1:
        assert tf.stack([wide, wide], axis).dtype == tf.float64 and tf.stack((whole, whole), axis).dtype == tf.int64
    np.testing.assert_array_equal(run(tf.stack([whole, whole + 1])), [[3, 4], [4, 5]])
    assert tf.stack([[1.0, 2.0], wide]).dtype == tf.float32 and tf.stack([np.float64(1), np.float64(2)]).dtype == tf.float32
    assert tf.stack([wide, tf.constant([1.0, 2.0])]).dtype == tf.float32       # where tensors are, they say
    with pytest.raises(TypeError, match=r"have types \[float64, float32\] that don't all match"):
        tf.stack([wide, [1.0, 2.0]])


def test_stack_of_plain_values_is_a_constant(tf):
    assert tf.stack([1, 2, 3]).op.type == "Const"
    assert tf.stack([tf.constant(1), 2]).op.type == "Pack"
    with pytest.raises(ValueError, match="not in"):
        tf.stack([tf.constant(1), 2], axis=2)


def test_split_of_unknown_length(tf):
    with pytest.raises(ValueError, match="Cannot infer num"):
        tf.split(tf.constant(A), tf.placeholder(tf.int32, [None]), axis=2)
    parts = tf.split(tf.constant(A), tf.placeholder(tf.int32, [None]), axis=2, num=2)
    assert [p.shape.as_list() for p in parts] == [[2, 3, None]] * 2


def test_one_hot_dtypes(tf):
    assert tf.one_hot([1], 3, on_value=5, off_value=0).dtype == tf.int32
    with pytest.raises(TypeError):
        tf.one_hot([1], 3, on_value=5, off_value=0.5)
    with pytest.raises(TypeError):
        tf.one_hot([1], 3, on_value=5, dtype=tf.float32)


def test_boolean_mask_of_unknown_rank(tf):
    with pytest.raises(ValueError, match="Number of mask dimensions"):
        tf.boolean_mask(tf.constant(A), tf.placeholder(tf.bool))
    with pytest.raises(ValueError, match="scalar"):
        tf.boolean_mask(tf.constant(A), tf.constant(True))


def test_embeddings_in_parts(tf, run):
    table = np.arange(14.0).reshape(7, 2)
    mod = [tf.constant(table[i::3]) for i in range(3)]
    div = [tf.constant(table[:3]), tf.constant(table[3:5]), tf.constant(table[5:])]
    ids = [[6, 0], [3, 3]]
    for parts, strategy in ((mod, "mod"), (div, "div")):
        found = tf.nn.embedding_lookup(parts, ids, partition_strategy=strategy)
        np.testing.assert_array_equal(run(found), table[ids])
        assert found.shape.as_list() == [2, 2, 2]
    with pytest.raises(ValueError, match="at least one"):
        tf.nn.embedding_lookup([], ids)


def test_shape_arithmetic_keeps_sizes(tf):
    x = tf.placeholder(tf.float32, [None, 3, 4])
    y = tf.reshape(x, tf.concat([tf.shape(x)[:1], [12]], 0))
    assert y.shape.as_list() == [None, 12]
    assert tf.zeros([tf.shape(x)[1], 5]).shape.as_list() == [3, 5]


def test_diagonals_of_later_versions(tf, run):
    from jitgraph import raw_ops

    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    packed = raw_ops.MatrixDiagPartV3(x, [-1, 1], 9.0)
    np.testing.assert_array_equal(run(packed), [[1, 6, 11], [0, 5, 10], [4, 9, 9]])
    back = raw_ops.MatrixDiagV3(packed, [-1, 1], 3, 4, 0.0)
    inside = np.abs(np.subtract.outer(np.arange(3), np.arange(4))) <= 1
    np.testing.assert_array_equal(run(back), np.where(inside, x, 0))
    np.testing.assert_array_equal(run(raw_ops.MatrixSetDiagV3(np.zeros_like(x), packed, [-1, 1])), np.where(inside, x, 0))


@pytest.mark.parametrize("jit", ["off", "always"])
def test_gather_nd_picks_from_a_resource_variable_without_reading_it(tf, jit):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    elements, rows = tf.gather_nd(v, [[0, 1], [1, 0]]), v.gather_nd([[1]], name="rows")
    assert (elements.op.inputs[0].op.type, rows.op.inputs[0].op.name) == ("ResourceGatherNd", "rows")
    assert (elements.shape.as_list(), rows.shape.as_list()) == ([2], [1, 2])
    gradients = tf.gradients(elements, v) + tf.gradients(rows * 2.0, v)
    assert isinstance(gradients[1], tf.IndexedSlices)
    with pytest.raises(ValueError, match=r"saw indices shape: \[1,3\] and params shape: \[2,2\]"):
        tf.gather_nd(v, [[0, 0, 0]])
    outside = tf.gather_nd(v, [[0, 1], [0, -1]])
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        found = session.run([elements, rows, gradients[0], tf.convert_to_tensor(gradients[1])])
        assert [a.tolist() for a in found] == [[2.0, 3.0], [[3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [2.0, 2.0]]]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[0, -1\] does not index into param shape"):
            session.run(outside)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_gather_nd_of_pairs(tf, jit):
    x = tf.placeholder(tf.int32, [None, 2, 2])
    value = np.arange(8).reshape(2, 2, 2)
    within = tf.gather_nd(x, [[[0], [1]], [[1], [0]]], batch_dims=1)
    scalars = tf.gather_nd(x, [[[1], [0]], [[0], [1]]], batch_dims=tf.constant(2))
    assert within.op.name == "BatchGatherND/Reshape_3" and scalars.op.name == "BatchGatherND_1/Reshape_4"
    with tf.Session(jit=jit) as session:
        assert session.run(within, {x: value}).tolist() == [[[0, 1], [2, 3]], [[6, 7], [4, 5]]]
        assert session.run(scalars, {x: value}).tolist() == [[1, 2], [4, 7]]
    with pytest.raises(ValueError, match=r"batch_dims = 2 must be less than rank\(indices\) = 2"):
        tf.gather_nd(x, [[0], [1]], batch_dims=2)
    with pytest.raises(ValueError, match="does not allow negative batch_dims"):
        tf.gather_nd(x, [[0], [1]], batch_dims=-1)


def test_where_finds_what_is_not_zero(tf, run):
    for condition in (tf.constant([0, 2, 3]), tf.constant([0.0, -1.5, np.nan]), [False, True, True], [0, 1, 1]):
        assert run(tf.where(condition)).tolist() == [[1], [2]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("count, spread", [(1, 2), (300, 40), (3000, 120), (3000, 10 ** 9), (0, 2)])
def test_distinct_elements_stand_in_the_order_of_their_first_occurrence(tf, count, spread, dtype):
    x = (np.random.RandomState(3).randint(0, spread, count) - spread // 2).astype(dtype)
    with tf.Session() as session:
        distinct, places, counts = session.run(tf.unique_with_counts(x))
    wanted = list(dict.fromkeys(x.tolist()))
    assert distinct.tolist() == wanted and distinct.dtype == dtype
    assert distinct[places].tolist() == x.tolist() and places.dtype == counts.dtype == np.int32
    assert counts.tolist() == [x.tolist().count(v) for v in wanted]


@pytest.mark.parametrize("width", [(), (3,), (0,)])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32])
def test_segments_combine_the_rows_of_their_id(tf, run, width, dtype):
    rng = np.random.RandomState(2)
    data = rng.randint(-3, 4, (260, *width)).astype(dtype)
    ids = rng.randint(-1, 6, 260)
    ids[ids == 2] = 5                       # a segment without rows; another with more of them than int8 has numbers
    ids[60:200] = 4
    lowest = np.finfo(dtype).min if dtype != np.int8 else -128
    rows = [data[ids == k] for k in range(7)]
    wanted = [np.array([r.max(0) if len(r) else np.full(width, lowest) for r in rows], dtype),
              np.array([np.prod(r, 0, dtype=dtype) for r in rows])]
    assert_same = np.testing.assert_array_equal
    for name, value in zip(("max", "prod"), wanted):
        assert_same(run(getattr(tf, f"unsorted_segment_{name}")(data, ids, 7)), value)
    ids = np.sort(ids[ids >= 0])
    data = data[:len(ids)]
    rows = [data[ids == k] for k in range(6)]
    sums = [np.sum(r, 0, dtype=np.int64) for r in rows]
    assert_same(run(tf.segment_sum(data, ids)), np.array(sums).astype(dtype))
    assert_same(run(tf.sparse_segment_sum(data[::-1], np.arange(len(ids))[::-1], ids)), np.array(sums).astype(dtype))
    assert_same(run(tf.segment_min(data, ids)), np.array([r.min(0) if len(r) else np.zeros(width) for r in rows], dtype))
    means = run(tf.segment_mean(data.astype(np.int32), ids))
    assert_same(means, np.array([np.trunc(s / max(len(r), 1)) for s, r in zip(sums, rows)]).astype(np.int32))


def test_a_segment_of_numbers_that_are_none(tf, run):
    data = np.array([[np.nan, 1], [np.nan, np.nan], [2, np.nan]], np.float32)
    lowest = np.finfo(np.float32).min
    np.testing.assert_array_equal(run(tf.unsorted_segment_max(data, [1, 1, 0], 2)), [[2, lowest], [lowest, 1]])
    assert run(tf.segment_mean(np.arange(200, dtype=np.uint8).astype(np.int8) % 2, [0] * 200)).tolist() == [0]


@pytest.mark.parametrize("jit", ["off", "always"])
def test_pairs_of_no_batches_and_windows_of_no_images(tf, jit):
    x, i = tf.placeholder(tf.float32, [None, 3, 4]), tf.placeholder(tf.int32, [None, 2])
    image = tf.placeholder(tf.float32, [None] * 4)
    ys = [tf.gather(x, i, axis=axis, batch_dims=1) for axis in (1, 2)]
    ys.append(tf.extract_image_patches(image, [1, 2, 2, 1], [1] * 4, [1] * 4, "VALID"))
    with tf.Session(jit=jit) as session:
        found = session.run(ys, {x: np.zeros((0, 3, 4)), i: np.zeros((0, 2)), image: np.zeros((0, 5, 5, 2))})
    assert [a.shape for a in found] == [(0, 2, 4), (0, 3, 2), (0, 4, 4, 8)]


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name, power", [("unsorted_segment_mean", 1), ("unsorted_segment_sqrt_n", 0.5)])
def test_means_of_segments_of_data_of_unknown_rank(tf, rng, jit, name, power):
    data, ids = tf.placeholder(tf.float64), tf.placeholder(tf.int32)
    means = getattr(tf, name)(data, ids, 3)
    with tf.Session(jit=jit) as session:
        for shape in ((4, 2, 2), (4,)):
            array = rng.randn(*shape)
            wanted = np.stack([(array[1] + array[3]) / 2 ** power, array[2], array[0]])
            np.testing.assert_allclose(session.run(means, {data: array, ids: [2, 0, 1, 0]}), wanted)


@pytest.mark.parametrize("shape, diagonal, k, message", [
    ((2, 2, 4), (2, 3), [0], r"Input shape: \[2,2,4\]\nDiagonal shape: \[2,3\]\nExpected diagonal shape: \[2,2\]"),
    ((2, 2, 4), (2, 3, 2), [0, 1], "The number of diagonals provided in `diag` is not consistent"),
    ((2, 2, 4), (2, 2), [5], "lower_diag_index is out of bound: 5"),
    ((2, 2, 4), (2, 2), [0, 4], "upper_diag_index is out of bound: 4"),
    ((2, 2, 4), (2, 2), [1, 0], "lower_diag_index must not be larger than upper_diag_index: 1 > 0"),
    ((4,), (2,), [0], "input must be at least 2-dim, received shape: \\[4\\]")])
def test_diagonals_that_do_not_fit_are_refused_as_by_tensorflow(tf, shape, diagonal, k, message):
    fed = {name: tf.placeholder(dtype) for name, dtype in (("x", tf.float32), ("diagonal", tf.float32), ("k", tf.int32))}
    changed = tf.matrix_set_diag(fed["x"], fed["diagonal"], k=fed["k"])
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(changed, {fed["x"]: np.ones(shape), fed["diagonal"]: np.ones(diagonal), fed["k"]: k})


@pytest.mark.parametrize("repeats, rows", [([1, 0, 2], [0, 2, 2]), (2, [0, 0, 1, 1, 2, 2])])
def test_repeats_of_unknown_rank_are_one_number_or_one_for_each(tf, repeats, rows):
    values = np.arange(6.0).reshape(3, 2)
    given = tf.placeholder(tf.int32)
    repeated = tf.repeat(values, given, axis=0)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(repeated, {given: repeats}), values[rows])


@pytest.mark.parametrize("shape, steps, batch", [((5, 7, 3), 1, 0), ((5, 7, 3), 0, 1), ((7, 5), -2, 1), ((2, 3, 4), 2, 0)])
@pytest.mark.parametrize("known", [True, False])
def test_sequences_are_reversed_up_to_their_lengths(tf, shape, steps, batch, known):
    value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    lengths = np.arange(shape[batch]) % (shape[steps] + 1)
    x, n = tf.placeholder(tf.float32, shape if known else [None] * len(shape)), tf.placeholder(tf.int32, [None])
    reversed_ = tf.reverse_sequence(x, n, seq_axis=steps, batch_axis=batch)
    wanted = value.copy()
    for row, length in zip(np.moveaxis(wanted, (batch, steps), (0, 1)), lengths):
        row[:length] = row[:length][::-1].copy()
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            np.testing.assert_array_equal(session.run(reversed_, {x: value, n: lengths}), wanted)
            for wrong in (lengths - 1, lengths + shape[steps]):
                with pytest.raises(tf.errors.InvalidArgumentError, match="must give one length up to"):
                    session.run(reversed_, {x: value, n: wrong})


@pytest.mark.parametrize("make, message", [
    (lambda tf, d: tf.expand_dims(np.ones([2, 3]), d([0, 1])), "'dim' input must be a tensor with a single value"),
    (lambda tf, d: tf.expand_dims(np.ones([2, 3]), d(5)), r"dim 5 not in the interval \[-3, 2\]"),
    (lambda tf, d: tf.reverse(np.ones([2, 3]), d([-30])), r"'axis'\[0\] = -30 is out of valid range \[-2, 1\]"),
    (lambda tf, d: tf.reverse(np.ones([2, 3]), d([0, -2])), "axis 0 specified more than once"),
])
@pytest.mark.parametrize("jit", ["off", "always"])
def test_axes_that_do_not_fit(tf, make, message, jit):
    with pytest.raises(ValueError, match=message):
        make(tf, np.array)
    with tf.Session(jit=jit) as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(make(tf, lambda axis: tf.placeholder_with_default(np.array(axis), None)))


def test_a_mask_of_another_shape(tf):
    for tensor, mask, shapes in ((np.ones([2, 2]), np.ones(3, bool), r"Shapes \(2,\) and \(3,\)"),
                                 (tf.placeholder(tf.float32, [None, 2]), np.ones([3, 4], bool), r"Shapes \(\?, 2\) and \(3, 4\)")):
        with pytest.raises(ValueError, match=shapes + " are incompatible"):
            tf.boolean_mask(tensor, mask)


def test_gather_nd_takes_the_count_of_pairs_as_a_tensor(tf, run):
    params, indices = np.arange(12).reshape(3, 2, 2), np.array([[[1]], [[0]], [[1]]])
    for count in (tf.constant(1), tf.constant([1])):
        np.testing.assert_array_equal(run(tf.gather_nd(params, indices, batch_dims=count)), [[[2, 3]], [[4, 5]], [[10, 11]]])


@pytest.mark.parametrize("number", [np.int64(2), np.int32(2), np.array(2), 2.0])
def test_split_takes_no_scalar_but_pythons(tf, number):
    """TensorFlow takes one of NumPy for a tensor of sizes."""
    with pytest.raises(ValueError, match="Rank-0 tensors are not supported as the num_or_size_splits"):
        tf.split(tf.range(6), number)
    assert [part.shape.as_list() for part in tf.split(tf.range(6), tf.Dimension(2))] == [[3], [3]]


@pytest.mark.parametrize("nothing", [False, 0, None])
def test_a_dtype_that_is_nothing_is_that_of_the_input(tf, nothing):
    x = tf.constant([[1.0, 2.0]], tf.float64)
    assert tf.zeros_like(x, nothing).dtype == tf.float64
    assert tf.map_fn(lambda row: row * 2, x, dtype=nothing).dtype == tf.float64
    assert tf.layers.Dense(2, dtype=nothing)(x).dtype == tf.float64


@pytest.mark.parametrize("bounds", [(-2.0, 2.0, 1 / 100), (2.0, -2.0, -1 / 100), (0.0, 1.0, 0.1), (-1.0, 1.0, 2 / 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_range_counts_in_its_own_dtype(tf, run, bounds, dtype):
    start, limit, delta = (np.array(bound, dtype) for bound in bounds)
    count = int(np.ceil(abs((limit - start) / delta)))          # 400 in float32, 401 in double for 0.01 of float32
    known = tf.range(*bounds, dtype=dtype)
    fed = tf.range(*(tf.placeholder_with_default(bound, []) for bound in (start, limit, delta)))
    assert known.shape == (count,) and fed.shape.as_list() == [None]
    assert run(known).shape == run(fed).shape == (count,)


def test_a_range_of_floats_up_to_a_size_that_is_fed(tf):
    x = tf.placeholder(tf.float32, [None])
    size = tf.cast(tf.shape(x)[0], tf.float32)
    ranges = [tf.range(size), tf.range(0.0, size, 0.1), tf.range(size / 2.0, size), tf.range(size, size + 3.0, 0.5),
              tf.range(size, 0.0, -2.0)]
    with tf.Session() as session:
        for n in (7, 8, 8, 9):          # interpreted, then compiled
            counts = [len(found) for found in session.run(ranges, {x: np.zeros(n)})]
            assert counts == [n, 10 * n, -(-n // 2), 6, -(-n // 2)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_last_number_of_a_linspace_is_its_end(tf, run, dtype):
    """Also where the steps before it would just miss it, as those to 30.300001 in 332 steps of float32 do."""
    for start, stop, count in ((0.0, 30.300001, 333), (-3.7, 1.9, 91), (2.5, -0.1, 7), (1.5, 9.0, 1), (1.0, 2.0, 2)):
        start, stop = dtype(start), dtype(stop)
        step = (stop - start) / dtype(max(count - 1, 1))
        wanted = start + step * np.arange(count).astype(dtype)
        wanted[1:][-1:] = stop
        fed = tf.placeholder(tf.int32, [])
        for numbers, feeds in ((tf.linspace(start, stop, count), {}), (tf.linspace(start, stop, fed), {fed: count})):
            np.testing.assert_array_equal(run(numbers, feeds), wanted)
