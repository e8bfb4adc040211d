"""Reductions of columns for CUDA: neighbours by one load, several rows on their way, every row counted once."""

import numpy as np
import pytest

from jitgraph.compiler.emit import cuda_columns, cuda_compile, simt
from jitgraph.declare import prim
from jitgraph.graph import dtypes

from .assembled import compile_kernel

RNG = np.random.RandomState(0)


def sums(b, x):
    return b.reduce("add", x, [0]), b.reduce("max", x, [0])


def array(shape, dtype):
    if dtype == "bool":
        return RNG.randint(0, 2, shape).astype(bool)
    found = RNG.standard_normal(shape) if dtype in ("float32", "float64", "float16", "bfloat16") else RNG.randint(0, 9, shape)
    return found.astype(dtypes.as_dtype(dtype).as_numpy_dtype)


@pytest.mark.parametrize("rows", [1, 3, 8, 31, 33, 130])
@pytest.mark.parametrize("columns", [2, 12, 33, 64, 200])
@pytest.mark.parametrize("seed", [None, 1])
def test_any_size(scheduled, rows, columns, seed):
    x = array((rows, columns), "float32")
    run = scheduled(lambda b, x: sums(b, x * 2.0), x)
    assert run.simulate(seed=seed, grid=(2, 64) if seed else None) == 0
    np.testing.assert_allclose(run.results()[0], 2 * x.sum(0, dtype=np.float64), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(run.results()[1], 2 * x.max(0))


@pytest.mark.parametrize("shape", [(0, 8), (5, 0), (1, 1023), (40, 1025)])
def test_empty_and_uneven(scheduled, shape):
    x = array(shape, "float32")
    run = scheduled(lambda b, x: b.reduce("add", prim.abs(x), [0]), x)
    assert run.simulate() == 0
    np.testing.assert_allclose(run.results()[0], np.abs(x).sum(0), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int8", "int32", "uint8", "int64"])
@pytest.mark.parametrize("columns", [24, 33])
def test_other_types(scheduled, dtype, columns):
    x = array((37, columns), dtype)
    run = scheduled(sums, x)
    assert run.simulate(seed=2) == 0
    total, largest = run.results()
    wide = np.float64 if x.dtype.kind not in "iu" else np.int64
    wanted = x.astype(wide).sum(0)
    if dtype in ("float16", "bfloat16"):
        np.testing.assert_allclose(total.astype(np.float64), wanted, rtol=0.01, atol=0.02)
    else:
        np.testing.assert_allclose(total, wanted.astype(x.dtype), rtol=1e-12)
    np.testing.assert_array_equal(largest.astype(wide), x.astype(wide).max(0))


@pytest.mark.parametrize("columns", [8, 33])
def test_truth_values(scheduled, columns):
    x = array((41, columns), "float32")
    run = scheduled(lambda b, x: [b.reduce("or", prim.gt(x, 2.0), [0]), b.reduce("and", prim.gt(x, -2.0), [0]),
                                  b.reduce("add", b.cast(prim.gt(x, 0.0), "int32"), [0])], x)
    assert run.simulate() == 0
    for found, wanted in zip(run.results(), [(x > 2).any(0), (x > -2).all(0), (x > 0).sum(0)], strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("columns", [16, 33])
def test_what_is_not_a_number_or_a_zero_less_than_none(scheduled, columns):
    """A row that does not count adds nothing, and is no extreme."""
    x = -np.ones((5, columns), np.float32)
    x[2, 1], x[:, 2] = np.nan, np.inf
    run = scheduled(lambda b, x: [*sums(b, x), b.reduce("mul", x, [0])], x)
    assert run.simulate() == 0
    total, largest, product = run.results()
    assert np.isnan(total[1]) and total[2] == np.inf and (total[3:] == -5).all()
    assert largest[1] == -1 and largest[2] == np.inf and (largest[3:] == -1).all() and (product[3:] == -1).all()


@pytest.mark.parametrize("dtype, columns, neighbours", [("float32", 64, 4), ("float32", 33, 1), ("float16", 64, 8),
                                                        ("float16", 36, 4)])
def test_neighbours_come_and_go_together(scheduled, dtype, columns, neighbours):
    """As in the gradients of a batch normalisation: what is masked is stored, and summed up with and without a factor."""
    g, x = array((50, columns), dtype), array((50, columns), dtype)
    mean = array((columns,), dtype)

    def build(b, g, x, mean):
        masked = prim.select(prim.gt(x, 0.0), g, b.const(0.0, x.dtype))
        return b.reduce("add", masked, [0]), b.reduce("add", masked * (x - mean), [0]), masked

    run, traffic = scheduled(build, g, x, mean), simt.Traffic()
    (kernel,) = run.kernels
    assert cuda_columns.ColumnEmitter(kernel).each == neighbours
    assert run.simulate(traffic=traffic, seed=4) == 0
    masked = np.where(x > 0, g, np.zeros_like(g))
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 0.02, "atol": 0.1}
    np.testing.assert_allclose(run.results()[0], masked.sum(0, dtype=np.float64), **close)
    np.testing.assert_allclose(run.results()[1], (masked * (x - mean)).sum(0, dtype=np.float64), **close)
    np.testing.assert_array_equal(run.results()[2], masked)
    stored = next(k for k, value in enumerate(kernel.buffers) if value is run.outputs[2])
    assert traffic.nbytes(stored, True) == masked.nbytes
    if neighbours * masked.itemsize == 16:
        assert traffic.sectors(stored, True) == masked.nbytes // 32


def test_several_kept_and_reduced_axes(scheduled):
    x = array((3, 7, 5, 2, 6), "float32")
    run = scheduled(lambda b, x: b.reduce("add", x * x, [1, 2]), x)
    (kernel,) = run.kernels
    assert [loop.size for loop in kernel.loops] == [3, 35, 12]
    assert run.simulate(seed=1) == 0
    np.testing.assert_allclose(run.results()[0], (x.astype(np.float64) ** 2).sum((1, 2)), rtol=1e-5)


def test_rows_that_do_not_lie_evenly(scheduled):
    x = array((4, 6, 5, 24), "float32")
    run = scheduled(lambda b, x: b.reduce("add", b.slice(x, (0, 1, 0, 4), (4, 3, 5, 12)), [0, 1, 2]), x)
    assert run.simulate(seed=1) == 0
    np.testing.assert_allclose(run.results()[0], x[:, 1:4, :, 4:16].sum((0, 1, 2)), rtol=1e-4, atol=1e-5)


def test_kept_axes_around_what_is_summed_are_one(scheduled):
    """As the parts of a gradient are, summed up for each number of a filter: columns are as many as there are such numbers."""
    x = array((4, 6, 5), "float32")
    run = scheduled(lambda b, x: b.reduce("add", prim.abs(x), [0]), x)
    assert [tuple(loop) for loop in run.kernels[0].loops] == [(4, "reduce"), (30, "inner")]
    assert run.simulate() == 0
    np.testing.assert_allclose(run.results()[0], np.abs(x).sum(0), rtol=1e-5)


def test_sums_of_a_single_row_are_that_row(scheduled):
    x = array((1, 6, 5), "float32")
    (kernel,) = scheduled(lambda b, x: b.reduce("add", x * 2.0, [0]) + 1.0, x).kernels
    assert kernel.kind == "map"


def test_a_variable_that_its_column_changes(scheduled):
    class Variable:
        name, _device = "v", ""

    x = array((9, 36), "float32")
    run = scheduled(lambda b, x: b.write(Variable, 1, b.read(Variable, 0, (36,), x.dtype) - b.reduce("add", x * 0.5, [0])), x)
    assert run.simulate(seed=3) == 0
    np.testing.assert_allclose(run.memory[Variable], 1 - 0.5 * x.sum(0), rtol=1e-5, atol=1e-6)


def test_few_columns_share_a_warp(scheduled):
    """A warp has as many rows at once as their columns leave room for."""
    x = array((64, 3), "float32")
    run, traffic = scheduled(lambda b, x: b.reduce("add", x, [0]), x), simt.Traffic()
    (kernel,) = run.kernels
    assert cuda_columns.ColumnEmitter(kernel).lanes == 4
    assert run.simulate(traffic=traffic) == 0 and traffic.sectors(0) <= 2 * x.nbytes // 32
    np.testing.assert_allclose(run.results()[0], x.sum(0), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
def test_loads_are_under_way_before_the_first_is_waited_for(scheduled, dtype, capability):
    def build(b, x, y, mean):
        masked = prim.select(prim.gt(y, 0.0), x, b.const(0.0, x.dtype))
        return b.reduce("add", masked, [0]), b.reduce("add", masked * (y - mean), [0])

    given = [np.broadcast_to(np.zeros((), dtype), shape) for shape in ((1568, 1024), (1568, 1024), (1024,))]
    for kernel in scheduled(build, *given).kernels:
        made = compile_kernel(kernel, capability)
        assert made.spilled == made.stack == 0 and ".local" not in made.ptx and made.shared <= 48 << 10
        if kernel.parts:
            assert made.registers <= 80 and "ld.global.nc.v" in made.ptx
            assert made.ptx.count("ld.global.nc.v") <= 9            # of one turn of the loop: it is not unrolled again
