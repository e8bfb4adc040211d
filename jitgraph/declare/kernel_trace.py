"""A Python function of scalars as an expression in prims, by calling it with traced scalars.

Where the function asks for the truth of a traced comparison (``if``, ``and``, ``min`` ...), it is called once for each answer,
and the results are joined by choices.  A loop whose length depends on the values never ends that way; such functions are
refused with ``Untraceable``.
"""
from __future__ import annotations

import builtins
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare import prim as prims
from jitgraph.declare.scalar_expression import Builder, Scalar
from jitgraph.graph.dtypes import DType, as_dtype

prim: Any = prims
LARGEST_NUMBER_OF_PATHS = 64


class Untraceable(Exception):
    """Why a function cannot be written as an expression."""


class Library:
    """The functions of ``math``, NumPy and Python that a traced function may use, under their names."""

    def __getattr__(self, name: str) -> Any:
        found = _FUNCTIONS.get(name)
        if found is None:
            raise AttributeError(name)
        return found


def _prim(name: str) -> Callable:
    return lambda *args: getattr(prim, name)(*args)


def _log(x: Any, base: Any = None) -> Any:
    return prim.log(x) if base is None else prim.log(x) / (prim.log(base) if isinstance(base, Scalar) else math.log(base))


def _where(condition: Any, x: Any, y: Any) -> Any:
    return prim.select(condition, x, y) if isinstance(condition, Scalar) else x if condition else y


def _number(name: str) -> Callable:
    """``float``, ``int`` or ``bool`` of a traced scalar, and of anything else."""
    dtype, plain = as_dtype({"float": "float64", "int": "int64", "bool": "bool"}[name]), getattr(builtins, name)
    return lambda x=0, *rest: prim.cast(x, dtype) if isinstance(x, Scalar) else plain(x, *rest)


def _copysign(x: Any, y: Any) -> Any:
    return prim.select(prim.lt(y, 0.0), -prim.abs(x), prim.abs(x))


_FUNCTIONS: dict[str, Callable] = {
    **{name: _prim(name) for name in ("exp", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh",
                                      "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "pow", "floor", "ceil",
                                      "trunc", "sign", "rint", "logical_and", "logical_or", "logical_not")},
    "log": _log, "log2": lambda x: prim.log(x) / math.log(2), "log10": lambda x: prim.log(x) / math.log(10),
    "exp2": lambda x: prim.exp(x * math.log(2)), "fabs": _prim("abs"), "abs": _prim("abs"), "absolute": _prim("abs"),
    "isnan": _prim("is_nan"), "isinf": _prim("is_inf"), "isfinite": _prim("is_finite"), "copysign": _copysign,
    "hypot": lambda x, y: prim.sqrt(x * x + y * y), "fmod": _prim("trunc_mod"), "degrees": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180), "arcsin": _prim("asin"), "arccos": _prim("acos"), "arctan": _prim("atan"),
    "arctan2": _prim("atan2"), "arcsinh": _prim("asinh"), "arccosh": _prim("acosh"), "arctanh": _prim("atanh"),
    "add": _prim("add"), "subtract": _prim("sub"), "multiply": _prim("mul"), "divide": _prim("div"), "true_divide": _prim("div"),
    "power": _prim("pow"), "maximum": _prim("max"), "minimum": _prim("min"), "negative": _prim("neg"), "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x, "floor_divide": _prim("floor_div"), "remainder": _prim("floor_mod"),
    "mod": _prim("floor_mod"), "greater": _prim("gt"), "greater_equal": _prim("ge"), "less": _prim("lt"), "less_equal": _prim("le"),
    "equal": _prim("eq"), "not_equal": _prim("ne"), "where": _where,
    "clip": lambda x, low, high: prim.min(prim.max(x, low), high),
    "float": _number("float"), "int": _number("int"), "bool": _number("bool"),
}


class Tracer(Builder):
    """Records one path through a function: the decisions taken, and the conditions they were about."""

    def __init__(self) -> None:
        super().__init__(Library())
        self.given: list[bool] = []
        self.conditions: list[Scalar] = []
        self.taken: list[bool] = []

    def begin(self, given: list[bool]) -> None:
        self.given, self.conditions, self.taken = given, [], []

    def decide(self, condition: Scalar) -> bool:
        if not condition.dtype.is_bool:
            condition = prim.ne(condition, 0)
        for known, answer in zip(self.conditions, self.taken):
            if known is condition:                          # asked again: the same answer
                return answer
        position = len(self.conditions)
        if position > LARGEST_NUMBER_OF_PATHS:
            raise Untraceable("a loop or recursion depends on the values")
        answer = self.given[position] if position < len(self.given) else True
        self.conditions.append(condition)
        self.taken.append(answer)
        return answer

    def prim(self, name: str, args: tuple) -> Scalar:
        """As the builder's; a whole number is divided only where its path is taken, since dividing by 0 is an error."""
        if name in ("floor_div", "floor_mod", "trunc_div", "trunc_mod") and self.conditions and isinstance(args[1], Scalar) and (
                not args[1].dtype.is_floating):
            args = (args[0], super().prim("select", (self._here(), args[1], 1)))
        return super().prim(name, args)

    def _here(self) -> Scalar:
        found: Any = None
        for condition, answer in zip(self.conditions, self.taken):
            one = condition if answer else super().prim("logical_not", (condition,))
            found = one if found is None else super().prim("logical_and", (found, one))
        return found


def trace(function: Callable, input_dtypes: list[DType], count: int) -> list:
    """The `count` results of `function` as expressions of inputs of these dtypes.

    Raises Untraceable, with the reason, where it cannot be done, and what the function itself raises.
    """
    tracer = Tracer()
    inputs = [tracer.input(k, dtype) for k, dtype in enumerate(input_dtypes)]
    callable_ = _with_library(function, {})
    paths = 0

    def results_after(given: list[bool]) -> list:
        nonlocal paths
        paths += 1
        if paths > LARGEST_NUMBER_OF_PATHS:
            raise Untraceable(f"it has more than {LARGEST_NUMBER_OF_PATHS} paths")
        tracer.begin(given)
        try:
            results = _as_results(callable_(*inputs), count)
        except (TypeError, NotImplementedError, AttributeError, RecursionError) as error:
            raise Untraceable(f"{type(error).__name__}: {error}") from error
        conditions, taken = list(tracer.conditions), list(tracer.taken)
        for position in range(len(conditions) - 1, len(given) - 1, -1):
            others = results_after([*taken[:position], not taken[position]])
            results = [_joined(tracer, conditions[position], a, b) for a, b in zip(results, others)]
        return results

    return results_after([])


def _joined(tracer: Tracer, condition: Scalar, a: Any, b: Any) -> Any:
    if a is b or not isinstance(a, Scalar) and not isinstance(b, Scalar) and a == b:
        return a
    if not isinstance(a, Scalar) and not isinstance(b, Scalar):         # one of two numbers needs a dtype
        kind = as_dtype("float64" if isinstance(a, float) or isinstance(b, float) else "int64")
        a = Builder.prim(tracer, "cast", (condition, kind)) * 0 + a
    return Builder.prim(tracer, "select", (condition, a, b))


def _as_results(value: Any, count: int) -> list:
    results = list(value) if isinstance(value, (tuple, list)) else [value]
    if len(results) != count:
        raise ValueError(f"the function returned {len(results)} values, but {count} are expected")
    for result in results:
        if not isinstance(result, (Scalar, bool, int, float, np.number, np.bool_)):
            raise Untraceable(f"it returned {result!r}, which is not a number")
    return results


def _with_library(function: Callable, done: dict) -> Callable:
    """The function with the traced meaning of ``math`` and of the numbers' types among its globals."""
    if not isinstance(function, types.FunctionType):
        return function
    if function in done:
        return done[function]
    names: dict[str, Any] = {**function.__globals__, **{n: _FUNCTIONS[n] for n in ("float", "int", "bool")}}
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__,
                              _cells(function, done))
    copy.__kwdefaults__ = function.__kwdefaults__
    done[function] = copy
    used = {name for code in _codes(function.__code__) for name in code.co_names}
    for name in used & set(function.__globals__):
        names[name] = _traced_meaning(function.__globals__[name], done)
    return copy


def _codes(code: types.CodeType) -> list[types.CodeType]:
    return [code, *[inner for one in code.co_consts if isinstance(one, types.CodeType) for inner in _codes(one)]]


def _cells(function: types.FunctionType, done: dict) -> Any:
    if function.__closure__ is None:
        return None
    return tuple(types.CellType(_traced_meaning(cell.cell_contents, done)) for cell in function.__closure__)


class _Math:
    """``math`` for numbers, the prims for traced scalars."""

    def __getattr__(self, name: str) -> Any:
        plain = getattr(math, name)
        return _either(plain, _FUNCTIONS.get(name)) if callable(plain) else plain


def _either(plain: Callable, traced: Callable | None) -> Callable:
    def function(*args: Any) -> Any:
        if not any(isinstance(a, Scalar) for a in args):
            return plain(*args)
        if traced is None:
            raise Untraceable(f"math.{plain.__name__} has no counterpart in kernels")
        return traced(*args)

    return function


def _traced_meaning(value: Any, done: dict) -> Any:
    if value is math:
        return _Math()
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math":
        return _either(value, _FUNCTIONS.get(value.__name__))
    if isinstance(value, types.FunctionType) and not (value.__module__ or "").startswith(("numpy", "jitgraph", "numba")):
        return _with_library(value, done)
    return value
