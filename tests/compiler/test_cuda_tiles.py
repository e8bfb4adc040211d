"""Maps for CUDA that turn what they read: both sides of memory see neighbours, each element moves once."""

import numpy as np
import pytest

from jitgraph.compiler.emit import cuda_tiles, simt
from jitgraph.compiler.emit.simt import SimulationError
from jitgraph.declare import prim

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("shape, perm", [((32, 64), (1, 0)), ((40, 64), (1, 0)), ((3, 48, 40), (0, 2, 1)), ((24, 2, 32), (2, 1, 0)),
                                         ((2, 16, 3, 40), (0, 3, 1, 2))])
@pytest.mark.parametrize("seed", [None, 1])
def test_a_turned_copy(scheduled, shape, perm, seed):
    x = RNG.standard_normal(shape).astype(np.float32)
    run, traffic = scheduled(lambda b, x: b.transpose(x, perm) * 2.0, x), simt.Traffic()
    (kernel,) = run.kernels
    assert "_tile = shared_f32(1056)" in kernel.source
    assert run.simulate(seed=seed, traffic=traffic, grid=(3, 0)) == 0
    np.testing.assert_array_equal(run.results()[0], x.transpose(perm) * 2)
    assert traffic.nbytes(0) == traffic.nbytes(1, True) == x.nbytes
    if all(n % 8 == 0 for n in (shape[-1], shape[perm[-1]])):
        assert traffic.sectors(0) == traffic.sectors(1, True) == x.nbytes // 32


@pytest.mark.parametrize("shape, perm", [((64, 128), (1, 0)), ((70, 100), (1, 0)), ((2, 65, 64), (0, 2, 1)), ((63, 64), (1, 0))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8])
def test_large_tiles(scheduled, monkeypatch, shape, perm, dtype):
    """Where there are enough of them for a device, and both sides are as long."""
    monkeypatch.setattr(cuda_tiles, "ENOUGH", 1)
    x = RNG.randint(0, 9, shape).astype(dtype)
    run, traffic = scheduled(lambda b, x: b.transpose(x, perm) + b.const(dtype(1)), x), simt.Traffic()
    side = 32 if 63 in shape else 64
    assert f"({side * (side + 1)})" in run.kernels[0].source
    assert run.simulate(seed=2, traffic=traffic, grid=(3, 0)) == 0
    np.testing.assert_array_equal(run.results()[0], x.transpose(perm) + dtype(1))
    assert traffic.nbytes(0) == traffic.nbytes(1, True) == x.nbytes


@pytest.mark.parametrize("shape", [(17, 33), (100, 31), (16, 16)])
@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.bool_, np.int32])
def test_any_size_and_type(scheduled, shape, dtype):
    x = RNG.randint(0, 2, shape).astype(dtype)
    run = scheduled(lambda b, x: prim.eq(b.transpose(x, (1, 0)), b.const(dtype(1))), x)
    assert run.simulate() == 0 and "_tile" in run.kernels[0].source
    np.testing.assert_array_equal(run.results()[0], x.T == 1)


def test_what_lies_along_is_read_where_it_is_used(scheduled):
    x, y, z, w = (RNG.standard_normal(shape).astype(np.float32) for shape in ((20, 36), (36, 20), (20,), (36, 1)))
    run = scheduled(lambda b, x, y, z, w: b.transpose(x, (1, 0)) + y * z - w, x, y, z, w)
    (kernel,) = run.kernels
    assert kernel.source.count("_tile = shared") == 1
    assert run.simulate() == 0
    np.testing.assert_array_equal(run.results()[0], x.T + y * z - w)


def test_every_barrier_is_needed(scheduled):
    run = scheduled(lambda b, x: b.transpose(x, (1, 0)) * 2.0, np.ones((40, 70), np.float32))
    (kernel,) = run.kernels
    lines = kernel.source.splitlines()
    for at in [k for k, line in enumerate(lines) if line.strip() == "barrier()"]:
        kernel.source = "\n".join(lines[:at] + lines[at + 1:]) + "\n"
        run.memory[run.inputs[0]] = RNG.standard_normal((40, 70)).astype(np.float32)
        with pytest.raises(SimulationError, match="race"):
            run.simulate(grid=(1, 0))


@pytest.mark.parametrize("build, shape", [
    (lambda b, x: b.transpose(x, (1, 0)) * 2.0, (15, 400)),                         # too few rows to fill a tile
    (lambda b, x: b.transpose(x, (1, 0, 2)) * 2.0, (20, 30, 40)),                   # neighbours stay neighbours
    (lambda b, x: b.slice(x, (0, 0), (20, 20), (1, 2)) * 2.0, (20, 40))])           # two apart, but in the same line
def test_otherwise_there_are_no_tiles(scheduled, build, shape):
    for kernel in scheduled(build, np.ones(shape, np.float32)).kernels:
        assert "_tile" not in kernel.source and cuda_tiles.emitter(kernel) is None


def test_a_variable_is_changed_by_what_is_turned(tf, on_the_grid):
    """As filters are by gradients that a library gives with their columns first."""
    v, x = tf.Variable(RNG.standard_normal((40, 33)).astype(np.float32)), tf.placeholder(tf.float32, [33, 40])
    launched = on_the_grid([tf.assign_sub(v, tf.transpose(x) * 0.5)], {x: RNG.standard_normal((33, 40)).astype(np.float32)})
    (kernel,) = (kernel for kernel in launched if any(param.use == "inout" for param in kernel.params))
    assert "_tile = shared_f32(1056)" in kernel.source
