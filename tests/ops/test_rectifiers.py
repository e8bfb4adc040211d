"""Which of two equal numbers, and what of NaN, rectifiers give: the same in every run, and what TensorFlow gives."""
import numpy as np
import pytest

RECTIFIERS = {"relu": (0.0, np.inf), "relu6": (0.0, 6.0)}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", RECTIFIERS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rectifiers_leave_a_zero_and_nan_as_they_are(tf, jit, name, dtype):
    low, high = RECTIFIERS[name]
    numbers = np.tile(np.array([-0.0, 0.0, np.nan, -np.inf, np.inf, -1.0, 6.0, 7.0, 0.5], dtype), 5)    # vectors and a rest
    wanted = np.where(numbers < low, low, np.where(numbers > high, high, numbers)).astype(dtype)
    x = tf.placeholder(dtype, [None])
    with tf.Session(jit=jit) as session:
        got = session.run(getattr(tf.nn, name)(x), {x: numbers})
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_bound_may_be_fed(tf, jit):
    """A bound that is the same for all numbers, whatever it is."""
    x, bound = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [])
    clipped = tf.clip_by_value(x, bound, 6.0)
    numbers = np.linspace(-9, 9, 37, dtype=np.float32)
    with tf.Session(jit=jit) as session:
        for low in (-np.inf, -2.5, -0.0, 0.0, 6.0):
            np.testing.assert_array_equal(session.run(clipped, {x: numbers, bound: low}), np.clip(numbers, low, 6))
