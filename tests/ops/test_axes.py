"""Axes and bands that are fed, or given for inputs of unknown rank."""
import numpy as np
import pytest

MATRIX = np.arange(6.0).reshape(2, 3)
CUBE = np.random.RandomState(0).rand(2, 3, 4).astype(np.float32)


@pytest.fixture(params=["off", "always", "auto"])
def session(tf, request):
    with tf.Session(jit=request.param) as session:
        yield session


@pytest.mark.parametrize("perm, message", [
    ([-1, 0], r"-1 is out of range \[0 .. 2\)"), ([0, -1], r"-1 is out of range"), ([2, 0], r"2 is out of range"),
    ([0, 0], r"1 is missing from {0,0}.")])
@pytest.mark.parametrize("conjugate", [False, True])
def test_a_fed_permutation_has_no_negative_numbers(tf, session, perm, message, conjugate):
    x, order = tf.placeholder(tf.complex64), tf.placeholder(tf.int32)
    y = tf.transpose(x, order, conjugate=conjugate)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(y, {x: MATRIX, order: perm})
    assert session.run(y, {x: MATRIX, order: [1, 0]}).shape == (3, 2)


def test_a_stated_permutation_has_none_either(tf):
    with pytest.raises(ValueError, match="perm dim -1 is out of range of input rank 2"):
        tf.transpose(tf.zeros([2, 3]), [-1, 0])


@pytest.mark.parametrize("lower, upper, message", [
    (3, 0, r"num_lower must be negative or less or equal to number of rows \(2\) got: 3"),
    (0, 4, r"num_upper must be negative or less or equal to number of columns \(3\) got: 4")])
@pytest.mark.parametrize("fed", [False, True])
def test_a_band_fits_its_matrix(tf, session, lower, upper, message, fed):
    x, a, b = tf.placeholder(tf.float32), tf.placeholder(tf.int32, []), tf.placeholder(tf.int64, [])
    band = tf.matrix_band_part(x, tf.cast(a, tf.int64), b) if fed else tf.matrix_band_part(x, lower, upper)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(band, {x: MATRIX, a: lower, b: upper})
    whole = tf.matrix_band_part(x, 2, 3)
    assert session.run(whole, {x: MATRIX}).tolist() == MATRIX.tolist()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_sort_along_any_axis_of_an_unknown_rank(tf, session, axis):
    x = tf.placeholder(tf.float32)
    got = session.run([tf.sort(x, axis), tf.argsort(x, axis), tf.sort(x, axis, "DESCENDING")], {x: CUBE})
    wanted = [np.sort(CUBE, axis), np.argsort(CUBE, axis), -np.sort(-CUBE, axis)]
    assert all(np.array_equal(a, b) for a, b in zip(got, wanted))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize("function", ["softmax", "log_softmax"])
def test_softmax_along_any_axis_of_an_unknown_rank(tf, session, function, axis):
    """And its gradient."""
    unknown, known = tf.placeholder(tf.float32), tf.placeholder(tf.float32, CUBE.shape)
    results = []
    for x in (unknown, known):
        y = getattr(tf.nn, function)(x, axis=axis)
        results += [y, tf.gradients(tf.reduce_sum(y * y), x)[0]]
    y, grad, wanted, wanted_grad = session.run(results, {unknown: CUBE, known: CUBE})
    np.testing.assert_allclose(y, wanted, rtol=1e-6)
    np.testing.assert_allclose(grad, wanted_grad, rtol=1e-5, atol=1e-6)


def test_an_axis_that_is_not_there(tf, session):
    x = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        session.run(tf.nn.softmax(x, axis=3), {x: CUBE})
    with pytest.raises(ValueError, match="axis must be >= -1"):
        tf.one_hot(tf.placeholder(tf.int32), 3, axis=-2)


@pytest.mark.parametrize("name, wanted", [("max", [[3, 5, 1], [2, 2, 2], [9, 9, 9]]), ("min", [[1, 5, 1], [2, 2, 2], [9, 9, 9]])])
def test_nan_counts_in_a_segment_of_one_row_only(tf, name, wanted):
    """So it is in TensorFlow: what is compared leaves NaN out, a single row is copied."""
    nan = np.nan
    rows = np.array([[3, nan, 1], [1, 5, nan], [2, nan, 2], [9, 9, 9]], np.float32)
    expected = np.array(wanted, np.float32)
    expected[1, 1] = nan
    with tf.Session() as session:
        for _ in range(2):
            np.testing.assert_array_equal(session.run(getattr(tf, f"segment_{name}")(rows, [0, 0, 1, 2])), expected)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_mean", "reduce_prod", "reduce_logsumexp", "count_nonzero"])
def test_axes_of_a_reduction_are_a_vector(tf, name):
    reduce, x, unknown = getattr(tf, name), tf.ones([4, 3]), tf.placeholder(tf.float32)
    for value, axes in ((x, [[0], [1]]), (x, np.array([[0, 1]])), (unknown, [[0]]), (x, tf.placeholder(tf.int32, [None, None]))):
        with pytest.raises(ValueError, match="Shape must be at most rank 1 but is rank 2"):
            reduce(value, axes)
    axes = tf.placeholder(tf.int32)             # in a run TensorFlow takes them
    with tf.Session() as session:
        assert session.run(reduce(x, axes), {axes: [[0], [1]]}).shape == ()


@pytest.mark.parametrize("make, value", [
    (lambda tf, x, a: tf.reverse(x, a), 0),
    (lambda tf, x, a: tf.reverse(x, a), [[0]]),
    (lambda tf, x, a: tf.transpose(x, a), [[1, 0]]),
    (lambda tf, x, a: tf.slice(x, a, [1, 1]), [[0, 0]]),
    (lambda tf, x, a: tf.slice(x, [1, 1], a), [[0, 0]]),
    (lambda tf, x, a: tf.roll(x, a, [0]), [[1]]),
    (lambda tf, x, a: tf.roll(x, 1, a), [[0]]),
    (lambda tf, x, a: tf.roll(x, [1, 2], a), [0])])
@pytest.mark.parametrize("jit", ["off", "always"])
def test_what_names_axes_has_the_rank_it_should(tf, make, value, jit):
    x, fed = tf.ones([4, 3]), tf.placeholder(tf.int32)
    with pytest.raises(ValueError, match="but is rank|must be equal"):
        make(tf, x, value)
    later = make(tf, x, fed)
    with tf.Session(jit=jit) as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(later, {fed: value})


def test_an_array_of_one_element_is_a_number(tf):
    """As NumPy before 2 had it, and TensorFlow 1.15 with it."""
    for value in (tf.ones([4, 3]), tf.placeholder(tf.float32)):
        assert len(tf.unstack(value, num=np.array([4]))) == 4
    y = tf.nn.leaky_relu(tf.constant([-2.0]), alpha=np.array([0.5]))
    with tf.Session() as session:
        assert session.run(y).tolist() == [-1.0]
    with pytest.raises(TypeError, match="Expected int for argument 'num'"):
        tf.unstack(tf.placeholder(tf.float32), num=np.array([4, 4]))
