"""Scalar expressions in prims: kept as data, evaluated on arrays or traced values, and differentiated.

An expression is a tree of ``Scalar`` nodes with shared parts: inputs, Python numbers, and prims of other nodes.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare import prim as prims
from jitgraph.graph.dtypes import DType, as_dtype, bool_, float64

prim: Any = prims           # its functions are made from a table
UNARY_OF_INTEGERS = {"neg", "abs", "sign", "bit_not", "logical_not", "floor", "ceil", "rint", "trunc"}


class Scalar(prims.Operators):
    """A node: input number `name`, or the prim `name` of `args`; `dtype` is the type of its value."""

    __slots__ = ("args", "dtype", "name", "trace")

    def __init__(self, trace: Any, name: str, args: tuple, dtype: DType):
        self.trace, self.name, self.args, self.dtype = trace, name, args, dtype

    def __prim__(self, name: str, args: tuple) -> Scalar:
        return self.trace.prim(name, args)

    def __bool__(self) -> bool:
        return self.trace.decide(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:     # type: ignore[override]
        function = getattr(self.trace.library, ufunc.__name__, None)
        if method != "__call__" or options or function is None:
            return NotImplemented
        return function(*inputs)

    def __array_function__(self, function: Any, types: Any, args: tuple, options: dict) -> Any:
        own = getattr(self.trace.library, function.__name__, None)
        if own is None or options:
            return NotImplemented
        return own(*args)

    __hash__ = object.__hash__
    __floor__ = lambda self: self.__prim__("cast", (self.__prim__("floor", (self,)), as_dtype("int64")))
    __ceil__ = lambda self: self.__prim__("cast", (self.__prim__("ceil", (self,)), as_dtype("int64")))
    __trunc__ = lambda self: self.__prim__("cast", (self.__prim__("trunc", (self,)), as_dtype("int64")))
    __round__ = lambda self: self.__prim__("cast", (self.__prim__("rint", (self,)), as_dtype("int64")))
    __pos__ = lambda self: self


class Builder:
    """Makes nodes, each only once; numbers and dtypes are brought together as NumPy does with scalars."""

    def __init__(self, library: Any = None):
        self.library = library
        self._made: dict[Any, Scalar] = {}

    def input(self, index: int, dtype: DType) -> Scalar:
        return self._node("input", (index,), dtype)

    def _node(self, name: str, args: tuple, dtype: DType) -> Scalar:
        key = (name, dtype, *[(type(a), repr(a)) if not isinstance(a, Scalar) else id(a) for a in args])
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Scalar(self, name, args, dtype)
        return found

    def cast(self, x: Any, dtype: DType) -> Any:
        if not isinstance(x, Scalar):
            return x
        return x if x.dtype is dtype else self._node("cast", (x, dtype), dtype)

    def prim(self, name: str, args: tuple) -> Scalar:
        """The node of a prim, its arguments brought to one dtype.  Raises TypeError for what is not a number."""
        if name == "cast":
            return self.cast(args[0], args[1])
        for one in args:
            if not isinstance(one, (Scalar, bool, int, float, np.number, np.bool_)):
                raise TypeError(f"{one!r} is not a number")
        if name == "select":
            condition, *values = args
            common = _common(values)
            return self._node(name, (condition, *[self._as(v, common) for v in values]), common)
        common = _common(args)
        if common is bool_ and name in ("add", "sub", "mul", "neg", "abs"):
            common = as_dtype("int64")
        rule = prims.PRIMS[name].result
        if not common.is_floating and rule == "same" and len(args) == 1 and name not in UNARY_OF_INTEGERS or (
                name in ("div", "atan2") and not common.is_floating):
            common = float64
        if name in ("bit_and", "bit_or", "bit_xor", "bit_not") and common is bool_:
            name = name.replace("bit_", "logical_") if name != "bit_xor" else "ne"
            rule = "bool"
        return self._node(name, tuple(self._as(a, common) for a in args), bool_ if rule == "bool" else common)

    def _as(self, x: Any, dtype: DType) -> Any:
        return self.cast(x, dtype) if isinstance(x, Scalar) else x

    def decide(self, condition: Scalar) -> bool:
        raise TypeError("the truth of an expression is not known here")


def _common(args: Any) -> DType:
    """NumPy's dtype for an operation on these; a Python number takes that of what stands beside it, if it fits."""
    scalars = [a.dtype for a in args if isinstance(a, Scalar)]
    numbers = [a for a in args if not isinstance(a, Scalar)]
    common = as_dtype(np.result_type(*[d.as_numpy_dtype for d in scalars])) if scalars else bool_
    if any(isinstance(n, (float, np.floating)) for n in numbers) and not common.is_floating:
        return float64
    if common is bool_ and any(isinstance(n, (int, np.integer)) and not isinstance(n, (bool, np.bool_)) for n in numbers):
        return as_dtype("int64")
    return common


def evaluate(results: list, inputs: list) -> list:
    """The values of `results` for these inputs: arrays, or traced values of a kernel; numbers stay numbers."""
    known: dict[int, Any] = {}

    def value(x: Any) -> Any:
        return known[id(x)] if isinstance(x, Scalar) else x

    for node in _in_order(results):
        if node.name == "input":
            known[id(node)] = inputs[node.args[0]]
        else:
            known[id(node)] = getattr(prim, node.name)(*[value(a) for a in node.args])
    return [value(result) for result in results]


def _in_order(results: list) -> list[Scalar]:
    """All nodes below `results`, arguments first."""
    order: list[Scalar] = []
    seen: set[int] = set()
    pending = [(r, False) for r in results if isinstance(r, Scalar)]
    while pending:
        node, done = pending.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            pending.append((node, True))
            pending.extend((a, False) for a in node.args if isinstance(a, Scalar))
    return order


# -- derivatives -------------------------------------------------------------------------------------------------------

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
# for each prim the derivative by each argument: functions of (arguments, value)
PARTIALS: dict[str, tuple[Callable, ...]] = {
    "neg": (lambda a, y: -1.0,), "abs": (lambda a, y: prim.sign(a[0]),), "conj": (lambda a, y: 1.0,), "real": (lambda a, y: 1.0,),
    "sqrt": (lambda a, y: 0.5 / y,), "rsqrt": (lambda a, y: -0.5 * y / a[0],), "exp": (lambda a, y: y,),
    "log": (lambda a, y: 1.0 / a[0],), "log1p": (lambda a, y: 1.0 / (1.0 + a[0]),), "expm1": (lambda a, y: y + 1.0,),
    "tanh": (lambda a, y: 1.0 - y * y,), "sigmoid": (lambda a, y: y * (1.0 - y),),
    "erf": (lambda a, y: _TWO_OVER_ROOT_PI * prim.exp(-a[0] * a[0]),),
    "erfc": (lambda a, y: -_TWO_OVER_ROOT_PI * prim.exp(-a[0] * a[0]),),
    "sin": (lambda a, y: prim.cos(a[0]),), "cos": (lambda a, y: -prim.sin(a[0]),), "tan": (lambda a, y: 1.0 + y * y,),
    "asin": (lambda a, y: prim.rsqrt(1.0 - a[0] * a[0]),), "acos": (lambda a, y: -prim.rsqrt(1.0 - a[0] * a[0]),),
    "atan": (lambda a, y: 1.0 / (1.0 + a[0] * a[0]),), "sinh": (lambda a, y: prim.cosh(a[0]),),
    "cosh": (lambda a, y: prim.sinh(a[0]),), "asinh": (lambda a, y: prim.rsqrt(1.0 + a[0] * a[0]),),
    "acosh": (lambda a, y: prim.rsqrt(a[0] * a[0] - 1.0),), "atanh": (lambda a, y: 1.0 / (1.0 - a[0] * a[0]),),
    "lgamma": (lambda a, y: prim.digamma(a[0]),),
    "add": (lambda a, y: 1.0, lambda a, y: 1.0), "sub": (lambda a, y: 1.0, lambda a, y: -1.0),
    "mul": (lambda a, y: a[1], lambda a, y: a[0]), "div": (lambda a, y: 1.0 / a[1], lambda a, y: -y / a[1]),
    "pow": (lambda a, y: a[1] * prim.pow(a[0], a[1] - 1), lambda a, y: y * prim.log(a[0])),
    "max": (lambda a, y: prim.cast(a[0] >= a[1], y.dtype), lambda a, y: prim.cast(a[0] < a[1], y.dtype)),
    "min": (lambda a, y: prim.cast(a[0] <= a[1], y.dtype), lambda a, y: prim.cast(a[0] > a[1], y.dtype)),
    "atan2": (lambda a, y: a[1] / (a[0] * a[0] + a[1] * a[1]), lambda a, y: -a[0] / (a[0] * a[0] + a[1] * a[1])),
    "floor_mod": (lambda a, y: 1.0, lambda a, y: -prim.floor(a[0] / a[1])),
    "trunc_mod": (lambda a, y: 1.0, lambda a, y: -prim.trunc(a[0] / a[1])),
}
FLAT = {"sign", "floor", "ceil", "rint", "trunc", "floor_div", "trunc_div"}     # the derivative is 0


class NoDerivative(Exception):
    """An expression has a part whose derivative is not known."""


def derivative(result: Any, index: int) -> Any:
    """The derivative of an expression by input number `index`: an expression or a number.

    Both sides of a choice are differentiated by themselves, so that an infinite slope of the side that is not taken does no
    harm.  Raises NoDerivative, naming the prim.
    """
    slopes: dict[int, Any] = {}

    def slope(x: Any) -> Any:
        return slopes.get(id(x), 0.0) if isinstance(x, Scalar) else 0.0

    for node in _in_order([result]):
        if node.name == "input":
            slopes[id(node)] = 1.0 if node.args[0] == index else 0.0
        elif not node.dtype.is_floating or node.name in FLAT:
            slopes[id(node)] = 0.0
        elif node.name == "cast":
            inner = slope(node.args[0])
            slopes[id(node)] = inner if not isinstance(inner, Scalar) else prim.cast(inner, node.dtype)
        elif node.name == "select":
            condition, *values = node.args
            slopes[id(node)] = _chosen(node, condition, [slope(v) for v in values])
        else:
            slopes[id(node)] = _by_chain_rule(node, [slope(a) for a in node.args])
    return slope(result)


def _chosen(node: Scalar, condition: Any, slopes: list) -> Any:
    if all(not isinstance(s, Scalar) and s == 0 for s in slopes):
        return 0.0
    if not any(isinstance(s, Scalar) for s in slopes):      # two numbers: one of them needs a dtype
        slopes[0] = prim.cast(condition, node.dtype) * 0.0 + slopes[0]
    return node.trace.prim("select", (condition, *slopes))


def _by_chain_rule(node: Scalar, slopes: list) -> Any:
    total: Any = 0.0
    for position, inner in enumerate(slopes):
        if not isinstance(inner, Scalar) and inner == 0:
            continue
        partials = PARTIALS.get(node.name)
        if partials is None:
            raise NoDerivative(f"the derivative of {node.name} is not known")
        partial = partials[position](node.args, node)
        term = _product(partial, inner)
        total = term if not isinstance(total, Scalar) and total == 0 else total + term
    return total


def _product(a: Any, b: Any) -> Any:
    for one, other in ((a, b), (b, a)):
        if not isinstance(one, Scalar) and one == 1:
            return other
    return a * b
