"""Kernels for CUDA become PTX and object code, with neither GPU nor driver, where jitgraph[cuda] is installed."""

import re

import numpy as np
import pytest

from jitgraph.compiler.emit import cuda_compile, cuda_rows
from jitgraph.compiler.emit.cuda_compile import CompileError, ExtraMissing, compile_kernel, to_ptx
from jitgraph.compiler.emit.intrinsics import FLOAT_FUNCTIONS
from jitgraph.declare import prim
from jitgraph.declare.prim import ELEMENTARY

from . import assembled

compiles = pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")


@compiles
def test_program(program):
    for kernel in program.schedule().kernels:
        made = assembled.compile_kernel(kernel)
        assert f".visible .entry {kernel.name}(" in made.ptx and ".target sm_90" in made.ptx
        assert made.cubin.startswith(b"\x7fELF")
        assert made.spilled == made.stack == 0 and ".local" not in made.ptx
        assert 0 < made.registers <= 65536 // made.threads
        assert "call" not in made.ptx and ".extern" not in made.ptx
        assert f".maxntid {made.threads}" in made.ptx


@compiles
def test_elementwise_float32_stays_float32(programs):
    ptx = compile_kernel(programs["elementwise"].schedule().kernels[0]).ptx
    assert ".f64" not in ptx
    assert "ld.global.nc.f32" in ptx            # noalias: through the read-only cache


@compiles
def test_products_and_sums_are_not_joined(scheduled):
    x = np.zeros(100, np.float32)
    ptx = compile_kernel(scheduled(lambda b, x, y: x * y + y, x, x.copy()).kernels[0]).ptx
    assert "fma" not in ptx and "mul.rn.f32" in ptx and "add.rn.f32" in ptx


@compiles
def test_an_extreme_is_one_instruction_that_minds_nan(scheduled):
    ptx = compile_kernel(scheduled(lambda b, x: b.reduce("max", x, [0]), np.zeros((40, 50), np.float32)).kernels[0]).ptx
    assert "max.f32" in ptx and "max.NaN" not in ptx


@compiles
def test_reductions_fold_by_shuffles_and_share_memory(programs, monkeypatch):
    monkeypatch.setattr(cuda_rows, "LONGEST", 0)
    made = compile_kernel(programs["softmax"].schedule().kernels[0])
    assert made.ptx.count("shfl.sync.bfly") == 2 * (5 + 10)         # float32 maximum, float64 sum; warps, then block
    assert made.ptx.count("bar.sync") == 2
    assert made.shared >= 32 * 4 + 32 * 8


@compiles
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("names, axis", [(("add", "mul", "max", "min"), 0), (("add", "mul", "max", "min", "argmin"), 1)])
def test_reductions_of_every_type(scheduled, dtype, names, axis):
    x = np.zeros((40, 50), dtype)
    (kernel,) = scheduled(lambda b, x: [b.reduce(name, x * x, [axis]) for name in names], x).kernels
    assert kernel.kind == ("cols", "rows")[axis]
    assert compile_kernel(kernel).stack == 0


@compiles
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_float_function(scheduled, dtype):
    names = sorted(ELEMENTARY | set(FLOAT_FUNCTIONS) - {"fabs"} | {"sqrt", "rsqrt", "floor_mod", "trunc_mod", "is_inf"})
    for k in range(0, len(names), 12):
        def build(b, x, y):
            x = x + y           # in common, so that all share a kernel
            return [getattr(prim, n)(*(x, y)[:prim.PRIMS[n].arity]) for n in names[k:k + 12]]  # noqa: B023
        x = np.zeros(100, dtype)
        for kernel in scheduled(build, x, x.copy()).kernels:
            made = compile_kernel(kernel)
            assert made.stack == 0 and ".extern" not in made.ptx


@compiles
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64])
def test_every_integer_function(scheduled, dtype):
    names = ["floor_div", "floor_mod", "trunc_div", "trunc_mod", "pow", "max", "min", "bit_xor", "shift_left", "shift_right",
             "abs", "sign", "bit_not", "neg", "lt"]

    def build(b, x, y):
        x = x + y       # in common, so that all share a kernel
        values = [getattr(prim, n)(*(x, y)[:prim.PRIMS[n].arity]) for n in names]
        return [*values, b.cast(x, "float32"), b.cast(b.cast(x, "float64"), "uint8"), b.cast(x, "bool")]

    (kernel,) = scheduled(build, np.zeros(100, dtype), np.ones(100, dtype)).kernels
    assert {"b1", "f32", "u8"} <= {p.dtype for p in kernel.params}
    assert compile_kernel(kernel).stack == 0


@compiles
def test_the_same_text_gives_the_same_ptx_and_older_devices_get_theirs(programs):
    (kernel,) = programs["cross_entropy"].schedule().kernels
    given = kernel.source, kernel.name, cuda_compile.argument_codes(kernel), (256, 2)
    assert to_ptx(*given) == to_ptx(*given)
    made = compile_kernel(kernel, (8, 0))
    assert ".target sm_80" in made.ptx and made.cubin.startswith(b"\x7fELF")


@compiles
def test_a_kernel_that_does_not_compile_shows_its_text(programs):
    (kernel,) = programs["softmax"].schedule().kernels
    kernel.source = re.sub(r"exp\(\w+\)", "exp(x0)", kernel.source)
    with pytest.raises(CompileError, match=r"exp\(x0\)"):
        compile_kernel(kernel)


def test_a_newer_toolkit_is_told_in_one_sentence(programs, monkeypatch):
    """As NVVM 13.4 writes it, whose PTX nvJitLink 13.0 and drivers of version 580 do not read."""
    monkeypatch.setattr(cuda_compile, "to_ptx", lambda *given: "//\n.version 9.4\n.target sm_90\n")
    with pytest.raises(ExtraMissing, match=r"^compiling for CUDA needs the NVVM of CUDA 13.0.*PTX 9.4.* read 9.0: .*\[cuda\]'$"):
        compile_kernel(programs["elementwise"].schedule().kernels[0])


def test_without_the_extra_one_sentence_says_what_to_install(programs, monkeypatch):
    import importlib.metadata

    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    cuda_compile.numba_cuda.cache_clear()
    with pytest.raises(ExtraMissing, match=r"^compiling for CUDA needs .*pip install 'jitgraph\[cuda\]'$"):
        compile_kernel(programs["elementwise"].schedule().kernels[0])
