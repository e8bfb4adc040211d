"""Reductions of columns: long ones are shared out by rows, and their parts combined."""
import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.declare import prim


def kernels(tf, fetches, feeds):
    program = compiler.compile(tf.get_default_graph(), fetches, [], {t: v.shape for t, v in feeds.items()})
    return [step[0] for step in program.layout.steps]


REDUCTIONS = {"sum": "float32 float64 int32 int64 uint8", "max": "float32 float64 int32 int8", "min": "float32 int64",
              "prod": "float64 int32", "mean": "float32 float64"}


@pytest.mark.parametrize("op, dtype", [(op, dtype) for op, dtypes in REDUCTIONS.items() for dtype in dtypes.split()])
@pytest.mark.parametrize("shape", [(1031, 257), (17, 61, 7, 31), (70, 9001)])
def test_reductions_over_the_first_axes(tf, agree, op, dtype, shape):
    x = tf.placeholder(tf.as_dtype(dtype), [None, *shape[1:]])
    y = getattr(tf, f"reduce_{op}")(x, list(range(len(shape) - 1)))
    random = np.random.RandomState(0)
    value = random.standard_normal(shape) if dtype.startswith("f") else random.randint(0, 100, shape)
    if op == "prod":
        value = 1 + value / 1000 if dtype.startswith("f") else value * 2 + 1
    value = value.astype(dtype)
    first, *rest = kernels(tf, [y], {x: value})
    assert first.parts and [k.parts for k in rest] == [False]
    agree([y], {x: value}, getattr(np, dtype))


@pytest.mark.parametrize("op", ["any", "all"])
def test_truth_values(tf, agree, op):
    x = tf.placeholder(tf.bool, [None, 300])
    value = np.random.RandomState(1).uniform(size=(700, 300)) < (0.002 if op == "any" else 0.998)
    y = getattr(tf, f"reduce_{op}")(x, 0)
    assert kernels(tf, [y], {x: value})[0].parts
    agree([y], {x: value}, bool)


def test_what_is_computed_on_the_way_is_stored_and_memory_read_once(tf, agree):
    """As in the gradient of a layer: a masked gradient and its sum, and two sums of the same numbers."""
    g, h = (tf.placeholder(tf.float32, [None, 200]) for _ in range(2))
    masked = g * tf.cast(h > 0.0, tf.float32)
    fetches = [masked, tf.reduce_sum(masked, 0), tf.reduce_sum(g * h, 0), tf.reduce_max(tf.abs(g), 0)]
    random = np.random.RandomState(2)
    feeds = {t: random.standard_normal((1500, 200)).astype(np.float32) for t in (g, h)}
    assert sum(k.parts > 0 for k in kernels(tf, fetches, feeds)) == 1
    agree(fetches, feeds, np.float32)


def test_nan_and_infinity(tf):
    x = tf.placeholder(tf.float32, [None, 512])
    value = np.ones((600, 512), np.float32)
    value[3, 0], value[599, 1], value[300, 2], value[301, 2] = np.nan, np.inf, np.inf, -np.inf
    with tf.Session(jit="always") as session:
        total, largest = session.run([tf.reduce_sum(x, 0), tf.reduce_max(x, 0)], {x: value})
    assert np.isnan(total[0]) and total[1] == np.inf and np.isnan(total[2]) and (total[3:] == 600).all()
    assert largest[1] == np.inf and largest[2] == np.inf and (largest[3:] == 1).all()


def test_one_plan_serves_few_and_many_rows(tf):
    x = tf.placeholder(tf.float32, [None, 300])
    y = tf.reduce_sum(x, 0)
    with tf.Session(jit="always") as session:
        for rows in (900, 3, 17, 1, 0, 2000):
            value = np.random.RandomState(rows).standard_normal((rows, 300)).astype(np.float32)
            np.testing.assert_allclose(session.run(y, {x: value}), value.sum(0, dtype=np.float64), rtol=1e-4, atol=1e-4)


def test_small_ones_stay_in_one_kernel(tf):
    x = tf.placeholder(tf.float32, [None, 256])
    (kernel,) = kernels(tf, [tf.reduce_sum(x, 0)], {x: np.zeros((128, 256), np.float32)})
    assert kernel.kind == "cols" and not kernel.parts


@pytest.mark.parametrize("shape", [(67, 45), (200, 33), (9, 8, 40)])
def test_parts_on_a_gpu(scheduled, tuned, shape):
    """The same in the simulator."""
    tuned(parted=100, parted_rows=64, block_elements=100)
    x = np.random.RandomState(3).standard_normal(shape).astype(np.float32)
    axes = list(range(len(shape) - 1))
    run = scheduled(lambda b, x: [b.reduce("add", x * x, axes), b.reduce("max", x, axes)], x)
    assert any(k.parts for k in run.kernels)
    assert run.simulate() == 0
    total, largest = run.results()
    np.testing.assert_allclose(total, (x.astype(np.float64) ** 2).sum(tuple(axes)), rtol=1e-5)
    np.testing.assert_array_equal(largest, x.max(tuple(axes)))


@pytest.mark.parametrize("rows", [0, 5, 3000])
def test_what_is_made_of_reductions_that_are_equal_in_all_columns(tf, agree, rows):
    x, y = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 70])
    largest = tf.reduce_max(tf.tanh(tf.broadcast_to(x, tf.shape(y))), 0)
    values = np.random.RandomState(0).standard_normal((rows, 1)).astype(np.float32)
    agree([largest * 2.0 + 1.0, tf.exp(largest)], {x: values, y: np.zeros((rows, 70), np.float32)}, np.float32)


@pytest.mark.parametrize("shape", [(3, 3, 1), (3, 0, 1), (3, 3, 0), (0, 3, 1), (1, 3, 1), (3, 5, 4)])
def test_what_is_made_of_sums_of_columns_that_are_repeated(tf, agree, shape):
    """All columns are equal, but what is made of their sum is not there before they are summed."""
    x = tf.placeholder(tf.float32, [None] * 3)
    wide = tf.tile(x, [1, 1, 2])
    agree([tf.tanh(tf.reduce_sum(wide, 1)), tf.exp(tf.reduce_max(wide, 1)) + 1.0, tf.nn.moments(wide, [1])[1]],
          {x: np.random.RandomState(0).standard_normal(shape).astype(np.float32)}, np.float32)


def test_repeated_columns_on_a_gpu(scheduled):
    x = np.random.RandomState(3).standard_normal((3, 7, 1)).astype(np.float32)
    run = scheduled(lambda b, x: [prim.tanh(b.reduce("add", b.broadcast(x, (3, 7, 40)), [1]))], x)
    assert run.kernels[0].kind == "cols" and run.simulate() == 0
    np.testing.assert_allclose(run.results()[0], np.tanh(x.sum(1)).repeat(40, 1), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int64"])
@pytest.mark.parametrize("shape", [(70, 33), (300, 5000), (3, 41, 17), (9, 1)])
def test_places_of_extremes_of_columns(tf, dtype, shape):
    """The first of several, never NaN, of nothing else the first row; a block of columns at a time, and with other reductions."""
    random = np.random.RandomState(0)
    value = random.randint(0, 100, shape).astype(dtype)
    if dtype.startswith("f"):
        value[random.random_sample(shape) < 0.3] = np.nan
        value[..., :2] = np.nan
        if shape[-1] > 3:
            value[-1, ..., 2:4] = np.inf, -np.inf
    x = tf.placeholder(dtype, shape)
    fetches = [tf.argmax(x, -2), tf.argmin(x, -2, output_type=tf.int32), tf.reduce_max(x * 2, -2), tf.argmax(x * 2, -2)]
    assert {kernel.kind for kernel in kernels(tf, fetches, {x: value})} <= {"cols", "map"} or shape[-1] == 1
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for a, b in zip(session.run(fetches, {x: value}), reference.run(fetches, {x: value})):
            np.testing.assert_array_equal(a, b)
