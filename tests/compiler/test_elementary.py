"""The elementary functions: accuracy as their docstrings state it, special values, and that kernels of them vectorise.

`python tests/compiler/test_elementary.py` measures on many more points (minutes) and prints the table of errors.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import re
import subprocess
import sys

import llvmlite.binding as binding
import numpy as np
import pytest

from jitgraph.compiler import machine
from jitgraph.compiler.elementary import FUNCTIONS
from jitgraph.compiler.emit import cpu_features, native, vocabulary
from jitgraph.compiler.emit.instruction import numba_intrinsic
from jitgraph.compiler.emit.intrinsics import elementary_instruction

from . import elementary_fit

mp = pytest.importorskip("mpmath")
special = pytest.importorskip("scipy.special")

ALL = sorted(FUNCTIONS)
TYPES = [np.float32, np.float64]
BINARY = {"pow", "atan2"}
INF, NAN = np.inf, np.nan


def _sigmoid(x):
    return np.where(x > 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


def _lgamma(x):
    return np.where(x == -INF, INF, special.gammaln(x))


# name: (in float64, for the errors in float32; in mpmath, for those in float64; where to look for the latter)
REFERENCES = {
    "exp": (np.exp, mp.exp, [(-745, 709.7), (-1, 1)]),
    "expm1": (np.expm1, mp.expm1, [(-40, 709.7), (-1, 1), (-1e-5, 1e-5)]),
    "log": (np.log, mp.log, [(0, 3), (0.9, 1.1), (0, 1e300), (0, 1e-300)]),
    "log1p": (np.log1p, mp.log1p, [(-1, 3), (-0.1, 0.1), (0, 1e300), (-1e-7, 1e-7)]),
    "sigmoid": (_sigmoid, lambda x: 1 / (1 + mp.exp(-x)), [(-745, 40), (-5, 5)]),
    "tanh": (np.tanh, mp.tanh, [(-20, 20), (-1, 1), (-1e-5, 1e-5)]),
    "sinh": (np.sinh, mp.sinh, [(-710, 710), (-2, 2)]),
    "cosh": (np.cosh, mp.cosh, [(-710, 710), (-2, 2)]),
    "asinh": (np.arcsinh, mp.asinh, [(-2, 2), (-1e9, 1e9), (-1e300, 1e300)]),
    "acosh": (np.arccosh, mp.acosh, [(1, 1.1), (1, 3), (1, 1e10), (1, 1e300)]),
    "atanh": (np.arctanh, mp.atanh, [(-1, 1), (-0.1, 0.1)]),
    "sin": (np.sin, mp.sin, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9), (-1e15, 1e15), (-1e300, 1e300)]),
    "cos": (np.cos, mp.cos, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9), (-1e15, 1e15), (-1e300, 1e300)]),
    "tan": (np.tan, mp.tan, [(-10, 10), (-1e5, 1e5), (-1e9, 1e9), (-1e15, 1e15), (-1e300, 1e300)]),
    "asin": (np.arcsin, mp.asin, [(-1, 1), (0.49, 0.52)]),
    "acos": (np.arccos, mp.acos, [(-1, 1), (0.999, 1)]),
    "atan": (np.arctan, mp.atan, [(-1, 1), (-3, 3), (-100, 100)]),
    "atan2": (np.arctan2, mp.atan2, [((-1, 1), (-1, 1)), ((-1e-3, 1e-3), (-1, 1)), ((-1e300, 1e300), (-8e307, 8e307))]),
    "pow": (np.power, mp.power, [
        ((0.5, 2), (-1e3, 1e3)), ((0, 1e300), (-1, 1)), ((0, 10), (-5, 5)), ((0, 1e-99), (-1, 1)),
    ]),
    "sqrt": (np.sqrt, mp.sqrt, [(0, 10), (0, 1e300)]),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: 1 / mp.sqrt(x), [(0, 10), (0, 1e300)]),
    "erf": (special.erf, mp.erf, [(-6, 6), (-1.2, 1.2), (-1e-5, 1e-5)]),
    "erfc": (special.erfc, mp.erfc, [(-6, 6), (-1, 1), (0, 26.5)]),
    "lgamma": (_lgamma, lambda x: mp.loggamma(x), [(0, 4), (0.9, 1.1), (1.9, 2.1), (0, 100), (0, 1e300)]),
    "digamma": (special.digamma, mp.digamma, [(1, 2), (0, 3), (0, 50), (0, 1e300)]),
}


def stated_error(name, dtype):
    """The largest error in ULP that the docstring of a function states."""
    found = re.search(r"Error: ([\d.]+) ULP \(float32\), ([\d.]+) ULP \(float64\)", FUNCTIONS[name].__doc__)
    if not found:
        return 0.5  # correctly rounded
    return float(found[1 if dtype == np.float32 else 2])


def arguments32(name, count, rng):
    """Float32 arguments: bit patterns of all sizes, and the range where most happens."""
    def one():
        patterns = rng.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
        return np.concatenate([patterns, *(rng.uniform(-size, size, count).astype(np.float32) for size in (2, 110))])

    if name == "pow":
        x = np.exp(rng.uniform(-80, 80, 3 * count))
        x[:count] = rng.uniform(0.5, 2, count)
        y = rng.uniform(-1, 1, 3 * count) * 100 / np.maximum(np.abs(np.log(x)), 0.1)
        return [x.astype(np.float32), y.astype(np.float32)]
    if name in ("lgamma", "digamma"):
        return [np.abs(one())]  # near their poles float64 is no reference
    return [one() for _ in range(2 if name in BINARY else 1)]


def arguments64(name, count, rng):
    """Lists of float64 arguments, one for each of the ranges in `REFERENCES`."""
    for limits in REFERENCES[name][2]:
        pair = limits if name in BINARY else [limits]
        if name == "pow":
            x = rng.uniform(*pair[0], count)
            yield [x, np.clip(rng.uniform(*pair[1], count), *(s * 700 / np.abs(np.log(x)) for s in (-1, 1)))]
        else:
            yield [rng.uniform(low, high, count) for low, high in pair]


def ulp_errors32(name, arrays, got):
    """Errors in ULP of float32 results; infinite where only one of result and reference is NaN or infinite."""
    with np.errstate(all="ignore"):
        wanted = np.asarray(REFERENCES[name][0](*(a.astype(np.float64) for a in arrays)))
        rounded = wanted.astype(np.float32)
        spacing = np.spacing(np.abs(rounded)).astype(np.float64)
        errors = np.abs(got - wanted) / spacing
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    return np.where(np.isfinite(got) & np.isfinite(rounded), errors, np.where(same, 0, INF))


def ulp_error64(name, arguments, got):
    """Error in ULP of one float64 result."""
    wanted = REFERENCES[name][1](*(mp.mpf(float(a)) for a in arguments))
    return float(abs(mp.mpf(float(got)) - wanted) / mp.mpf(float(np.spacing(abs(float(wanted))))))


def worst64(name, count, rng, evaluate):
    """(largest error in ULP, its arguments) over all ranges."""
    digits = 340 if name in ("sin", "cos", "tan") else 40
    with mp.workdps(digits):
        found = [
            (ulp_error64(name, arguments, got), arguments)
            for arrays in arguments64(name, count, rng)
            for arguments, got in zip(zip(*arrays), evaluate(*arrays))
        ]
    return max(found)


@pytest.mark.parametrize("name", ALL)
def test_float32_errors_are_as_stated(name):
    arrays = arguments32(name, 20000, np.random.default_rng(1))
    errors = ulp_errors32(name, arrays, machine.evaluate(FUNCTIONS[name], *arrays))
    worst = int(np.argmax(errors))
    assert errors[worst] <= stated_error(name, np.float32), [a[worst] for a in arrays]


@pytest.mark.parametrize("name", ALL)
def test_float64_errors_are_as_stated(name):
    def evaluate(*arrays):
        return machine.evaluate(FUNCTIONS[name], *arrays)

    error, arguments = worst64(name, 60, np.random.default_rng(2), evaluate)
    assert error <= stated_error(name, np.float64), arguments


@pytest.mark.parametrize("name", ALL)
def test_without_fma_errors_stay_small(name):
    arrays = arguments32(name, 5000, np.random.default_rng(3))
    errors = ulp_errors32(name, arrays, machine.evaluate(FUNCTIONS[name], *arrays, has_fma=False))
    assert errors.max() <= stated_error(name, np.float32) + 1.5


VALUES = [0.0, 1, 0.5, 2, 3, 7.5, 7.0, 89, 100, 104, 1e30, 8388609.0, INF]
VALUES += [-x for x in VALUES] + [NAN]
LIMITS = {
    np.float32: [1e-45, -1e-45, 1e-40, 3.4e38, -3.4e38, 88.7228, 88.7229, -103.97, -103.98, -87.4],
    np.float64: [5e-324, -5e-324, 1e-310, 1.7e308, -1.7e308, 709.7827, 709.7828, -745.13, -745.14, -708.5],
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ALL)
def test_special_values(name, dtype):
    """Signs of zeros, infinities, NaN, denormal and largest numbers, thresholds of overflow."""
    values = np.array(VALUES + LIMITS[dtype], dtype)
    arrays = [v.ravel() for v in np.meshgrid(values, values)] if name in BINARY else [values]
    if name == "lgamma":
        arrays = [values[(np.abs(values) > 1e-300) | (values == 0)]]  # SciPy has no lgamma of denormal numbers
    got = machine.evaluate(FUNCTIONS[name], *arrays)
    with np.errstate(all="ignore"):
        wide = [a.astype(np.float64) for a in arrays]
        wanted = np.asarray(REFERENCES[name][0](*wide)).astype(dtype)
        if name == "digamma":  # at its poles TensorFlow's is plus infinity, SciPy's NaN
            wanted = np.where((values <= 0) & (np.floor(values) == values), np.inf, wanted).astype(dtype)
        if name == "sigmoid":
            wanted = np.array([_exact_sigmoid(x) for x in wide[0]]).astype(dtype)
    close = np.isclose(got, wanted, rtol=1e-6, atol=2 * float(np.spacing(dtype(0))), equal_nan=True)
    right = close & (np.isinf(got) == np.isinf(wanted)) & (np.isnan(wanted) | (np.signbit(got) == np.signbit(wanted)))
    assert right.all(), [(*(a[i] for a in arrays), got[i], wanted[i]) for i in np.flatnonzero(~right)]


def _exact_sigmoid(x):
    return float(1 / (1 + mp.exp(-mp.mpf(x)))) if np.isfinite(x) else x if np.isnan(x) else float(x > 0)


@pytest.mark.parametrize("dtype", TYPES)
def test_pow_as_ieee_754_says(dtype):
    cases = [
        (-INF, 0.5, INF), (-INF, -0.5, 0.0), (-INF, 3, -INF), (-INF, -3, -0.0), (-1, INF, 1), (-1, -INF, 1),
        (1, NAN, 1), (NAN, 0, 1), (-2, 3, -8), (-2, 0.5, NAN), (-0.0, -3, -INF), (-0.0, 3, -0.0), (-0.0, -2, INF),
        (0.5, INF, 0),
        (0.5, -INF, INF), (-2, INF, INF), (INF, -1, 0), (2, -1, 0.5), (3, 2, 9), (10, 3, 1000),
    ]  # fmt: skip
    x, y, wanted = (np.array(column, dtype) for column in zip(*cases))
    got = machine.evaluate(FUNCTIONS["pow"], x, y)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(wanted[~np.isnan(wanted)]))


@pytest.mark.parametrize("dtype, x", [(np.float32, 16367173 * 2.0**72), (np.float64, 6381956970095103 * 2.0**797)])
def test_the_argument_next_to_a_multiple_of_half_pi(dtype, x):
    """Of all floats the one with the most digits lost in reduction (found by continued fractions; Muller)."""
    with mp.workdps(400):
        for name in ("sin", "cos", "tan"):
            wanted = float(REFERENCES[name][1](mp.mpf(x)))
            got = machine.evaluate(FUNCTIONS[name], dtype(x))
            assert abs(float(got) - wanted) <= 2 * np.spacing(dtype(abs(wanted)))


def test_small_results_are_not_flushed():
    x = np.float32([-88, -95, -100, -103])
    for name in ("exp", "sigmoid"):
        got = machine.evaluate(FUNCTIONS[name], x)
        assert (got > 0).all()
        np.testing.assert_allclose(got, np.exp(x.astype(np.float64)), atol=1e-45)


def test_reflected_gamma_functions():
    """Below 0 the error is bounded in units of the terms that cancel, not of the result."""
    x = -np.random.default_rng(4).uniform(0, 30, 300)
    got = [machine.evaluate(FUNCTIONS[name], x) for name in ("lgamma", "digamma")]
    for a, lgamma, digamma in zip(x, *got):
        assert abs(lgamma - float(mp.re(mp.loggamma(mp.mpf(a))))) < 1e-15 * (10 + 4 * abs(a) * np.log1p(abs(a)))
        wanted = float(mp.digamma(mp.mpf(a)))
        assert abs(digamma - wanted) < 1e-14 * max(1, abs(wanted)) ** 2


# In kernels


def compile_loop(name, dtype):
    """(C function (buffers, sizes, begin, end), assembly) of a kernel that applies one function."""
    code = "f32" if dtype == np.float32 else "f64"
    inputs = [f"x{k}" for k in range(2 if name in BINARY else 1)]
    operands = ", ".join(f"{x}[i]" for x in inputs)
    source = f"""def loop({", ".join(inputs)}, out, sizes, begin, end):
    for i in range(begin, end):
        out[i] = {name}({operands})
    return 0
"""
    module = native.translated(source, "loop", [code] * (len(inputs) + 1), "loop_of_" + name)
    machine_code = native.target_machine()
    module = native.optimised(module, machine_code)
    engine = binding.create_mcjit_compiler(module, machine_code)
    engine.finalize_object()
    address = engine.get_function_address("loop_of_" + name)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2)(address)
    call.engine = engine
    return call, machine_code.emit_assembly(module)


def apply_loop(loop, *arrays):
    out = np.empty_like(arrays[0])
    addresses = np.array([a.ctypes.data for a in (*arrays, out)])
    loop(addresses.ctypes.data, None, 0, out.size)
    return out


def widest_registers():
    """Pattern of the host's vector registers beyond scalars, by LLVM's word on what it has."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if "x86" in llvm.get_default_triple() or "i686" in llvm.get_default_triple():
        return r"%[yz]mm" if features.get("avx2") else r"\w+p[sd]\s.*%xmm"
    return r"\bv\d+\.\d[sd]\b"


LIBM = "a?(sin|cos|tan)h?|atan2|exp|exp2|expm1|log|log2|log1p|pow|erfc?|lgamma|fma|fmod|floor|rint|sqrt"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ALL)
def test_kernels_vectorise_and_repeat_numpy_bit_for_bit(name, dtype):
    loop, assembly = compile_loop(name, dtype)
    arithmetic = [line for line in assembly.splitlines() if re.search(r"mul|sqrt", line)]
    packed = [line for line in arithmetic if re.search(widest_registers(), line)]
    assert packed, f"no vector instructions:\n{assembly}"
    assert not re.search(rf"[\s$]({LIBM})f?(@\w+)?\s*(,|$)", assembly, re.M), "calls libm"
    rng = np.random.default_rng(5)
    if dtype == np.float32:
        arrays = arguments32(name, 500, rng)
    else:
        arrays = [np.concatenate(a) for a in zip(*arguments64(name, 500, rng))]
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    got, wanted = apply_loop(loop, *arrays), machine.evaluate(FUNCTIONS[name], *arrays)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(got), ~numbers)
    np.testing.assert_array_equal(got.view(unsigned)[numbers], wanted.view(unsigned)[numbers])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["exp", "erfc"])
def test_powers_of_two_by_an_instruction_or_in_two_steps(monkeypatch, name, dtype):
    """Denormal results, overflow and all between have the same bits either way."""
    limit = 110 if dtype == np.float32 else 760
    x = np.linspace(-limit, limit, 20001).astype(dtype) if name == "exp" else np.linspace(0, 30, 20001).astype(dtype)
    found = []
    for has_ldexp in {False, cpu_features.has_ldexp()}:
        names = {name: elementary_instruction(FUNCTIONS[name], has_fma=cpu_features.has_fma(), has_ldexp=has_ldexp)}
        monkeypatch.setattr(vocabulary, "names", lambda forms, names=names: names)
        found.append(apply_loop(compile_loop(name, dtype)[0], x))
    wanted = machine.evaluate(FUNCTIONS[name], x)
    for got in found:
        np.testing.assert_array_equal(got.view(np.uint8), wanted.view(np.uint8))


def test_rare_arguments_among_common_ones():
    """Lanes that need the slow way do not disturb their neighbours, at any place in a vector or the rest of a loop."""
    loop, _ = compile_loop("sin", np.float64)
    for place in range(37):
        x = np.linspace(-9, 9, 37)
        x[place] = 1e22
        np.testing.assert_allclose(apply_loop(loop, x), np.sin(x), rtol=1e-15)


def test_ir_for_gpus_keeps_to_what_nvvm_knows():
    from llvmlite import ir

    known = {"nvvm.mul.rn.f", "nvvm.mul.rn.d", *(f"{f}.f{w}" for f in ("fma", "floor", "sqrt") for w in (32, 64))}
    for name, function in FUNCTIONS.items():
        for kind in (ir.FloatType(), ir.DoubleType()):
            module = ir.Module()
            count = 2 if name in BINARY else 1
            body = ir.Function(module, ir.FunctionType(kind, [kind] * count), "f")
            m = machine.LLVMMachine(ir.IRBuilder(body.append_basic_block()), gpu=True)
            m.builder.ret(function(m, *map(m.value, body.args)).ir)
            text = str(module)
            assert set(re.findall(r"@\"?llvm\.([.\w]+)", text)) <= known
            assert "fneg" not in text and "fmul" not in text


@pytest.mark.parametrize("name", ALL)
def test_kernels_compile_for_cuda(name):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    pytest.importorskip("cuda.bindings.nvvm", reason="NVVM is not installed")
    from numba import cuda, types

    function = numba_intrinsic(elementary_instruction(FUNCTIONS[name], has_fma=True, gpu=True))
    for scalar in (types.float32, types.float64):
        pointer = types.CPointer(scalar)
        if name in BINARY:
            def kernel(x, y, out):
                i = cuda.grid(1)
                out[i] = function(x[i], y[i])
        else:
            def kernel(x, out):
                i = cuda.grid(1)
                out[i] = function(x[i])
        signature = (pointer,) * len(inspect.signature(kernel).parameters)
        text, _ = cuda.compile(kernel, signature, device=False, abi="numba", cc=(9, 0), output="ptx")
        assert ".entry" in text
        assert not re.search(r"\bmul\.f(32|64)", text)  # only mul.rn, which ptxas does not fuse


def test_vector_values():
    """The same functions write IR for vectors, for kernels that are vectorised by hand."""
    import llvmlite.binding as llvm
    from llvmlite import ir

    for name in ("exp", "pow", "sin", "lgamma"):
        module = ir.Module()
        kind = ir.VectorType(ir.DoubleType(), 4)
        body = ir.Function(module, ir.FunctionType(kind, [kind] * (2 if name in BINARY else 1)), "f")
        m = machine.LLVMMachine(ir.IRBuilder(body.append_basic_block()))
        m.builder.ret(FUNCTIONS[name](m, *map(m.value, body.args)).ir)
        llvm.parse_assembly(str(module)).verify()


def test_import_needs_no_compiler():
    code = "import sys, jitgraph.compiler.elementary; print({'numba', 'llvmlite'} & {*sys.modules})"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


@pytest.mark.parametrize("name", ["EXP_32", "LOG_64", "SIN_64", "ATAN_64"])
def test_coefficients_are_those_of_the_fit(name):
    from jitgraph.compiler import elementary_coefficients

    coefficients, _ = elementary_fit.fit(name)
    np.testing.assert_allclose(coefficients, getattr(elementary_coefficients, name), rtol=1e-6)


def main():
    """Prints the table of measured errors: float32 on millions of points, float64 on thousands against mpmath."""
    rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
    for name in sys.argv[2:] or ALL:
        loop, _ = compile_loop(name, np.float32)
        worst32 = 0.0
        for _ in range(8):
            arrays = arguments32(name, 500_000, rng)
            worst32 = max(worst32, ulp_errors32(name, arrays, apply_loop(loop, *arrays)).max())
        loop, _ = compile_loop(name, np.float64)
        worst, arguments = worst64(name, 4000, rng, functools.partial(apply_loop, loop))
        print(f"{name:8} float32 {worst32:.2f}  float64 {worst:.2f} at {arguments}", flush=True)


if __name__ == "__main__":
    main()
