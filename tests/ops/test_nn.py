"""``tf.nn``: losses on logits, normalisation and dropout."""
import numpy as np
import pytest


def test_cross_entropies_take_named_arguments_only(tf):
    x = tf.zeros([2, 3])
    for loss in (tf.nn.softmax_cross_entropy_with_logits, tf.nn.sparse_softmax_cross_entropy_with_logits,
                 tf.nn.sigmoid_cross_entropy_with_logits):
        with pytest.raises(ValueError, match="named arguments"):
            loss(x, x)
        with pytest.raises(ValueError, match="Both labels and logits"):
            loss(labels=x)


def test_sparse_labels_are_checked(tf, run):
    with pytest.raises(ValueError, match="Rank mismatch"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1]], logits=tf.zeros([2, 3]))
    with pytest.raises(ValueError):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2, 0], logits=tf.zeros([2, 3]))
    labels = tf.placeholder(tf.int32, [None])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=tf.zeros([2, 3]))
    for bad in ([0, 3], [-1, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(loss, {labels: bad})


def test_labels_get_no_gradient_in_the_first_version(tf, run):
    labels, logits = tf.constant([[0.2, 0.8]]), tf.constant([[1.0, 2.0]])
    old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    new = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert tf.gradients(old, labels) == [None]
    np.testing.assert_allclose(run(tf.gradients(new, labels)[0]), [[1.313262, 0.313262]], rtol=1e-5)


def test_no_second_derivative_through_the_sparse_loss(tf):
    logits = tf.constant([[1.0, 2.0]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)
    first, = tf.gradients(loss, logits)
    with pytest.raises(LookupError, match="second derivative"):
        tf.gradients(first, logits)


def test_large_logits_do_not_overflow(tf, run):
    x = tf.constant([[1000.0, 0.0, -1000.0]])
    softmax, logs, loss, sigmoid = run([
        tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 0, 1]], logits=x),
        tf.nn.sigmoid_cross_entropy_with_logits(labels=[[1.0, 1, 1]], logits=x)])
    assert softmax.tolist() == [[1, 0, 0]] and logs.tolist() == [[0, -1000, -2000]] and loss.tolist() == [2000]
    np.testing.assert_allclose(sigmoid, [[0, np.log(2), 1000]], rtol=1e-6)


def test_softmax_along_any_axis(tf, run, rng):
    x = rng.randn(2, 3, 4)
    for axis in (0, 1, 2, -2):
        e = np.exp(x)
        np.testing.assert_allclose(run(tf.nn.softmax(tf.constant(x), axis=axis)), e / e.sum(axis, keepdims=True))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.softmax(tf.constant(x), axis=3)


def test_half_precision_loss_is_added_up_in_float32(tf, run):
    logits = tf.cast(tf.random_normal([2, 500], seed=1), tf.float16)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=logits)
    assert loss.dtype == tf.float16 and np.isfinite(run(loss)).all()


def test_dropout_rates(tf, run):
    x = tf.ones([4, 1000])
    assert tf.nn.dropout(x, keep_prob=1.0) is x
    for bad in (-0.1, 1.0):
        with pytest.raises(ValueError, match="range"):
            tf.nn.dropout(x, rate=bad)
    with pytest.raises(ValueError, match="floating point"):
        tf.nn.dropout(tf.constant([1]), rate=0.5)
    with pytest.raises(ValueError, match="rate"):
        tf.nn.dropout(x)
    rows = run(tf.nn.dropout(x, rate=0.5, noise_shape=[4, 1], seed=1))
    assert all(len(set(row)) == 1 for row in rows)


def test_dropout_gradient_goes_where_the_value_went(tf, run):
    x = tf.ones([100])
    y = tf.nn.dropout(x, rate=0.5, seed=3)
    value, grad = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(value, grad)


def test_bias_layouts(tf, run):
    x, b = np.zeros((1, 2, 2, 3), np.float32), [1.0, 2.0, 3.0]
    y = run(tf.nn.bias_add(x, b))
    z = run(tf.nn.bias_add(x.transpose(0, 3, 1, 2), b, data_format="NCHW"))
    np.testing.assert_array_equal(y.transpose(0, 3, 1, 2), z)
    with pytest.raises(ValueError, match="data_format"):
        tf.nn.bias_add(x, b, data_format="HWC")


@pytest.mark.parametrize("positions", [(4,), (2, 4), (2, 4, 5)])
@pytest.mark.parametrize("known", [True, False])
def test_biases_of_channels_that_come_second(tf, run, positions, known):
    values = np.arange(2 * 3 * np.prod(positions), dtype=np.float32).reshape(2, 3, *positions)
    x, bias = tf.placeholder(tf.float32, values.shape if known else None), tf.constant([10.0, 20.0, 30.0])
    y = tf.nn.bias_add(x, bias, data_format="NCHW")
    assert y.shape.as_list() == list(values.shape) if known else y.shape.ndims is None
    got, grad = run([y, tf.gradients(y, bias)[0]], {x: values})
    np.testing.assert_array_equal(got, np.moveaxis(np.moveaxis(values, 1, -1) + [10, 20, 30], -1, 1))
    np.testing.assert_array_equal(grad, [2 * np.prod(positions)] * 3)
    with pytest.raises(ValueError, match="must be at least rank 3"):
        tf.nn.bias_add(tf.zeros([2, 3]), bias, data_format="NCHW")


def test_moments_of_half_precision(tf, run, rng):
    x = (rng.randn(5000) + 100).astype(np.float16)
    mean, variance = run(tf.nn.moments(tf.constant(x), [0]))
    assert mean.dtype == np.float16
    assert mean == pytest.approx(x.astype(float).mean(), rel=1e-3)
    assert variance == pytest.approx(x.astype(float).var(), rel=1e-2)


def test_unsupported_types_are_refused_when_the_graph_is_built(tf):
    with pytest.raises(TypeError, match="not in list of allowed values"):
        tf.nn.relu(tf.constant(["a"]))
    with pytest.raises(TypeError, match="not in list of allowed values"):
        tf.nn.softmax(tf.constant([1, 2]))


@pytest.mark.parametrize("jit", ["off", "always"])
def test_labels_of_another_shape_are_refused_in_a_run(tf, jit):
    """Of as many labels as there are rows, in another arrangement, nothing else would say so."""
    labels, logits = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.float32, [None, None, 4])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    with tf.Session(jit=jit) as session:
        assert session.run(loss, {labels: np.zeros((2, 3)), logits: np.zeros((2, 3, 4))}).shape == (2, 3)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(loss, {labels: np.zeros((3, 2)), logits: np.zeros((2, 3, 4))})


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("largest", [100, 2 ** 15, 2 ** 24, 2 ** 31 - 1])
def test_products_of_integers_are_exact_and_wrap_round(tf, dtype, largest):
    """Where float64 adds up all products exactly, it does; else integers are multiplied."""
    rng = np.random.RandomState(3)
    a, b = rng.randint(-largest, largest, (2, 30, 50)).astype(dtype), rng.randint(-largest, largest, (2, 50, 40)).astype(dtype)
    wanted = np.zeros((2, 30, 40), dtype)
    with np.errstate(over="ignore"):
        for k in range(50):
            wanted += a[:, :, k, None] * b[:, None, k]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.matmul(a, b)), wanted)
        np.testing.assert_array_equal(session.run(tf.matmul(a[0], b[0])), wanted[0])
