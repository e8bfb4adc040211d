"""Rows of known length for CUDA: each element is read once and waits in registers."""

import numpy as np
import pytest

from jitgraph.compiler import sizes
from jitgraph.compiler.emit import cuda, cuda_rows, simt
from jitgraph.declare import prim

RNG = np.random.RandomState(0)


def softmax(b, x):
    e = prim.exp(x - b.reduce("max", x, [1], True))
    return e / b.reduce("add", e, [1], True)


def log_softmax(b, x):
    d = x - b.reduce("max", x, [1], True)
    return d - prim.log(b.reduce("add", prim.exp(d), [1], True))


def layer_norm(b, x, scale, shift):
    mean = b.reduce("add", x, [1], True) / float(x.shape[1])
    variance = b.reduce("add", (x - mean) * (x - mean), [1], True) / float(x.shape[1])
    return (x - mean) * prim.rsqrt(variance + 1e-5) * scale + shift


def moments(b, x):
    mean = b.reduce("add", x, [1], True) / float(x.shape[1])
    return mean, b.reduce("add", (x - mean) * (x - mean), [1]) / float(x.shape[1])


def exact(name, x, *rest):
    x = x.astype(np.float64)
    if name == "moments":
        return [x.mean(1, keepdims=True), x.var(1)]
    if name == "layer_norm":
        return [(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * rest[0] + rest[1]]
    z = x - x.max(1, keepdims=True)
    found = z - np.log(np.exp(z).sum(1, keepdims=True))
    return [found if name == "log_softmax" else np.exp(found)]


BUILDS = {build.__name__: build for build in (softmax, log_softmax, layer_norm, moments)}
LENGTHS = [2, 7, 16, 31, 64, 100, 511, 512, 1024, 1025, 2048, 5000]


def arrays(name, rows, columns):
    given = [RNG.standard_normal((rows, columns)).astype(np.float32)]
    return given + [RNG.standard_normal(columns).astype(np.float32) for _ in range(2 * (name == "layer_norm"))]


@pytest.mark.parametrize("columns", LENGTHS)
@pytest.mark.parametrize("name", BUILDS)
def test_each_element_is_read_once(scheduled, name, columns):
    given = arrays(name, 3, columns)
    run, traffic = scheduled(BUILDS[name], *given), simt.Traffic()
    (kernel,) = run.kernels
    assert kernel.threads and "while i1" not in kernel.source
    assert run.simulate(traffic=traffic) == 0
    for found, wanted in zip(run.results(), exact(name, *given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-6)
    assert traffic.nbytes(0) == given[0].nbytes
    if columns % 8 == 0 and columns > cuda_rows.ALONE:      # whole sectors, each read once
        assert traffic.sectors(0) == given[0].nbytes // 32
        assert name == "moments" or traffic.sectors(kernel.params.index(kernel.params[-1]), True) == given[0].nbytes // 32


@pytest.mark.parametrize("columns, threads, rows", [
    (16, 128, 128), (17, 128, 4), (512, 128, 4), (513, 64, 1), (1024, 64, 1), (1025, 128, 1), (4096, 256, 1), (16384, 512, 1),
    (32768, 1024, 1)])
def test_the_team_of_a_row(scheduled, columns, threads, rows):
    """A thread, a warp, a block: how many rows a block has, of so many threads."""
    kernel = scheduled(softmax, np.zeros((1000, columns), np.float32)).kernels[0]
    assert (kernel.threads, sizes.hint_of(kernel.items)) == (threads, -(-1000 // rows))
    work = cuda.launch(kernel)
    assert cuda.geometry(sizes.hint_of(work.blocks), sizes.hint_of(work.width), cuda.launch_bounds(kernel)[0])[1] == threads


@pytest.mark.parametrize("columns", [40, 2000])
def test_a_block_has_one_row_after_the_other(scheduled, columns):
    for seed in (None, 1):
        given = arrays("softmax", 9, columns)
        run = scheduled(softmax, *given)
        assert run.simulate(grid=(1, 32), seed=seed) == 0
        np.testing.assert_allclose(run.results()[0], exact("softmax", *given)[0], rtol=2e-5)


def waiting(scheduled, build, *given):
    return sorted(line.split()[0] for line in scheduled(build, *given).kernels[0].source.splitlines() if "_row = local_" in line)


def test_what_waits_is_little_and_dear(scheduled):
    """Of x + y the sum, not both; of exp(x) that, for it takes long; of x * 2 and x * 3 only x."""
    x = np.ones((2, 64), np.float32)

    def added(b, x, y):
        return softmax(b, x + y)

    def scaled(b, x):
        total = b.reduce("add", x * 2.0, [1], True) + b.reduce("max", x * 3.0, [1], True)
        return x * 2.0 + total * (x * 3.0)

    assert waiting(scheduled, added, x, x.copy()) == ["v2_row", "v5_row"]
    assert waiting(scheduled, scaled, x) == ["v0_row"]
    assert waiting(scheduled, lambda b, x: b.reduce("add", x, [1]), x) == []


def test_truth_values_wait_as_bytes(scheduled):
    x = RNG.standard_normal((3, 70)).astype(np.float32)

    def build(b, x):
        large = prim.gt(prim.sin(x), 0.0)
        count = b.reduce("add", b.cast(large, "float32"), [1], True)
        return prim.select(large, count, b.const(0.0, x.dtype) * count)

    run = scheduled(build, x)
    assert run.simulate() == 0 and "local_u8(" in run.kernels[0].source
    positive = np.sin(x) > 0
    np.testing.assert_array_equal(run.results()[0], np.where(positive, positive.sum(1, keepdims=True), 0))


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8])
@pytest.mark.parametrize("columns", [12, 300, 1100])
def test_other_types(scheduled, dtype, columns):
    x = RNG.randint(0, 9, (3, columns)).astype(dtype)
    run = scheduled(lambda b, x: x + b.reduce("max", x, [1], True), x)
    assert run.simulate() == 0
    np.testing.assert_array_equal(run.results()[0], x + x.max(1, keepdims=True))


def test_places_and_truth_values_are_folded(scheduled):
    for columns in (5, 100, 1100):
        x = RNG.randint(0, 50, (4, columns)).astype(np.float32)
        run = scheduled(lambda b, x: [b.reduce("argmin", x, [1]), b.reduce("or", prim.gt(x, 48.0), [1])], x)
        assert run.simulate() == 0
        np.testing.assert_array_equal(run.results()[0], x.argmin(1))
        np.testing.assert_array_equal(run.results()[1], (x > 48).any(1))


def test_rows_too_long_for_any_of_this_are_read_in_every_pass(scheduled):
    assert "while i1" in scheduled(softmax, np.zeros((2, 32772), np.float32)).kernels[0].source


@pytest.mark.parametrize("columns", [2048, 1300, 1025])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", BUILDS)
def test_what_registers_do_not_hold_waits_in_shared_memory_or_is_read_again(scheduled, monkeypatch, name, dtype, columns):
    """As rows of more than 16,384 columns have it, with less room."""
    given = [a.astype(dtype) for a in arrays(name, 2, columns)]
    run = scheduled(BUILDS[name], *given)
    run.simulate()
    whole = [np.array(one) for one in run.results()]
    monkeypatch.setattr(cuda_rows, "HELD", 4)
    monkeypatch.setattr(cuda_rows, "LESS", 4)
    for shared in (0, 128 * 8 * given[0].itemsize, 1 << 16):
        monkeypatch.setattr(cuda_rows, "SHARED", shared)
        run, traffic = scheduled(BUILDS[name], *given), simt.Traffic()
        (kernel,) = run.kernels
        assert run.simulate(seed=3, traffic=traffic) == 0
        for found, wanted in zip(run.results(), whole, strict=True):
            np.testing.assert_array_equal(found, wanted)
        assert ("more0" in kernel.source) == (shared > 0)
        assert shared and shared < 1 << 16 or (traffic.nbytes(0) > given[0].nbytes) == (not shared)
