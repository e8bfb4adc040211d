"""What may be fed: a plain integer only where the dtype keeps it as it is, as in TensorFlow."""
import numpy as np
import pytest


@pytest.fixture
def feed(tf):
    """A function that feeds a value to a placeholder of a dtype and gives what arrives."""

    def run(dtype, value):
        x = tf.placeholder(dtype)
        with tf.Session() as session:
            return session.run(tf.identity(x), {x: value})

    return run


@pytest.mark.parametrize("dtype, value", [
    ("bool", 3), ("bool", -1), ("float16", 2**40), ("float16", 70000), ("float16", 2**12 + 1), ("float32", 2**24 + 1),
    ("float64", 2**53 + 1), ("float64", 10**400), ("complex64", 2**24 + 1), ("int8", 300), ("uint8", -1), ("int64", 2**63)])
def test_an_integer_that_would_change_is_refused(feed, dtype, value):
    with pytest.raises(TypeError, match="Try explicitly setting the type of the feed tensor to a larger type"):
        feed(dtype, value)


@pytest.mark.parametrize("dtype, value", [
    ("bool", 1), ("bool", 0), ("bool", True), ("float16", 2**12), ("float32", 2**70), ("bfloat16", 70000),
    ("complex64", -7), ("float32", True), ("int8", True), ("uint8", 255)])
def test_an_integer_that_stays_is_taken(feed, dtype, value):
    assert feed(dtype, value) == np.asarray(value).astype(feed(dtype, value).dtype)


def test_integers_of_arrays_and_lists_wrap_around(feed):
    assert feed("int8", np.array([2**40 + 1])).tolist() == [1] == feed("int8", [2**40 + 1]).tolist()
    assert feed("bool", [3, 0]).tolist() == [True, False]
    with pytest.raises(TypeError, match="Cannot feed value"):
        feed("int8", [2**70])
