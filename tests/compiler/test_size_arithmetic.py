"""Arithmetic on sizes of fed arrays is arithmetic of its dtype: it wraps around, and one plan serves only sizes that do not."""
from __future__ import annotations

import numpy as np
import pytest

from jitgraph.compiler import compile
from jitgraph.compiler.place import HostStep

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


@pytest.mark.parametrize("text, holds", [
    ("tf.equal(tf.shape(x), tf.shape(x + 1.0))", [True, True]), ("tf.not_equal(tf.shape(x)[0], tf.shape(x)[0] + 1)", True),
    ("tf.equal(tf.stack([tf.shape(x)[0], 5]), [tf.shape(x)[0], 6])", [True, False]), ("tf.equal(tf.shape(x)[0], 7)", False),
    ("tf.equal(n * 2, n + n)", True), ("tf.not_equal([n, 7], [[n], [7]])", [[False, True], [True, False]])])
def test_sizes_are_compared(tf, text, holds):
    """One plan serves all sizes; where sizes that are not equal now may be, it tells in the run."""
    x = tf.placeholder(tf.float32, [None, 2])
    y = eval(text, {"tf": tf, "x": x, "n": tf.shape(x)[0]})
    with tf.Session(jit="always") as session:
        for rows in (300, 5, 301):
            np.testing.assert_array_equal(session.run(y, {x: np.zeros((rows, 2))}), holds)
        if "7" in text:
            equal = session.run(y, {x: np.zeros((7, 2))})
            assert equal.all() if "not" not in text else not equal.any()


def test_a_check_of_sizes_that_always_holds_does_not_run(tf):
    """As ``tf.nn.dynamic_rnn`` checks that there is a length for each sequence."""
    x, lengths = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    checked = tf.Assert(tf.reduce_all(tf.equal(tf.shape(lengths), tf.stack([tf.shape(x)[0]]))), ["lengths", tf.shape(lengths)])
    with tf.control_dependencies([checked]):
        y = x * 2.0
    rows = {n: {x: (n, 3), lengths: (m,)} for n, m in ((4, 4), (5, 4))}
    left = [[op.type for op in _on_the_host(compile(tf.get_default_graph(), [y], [], rows[n]))] for n in rows]
    assert left == [[], ["Assert"]]
    with tf.Session(jit="always") as session:
        for n in (4, 9):
            assert session.run(y, {x: np.ones((n, 3)), lengths: np.zeros(n)}).sum() == 6 * n
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[lengths\] \[8\]"):
            session.run(y, {x: np.ones((9, 3)), lengths: np.zeros(8)})


def _on_the_host(program):
    return [step.node.op for step in program.layout.steps if isinstance(step, HostStep)]
