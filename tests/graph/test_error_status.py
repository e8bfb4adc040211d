"""The status that old programs write around calls of the C interface."""
import pytest


def test_what_a_status_tells_of_is_raised_at_the_end(tf):
    with tf.errors.raise_exception_on_not_ok_status() as status:
        assert status.code == tf.errors.OK
    with pytest.raises(tf.errors.NotFoundError, match="no such file"):
        with tf.errors.raise_exception_on_not_ok_status() as status:
            status.code, status.message = tf.errors.NOT_FOUND, "no such file"


def test_an_error_inside_goes_on(tf):
    with pytest.raises(KeyError):
        with tf.errors.raise_exception_on_not_ok_status():
            raise KeyError("x")
