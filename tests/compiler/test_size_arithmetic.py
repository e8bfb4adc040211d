"""Arithmetic on sizes of fed arrays is arithmetic of its dtype: it wraps around, and one plan serves only sizes that do not."""
from __future__ import annotations

import numpy as np
import pytest

# for an array of 300 rows, as TensorFlow 1.15 gives them
AT_300 = {
    "n * 1000000 * 1000": -647710720,
    "tf.cast(n, tf.int8)": 44,
    "tf.cast(tf.cast(n, tf.int8), tf.int32) * 2": 88,
    "tf.cast(n, tf.uint8) * 100": 48,
    "tf.cast(n, tf.int16) * 1000": -27680,
    "tf.cast(n - 301, tf.uint8)": 255,
    "tf.cast(n, tf.int64) * 10**12": 300 * 10**12,
    "tf.cast(n * 2**24, tf.int64)": 738197504,
    "n**9": 497811456,
    "n + 2**31 - 1": -2147483349,
    "tf.maximum(n, 5) * 2**30": 0,
    "tf.reduce_prod(tf.shape(x) * 100000)": -69312512,
    "tf.reduce_sum(tf.stack([n, n * 2**23])) * 300": -939434096,
    "tf.fill([2], n * 2**24)[1]": 738197504,
    "tf.cast(tf.shape(x, out_type=tf.int64)[0], tf.int32) * 2**25": 1476395008,
    "tf.size(x) * 2**25": -1342177280,
    "-n": -300,
    "n // -7": -43,
    "tf.cast(n * 100000, tf.float16)": np.inf,
}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("text", AT_300)
def test_sizes_wrap_around(tf, text, jit):
    x = tf.placeholder(tf.float32, [None, 2])
    n = tf.shape(x)[0]
    y = eval(text, {"tf": tf, "n": n, "x": x})
    with tf.Session(jit=jit) as session:
        assert session.run(y, {x: np.zeros((300, 2))}) == AT_300[text]


@pytest.mark.parametrize("factor", [2**24, 2**31 // 100])
def test_a_plan_for_sizes_that_fit_is_not_used_for_those_that_do_not(tf, factor):
    x = tf.placeholder(tf.float32, [None])
    y = tf.shape(x)[0] * factor
    with tf.Session(jit="always") as session:
        for rows in (5, 100, 101, 127, 128, 300, 6):
            assert session.run(y, {x: np.zeros(rows)}) == np.int64(rows * factor).astype(np.int32)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_means_of_integers_wrap_around(tf, dtype, jit):
    x = tf.placeholder(dtype, [None, None])
    y = tf.reduce_mean(x, 0)
    limits = np.iinfo(dtype)
    with tf.Session(jit=jit) as session:
        for rows in (3, 5, 127, 130, 200):
            for value in (limits.max, limits.min, 1, limits.max // 2):
                array = np.full((rows, 2), value, dtype)
                total, count = int(array[:, 0].sum(dtype=dtype)), int(np.array(rows).astype(dtype))
                wanted = abs(total) // abs(count) * (1 if (total < 0) == (count < 0) else -1)
                for _ in range(2):
                    assert session.run(y, {x: array}).tolist() == [wanted] * 2


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("shape, axis", [((0,), 0), ((3, 0), 1), ((3, 0), -1), ((0, 3), 0)])
@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_there_is_no_place_along_an_empty_axis(tf, name, shape, axis, jit):
    x = tf.placeholder(tf.float32, [None] * len(shape))
    y = getattr(tf, name)(x, axis)
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Reduction axis .* is empty in shape"):
                session.run(y, {x: np.zeros(shape)})
