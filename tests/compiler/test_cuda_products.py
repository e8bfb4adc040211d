"""Matrix products for CUDA: every shape and layout beside NumPy's, in any order of threads, and what their object code needs."""

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, Options, compile
from jitgraph.compiler.emit import cuda_compile
from jitgraph.compiler.emit.cuda_compile import compile_kernel
from jitgraph.compiler.emit.simt import SimulationError
from jitgraph.compiler.place import DeviceStep
from jitgraph.declare import prim

RNG = np.random.RandomState(0)
compiles = pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
LAYOUTS = [(False, False), (False, True), (True, False), (True, True)]


def multiplied(scheduled, m, k, n, ta=False, tb=False, dtype=np.float32, batch=()):
    """(the scheduled product, what NumPy gives)."""
    x, y = RNG.standard_normal((*batch, m, k)).astype(dtype), RNG.standard_normal((*batch, k, n)).astype(dtype)
    given = [np.ascontiguousarray(np.swapaxes(a, -1, -2)) if flag else a for a, flag in ((x, ta), (y, tb))]
    return scheduled(lambda b, x, y: b.matmul(x, y, ta, tb), *given), x.astype(np.float64) @ y.astype(np.float64)


def check(run, want, kinds=("matmul",), **order):
    assert [kernel.kind for kernel in run.kernels] == [*kinds]
    assert run.simulate(**order) == 0
    (found,) = run.results()
    np.testing.assert_allclose(found, want, rtol=0, atol=2e-4 if found.dtype == np.float32 else 1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ta, tb", LAYOUTS)
@pytest.mark.parametrize("m, k, n", [(3, 5, 7), (4, 8, 12), (31, 33, 2), (33, 16, 65), (2, 103, 3)])
def test_every_layout(scheduled, m, k, n, ta, tb):
    check(*multiplied(scheduled, m, k, n, ta, tb))


@pytest.mark.slow
@pytest.mark.parametrize("ta, tb", LAYOUTS)
@pytest.mark.parametrize("m, k, n", [(68, 36, 64), (2, 1023, 3), (64, 40, 66)])
def test_every_layout_of_larger_ones(scheduled, m, k, n, ta, tb):
    """One of few tiles and many terms is shared out by its terms, and its parts are added up."""
    check(*multiplied(scheduled, m, k, n, ta, tb), ("matmul", "cols") if k > 1000 else ("matmul",))


@pytest.mark.parametrize("ta, tb", LAYOUTS)
def test_float64(scheduled, ta, tb):
    check(*multiplied(scheduled, 8, 20, 12, ta, tb, np.float64))


def test_float64_beyond_a_tile(scheduled):
    check(*multiplied(scheduled, 66, 17, 68, True, False, np.float64))


@pytest.mark.parametrize("m, k, n", [(0, 5, 7), (3, 0, 7), (3, 5, 0)])
def test_nothing(scheduled, m, k, n):
    """No terms make zeros; no rows or columns make nothing."""
    check(*multiplied(scheduled, m, k, n))


def test_batches_and_views(scheduled):
    check(*multiplied(scheduled, 5, 8, 9, batch=(2, 3)))
    check(*multiplied(scheduled, 4, 8, 12, False, True, batch=(3,)))
    x, y = RNG.standard_normal((6, 3, 8)).astype(np.float32), RNG.standard_normal((8, 10)).astype(np.float32)
    run = scheduled(lambda b, x, y: b.matmul(b.transpose(b.slice(x, (1, 0, 0), (5, 3, 8)), [1, 0, 2]),
                                             b.broadcast(y, (3, 8, 10))), x, y)
    check(run, x[1:].transpose(1, 0, 2).astype(np.float64) @ y)


@pytest.mark.parametrize("m, n", [(130, 132), (129, 131)])
def test_large_tiles(scheduled, monkeypatch, m, n):
    """From so many on that all multiprocessors have one: 128 rows and columns, 64 sums in each thread."""
    monkeypatch.setattr("jitgraph.compiler.emit.cuda_products.MANY", 2)
    monkeypatch.setattr("jitgraph.compiler.emit.cuda_products.EMPTY", 2)
    run, want = multiplied(scheduled, m, 12, n)
    assert run.kernels[0].name.startswith("product_128_f32")
    check(run, want, seed=1)


@pytest.mark.parametrize("columns, tile", [(32, 64), (64, 64), (96, 128), (128, 128), (192, 64), (256, 128), (320, 128)])
def test_tiles_that_would_be_half_empty_are_small(scheduled, monkeypatch, columns, tile):
    monkeypatch.setattr("jitgraph.compiler.emit.cuda_products.MANY", 2)
    run, _ = multiplied(scheduled, 256, 8, columns)
    assert run.kernels[0].name.startswith(f"product_{tile}_f32")


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_threads_changes_no_bit(scheduled, seed):
    x, y = RNG.standard_normal((40, 30)).astype(np.float32), RNG.standard_normal((30, 70)).astype(np.float32)
    runs = [scheduled(lambda b, x, y: b.matmul(x, y), x, y) for _ in range(3)]
    runs[0].simulate()
    runs[1].simulate(seed=seed)
    runs[2].simulate(grid=(1, 256))
    assert runs[0].results()[0].tobytes() == runs[1].results()[0].tobytes() == runs[2].results()[0].tobytes()


def test_both_barriers_are_needed(scheduled):
    run, _ = multiplied(scheduled, 20, 40, 20)
    (kernel,) = run.kernels
    lines = kernel.source.splitlines()
    barriers = [k for k, line in enumerate(lines) if line.strip() == "barrier()"]
    assert len(barriers) == 2
    for k in barriers:
        kernel.source = "\n".join(lines[:k] + lines[k + 1:]) + "\n"
        with pytest.raises(SimulationError, match="race"):
            run.simulate()


@pytest.mark.parametrize("ta, tb", [(False, False), (True, True)])
def test_few_tiles_of_many_terms_share_out_the_terms(scheduled, tuned, ta, tb):
    """Each block adds up a part of them; a sum of columns adds the parts, in order."""
    tuned(part_terms=16)
    run, want = multiplied(scheduled, 5, 100, 6, ta, tb)
    product, total = run.kernels
    assert (product.kind, total.kind) == ("matmul", "cols") and [v.shape for v in product.buffers] == [
        (100, 5) if ta else (5, 100), (6, 100) if tb else (100, 6), (5, 5, 6)]      # factors are read where they lie
    assert run.simulate(seed=1) == 0
    np.testing.assert_allclose(run.results()[0], want, rtol=0, atol=2e-5)


def test_what_follows_a_shared_out_product_is_done_as_its_parts_are_added(scheduled):
    x, y, bias = (np.ones(shape, np.float32) for shape in ((8, 2048), (2048, 12), (12,)))
    kernels = scheduled(lambda b, x, y, z: prim.max(b.matmul(x, y) + z, 0.0), x, y, bias).kernels
    assert [kernel.kind for kernel in kernels] == ["matmul", "cols"] and kernels[0].buffers[-1].shape == (8, 8, 12)


@pytest.mark.parametrize("m, k, n", [(8, 1021, 12), (8, 500, 12), (1024, 1024, 1024)])
def test_one_block_has_all_terms(scheduled, m, k, n):
    """Where they cannot be shared out evenly, are few, or there is work enough."""
    run = scheduled(lambda b, x, y: b.matmul(x, y), np.ones((m, k), np.float32), np.ones((k, n), np.float32))
    assert len(run.kernels) == 1


def test_a_factor_that_has_to_be_copied_is_multiplied_whole(tf):
    """No strides lead to its rows, so there is nothing to take views of before it lies in memory."""
    x, y = tf.placeholder(tf.float32, [None, 4, 512]), tf.placeholder(tf.float32, [2048, 12])
    z = tf.matmul(tf.reshape(tf.transpose(x, [0, 2, 1]), [-1, 2048]), y)
    assert kinds(tf, z, {x: (3, 4, 512), y: (2048, 12)}) == ["map", "matmul"]


def kinds(tf, fetched, feeds, **options):
    """Those of the kernels of a plan."""
    program = compile(tf.get_default_graph(), [fetched], feeds=feeds, target=TARGETS["cuda"], options=Options(**options))
    return [step.kernel.kind for step in program.layout.steps if isinstance(step, DeviceStep)]


def test_terms_need_not_be_shared_out(tf):
    x, y = tf.placeholder(tf.float32, [None, 2048]), tf.placeholder(tf.float32, [2048, 12])
    feeds = {x: (3, 2048), y: (2048, 12)}
    assert kinds(tf, tf.matmul(x, y), feeds) == ["matmul", "cols"]
    assert kinds(tf, tf.matmul(x, y), feeds, off=frozenset(["split_products"])) == ["matmul"]


def test_products_of_one_layout_share_a_text(scheduled):
    sources = [multiplied(scheduled, m, 8, n)[0].kernels[0].source for m, n in ((3, 4), (50, 80))]
    assert sources[0] == sources[1]


def test_more_rows_than_divisions_take_are_the_hosts(scheduled):
    from jitgraph.compiler.emit import cuda_products

    run, _ = multiplied(scheduled, 8, 8, 8)
    (node,) = run.kernels[0].nodes
    assert node.kind.kernel(node, "cuda", Options()) is not None
    node.outputs[0].shape = (1 << 31, 8)
    assert cuda_products.emit(node) is None


@compiles
@pytest.mark.parametrize("many, dtype", [(2, np.float32), (10**9, np.float32), (10**9, np.float64)])
def test_object_code(scheduled, monkeypatch, many, dtype):
    """Sums stay in registers, both blocks of a multiprocessor fit, memory is read and written 16 bytes at a time."""
    monkeypatch.setattr("jitgraph.compiler.emit.cuda_products.MANY", many)
    (kernel,) = multiplied(scheduled, 256, 64, 256, dtype=dtype)[0].kernels
    assert kernel.name.startswith("product_128") == (many == 2)
    for capability in ((8, 0), (9, 0)):
        check_object_code(compile_kernel(kernel, capability), dtype)


def check_object_code(made, dtype):
    assert made.registers <= 128 and made.spilled == made.stack == 0 and made.shared <= 48 << 10
    assert "ld.global.nc.v" in made.ptx and "st.global.v" in made.ptx and "ld.shared.v" in made.ptx
    assert made.ptx.count("fma.rn.f") >= (64 if "128" in made.name else 16)
    assert "div.u64" not in made.ptx and (dtype == np.float64 or ".f64" not in made.ptx)
