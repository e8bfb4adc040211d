"""Kernel text in LLVM's instructions: it means what it means to Numba, and all that is emitted can be written so."""
import ast
import ctypes
import itertools
import re

import llvmlite.binding as binding
import numpy as np
import pytest

import jitgraph as tf
from jitgraph import compiler
from jitgraph.compiler.emit import native, vocabulary
from jitgraph.compiler.emit.instruction import Instruction, code_of, llvm_type, numba_type
from jitgraph.compiler.emit.translate import Untranslatable, translate

from .test_options import COLUMNS, PROGRAMS, ROWS

NUMPY = {"f32": np.float32, "f64": np.float64, **{f"{k}{bits}": np.dtype(f"{kind}{bits}").type
                                               for k, kind in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}}
KEPT = []           # machine code lives as long as its engine


def load(code, symbol):
    """The function of an object file."""
    machine = native.target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    KEPT.append(engine)
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    return kind(engine.get_function_address(symbol))


def call(function, arrays, sizes=(0,), begin=0, end=1):
    addresses, numbers = np.array([a.ctypes.data for a in arrays], np.int64), np.array(sizes, np.int64)
    return function(addresses.ctypes.data, numbers.ctypes.data, begin, end)


def both(source, codes):
    """The function as the translator makes it and as Numba does; the first may raise Untranslatable."""
    name = re.match(r"def (\w+)", source).group(1)
    ours = native.compile_module(translate(source, name, codes, "ours", vocabulary.names([])))
    from jitgraph.compiler.emit.numba_compile import compile_by_numba

    return load(ours, "ours"), load(compile_by_numba(source, name, codes, "numbas"), "numbas")


def kernels_of(build):
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, COLUMNS])
    fetches = build(tf, x)
    fetches = fetches if isinstance(fetches, list) else [fetches]
    program = compiler.compile(tf.get_default_graph(), fetches, [], {x: (ROWS, COLUMNS)})
    return [step[0] for step in program.layout.steps]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel_is_translated(name):
    for kernel in kernels_of(PROGRAMS[name]):
        translate(kernel.source, kernel.name, native.memory_codes(kernel), "kernel", vocabulary.names(kernel.forms))


OPERATORS = "+ - * & | ^ << >> == != < <= > >=".split()
VALUES = {"f": [0, -1.5, 3, 2.5, np.nan], "i": [0, 1, 2, 3, 100, -1, -7, -128], "u": [0, 1, 2, 3, 100, 200, 255]}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("a, b", list(itertools.product(("i32", "i64", "u8", "u32", "u64", "f32"), repeat=2)))
def test_operators_mean_what_they_mean_to_numba(a, b):
    """All of them in one kernel, as far as the translator takes them; results as int64, bit by bit."""
    wanted = []
    for operator in OPERATORS:
        text = f"x0[i] {operator} x1[i]" if "<<" != operator != ">>" else f"x0[i] {operator} (x1[i] & {b}(7))"
        line = f"i64({text})" if a != "f32" else f"f64({text})" if operator in "+-*" else f"i64({text})"
        lines = f"def one(x0, x1, y0, sizes, begin, end):\n    for i in range(begin, end):\n        y0[i] = {line}\n    return 0\n"
        result = "f64" if line.startswith("f64") else "i64"
        try:
            translate(lines, "one", [a, b, result], "one", vocabulary.names([]))
        except Untranslatable:
            continue
        wanted.append((line, result))
    if a == b:
        assert len(wanted) == (9 if a == "f32" else len(OPERATORS))
    if not wanted:
        return
    params = ", ".join(f"y{k}" for k in range(len(wanted)))
    body = "\n".join(f"        y{k}[i] = {line}" for k, (line, _) in enumerate(wanted))
    source = f"def all_of_them(x0, x1, {params}, sizes, begin, end):\n    for i in range(begin, end):\n{body}\n    return 0\n"
    ours, numbas = both(source, [a, b, *(code for _, code in wanted)])
    pairs = np.array(list(itertools.product(VALUES[a[0]], VALUES[b[0]])))
    x, y = pairs[:, 0].astype(NUMPY[a]), pairs[:, 1].astype(NUMPY[b])
    results = [[np.zeros(len(pairs), NUMPY[code]) for _, code in wanted] for _ in range(2)]
    for function, into in zip((ours, numbas), results):
        assert call(function, [x, y, *into], end=len(pairs)) == 0
    for (line, _), one, other in zip(wanted, *results):
        np.testing.assert_array_equal(one, other, err_msg=line)


@pytest.mark.parametrize("source", ("i32", "i64", "u8", "u32", "u64", "f32", "f64"))
def test_casts_mean_what_they_mean_to_numba(source):
    targets = list(NUMPY)
    params = ", ".join(f"y{k}" for k in range(len(targets)))
    body = "\n".join(f"        y{k}[i] = {code}(x0[i])" for k, code in enumerate(targets))
    text = f"def casts(x0, {params}, sizes, begin, end):\n    for i in range(begin, end):\n{body}\n    return 0\n"
    ours, numbas = both(text, [source, *targets])
    x = np.array([0, 1, 2, 100, 126] + ([-1, -100] if source[0] == "i" else [1.5, 2.75] if source[0] == "f" else []), NUMPY[source])
    results = [[np.zeros(len(x), NUMPY[code]) for code in targets] for _ in range(2)]
    for function, into in zip((ours, numbas), results):
        call(function, [x, *into], end=len(x))
    for code, one, other in zip(targets, *results):
        np.testing.assert_array_equal(one, other, err_msg=code)


STATEMENTS = """def statements(x0, y0, sizes, begin, end):
    limit, total = sizes[0], 0
    err = 0
    for q in range(begin, end):
        low, high = q * 2, q * 2 + 5
        for i in range(low, high, 2):
            if i == limit:
                continue
            elif x0[i] > 7:
                break
            else:
                total += i
            k = 0
            while True:
                k += 1
                if k > i:
                    break
            total = total + k * (-3 % 4) + (k - 9) // 4 + 7 // 2
        err |= total & 1
        y0[q] = total
        y0[q] -= -q
        low, high = high, low
        y0[q] += low - high
        y0[q] += begin + i64(q / 3)
        begin = begin + 2
    while end > 3:
        end -= 1
    return err + end
"""


def test_statements_mean_what_they_mean_to_numba_and_python():
    ours, numbas = both(STATEMENTS, ["i64", "i64"])
    scope: dict = {"i64": int}
    exec(STATEMENTS, scope)
    x = np.arange(30) % 9
    results = [np.zeros(10, np.int64) for _ in range(3)]
    codes = [call(ours, [x, results[0]], [4], 1, 10), call(numbas, [x, results[1]], [4], 1, 10),
             scope["statements"](x, results[2], [4], 1, 10)]
    assert codes[0] == codes[1] == codes[2]
    np.testing.assert_array_equal(results[0], results[2])
    np.testing.assert_array_equal(results[1], results[2])


OUTSIDE = ["y0[0] = x0[0] + 1", "y0[0] = f32(x1[0]) + f64(1)", "y0[0] = unknown(1)", "a = 1\n    a = f32(2)",
           "y0[0] = x1[0] if x0[0] > 0 else 1", "y0[0] = x0[0] / x1[0]", "y0[0] = 0 < x1[0] < 2", "assert x1[0]",
           "for a in x0:\n        pass", "while x1[0] > 0:\n        pass\n    else:\n        y0[0] = x0[0]", "return",
           "y0[0] = select(x1[0], 1, 2)"]


@pytest.mark.parametrize("line", OUTSIDE)
def test_what_is_not_in_the_subset_is_left_to_numba(line):
    source = f"def other(x0, x1, y0, sizes, begin, end):\n    {line}\n    return 0\n"
    ast.parse(source)
    with pytest.raises(Untranslatable):
        translate(source, "other", ["f32", "i64", "f32"], "other", vocabulary.names([]))
    assert native.translated(source, "other", ["f32", "i64", "f32"], "other") is None


def test_numba_is_not_needed_for_what_is_translated_and_can_be_asked_for():
    source = "def one(sizes, begin, end):\n    return end + 1\n"
    assert native.translated(source, "one", [], "one") is not None
    assert native.target_key("direct") != native.target_key("numba"), "the store would take one for the other"
    for chosen in ("direct", "numba"):
        assert load(native.compile_function(source, "one", [], "one", chosen), "one")(None, None, 0, 4) == 5


@pytest.mark.parametrize("compiled", ["direct", "numba"])
@pytest.mark.parametrize("code", ["f32", "f64"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_the_larger_of_two_numbers_is_nan_if_either_is_and_the_first_of_two_zeros(name, code, compiled):
    """Beside another array, and beside one number for the whole loop."""
    special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.0], NUMPY[code])
    a, b = (side.ravel().copy() for side in np.meshgrid(special, special))
    better = np.greater if name == "maximum" else np.less
    wanted = np.where(better(b, a) | np.isnan(b), b, a)
    source = f"""def two(x0, x1, y0, sizes, begin, end):
    for i in range(begin, end):
        y0[i] = {name}(x0[i], x1[i * sizes[0]])
    return 0
"""
    function = load(native.compile_function(source, "two", [code] * 3, "two", compiled), "two")
    got = np.zeros_like(a)
    call(function, [a, b, got], sizes=[1], end=len(a))
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got[wanted == 0]), np.signbit(wanted[wanted == 0]))
    for bound in special:
        call(function, [a, np.array([bound]), got], sizes=[0], end=len(a))
        np.testing.assert_array_equal(got, np.where(better(bound, a) | np.isnan(bound), bound, a))


def test_codes_and_types():
    for code in (*NUMPY, "b1", "f32*", "i64*"):
        assert code_of(numba_type(code)) == code
        assert str(llvm_type(code)).endswith("*") == code.endswith("*") or "ptr" in str(llvm_type(code))
    assert all(isinstance(i, Instruction) for i in vocabulary.names([]).values())
