"""Functions of one argument that are put together: ``f | g`` is f, then g; ``f ** 3`` is f three times; ``f + g`` adds results."""
from __future__ import annotations

import importlib
import operator
import re
from collections.abc import Callable as AnyCallable
from typing import Any

_QUOTED = re.compile(r""""([^"\\]|\\.)*"|'([^'\\]|\\.)*'""")
_FORBIDDEN = re.compile(r"\b(import|while|def|exec)\b")
_debugging = False


def check_keywords(spec: str) -> None:
    """Raises ValueError if a text has Python's import, while, def or exec outside of quotes."""
    found = _FORBIDDEN.search(_QUOTED.sub("", spec))
    if found:
        raise ValueError(f"keyword '{found.group(1)}' found in spec")


def get_positional(args: Any, kw: dict, kw_overrides: bool = False) -> tuple[Any, dict]:
    """(arguments, keywords): the keywords ``_0``, ``_1`` ... become arguments at these places, where there is none, or, with
    `kw_overrides`, in any case."""
    named = {key: value for key, value in kw.items() if not key.startswith("_")}
    if len(named) == len(kw):
        return args, kw
    placed = list(args)
    for key, value in kw.items():
        if key.startswith("_"):
            place = int(key[1:])
            placed += [None] * (place + 1 - len(placed))
            if kw_overrides or placed[place] is None:
                placed[place] = value
    return placed, named


class Composable:
    """A function, called by ``funcall``, that others are put together of."""

    def funcall(self, x: Any) -> Any:
        """What it makes of `x`."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it makes of its argument")

    def __or__(self, f: Composable) -> Composition:
        return Composition(self, f)

    def __add__(self, g: Composable) -> Operator:
        return Operator(operator.add, self, g)

    def __mul__(self, g: Composable) -> Operator:
        return Operator(operator.mul, self, g)

    def __pow__(self, n: int) -> Composable:
        if n < 0:
            raise AssertionError(f"a function cannot be applied {n} times")
        if n == 0:
            return Function(lambda x, *args, **kw: x)
        result: Composable = self
        for _ in range(n - 1):
            result = Composition(result, self)
        return result


class Callable(Composable):
    """A function as it is."""

    def __init__(self, f: AnyCallable):
        self.f = f

    def funcall(self, x: Any) -> Any:
        """``f(x)``."""
        return self.f(x)


class Operator(Composable):
    """`op` of what several functions make of the same argument."""

    def __init__(self, op: AnyCallable, *args: Composable):
        self.op, self.funs = op, args

    def funcall(self, x: Any) -> Any:
        """``op(f(x), g(x), ...)``."""
        return self.op(*[f.funcall(x) for f in self.funs])


class Function(Composable):
    """A function whose further arguments are given by calls before: ``Function(f)(2, k=3)`` makes ``f(x, 2, k=3)`` of x.

    Raises ValueError for what cannot be called.
    """

    def __init__(self, f: AnyCallable, *args: Any, **kw: Any):
        if not callable(f):
            raise ValueError(f"{f}: is not callable")
        self.f, self.args, self.kw = f, list(args), kw

    def __call__(self, *args: Any, **kw: Any) -> Function:
        return Function(self.f, *args, *self.args, **{**self.kw, **kw})

    def funcall(self, x: Any) -> Any:
        """``f(x, ...)``."""
        args, kw = get_positional(self.args, self.kw)
        if _debugging:
            print("DEBUG:", self.f, x, args, kw)
        return self.f(x, *args, **kw)


class Composition(Composable):
    """`f`, then `g`."""

    def __init__(self, f: Composable, g: Composable):
        self.f, self.g = f, g

    def funcall(self, x: Any) -> Any:
        """``g(f(x))``."""
        return self.g.funcall(self.f.funcall(x))


def External(module_name: str, function_name: str) -> Function:
    """A function of a module, which is imported."""
    return Function(vars(importlib.import_module(module_name))[function_name])


def Import(statements: str) -> Function:
    """The function `f` that Python statements define.  Raises ValueError if they define none."""
    environment: dict[str, Any] = {}
    exec(statements, environment)
    if "f" not in environment:
        raise ValueError('failed to define "f": %s', statements)
    return Function(environment["f"])


def debug(mode: bool = True) -> None:
    """Whether every call of a Function is printed from now on."""
    global _debugging
    _debugging = mode
