"""The closed vocabulary of scalar functions, and their NumPy meaning.

Every elementwise op of the language is an expression in these names.  One text serves two readers::

    prim.exp(array)     # an ndarray or number: computed by NumPy, the meaning of the name
    prim.exp(traced)    # an object with a method __prim__: answers traced.__prim__("exp", args)

A Python number beside an array or a traced value takes its dtype (``prim.add(float16_array, 1.0)`` is float16).
``PRIMS`` lists the vocabulary; nothing else may appear in a kernel.
"""
from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CHEAP", "CHECKED", "ELEMENTARY", "PRIMS", "QUICK", "Cost", "Operators", "Prim"]


class Cost(enum.Enum):
    """What computing a scalar function of numbers that are at hand comes to."""

    QUICK = "less than writing its result"
    CHEAP = "no more than writing and reading it"
    PLAIN = "some instructions"
    ELEMENTARY = "some thirty instructions: worth keeping"


class Prim(NamedTuple):
    """One scalar function: its name, number of arguments, NumPy meaning and kind of result.

    ``result`` is "same" (the dtype of the arguments), "bool", "real" (the real dtype of a complex argument),
    "complex" (the complex dtype of two real arguments) or "given" (named by an argument).  ``is_exact``: IEEE rounds it the
    same way everywhere.  ``fails``: integers can make it raise InvalidArgumentError.  ``python``: what Python writes between
    two scalars, or before one, that means the same; "" where nothing does, or not for all numbers.
    """

    name: str
    arity: int
    numpy: Callable
    result: str = "same"
    cost: Cost = Cost.PLAIN
    is_exact: bool = False
    fails: bool = False
    python: str = ""


def _special(name: str) -> Callable:
    """A function of scipy.special, imported at the first call and rounded to the argument's dtype."""

    def function(x):
        import scipy.special

        x = np.asarray(x)
        wide = x.astype(np.float32) if x.dtype.itemsize < 4 else x
        return getattr(scipy.special, name)(wide).astype(x.dtype, copy=False)

    return function


def _lgamma(x):
    found = _special("gammaln")(x)          # SciPy's is minus infinity at minus infinity
    return np.where(np.isinf(x), np.asarray(np.inf, found.dtype), found)


def _digamma(x):
    # at its poles, the whole numbers up to 0, TensorFlow's is plus infinity
    found = _special("psi")(x)
    return np.where(np.less_equal(x, 0) & (np.floor(x) == x), np.asarray(np.inf, found.dtype), found)


def _rsqrt(x):
    return np.reciprocal(np.sqrt(x))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _raise_invalid(message: str):
    from jitgraph.graph.errors import InvalidArgumentError

    raise InvalidArgumentError(None, None, message)


def _is_integer(*values) -> bool:
    """Whether the values are whole numbers; arrays of objects hold symbolic sizes, while a plan is made."""
    return np.result_type(*values).kind in "iuO"


def _meets(holds, x) -> bool:
    """Whether any element of a result is made of a y that `holds`: none is where x, broadcast with it, has no elements."""
    return bool(np.any(holds)) and np.broadcast(holds, x).size > 0


def _refuse_zero(x, y) -> None:
    if _is_integer(x, y) and _meets(np.equal(y, 0), x):
        _raise_invalid("Integer division by zero")


def _floor_div(x, y):
    _refuse_zero(x, y)
    return np.floor_divide(x, y)


def _floor_mod(x, y):
    _refuse_zero(x, y)
    if _is_integer(x, y):
        return np.mod(x, y)
    rest = np.fmod(x, y)        # not np.mod, which gives a zero the sign of y
    return np.where((rest != 0) & (np.less(rest, 0) != np.less(y, 0)), rest + y, rest)


def _trunc_div(x, y):
    if not _is_integer(x, y):
        return np.trunc(np.true_divide(x, y))
    _refuse_zero(x, y)
    quotient = np.floor_divide(x, y)
    inexact = np.not_equal(quotient * y, x)
    return quotient + (inexact & ((np.less(x, 0)) != (np.less(y, 0)))).astype(quotient.dtype)


def _trunc_mod(x, y):
    _refuse_zero(x, y)
    return np.fmod(x, y)


def _pow(x, y):
    if _is_integer(x, y) and _meets(np.less(y, 0), x):
        _raise_invalid("Integers to negative integer powers are not allowed")
    return np.power(x, y)


def _first_of_equals(function):
    """np.maximum or np.minimum; of a zero and its negative NumPy gives this or that, by how many there are."""
    def chosen(x, y):
        found = function(x, y)
        return np.where(np.equal(x, y), x, found) if found.dtype.kind not in "iu" else found

    return chosen


def _complex(x, y):
    # not x + 1j * y, where 0 * inf would be NaN
    x, y = np.broadcast_arrays(x, y)
    result = np.empty(x.shape, np.result_type(x, y, np.complex64))
    result.real, result.imag = x, y
    return result


def _imag(x):
    return np.imag(x).copy()


def _cast(x, dtype):
    """TensorFlow's cast: from complex by the real part, to bool by "not zero", to integers towards zero."""
    target = np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    x = np.asarray(x)
    if x.dtype.kind == "c" and target.kind != "c":
        x = x.real
    if target == np.bool_:
        return np.not_equal(x, 0)
    return x.astype(target)


_QUICK: dict[str, Any] = {"cost": Cost.QUICK}
_CHEAP: dict[str, Any] = {"cost": Cost.CHEAP}
_ELEMENTARY: dict[str, Any] = {"cost": Cost.ELEMENTARY}
_EXACT: dict[str, Any] = {"is_exact": True}
_FAILS: dict[str, Any] = {"fails": True}

_TABLE: list[Prim] = [
    # one argument
    Prim("neg", 1, np.negative, **_QUICK, **_EXACT), Prim("abs", 1, np.abs, "real", **_CHEAP), Prim("sign", 1, np.sign),
    Prim("floor", 1, np.floor, **_CHEAP), Prim("ceil", 1, np.ceil), Prim("rint", 1, np.rint), Prim("trunc", 1, np.trunc),
    Prim("sqrt", 1, np.sqrt, **_EXACT), Prim("rsqrt", 1, _rsqrt),
    Prim("exp", 1, np.exp, **_ELEMENTARY), Prim("log", 1, np.log, **_ELEMENTARY),
    Prim("log1p", 1, np.log1p, **_ELEMENTARY), Prim("expm1", 1, np.expm1, **_ELEMENTARY),
    Prim("tanh", 1, np.tanh, **_ELEMENTARY), Prim("sigmoid", 1, _sigmoid, **_ELEMENTARY),
    Prim("erf", 1, _special("erf"), **_ELEMENTARY), Prim("erfc", 1, _special("erfc"), **_ELEMENTARY),
    Prim("sin", 1, np.sin, **_ELEMENTARY), Prim("cos", 1, np.cos, **_ELEMENTARY), Prim("tan", 1, np.tan, **_ELEMENTARY),
    Prim("asin", 1, np.arcsin, **_ELEMENTARY), Prim("acos", 1, np.arccos, **_ELEMENTARY),
    Prim("atan", 1, np.arctan, **_ELEMENTARY), Prim("sinh", 1, np.sinh, **_ELEMENTARY),
    Prim("cosh", 1, np.cosh, **_ELEMENTARY), Prim("asinh", 1, np.arcsinh, **_ELEMENTARY),
    Prim("acosh", 1, np.arccosh, **_ELEMENTARY), Prim("atanh", 1, np.arctanh, **_ELEMENTARY),
    Prim("lgamma", 1, _lgamma, **_ELEMENTARY), Prim("digamma", 1, _digamma, **_ELEMENTARY),
    Prim("is_nan", 1, np.isnan, "bool"), Prim("is_inf", 1, np.isinf, "bool"),
    Prim("is_finite", 1, np.isfinite, "bool"),
    Prim("logical_not", 1, np.logical_not, "bool", **_CHEAP, python="not"), Prim("bit_not", 1, np.invert),
    Prim("real", 1, np.real, "real"), Prim("imag", 1, _imag, "real"), Prim("conj", 1, np.conj),
    # two arguments
    Prim("add", 2, np.add, **_QUICK, **_EXACT, python="+"), Prim("sub", 2, np.subtract, **_QUICK, **_EXACT, python="-"),
    Prim("mul", 2, np.multiply, **_QUICK, **_EXACT, python="*"), Prim("div", 2, np.true_divide, **_EXACT),
    Prim("floor_div", 2, _floor_div, **_FAILS), Prim("floor_mod", 2, _floor_mod, **_FAILS),
    Prim("trunc_div", 2, _trunc_div, **_FAILS), Prim("trunc_mod", 2, _trunc_mod, **_FAILS),
    Prim("pow", 2, _pow, **_ELEMENTARY, **_FAILS), Prim("atan2", 2, np.arctan2, **_ELEMENTARY),
    Prim("max", 2, _first_of_equals(np.maximum), **_QUICK, **_EXACT),
    Prim("min", 2, _first_of_equals(np.minimum), **_QUICK, **_EXACT),
    Prim("eq", 2, np.equal, "bool", **_CHEAP, **_EXACT, python="=="),
    Prim("ne", 2, np.not_equal, "bool", **_CHEAP, **_EXACT, python="!="),
    Prim("lt", 2, np.less, "bool", **_CHEAP, **_EXACT, python="<"),
    Prim("le", 2, np.less_equal, "bool", **_CHEAP, **_EXACT, python="<="),
    Prim("gt", 2, np.greater, "bool", **_CHEAP, **_EXACT, python=">"),
    Prim("ge", 2, np.greater_equal, "bool", **_CHEAP, **_EXACT, python=">="),
    Prim("logical_and", 2, np.logical_and, "bool", **_CHEAP, python="and"),
    Prim("logical_or", 2, np.logical_or, "bool", **_CHEAP, python="or"),
    Prim("bit_and", 2, np.bitwise_and), Prim("bit_or", 2, np.bitwise_or), Prim("bit_xor", 2, np.bitwise_xor),
    Prim("shift_left", 2, np.left_shift), Prim("shift_right", 2, np.right_shift),
    Prim("complex", 2, _complex, "complex"),
    # others
    Prim("select", 3, np.where, **_CHEAP), Prim("cast", 2, _cast, "given"),
]

PRIMS: dict[str, Prim] = {prim.name: prim for prim in _TABLE}
QUICK = frozenset(prim.name for prim in _TABLE if prim.cost is Cost.QUICK)
CHEAP = frozenset(prim.name for prim in _TABLE if prim.cost in (Cost.QUICK, Cost.CHEAP))
ELEMENTARY = frozenset(prim.name for prim in _TABLE if prim.cost is Cost.ELEMENTARY)
CHECKED = frozenset(prim.name for prim in _TABLE if prim.fails)


def _dispatching(prim: Prim) -> Callable:
    name, numpy_meaning = prim.name, prim.numpy

    def function(*args):
        for argument in args:
            if hasattr(argument, "__prim__"):
                return argument.__prim__(name, args)
        with np.errstate(all="ignore"):     # inf and NaN are values here, as in TensorFlow
            return numpy_meaning(*args)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The prim `{name}` of {prim.arity} argument(s); result dtype: {prim.result}."
    return function


globals().update({name: _dispatching(prim) for name, prim in PRIMS.items()})


def __getattr__(name: str) -> Any:
    raise AttributeError(f"there is no prim {name!r}; the vocabulary is {' '.join(PRIMS)}")


def _binary(name: str) -> Callable:
    return lambda self, other: self.__prim__(name, (self, other))


def _reflected(name: str) -> Callable:
    return lambda self, other: self.__prim__(name, (other, self))


class Operators:
    """Python's operators on traced values, by way of the prims.  A subclass defines ``__prim__(name, args)``.

    ``/`` is true division; ``//`` and ``%`` round towards minus infinity.  ``==`` traces an element-by-element
    comparison, so a subclass that needs identity compares with ``is`` and keeps its own ``__hash__``.
    """

    __array_priority__ = 1000
    __array_ufunc__ = None          # numpy scalars on the left hand over to the reflected operator

    def __prim__(self, name: str, args: tuple) -> Any:
        raise NotImplementedError

    __neg__ = lambda self: self.__prim__("neg", (self,))
    __abs__ = lambda self: self.__prim__("abs", (self,))
    __invert__ = lambda self: self.__prim__("bit_not", (self,))
    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("div"), _reflected("div")
    __floordiv__, __rfloordiv__ = _binary("floor_div"), _reflected("floor_div")
    __mod__, __rmod__ = _binary("floor_mod"), _reflected("floor_mod")
    __pow__, __rpow__ = _binary("pow"), _reflected("pow")
    __and__, __rand__ = _binary("bit_and"), _reflected("bit_and")
    __or__, __ror__ = _binary("bit_or"), _reflected("bit_or")
    __xor__, __rxor__ = _binary("bit_xor"), _reflected("bit_xor")
    __lshift__, __rlshift__ = _binary("shift_left"), _reflected("shift_left")
    __rshift__, __rrshift__ = _binary("shift_right"), _reflected("shift_right")
    __lt__, __le__, __gt__, __ge__ = _binary("lt"), _binary("le"), _binary("gt"), _binary("ge")
    __eq__, __ne__ = _binary("eq"), _binary("ne")   # type: ignore[assignment]
    __hash__ = object.__hash__

    def __bool__(self):
        """A comparison that is still to be computed is neither true nor false: what looks for a value in a list by `in`,
        which asks ``==``, would find whichever stands first."""
        raise TypeError("a traced value has no truth before the run; compare values by `is`, and choose by prim.select")
