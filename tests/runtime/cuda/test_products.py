"""Matrix products by cuBLASLt: the same descriptors on the FakeDriver, beside NumPy, and on the library where it is installed."""

import ctypes
import itertools

import ml_dtypes
import numpy as np
import pytest

from jitgraph.runtime.cuda import cublaslt, products
from jitgraph.runtime.cuda.cublaslt import Attribute, Layout, Preference
from jitgraph.runtime.cuda.driver import DriverError
from jitgraph.runtime.cuda.installed import NotFound
from jitgraph.runtime.cuda.products import Addresses, Product, Products

from .drivers import OneDevice

RNG = np.random.default_rng(0)
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "fb16": ml_dtypes.bfloat16}
FLAGS = list(itertools.product((False, True), (False, True)))


def library():
    try:
        return cublaslt.load()[0]
    except NotFound as error:
        pytest.skip(f"cuBLASLt: {error}")


def product(m, k, n, turned=(False, False), factor="f32", batch=1, **given):
    a, b = ((m, k)[::-1] if turned[0] else (m, k)), ((k, n)[::-1] if turned[1] else (k, n))
    return Product(m, n, k, batch, (0, m * k, a[1]), (0, k * n, b[1]), turned, factor, given.pop("result", factor), **given)


class Bench(OneDevice):
    """A fake device with its library, and arrays brought there."""

    def __init__(self, driver):
        super().__init__(driver)
        self.products = Products(driver.library(0, "library_products"))
        self.workspace = driver.alloc(0, 4096)

    def run(self, p, a, b, c=None, bias=None):
        prepared = self.products.prepare(p, self.workspace)
        shape, dtype = (p.batch, p.rows, p.columns), DTYPES[p.result]
        at = [self.bring(x) if x is not None else 0 for x in (a, b, c, bias)]
        y = self.bring(np.full(shape, np.nan, dtype))
        self.products.run(prepared, Addresses(*at, y), self.workspace, self.stream)
        return self.taken(y, shape, dtype)


@pytest.fixture
def bench(fake):
    return Bench(fake())


def factors(p):
    """(as they lie, as they are meant)"""
    found = []
    for flag, shape in zip(p.turned, ((p.rows, p.terms), (p.terms, p.columns))):
        meant = RNG.standard_normal((p.batch, *shape)).astype(DTYPES[p.factor])
        found.append((np.swapaxes(meant, 1, 2) if flag else meant, meant.astype(np.float64)))
    return found


@pytest.mark.parametrize("factor, result", [("f32", "f32"), ("f64", "f64"), ("f16", "f32"), ("f16", "f16"), ("fb16", "f32"),
                                            ("fb16", "fb16")])
@pytest.mark.parametrize("turned", FLAGS)
def test_every_layout_and_type(bench, turned, factor, result):
    for m, k, n, batch in ((1, 1, 1, 1), (3, 5, 7, 1), (4, 8, 12, 3), (1, 9, 2, 2)):
        p = product(m, k, n, turned, factor, batch, result=result)
        (a, x), (b, y) = factors(p)
        np.testing.assert_allclose(bench.run(p, a, b).astype(np.float64), x @ y, rtol=1e-6,
                                   atol={"f32": 1e-5, "f64": 1e-13, "f16": 4e-3, "fb16": 4e-2}[result])


@pytest.mark.parametrize("relu, bias, beta", list(itertools.product((False, True), (False, True), (0.0, 1.0, -1.0))))
def test_what_is_done_after_a_product(bench, relu, bias, beta):
    p = product(4, 6, 5, batch=2, alpha=-0.5, beta=beta, relu=relu, bias=bias)
    (a, x), (b, y) = factors(p)
    c = RNG.standard_normal((2, 4, 5)).astype(np.float32)
    row = RNG.standard_normal(5).astype(np.float32)
    want = -0.5 * (x @ y) + beta * c + (row if bias else 0)
    found = bench.run(p, a, b, c if beta else None, row if bias else None)
    np.testing.assert_allclose(found, np.maximum(want, 0) if relu else want, atol=1e-5)


def test_a_factor_that_all_of_a_batch_share_and_rows_apart(bench):
    wide = RNG.standard_normal((3, 10)).astype(np.float32)
    p = product(3, 4, 2, batch=2)._replace(a=(5, 0, 10))        # columns 5 to 8 of rows of ten
    (_, _), (b, y) = factors(p)
    np.testing.assert_allclose(bench.run(p, wide, b), wide[:, 5:9] @ y, atol=1e-5)


def test_added_up_in_place_in_a_graph_as_often_as_it_is_launched(bench):
    p, driver = product(2, 3, 4, beta=1.0), bench.driver
    (a, x), (b, y) = factors(p)
    prepared = bench.products.prepare(p, bench.workspace)
    at = [bench.bring(v) for v in (a, b, np.zeros((2, 4), np.float32))]
    driver.synchronize(bench.stream)
    driver.begin_capture(bench.stream)
    bench.products.run(prepared, Addresses(at[0], at[1], at[2], 0, at[2]), bench.workspace, bench.stream)
    graph = driver.instantiate(driver.end_capture(bench.stream))
    for _ in range(3):
        driver.launch_graph(graph, bench.stream)
    np.testing.assert_allclose(bench.taken(at[2], (1, 2, 4), np.float32), 3 * (x @ y), atol=1e-5)


def test_a_product_is_late_and_overwrites_its_workspace(bench):
    p = product(2, 2, 2)
    (a, _), (b, _) = factors(p)
    at = [bench.bring(v) for v in (a, b, np.zeros((2, 2), np.float32))]
    kept = np.zeros(4096, np.uint8)
    bench.driver.to_device(bench.workspace, kept, bench.stream)
    bench.driver.synchronize(bench.stream)
    bench.products.run(bench.products.prepare(p, bench.workspace), Addresses(*at[:2], 0, 0, at[2]), bench.workspace,
                            bench.stream)
    assert not bench.products._library.multiplied
    assert bench.taken(bench.workspace, 4096, np.uint8)[:512].all() and bench.products._library.multiplied == ["plain"]


def test_an_address_outside_of_its_memory_is_refused(bench):
    p = product(4, 4, 4)
    at = [bench.bring(np.zeros(size, np.float32)) for size in (16, 15, 16)]
    with pytest.raises(DriverError, match="matrix a of cublasLtMatmul: out of bounds"):
        bench.products.run(bench.products.prepare(p, bench.workspace), Addresses(*at[:2], 0, 0, at[2]), bench.workspace,
                                bench.stream)


def test_factors_are_rounded_to_tf32_where_that_is_asked_for(bench):
    a, b = np.full((1, 1, 2), 1 + 2.0**-12, np.float32), np.ones((1, 2, 1), np.float32)
    assert bench.run(product(1, 2, 1), a, b) == 2 + 2.0**-11
    assert bench.run(product(1, 2, 1, short=True), a, b) == 2
    assert bench.run(product(1, 2, 1, short=True), np.full((1, 1, 2), np.inf, np.float32), b) == np.inf


@pytest.mark.parametrize("p", [product(0, 2, 3), product(2, 0, 3), product(2, 2, 0), product(2, 2, 3, batch=0),
                               product(3, 4, 2)._replace(a=(0, 0, 1)),
                               product(2, 2, 2, alpha=0.0), product(2, 2, 2, factor="f16", result="f64")])
def test_what_the_library_declines(bench, p):
    assert bench.products.prepare(p, bench.workspace) is None


def test_a_status_says_what_to_do(bench, monkeypatch):
    monkeypatch.setattr(bench.products._library, "cublasLtMatrixLayoutCreate", lambda *given: 13, raising=False)
    with pytest.raises(DriverError, match="cublasLtMatrixLayoutCreate failed with unknown: the GPU failed"):
        bench.products.prepare(product(2, 2, 2), bench.workspace)


# on the library itself -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["fake", "real"])
@pytest.mark.parametrize("factor, compute", [("f32", 68), ("f64", 70), ("f16", 68), ("fb16", 68)])
def test_descriptors_hold_what_they_are_told(fake, kind, factor, compute):
    lib = library() if kind == "real" else fake().library(0, "library_products")
    p = product(3, 5, 7, (True, False), factor, 4, bias=True, relu=True)._replace(a=(2, 15, 9))
    made = products.described(lib, p, 1 << 20)
    ask = made.operation.get
    assert (ask(Attribute.TRANSA, ctypes.c_int32), ask(Attribute.TRANSB, ctypes.c_int32)) == (0, 1)
    assert ask(Attribute.EPILOGUE, ctypes.c_uint32) == 6 and ask(Attribute.BIAS_POINTER, ctypes.c_uint64) == (1 << 20) + 16
    assert ask(Attribute.POINTER_MODE, ctypes.c_int32) == 0
    for layout, sides, step, apart in ((made.first, (7, 5), 7, 35), (made.second, (3, 5), 9, 15), (made.result, (7, 3), 7, 21)):
        assert (layout.get(Layout.ROWS, ctypes.c_uint64), layout.get(Layout.COLS, ctypes.c_uint64)) == sides
        assert layout.get(Layout.LD, ctypes.c_int64) == step and layout.get(Layout.BATCH_COUNT, ctypes.c_int32) == 4
        assert layout.get(Layout.STRIDED_BATCH_OFFSET, ctypes.c_int64) == apart
        assert layout.get(Layout.TYPE, ctypes.c_uint32) == products.TYPES[factor] and layout.get(Layout.ORDER, ctypes.c_int32) == 0
    wide = products.WIDTH[factor]
    assert made.wanted.get(Preference.MIN_ALIGNMENT_B_BYTES, ctypes.c_uint32) == 2 * wide
    assert made.wanted.get(Preference.MIN_ALIGNMENT_A_BYTES, ctypes.c_uint32) == 16
    assert made.wanted.get(Preference.MAX_WORKSPACE_BYTES, ctypes.c_uint64) == products.WORKSPACE


@pytest.mark.parametrize("kind", ["fake", "real"])
def test_a_descriptor_takes_no_value_of_another_size(fake, kind):
    lib = library() if kind == "real" else fake().library(0, "library_products")
    made = products.described(lib, product(2, 2, 2), 0)
    with pytest.raises(DriverError, match="SetAttribute failed with CUBLAS_STATUS_INVALID_VALUE: .*JITGRAPH_WITHOUT"):
        made.first.set(Layout.LD, ctypes.c_int32(2))


def test_the_library_says_its_version_and_that_it_needs_a_gpu():
    lib = library()
    assert cublaslt.version(lib).startswith("13.")
    with pytest.raises(DriverError, match="cublasLtCreate failed with CUBLAS_STATUS_NOT_INITIALIZED: .*is a GPU there"):
        Products(lib)


def test_a_library_that_is_not_there(monkeypatch):
    pathfinder = pytest.importorskip("cuda.pathfinder")

    def refuse(name):
        raise RuntimeError(f"no {name} here\nmore")

    monkeypatch.setattr(pathfinder, "load_nvidia_dynamic_lib", refuse)
    cublaslt.load.cache_clear()
    with pytest.raises(NotFound, match="no cublasLt here"):
        cublaslt.load()
    cublaslt.load.cache_clear()
