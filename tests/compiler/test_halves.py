"""Floats of 16 bits in kernels of the CPU: they load and store these, compute with float32, and round each result as the reference
does."""

import numpy as np
import pytest

import jitgraph
from jitgraph.compiler.emit import cpu_features
from jitgraph.graph import dtypes

HALVES = ["float16", "bfloat16"]
RNG = np.random.RandomState(7)

pytestmark = pytest.mark.skipif(not cpu_features.has_halves(), reason="this machine converts float16 by function calls")


def draw(dtype, *shape):
    return RNG.standard_normal(shape).astype(dtypes.as_dtype(dtype).as_numpy_dtype)


@pytest.fixture
def both(tf, host_steps):
    """both(fetches, feeds): results of the reference and of kernels, with nothing on the host but what is counted."""
    def run(fetches, feeds, on_host=0):
        assert len(host_steps(fetches, feeds)) == on_host
        results = []
        for jit in ("off", "always"):
            with tf.Session(jit=jit) as session:
                results.append(session.run(fetches, feeds))
        return zip(*results)

    return run


def same(got, wanted):
    return got.dtype == wanted.dtype and np.array_equal(got.astype(np.float64), wanted.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("columns", [1, 7, 16, 33])
def test_each_result_is_rounded(tf, both, dtype, columns):
    x, y = (tf.placeholder(dtype, [3, columns]) for _ in range(2))
    fetches = [(x * y + 3.0) / (x - y) - tf.sqrt(tf.abs(x)), tf.maximum(x, y) - tf.floor(x), tf.where(x > y, x, -y),
               tf.concat([x, y], 0), tf.gather(x, [2, 0]), tf.transpose(x) + 1.0, tf.reverse(x, [1]), tf.pad(x, [[1, 0], [0, 2]])]
    for wanted, got in both(fetches, {x: draw(dtype, 3, columns), y: draw(dtype, 3, columns)}):
        assert same(got, wanted)


def test_every_float16_becomes_itself_and_every_float32_the_nearest(tf, both):
    every = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(all="ignore"):
        near = np.concatenate([every.view(np.float16).astype(np.float32) * (1 + step) for step in (-2 ** -12, 0, 2 ** -12)])
    for dtype in HALVES:
        x, y = tf.placeholder(dtype, [None]), tf.placeholder(tf.float32, [None])
        kind = dtypes.as_dtype(dtype).as_numpy_dtype
        for wanted, got in both([tf.cast(x, tf.float32), tf.cast(y, dtype)], {x: every.view(kind), y: near}):
            assert same(got, wanted)


def test_float64_is_rounded_once(tf, both):
    """1 + 2^-11 is halfway between two float16: what is a little above rounds up, though as a float32 it lies halfway."""
    values = np.array([1 + 2 ** -11, 1 + 2 ** -11 + 2 ** -40, 1 + 2 ** -11 - 2 ** -40, 1e300, -1e300, 2 ** -25 * (1 + 2 ** -40),
                       np.nan, np.inf, -0.0])
    x = tf.placeholder(tf.float64, [9])
    (wanted, got), = both([tf.cast(x, tf.float16)], {x: values})
    assert same(got, wanted) and got[1] == np.float16(1 + 2 ** -10) and got[2] == 1


@pytest.mark.parametrize("dtype", HALVES)
def test_what_is_no_number_stays_so(tf, both, dtype):
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e4, -6e4, 1e-7], dtypes.as_dtype(dtype).as_numpy_dtype)
    x, y = tf.placeholder(dtype, [8]), tf.placeholder(dtype, [8])
    fetches = [x + x, x * y, x < y, tf.is_nan(x), tf.reduce_max(x), tf.reduce_min(x), tf.argmax(x), tf.nn.relu(x)]
    for wanted, got in both(fetches, {x: values, y: values[::-1].copy()}):
        assert same(got, wanted)


@pytest.mark.parametrize("dtype, near", [("float16", 2 ** -10), ("bfloat16", 2 ** -7)])
def test_rows_columns_products_and_windows(tf, both, dtype, near):
    x, w = tf.placeholder(dtype, [6, 40]), tf.placeholder(dtype, [40, 12])
    image, filters = tf.placeholder(dtype, [2, 6, 6, 3]), tf.placeholder(dtype, [3, 3, 3, 4])
    fetches = [tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.nn.softmax(x), tf.nn.relu(tf.matmul(x, w)),
               tf.nn.conv2d(image, filters, [1, 2, 2, 1], "SAME"), tf.nn.max_pool(image, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")]
    fetches += tf.gradients(fetches[3], [x, w]) + tf.gradients(fetches[4], [image, filters])
    feeds = {one: draw(dtype, *one.shape.as_list()) for one in (x, w, image, filters)}
    for wanted, got in both(fetches, feeds):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=2 * near, atol=8 * near)


def test_a_value_that_waits_in_an_output_row(tf, both):
    """The exponentials of a softmax wait in the row that its result goes to: as 16 bits."""
    x = tf.placeholder(tf.float16, [5, 100])
    (wanted, got), = both([tf.nn.softmax(x)], {x: draw("float16", 5, 100)})
    np.testing.assert_allclose(got.astype(np.float64).sum(1), 1, atol=0.01)
    np.testing.assert_allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=2 ** -8)


@pytest.mark.parametrize("target", ["cpu", "cuda-simulator"])
def test_random_numbers_of_16_bits_are_those_of_the_reference(tf, monkeypatch, target):
    """They are not those of 32 bits, rounded."""
    monkeypatch.setenv("JITGRAPH_TARGET", target)
    found = []
    for jit in ("off", "always"):
        tf.reset_default_graph()
        fetches = [tf.random_uniform([9], dtype=tf.float16, seed=3), tf.random_normal([9], dtype=tf.bfloat16, seed=3)]
        with tf.Session(jit=jit) as session:
            found.append(session.run(fetches))
    for wanted, got in zip(*found):
        assert same(got, wanted)


def test_a_variable_is_changed_in_place(tf):
    v = tf.Variable(np.ones(20, np.float16))
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(tf.cast(v, tf.float32) ** 2))
    found = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step)
            found.append(session.run(v))
    np.testing.assert_allclose(found[0].astype(np.float64), found[1].astype(np.float64), rtol=2 ** -9)
    assert jitgraph.float16 == v.dtype.base_dtype


@pytest.mark.parametrize("dtype", HALVES)
def test_rows_of_a_variable_are_changed_in_place(tf, host_steps, dtype):
    """Also where one row is changed several times: each sum is rounded."""
    kind, found = dtypes.as_dtype(dtype).as_numpy_dtype, []
    start = np.arange(40).reshape(10, 4).astype(kind)
    for jit in ("off", "always"):
        tf.reset_default_graph()
        v, ids, rows = tf.Variable(start), tf.placeholder(tf.int32, [None]), tf.placeholder(dtype, [None, 4])
        steps = [tf.scatter_add(v, ids, rows), tf.scatter_mul(v, ids, rows), tf.scatter_max(v, ids, rows)]
        random = np.random.RandomState(3)
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            for step in steps * 2:
                session.run(step, {ids: random.randint(0, 10, 7), rows: random.standard_normal((7, 4)).astype(kind)})
            found.append(session.run(v))
    assert same(*found)
    assert not host_steps([steps[0]], {ids: np.array([1, 2]), rows: np.ones((2, 4), kind)})
