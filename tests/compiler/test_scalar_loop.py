"""Loops over scalars as one kernel: which loops become one, and that it computes what the reference does."""
import numpy as np
import pytest

from jitgraph.compiler.loops.scalar_loop import scalar_loop


def loops(tf):
    return [op for op in tf.get_default_graph().get_operations() if op.type in ("While", "StatelessWhile")]


def outcome(tf, fetches, feed=None):
    """The values by the reference and by the kernel."""
    found = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            found.append(session.run(fetches, feed))
    return found


def test_the_text_of_a_kernel(tf):
    tf.while_loop(lambda i, x: i < 10, lambda i, x: (i + 1, x * 0.5), (0, 1.0))
    loop = scalar_loop(loops(tf)[0])
    assert loop.codes == ["i32", "f32", "i32", "i32", "f32"] and [c.item() for c in loop.constants] == [10, 1, 0.5]
    assert "while True:" in loop.kernel.source and "ticks >= end" in loop.kernel.source


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32", "int64", "uint8"])
def test_dtypes(tf, dtype):
    kind = tf.as_dtype(dtype)
    one, three = tf.constant(1, kind), tf.constant(3, kind)
    y = tf.while_loop(lambda i, a, b: i < 40, lambda i, a, b: (i + 1, b, a * three + b + one), (0, one, three))
    assert scalar_loop(loops(tf)[0]) is not None
    reference, compiled = outcome(tf, y)
    assert [v.dtype for v in compiled] == [v.dtype for v in reference]
    np.testing.assert_allclose(compiled, reference, rtol=1e-5)


def test_functions_booleans_and_branches(tf):
    x = tf.placeholder(tf.float32, [])

    def body(i, y, on):
        y = tf.case([(y > 2.0, lambda: tf.exp(-y)), (on, lambda: y + tf.sin(x))], default=lambda: tf.sqrt(tf.abs(y)) * 1.5)
        return i + 1, tf.where(y > x, y, tf.maximum(y, x) + 0.25), tf.logical_xor(on, tf.equal(i % 3, 0))

    y = tf.while_loop(lambda i, y, on: tf.logical_and(i < 60, y < 1e6), body, (0, 0.5, True))
    assert scalar_loop(loops(tf)[0]) is not None
    for value in (0.1, 1.3):
        reference, compiled = outcome(tf, y, {x: value})
        np.testing.assert_allclose(compiled, reference, rtol=1e-4)


def test_loops_inside_and_variables(tf):
    v = tf.Variable(3, name="v")

    def outer(i, total):
        _, total = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, (t + j * v) % 1009), (0, total))
        return i + 1, total

    y = tf.while_loop(lambda i, _: i < 50, outer, (0, 1))
    assert scalar_loop(loops(tf)[0]) is not None
    reference, compiled = outcome(tf, y)
    assert reference == compiled


def test_a_failing_iteration_is_reported_where_it_fails(tf):
    y = tf.while_loop(lambda i, t: i < 100, lambda i, t: (i + 1, t + 100 // (70 - i)), (0, 0))[1]
    assert scalar_loop(loops(tf)[0]) is not None
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session, pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            session.run(y)


@pytest.mark.parametrize("make", [
    lambda tf: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, tf.ones([2]))),
    lambda tf: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x + tf.random_uniform([])), (0, 1.0)),
    lambda tf: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x), (0, "text")),
    lambda tf: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.gather([1.0, 2.0, 3.0], i)), (0, 1.0)),
])
def test_other_loops_have_no_kernel(tf, make):
    make(tf)
    assert scalar_loop(loops(tf)[0]) is None


def test_loops_that_write_variables_have_no_kernel(tf):
    v = tf.Variable(0)

    def body(i):
        with tf.control_dependencies([v.assign_add(1)]):
            return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    assert scalar_loop(loops(tf)[0]) is None


REMAINDERS = {
    "sum": lambda tf, a, b: (b, (a + b) % 1009),
    "difference": lambda tf, a, b: (b, (a - b) % 1009),
    "three": lambda tf, a, b: ((a + b) % 1009, (a - b + 3) % 1009),
    "towards zero": lambda tf, a, b: (b, tf.truncatemod(a - b, 1009)),
    "masked": lambda tf, a, b: (tf.bitwise.bitwise_and(a + b, 255), (a + 40) % 256),
    "product": lambda tf, a, b: (b, (a * 2 + b) % 1009),
    "choice": lambda tf, a, b: (tf.where(a > b, b % 7, tf.constant(3, a.dtype)), (a + 2) % 7),
    "negative divisor": lambda tf, a, b: (b, (a + b) % -1009),
}
SPARED = {"sum", "difference", "three", "masked", "choice"}


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("name", REMAINDERS)
def test_remainders_of_numbers_in_a_known_range(tf, name, dtype):
    """Divisions are spared once the numbers are in range, whatever they are before; results are those of the reference."""
    limit = np.iinfo(dtype)
    start, other, count = (tf.placeholder(tf.as_dtype(kind), []) for kind in (dtype, dtype, "int32"))
    y = tf.while_loop(lambda i, a, b: i < count, lambda i, a, b: (i + 1, *REMAINDERS[name](tf, a, b)), (0, start, other))
    source = scalar_loop(loops(tf)[0]).kernel.source
    assert (source.count("while True:") == 2) == (name in SPARED), source
    for a, b in ((0, 1), (-5, 7), (limit.max, limit.min), (limit.min, -1), (1008, 1008), (-1009, 1009)):
        for iterations in (0, 1, 2, 3, 4, 37):
            reference, compiled = outcome(tf, y, {start: a, other: b, count: iterations})
            assert [int(v) for v in compiled] == [int(v) for v in reference], (a, b, iterations)
