"""Powers by numbers that one operation or two give, as TensorFlow's graph optimizer has them."""
import numpy as np
import pytest

SIMPLE = {1.0: lambda x: x, 2.0: lambda x: x * x, 3.0: lambda x: x * x * x, -1.0: lambda x: 1 / x, 0.5: np.sqrt,
          -0.5: lambda x: 1 / np.sqrt(x)}
NUMBERS = np.concatenate([np.random.RandomState(0).uniform(-3, 3, 1000), [0.0, np.inf, -np.inf, np.nan]])


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("exponent", SIMPLE)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_power_by_a_known_number_has_the_bits_of_the_simple_expression(tf, jit, exponent, dtype):
    x = tf.placeholder(dtype, [None])
    numbers = NUMBERS.astype(dtype)
    with tf.Session(jit=jit) as session, np.errstate(all="ignore"):
        np.testing.assert_array_equal(session.run(x**exponent, {x: numbers}), SIMPLE[exponent](numbers))


@pytest.mark.parametrize("jit", ["off", "always"])
def test_other_powers_are_exact_to_a_unit(tf, jit):
    x = tf.placeholder(tf.float32, [None])
    numbers = NUMBERS[:1000].astype(np.float32)
    for exponent in (4.0, -2.0, 5.0):
        with tf.Session(jit=jit) as session:
            np.testing.assert_array_max_ulp(session.run(x**exponent, {x: numbers}),
                                            (numbers.astype(np.float64) ** exponent).astype(np.float32), 1)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_an_integer_to_a_negative_power_is_refused(tf, jit):
    with tf.Session(jit=jit) as session:
        assert list(session.run(tf.pow(tf.constant([-3, 2]), 3))) == [-27, 8]
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
            session.run(tf.pow(tf.constant([2, 3]), -1))


@pytest.mark.parametrize("jit", ["off", "always"])
def test_the_exponent_may_have_more_axes_than_the_base(tf, jit):
    with tf.Session(jit=jit) as session:
        assert session.run(tf.pow(tf.constant([1.0, 2.0, 3.0]), [[2.0]])).tolist() == [[1, 4, 9]]


def test_slopes_of_simple_powers(tf):
    x = tf.placeholder(tf.float32, [None])
    numbers = NUMBERS[:1000].astype(np.float32)
    with tf.Session(jit="always") as session:
        slope = session.run(tf.gradients(tf.pow(x, 3), x)[0], {x: numbers})
    np.testing.assert_array_equal(slope, np.float32(3) * (numbers * numbers))
