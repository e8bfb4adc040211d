"""The largest and smallest of a row: NaN does not count, wherever it stands, alone or beside other results."""
import numpy as np
import pytest

OTHERS = {"alone": lambda tf, x: [], "beside a sum": lambda tf, x: [tf.reduce_sum(tf.where(tf.is_nan(x), tf.zeros_like(x), x), 1)],
          "beside a stored value": lambda tf, x: [tf.abs(x)]}


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_at_any_place(tf, dtype, others):
    x = tf.placeholder(tf.as_dtype(dtype), [None, 150])
    fetches = [tf.reduce_max(x, 1), tf.reduce_min(x, 1), *OTHERS[others](tf, x)]
    value = np.random.RandomState(0).standard_normal((152, 150)).astype(dtype)
    for row in range(150):
        value[row, row] = np.nan
    value[150, :149], value[151, ::2] = np.nan, np.nan
    with tf.Session(jit="always") as session:
        largest, smallest, *_ = session.run(fetches, {x: value})
    np.testing.assert_array_equal(largest, np.nanmax(value, 1))
    np.testing.assert_array_equal(smallest, np.nanmin(value, 1))


def test_nothing_but_nan(tf):
    x = tf.placeholder(tf.float32, [None, 70])
    with tf.Session(jit="always") as session:
        largest, smallest = session.run([tf.reduce_max(x, 1), tf.reduce_min(x, 1)], {x: np.full((3, 70), np.nan, np.float32)})
    assert (largest == -np.inf).all() and (smallest == np.inf).all()


@pytest.mark.parametrize("shape", [(2, 1), (None, None)], ids=["known", "unknown"])
def test_one_element_alone_is_the_extreme_even_if_it_is_nan(tf, shape):
    x = tf.placeholder(tf.float32, shape)
    fetches = [f(x, 1, keepdims=keep) for f in (tf.reduce_max, tf.reduce_min) for keep in (False, True)]
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            for found in session.run(fetches, {x: [[np.nan], [1]]}):
                np.testing.assert_array_equal(found.ravel(), [np.nan, 1])
            if shape[0] is None:
                np.testing.assert_array_equal(session.run(fetches[0], {x: [[np.nan, 1]]}), [1])
                np.testing.assert_array_equal(session.run(fetches[0], {x: [[np.nan]]}), [np.nan])
