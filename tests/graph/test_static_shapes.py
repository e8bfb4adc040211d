"""What is known of shapes while building: as much as TensorFlow 1.15 knows (its answers stand in the table)."""

import numpy as np
import pytest


def gradients(tf, function, *inputs):
    return tf.gradients(function(*inputs), list(inputs))


# name: (what is built from tf and p, a placeholder of a shape; the shapes that TensorFlow knows)
KNOWN = {
    "tile none of an unknown size": (lambda tf, p: tf.tile(p([None, 3]), [0, 2]), [[0, 6]]),
    "tile none unknown times": (lambda tf, p: tf.tile(p([0, 3]), [p([], tf.int32), 2]), [[0, 6]]),
    "tile by unknown multiples": (lambda tf, p: tf.tile(p(None), p([2], tf.int32)), [[None, None]]),
    "batch norm": (lambda tf, p: tf.nn.fused_batch_norm(p([3, 1, 3, None]), p([4]), p([None])), [[3, 1, 3, 4], [4], [4]]),
    "batch norm by given moments": (
        lambda tf, p: tf.nn.fused_batch_norm(p([3, 1, 3, None]), p(None), p(None), p([2]), p([2]), is_training=False),
        [[3, 1, 3, 2], [2], [2]],
    ),
    "sequences": (
        lambda tf, p: tf.reverse_sequence(p([None, None, 7]), p([4], tf.int32), seq_axis=0, batch_axis=1),
        [[None, 4, 7]],
    ),
    "diagonals": (lambda tf, p: tf.matrix_set_diag(p([None, 2, 4]), p([3, 2])), [[3, 2, 4]]),
    "diagonals of what is unknown": (lambda tf, p: tf.matrix_set_diag(p(None), p([3, 2])), [[3, None, None]]),
    "filters' gradient": (
        lambda tf, p: gradients(tf, lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), p([1, None, 6, 2]), p(None)),
        [[1, None, 6, 2], [None] * 4],
    ),
    "gradients of volumes": (
        lambda tf, p: gradients(tf, lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"), p(None), p(None)),
        [[None] * 5] * 2,
    ),
    "depthwise gradients": (
        lambda tf, p: gradients(tf, lambda x, w: tf.nn.depthwise_conv2d_native(x, w, [1] * 4, "SAME"), p(None), p(None)),
        [[None] * 4] * 2,
    ),
    "mean pool's gradient": (
        lambda tf, p: gradients(tf, lambda x: tf.nn.avg_pool(x, [1, 2, 2, 1], [1] * 4, "SAME"), p(None)),
        [[None] * 4],
    ),
    "pool's gradient": (
        lambda tf, p: gradients(tf, lambda x: tf.nn.max_pool3d(x, [1, 2, 2, 2, 1], [1] * 5, "SAME"), p(None)),
        [[None] * 5],
    ),
    "response": (lambda tf, p: gradients(tf, tf.nn.local_response_normalization, p(None)), [[None] * 4]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_as_much_is_known_as_in_tensorflow(tf, name):
    build, shapes = KNOWN[name]
    made = build(tf, lambda shape, dtype=tf.float32: tf.placeholder(dtype, shape))
    made = made if isinstance(made, (list, tuple)) else [made]
    assert [t.shape.as_list() for t in made] == shapes


# name: (indices, updates, the output's shape)
MISFITS = {
    "other updates than indices": ([1, 1], [4, 1], [5, 1]),
    "other rows": ([3, 1], [3, 4], [5, 2]),
    "other rank": ([3, 1], [3, 2, 2], [5, 2]),
    "into nothing": ([3, 1], [3, 0, 2], [5, 0, 2]),
    "no column": ([3, 1], [3, 0], [5, 0]),
}


@pytest.mark.parametrize("name", MISFITS)
def test_scatters_whose_shapes_do_not_fit(tf, run, name):
    indices, updates, output = MISFITS[name]
    scatters = [lambda i, u, o: tf.scatter_nd(i, u, tf.shape(o)), lambda i, u, o: tf.tensor_scatter_add(o, i, u)]
    given = [(tf.int32, indices), (tf.float32, updates), (tf.float32, output)]
    for scatter in scatters:
        with pytest.raises(ValueError):
            scatter(*(tf.placeholder(dtype, shape) for dtype, shape in given))
        late = [tf.placeholder(dtype, None) for dtype, _ in given]
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                run(scatter(*late), {p: np.zeros(shape) for p, (_, shape) in zip(late, given)})


def test_bincounts_length_follows_from_what_is_computed_of_constants(tf):
    counted, weights = tf.abs(tf.constant([[1, -2], [3, 3]])), [[1.0, 2.0], [3.0, 4.0]]
    assert tf.bincount(counted).shape == tf.bincount(counted, maxlength=60).shape == [4]
    assert tf.bincount(counted, minlength=60).shape == tf.bincount(tf.transpose(counted), weights, 60).shape == [60]
    assert tf.bincount(tf.placeholder(tf.int32), weights).shape.ndims is None
    with tf.Session() as session:
        assert session.run(tf.bincount(counted, weights)).tolist() == [0, 1, 2, 7]


def test_a_cross_entropy_of_no_rows_has_none(tf):
    labels, logits = tf.placeholder(tf.float32, [0, None]), tf.placeholder(tf.float32, [None, 3])
    found = tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=logits, labels=labels)
    assert found.loss.shape == [0] and found.backprop.shape == [0, 3]


def test_a_reshape_of_nothing(tf):
    nothing = tf.placeholder(tf.float32, [None, 0])
    assert tf.reshape(nothing, [-1]).shape.as_list() == [0]
    assert tf.reshape(nothing, [3, -1]).shape.as_list() == [3, 0]


def test_equal_shapes_are_presumed_of_labels_and_logits(tf):
    """What is known of the one is known of the other, as in TensorFlow; a run takes what broadcasts."""

    def loss(labels, logits):
        given = {"labels": tf.placeholder(tf.float64, labels), "logits": tf.placeholder(tf.float64, logits)}
        return tf.nn.softmax_cross_entropy_with_logits_v2(**given).shape.as_list()

    assert loss([1, None], [None, None]) == [1] and loss([0, None], [None, None]) == [0]
    assert loss([None, None], [5, None]) == [5] and loss([5, 2, None], [None] * 3) == [None, None]


def test_gradients_know_what_tensorflows_know(tf):
    x, one = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [1])
    assert tf.gradients(tf.einsum("ac,a->", x, one), x)[0].shape.as_list() == [1, 4]
    row = tf.placeholder(tf.float64, [None])
    assert tf.gradients(tf.dynamic_partition(row, [0, 1], 3)[2], row)[0].shape == [2]
    image = tf.placeholder(tf.float32, None)
    patches = tf.extract_image_patches(image, [1, 2, 2, 1], [1] * 4, [1] * 4, "VALID")
    assert tf.gradients(patches, image)[0].shape.as_list() == [None] * 4
    table = tf.Variable(np.zeros([2, 3], np.float32), use_resource=True)
    assert tf.convert_to_tensor(tf.gradients(tf.gather(table, tf.placeholder(tf.int64, [None])), table)[0]).shape == [2, 3]


def test_the_smaller_of_nothing_and_an_unknown_size(tf):
    for sizes in ([None, 0], [0, None]):
        matrix = tf.placeholder(tf.float32, sizes)
        assert tf.matrix_diag_part(matrix).shape == tf.svd(matrix, compute_uv=False).shape == [0]
        assert tf.qr(matrix).r.shape[0] == 0


def test_a_vector_condition_says_nothing_of_the_result(tf):
    """tf.where states the shape of what it chooses from; a loop may then begin with it and go on with that."""
    condition, x, y = tf.constant([True] * 3), tf.placeholder(tf.float64, [None]), tf.placeholder(tf.float64, [None, 2])
    assert [tf.where(condition, a, a).shape.as_list() for a in (x, y)] == [[None], [None, 2]]
    assert tf.where(tf.constant([[True, False]]), y, y).shape.as_list() == [1, 2]
    assert tf.while_loop(lambda k, a: k < 1, lambda k, a: (k + 1, x), [0, tf.where(condition, x, x)])[1].shape.as_list() == [None]
    with pytest.raises(ValueError):
        tf.where(condition, tf.ones([4]), tf.ones([4]))


@pytest.mark.parametrize("function", ["relu", "relu6", "leaky_relu", "elu", "selu", "softsign"])
def test_gradients_of_activations_take_the_shape_that_either_input_states(tf, function):
    x, rows = tf.placeholder(tf.float32, None), tf.placeholder(tf.float32, [None, 3])
    y = getattr(tf.nn, function)(x)
    assert tf.gradients(y, x, grad_ys=rows)[0].shape.as_list() == [None, 3]
    with pytest.raises(ValueError):
        tf.raw_ops.EluGrad(gradients=tf.ones([1, 3]), outputs=tf.ones([2, 3]))


def test_a_size_of_unknown_rank_beside_numbers_is_a_number(tf):
    """``tf.zeros([batch_size, 128])`` with ``batch_size = tf.placeholder(tf.int32)`` has 128 columns."""
    size = tf.placeholder(tf.int32)
    for made in (tf.zeros([size, 128]), tf.fill([size, 128], 1), tf.reshape(tf.placeholder(tf.float32), [size, 128]),
                 tf.random_uniform(tf.stack([size, 128])), tf.broadcast_to(1.0, [size, 128])):
        assert made.shape.as_list() == [None, 128]
    assert tf.ones(tf.concat([[2, 3], [size]], 0)).shape.as_list() == [2, 3, None]
    assert tf.eye(3, size, batch_shape=[2]).shape.as_list() == [2, 3, None]
    assert tf.eye(size, batch_shape=[2]).shape.as_list() == [2, None, None]
    assert tf.layers.dense(tf.zeros([size, 128]), 4).shape.as_list() == [None, 4]
