"""Reductions of every kind over all axes of shapes with dimensions of size 1, around the sizes at which the compiler
takes another way, against NumPy."""
import itertools

import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.compiler.emit import cpu, loops, sequential
from jitgraph.compiler.tuning import CPU

OPS = {"reduce_sum": np.sum, "reduce_max": np.max, "reduce_min": np.min, "reduce_mean": np.mean, "reduce_prod": np.prod}
SEARCHES = {"argmax": np.argmax, "argmin": np.argmin}
ROWS = CPU.parted // CPU.parted_rows      # elements of each, where there are just enough rows to be shared out


def around(*thresholds):
    """The sizes next to each threshold."""
    return sorted({t + step for t in thresholds for step in (-1, 0, 1)})


def check(tf, shape, make=lambda tf, x: x, view=lambda x: x, dtype=np.float32):
    """All reductions over all axes of what `make` makes, and of a computed value, give what NumPy gives of `view`."""
    value = (np.random.RandomState(0).randint(-8, 9, shape) / 8).astype(dtype)
    x = tf.placeholder(dtype, shape)
    fetches, expected = [], []
    for computed in (False, True):
        y, z = make(tf, x + x if computed else x), view(value + value if computed else value)
        every = [axes for n in range(1, z.ndim + 1) for axes in itertools.combinations(range(z.ndim), n)]
        for (name, meaning), axes in itertools.product(OPS.items(), every):
            keep = len(axes) == 1
            if name == "reduce_prod":           # of numbers close to 1, so that it stays in range
                fetches.append(tf.reduce_prod(1 + y / 4096, axes, keep))
                expected.append(np.prod(1 + z.astype(np.float64) / 4096, axes, keepdims=keep))
            else:
                fetches.append(getattr(tf, name)(y, axes, keep))
                expected.append(meaning(z.astype(np.float64), axes, keepdims=keep))
        for (name, meaning), axis in itertools.product(SEARCHES.items(), range(z.ndim)):
            fetches.append(getattr(tf, name)(y, axis))
            expected.append(meaning(z, axis))
    with tf.Session(jit="always") as session:
        found = session.run(fetches, {x: value})
    for tensor, a, b in zip(fetches, found, expected):
        assert a.shape == b.shape, tensor
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6 * max(value.size, 1) ** 0.5, err_msg=str((shape, tensor)))


@pytest.mark.parametrize("n", around(CPU.parted))
@pytest.mark.parametrize("ones", ["n1", "n11", "1n1", "11n", "1n"])
def test_a_long_axis_beside_ones(tf, n, ones):
    check(tf, [n if c == "n" else 1 for c in ones])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows, columns", [
    *((n, ROWS) for n in around(CPU.parted_rows)), *((CPU.parted_rows, n) for n in around(ROWS)),
    *((n, 2) for n in around(CPU.parted // 2)), *((2, n) for n in around(cpu.COLUMNS))])
@pytest.mark.parametrize("ones", ["nm", "n1m", "1nm1"])
def test_rows_that_are_shared_out(tf, rows, columns, ones):
    check(tf, [{"n": rows, "m": columns, "1": 1}[c] for c in ones])


@pytest.mark.parametrize("n", around(2, loops.LITERAL_EXTENT, CPU.column_parts, CPU.partials, cpu.STRETCH, sequential.SEARCH_BLOCK,
                                     cpu.SEARCH_BLOCK, cpu.SUM_BLOCK))
def test_lengths_at_which_a_kernel_changes(tf, n):
    for shape in ([n], [n, 1], [3, n], [n, 3], [1, n, 2], [2, n, 1]):
        check(tf, shape)


@pytest.mark.parametrize("perm", list(itertools.permutations(range(3))))
def test_what_was_made_in_another_order(tf, perm):
    """The kernel that makes a value runs through it in another order than its reduction does."""
    check(tf, [CPU.parted_rows, ROWS // 4, 8], lambda tf, x: tf.transpose(x, perm), lambda x: x.transpose(perm))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [s for n in (1, 2, 3) for s in itertools.product((1, 2, 17), repeat=n)])
def test_small_shapes(tf, shape):
    check(tf, list(shape))


@pytest.mark.parametrize("dtype", ["int32", "int8", "float64", "uint16"])
def test_dtypes(tf, dtype):
    x = tf.placeholder(dtype, [None, 1])
    value = np.random.RandomState(0).randint(0, 100, (CPU.parted, 1)).astype(dtype)
    with tf.Session(jit="always") as session:
        total, largest, least = session.run([tf.reduce_sum(x, 0), tf.reduce_max(x, 0), tf.reduce_min(x, 0)], {x: value})
    np.testing.assert_array_equal(total, value.sum(0, dtype=dtype))
    assert [*largest, *least] == [value.max(), value.min()]


@pytest.mark.parametrize("shape, axes", [((CPU.parted, 1), 0), ((CPU.parted, 1, 1), 0), ((400, 500, 1), (0, 1)),
                                         ((64, 64, 64, 1), (0, 1, 2))])
def test_a_kernel_makes_as_many_parts_as_there_is_room_for(tf, shape, axes):
    x = tf.placeholder(tf.float32, shape)
    program = compiler.compile(tf.get_default_graph(), [tf.reduce_sum(x, axes)], feeds={x: shape})
    parted = [step[0] for step in program.layout.steps if step[0].parts]
    assert parted and all(k.parts == k.buffers[-1].shape[0] for k in parted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_short_rows_whose_length_comes_with_the_run(tf, dtype):
    """Vector loops, and what they leave: the same kernels for all lengths."""
    x = tf.placeholder(dtype, [None, None])
    fetches = [reduce(x, axis) for reduce in (tf.reduce_max, tf.reduce_min, tf.reduce_sum, tf.argmax) for axis in (0, 1)]
    fetches.append(tf.reduce_max(x, 1) + tf.reduce_sum(x * x, 1))
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        for n in [*range(1, 20), 31, 33, 64, 65]:
            value = -np.random.RandomState(n).randint(1, 9, (5, n)).astype(dtype)
            for a, b in zip(session.run(fetches, {x: value}), reference.run(fetches, {x: value})):
                np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=str(n))
