"""Conversions that there are none of: a run says so, as in TensorFlow 1.15."""
import pytest


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("value, target, named", [
    (["1", "2"], "float32", "string to float"), (["1"], "int64", "string to int64"), ([1.5], "string", "float to string"),
    ([True], "string", "bool to string"), ([1.0], "variant", "float to variant")])
def test_what_is_no_number_is_not_converted(tf, jit, value, target, named):
    fed = tf.placeholder_with_default(value, [None])
    for x in (fed, tf.constant(value)):
        y = tf.cast(x, target)
        assert y.dtype == tf.as_dtype(target)
        with tf.Session(jit=jit) as session, pytest.raises(tf.errors.UnimplementedError, match=f"Cast {named} is not supported"):
            session.run(y)


def test_strings_stay_strings(tf):
    assert tf.cast(tf.constant(["a"]), tf.string).dtype == tf.string
