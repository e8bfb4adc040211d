"""Scalar statements as Python text: one table of expressions for both targets.

The names that appear in the text (`f32`, `select`, `exp`, ...) are given their meaning by the target: types and
intrinsics on the CPU and the GPU, NumPy functions in the simulator.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitgraph.declare.prim import ELEMENTARY

from .. import elementary_complex
from ..kernel import DTYPE_NAMES, Statement, is_complex, is_half, part_code

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "bit_and": "&", "bit_or": "|", "bit_xor": "^",
         "shift_left": "<<", "shift_right": ">>"}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
EXACT = {"neg", "abs", "conj", "real", "sign", "floor", "ceil", "rint", "trunc", "select"}     # of what a half is, halves
COMPLEX = {"complex", *elementary_complex.FUNCTIONS, *elementary_complex.TO_REAL, *elementary_complex.COMPARISONS}
CALLS = ELEMENTARY | {"sqrt", "rsqrt", "floor", "ceil", "rint", "trunc", "sign", "select"}


def expression(s: Statement, types: dict[str, str]) -> str:
    """The right-hand side for an `op` statement; `types` gives the dtype code of every name."""
    prim, args, code = s.prim, s.args, s.dtype
    kinds = [types[a] for a in args]
    first = kinds[1] if prim == "select" else kinds[0]
    is_float = first[0] == "f"
    if prim == "cast":
        return cast(args[0], kinds[0], code)
    if prim == "complex" or is_complex(first):
        return _complex_expression(prim, args)
    if prim in COMPARE:
        return f"{args[0]} {COMPARE[prim]} {args[1]}"
    if prim in ("logical_and", "logical_or"):
        return f"{args[0]} {'&' if prim == 'logical_and' else '|'} {args[1]}"
    if prim == "logical_not":
        return f"not_({args[0]})"
    if prim in INFIX:
        return _wrapped(f"{args[0]} {INFIX[prim]} {args[1]}", code)
    if prim in ("max", "min"):
        return f"{prim}imum({args[0]}, {args[1]})"
    if is_float:
        text = _float_expression(prim, args)
        return text if prim in EXACT or not is_half(code) else f"{code}({text})"
    return _int_expression(prim, args, code)


def loaded(text: str, code: str) -> str:
    """An element of memory, where truth values are bytes, and floats of 16 bits these bits."""
    if is_half(code):
        return f"{code}_value({text})"
    return f"({text} != 0)" if code == "b1" else text


def stored(text: str, code: str) -> str:
    """What is written to memory for a value."""
    if is_half(code):
        return f"{code}_bits({text})"
    return f"u8({text})" if code == "b1" else text


def by_value(sizes: list[Any], value: Any, code: str) -> str:
    """The expression of a number that is passed by value; its slots are added to a kernel's `sizes`, of a complex one two."""
    at = len(sizes)
    if is_complex(code):
        sizes += [("scalar", value, "real"), ("scalar", value, "imag")]
        part = part_code(code)
        return f"complex_pair(scalar_{part}(sizes, {at}), scalar_{part}(sizes, {at + 1}))"
    sizes.append(("scalar", value, code))
    return f"scalar_{code}(sizes, {at})"


def cast(name: str, source: str, target: str) -> str:
    """Conversion as C does it; to bool by "not zero".  Floats of 16 bits are float32 in registers, rounded where they are made."""
    if source == target or is_half(source) and target == "f32":
        return name
    if is_complex(source) and not is_complex(target):
        return cast(f"complex_real({name})", part_code(source), target)
    return f"{name} != 0" if target == "b1" else f"{target}({name})"


def _wrapped(text: str, code: str) -> str:
    """Kernels compute with integers of 64 bits, as Numba does; the declared type is the type."""
    return text if code in ("f32", "f64", "i64", "u64", "b1") else f"{code}({text})"


def _float_expression(prim: str, args: Sequence[str]) -> str:
    x = args[0]
    simple = {"neg": f"-{x}", "abs": f"fabs({x})", "is_nan": f"{x} != {x}", "is_finite": f"({x} - {x}) == ({x} - {x})",
              "is_inf": f"fabs({x}) == inf({x})", "conj": x, "real": x}
    if prim in simple:
        return simple[prim]
    if prim == "floor_div":
        return f"floor({x} / {args[1]})"
    if prim == "trunc_div":
        return f"trunc({x} / {args[1]})"
    if prim == "floor_mod":
        return f"floor_mod({x}, {args[1]})"
    if prim == "trunc_mod":
        return f"fmod({x}, {args[1]})"
    if prim in CALLS:
        return f"{prim}({', '.join(args)})"
    raise NotImplementedError(f"prim {prim} has no kernel expression for floats")


def _complex_expression(prim: str, args: Sequence[str]) -> str:
    if prim == "select":
        return f"select({', '.join(args)})"
    if prim not in COMPLEX:
        raise NotImplementedError(f"prim {prim} has no kernel expression for complex numbers")
    return f"complex_{prim}({', '.join(args)})"


def _int_expression(prim: str, args: Sequence[str], code: str) -> str:
    x = args[0]
    y = args[1] if len(args) > 1 else ""
    simple = {"neg": _wrapped(f"0 - {x}" if code != "u64" else f"u64(0) - {x}", code), "abs": _wrapped(f"iabs({x})", code),
              "sign": _wrapped(f"isign({x})", code), "bit_not": _wrapped(f"~{x}", code),
              "select": f"select({', '.join(args)})", "conj": x, "real": x, "floor": x, "ceil": x, "rint": x, "trunc": x,
              "is_nan": "False", "is_inf": "False", "is_finite": "True",
              "floor_div": _wrapped(f"floor_div({x}, {y})", code), "floor_mod": _wrapped(f"floor_mod({x}, {y})", code),
              "trunc_div": _wrapped(f"trunc_div({x}, {y})", code), "trunc_mod": _wrapped(f"trunc_mod({x}, {y})", code),
              "pow": _wrapped(f"ipow({x}, {y})", code)}
    if prim not in simple:
        raise NotImplementedError(f"prim {prim} has no kernel expression for integers")
    return simple[prim]


def supported(prim: str, code: str) -> bool:
    """Whether a kernel can compute the primitive on arguments of this dtype code."""
    if prim != "cast" and is_complex(code):
        return prim == "select" or prim in COMPLEX
    if prim == "cast" or prim in COMPARE or prim in INFIX or prim in ("logical_and", "logical_or", "logical_not",
                                                                    "max", "min"):
        return True
    types = {"a": code, "b": code, "c": code}
    try:
        expression(Statement("op", prim=prim, args=("a", "b", "c"), dtype=code), types)
    except NotImplementedError:
        return False
    return True


# Reductions: (start value, combination of the accumulator with one more value) as text.
def reduction(prim: str, code: str, alone: bool = True) -> tuple[str, str]:
    """(initial value, update) of an accumulator `{acc}` of dtype `code` with a value `{x}` of the same dtype; `alone`: in a
    loop that does nothing else."""
    if prim == "add":
        return (f"{code}(0)", "sum_step({acc}, {x})" if code[0] in "cf" else "{acc} + {x}")
    if prim == "mul":
        return (f"{code}(1)", "product_step({acc}, {x})" if code[0] in "cf" else "{acc} * {x}")
    if prim in ("and", "or"):
        return ("True" if prim == "and" else "False", "{acc} " + ("&" if prim == "and" else "|") + " {x}")
    low = prim in ("max", "argmax")
    step = ("max_step" if low else "min_step") + "_beside" * (not alone and code[0] == "f")
    return f"{'lowest' if low else 'highest'}_{code}()", step + "({acc}, {x})"


def finite(code: str, which: str) -> str:
    """The smallest ("min") or largest ("max") finite number of a type."""
    if code[0] == "f":
        return f"{code}({float(getattr(np.finfo(DTYPE_NAMES[code]), which))!r})"
    return f"{'lowest' if which == 'min' else 'highest'}_{code}()"


def accumulator_code(prim: str, code: str) -> str:
    """Sums and products of float32 are carried in float64, of integers in 64 bits: exact enough, and no slower.  All of floats of
    16 bits is carried in float32."""
    if is_half(code):
        return "f32"
    if prim in ("add", "mul"):
        return {"c": "c128", "f": "f64", "i": "i64", "u": "u64", "b": "i64"}[code[0]]
    return code
