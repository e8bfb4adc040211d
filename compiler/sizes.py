"""Symbolic sizes: one plan for every batch size.

A feed's unknown dimension becomes a `Size`: a polynomial over symbols, together with the value it has right now (the
hint).  Shape rules compute with sizes as with ints.  Where a rule asks a question that the polynomial alone cannot
answer (`n == m`, `n < 8`), the hint answers and the question is written down as a guard of the `SizeSpace`; a plan is
valid for every other set of sizes for which all of its guards give the same answers.  Converting a size to an int
(`__index__`) answers too, and pins the value: correct, only less general.

Sizes 0 and 1 never become symbols, since broadcasting and emptiness treat them specially; every symbol is >= 2.  So is
every `Size` in a shape: one that was computed and comes out as less is a number there, under a guard (`settled`).  A pass
may therefore take a dimension for more than 1 wherever it is no number.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Union

import numpy as np

Dim = Union[int, "Size"]
Shape = tuple[Dim, ...]
Atom = tuple[Any, ...]                          # ("sym", name), or ("div", terms, terms)
Monomial = tuple[Atom, ...]                     # sorted
Terms = tuple[tuple[Monomial, int], ...]        # (monomial, coefficient), sorted


def _terms_of(x: Dim) -> dict[Monomial, int]:
    return dict(x.terms) if isinstance(x, Size) else ({(): x} if x else {})


def _monomial_key(item: tuple[Monomial, int]) -> tuple[int, str]:
    return (len(item[0]), repr(item[0]))


class SizeSpace:
    """The symbols of one plan and the guards under which it is valid."""

    def __init__(self) -> None:
        self.symbols: dict[str, int] = {}
        self.guards: dict[tuple[str, Terms | int], bool] = {}
        self._by_hint: dict[int, Size] = {}
        self._is_open = False

    @contextlib.contextmanager
    def kept_open(self) -> Iterator[None]:
        """Until it ends, sizes refuse with a TypeError to become numbers, for which alone the plan would hold."""
        before, self._is_open = self._is_open, True
        try:
            yield
        finally:
            self._is_open = before

    def pin(self, size: Size) -> int:
        """The present number of a size, for which alone the plan holds then."""
        if self._is_open:
            raise TypeError(f"the number of {size!r} depends on the run")
        self.ask("==", size - size.hint, True)
        return size.hint

    def symbol(self, hint: int) -> Dim:
        """The symbol for a free dimension.  Dimensions that are equal now share one: most often they are one batch."""
        if hint < 2:
            return hint
        found = self._by_hint.get(hint)
        if found is None:
            name = f"s{len(self.symbols)}"
            self.symbols[name] = hint
            found = self._by_hint[hint] = Size((((("sym", name),), 1),), hint, self)
        return found

    def symbols_for(self, values: np.ndarray) -> np.ndarray:
        """Numbers that only the run tells, as sizes."""
        found = np.empty(values.shape, object)
        for place, number in np.ndenumerate(values):
            found[place] = self.symbol(int(number))
        return found

    def ask(self, kind: str, difference: Dim, answer: bool) -> bool:
        self.guards[(kind, difference.terms if isinstance(difference, Size) else difference)] = answer
        return answer

    def guard_source(self) -> list[str]:
        """Python expressions over the symbols, all true for the sizes that the plan is valid for."""
        lines = []
        for (kind, terms), answer in self.guards.items():
            text = f"({terms_source(terms)}) {kind} 0"
            lines.append(text if answer else f"not ({text})")
        return lines


class Size:
    """A polynomial with integer coefficients over symbols and floor divisions, with its present value."""

    __slots__ = ("terms", "hint", "space", "is_settled")

    def __init__(self, terms: Terms, hint: int, space: SizeSpace):
        self.terms, self.hint, self.space, self.is_settled = terms, hint, space, False

    # arithmetic ------------------------------------------------------------------------------------------------
    def _make(self, terms: dict[Monomial, int], hint: int) -> Dim:
        terms = {m: c for m, c in terms.items() if c}
        if not terms:
            return 0
        if len(terms) == 1 and () in terms:
            return terms[()]
        return Size(tuple(sorted(terms.items(), key=_monomial_key)), hint, self.space)

    def __add__(self, other: Dim) -> Dim:
        if not isinstance(other, (int, Size)):
            return _with_number(self, other, "__add__")
        terms = dict(self.terms)
        for m, c in _terms_of(other).items():
            terms[m] = terms.get(m, 0) + c
        return self._make(terms, self.hint + hint_of(other))

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        if not isinstance(other, (int, Size)):
            return _with_number(self, other, "__sub__")
        return self + other * -1

    def __rsub__(self, other: Dim) -> Dim:
        return self * -1 + other

    def __mul__(self, other: Dim) -> Dim:
        if not isinstance(other, (int, Size)):
            return _with_number(self, other, "__mul__")
        if not isinstance(other, Size):
            if other == 1:          # which every product begins with
                return self
            return Size(tuple([(m, c * other) for m, c in self.terms]), self.hint * other, self.space) if other else 0
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in _terms_of(other).items():
                m = tuple(sorted(m1 + m2, key=repr))
                terms[m] = terms.get(m, 0) + c1 * c2
        return self._make(terms, self.hint * hint_of(other))

    __rmul__ = __mul__

    def _exact_quotient(self, other: Dim) -> Dim | None:
        """self / other where every term divides, else None."""
        divisor = list(_terms_of(other).items())
        if len(divisor) != 1:
            return 1 if isinstance(other, Size) and other.terms == self.terms else None
        (dm, dc), = divisor
        out = {}
        for m, c in self.terms:
            rest = list(m)
            for atom in dm:
                if atom not in rest:
                    return None
                rest.remove(atom)
            if c % dc:
                return None
            out[tuple(rest)] = c // dc
        return self._make(out, self.hint // hint_of(other))

    def __floordiv__(self, other: Dim) -> Dim:
        if not isinstance(other, (int, Size)):
            return _with_number(self, other, "__floordiv__")
        if not isinstance(other, Size) and other == 0:
            raise ZeroDivisionError("a size divided by 0")
        exact = self._exact_quotient(other)
        if exact is not None:
            return exact
        divisor = other.terms if isinstance(other, Size) else other
        return Size((((("div", self.terms, divisor),), 1),), self.hint // hint_of(other), self.space)

    def __rfloordiv__(self, other: int) -> Dim:
        if other == 0:
            return 0
        return Size((((("div", other, self.terms),), 1),), other // self.hint, self.space)

    def __mod__(self, other: Dim) -> Dim:
        return self - (self // other) * other

    def __rmod__(self, other: Dim) -> Dim:
        return other - (other // self) * self

    def is_plain(self) -> bool:
        """Whether this is little else than the sizes of arrays in memory, which every signed index type holds."""
        return all(len(m) == 1 and abs(c) == 1 if m else abs(c) < 1 << 20 for m, c in self.terms)

    # questions -------------------------------------------------------------------------------------------------
    def _compare(self, other: Any, kind: str, test: Callable[[Any, Any], bool]) -> bool:
        if not isinstance(other, (int, Size)):
            return test(self.__index__(), other)
        difference = self - other
        if not isinstance(difference, Size):
            return test(difference, 0)
        low = difference._lower_bound()
        if low is not None and low > 0:
            return test(low, 0)
        high = (difference * -1)._lower_bound()  # type: ignore[union-attr]  # a Size times -1 is one
        if high is not None and high > 0:
            return test(-high, 0)
        return self.space.ask(kind, difference, test(difference.hint, 0))

    def _lower_bound(self) -> int | None:
        """A bound that holds for all symbols >= 2, or None."""
        return _lower_bound(self.terms)

    def __eq__(self, other: Any) -> bool:
        if other is None:
            return False
        return same(self, other) or self._compare(other, "==", lambda a, b: a == b)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Dim) -> bool:
        return self._compare(other, "<", lambda a, b: a < b)

    def __le__(self, other: Dim) -> bool:
        return self._compare(other, "<=", lambda a, b: a <= b)

    def __gt__(self, other: Dim) -> bool:
        return self._compare(other, ">", lambda a, b: a > b)

    def __ge__(self, other: Dim) -> bool:
        return self._compare(other, ">=", lambda a, b: a >= b)

    def _settle(self) -> bool:
        """Whether it is 2 or more, asked once."""
        self.is_settled = self > 1
        return self.is_settled

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self.terms)

    def __index__(self) -> int:
        return self.space.pin(self)

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __truediv__(self, other: Any) -> float:
        return float(self) / float(other)

    def __rtruediv__(self, other: Any) -> float:
        return float(other) / float(self)

    def __repr__(self) -> str:
        return f"{terms_source(self.terms)}"

    def __str__(self) -> str:      # in the messages of shape rules, which users read, the present value
        return str(self.hint)


def _lower_bound(terms: Terms | int) -> int | None:
    """A bound of a polynomial for all symbols >= 2, or None; quotients are >= 0 of what surely is, others may be less."""
    if not isinstance(terms, tuple):
        return terms
    bound = 0
    for m, c in terms:
        if c < 0 and m:
            return None
        product = c
        for kind, *inner in m:
            if kind == "sym":
                product *= 2
                continue
            low, least = _lower_bound(inner[0]), _lower_bound(inner[1])
            if low is None or low < 0 or least is None or least < 1:
                return None
            product = 0
        bound += product
    return bound


def _with_number(size: Size, other: Any, method: str) -> Any:
    """Arithmetic with a NumPy integer stays symbolic; with anything else the size gives its value."""
    if hasattr(other, "__index__"):
        return getattr(size, method)(other.__index__())
    return NotImplemented


def is_one(d: Dim) -> bool:
    """Whether a dimension of a shape is 1: those that are no numbers never are."""
    return not isinstance(d, Size) and d == 1


def hint_of(x: Dim) -> int:
    """The value that a dimension has right now."""
    return x.hint if isinstance(x, Size) else int(x)


def same(a: Dim, b: Dim) -> bool:
    """Equal as expressions, for all sizes: asks nothing and leaves no guard."""
    if isinstance(a, Size):
        return isinstance(b, Size) and a.terms == b.terms
    return not isinstance(b, Size) and a == b


def same_shape(a: Shape, b: Shape) -> bool:
    """Whether shapes are equal in this way."""
    return len(a) == len(b) and all(map(same, a, b))


def settled(shape: Iterable[Dim]) -> Shape:
    """The shape with sizes of 2 or more, in every run that the plan is for, and numbers."""
    return tuple([d if not isinstance(d, Size) or d.is_settled or d._settle() else d.__index__() for d in shape])


def product(dims: Iterable[Dim]) -> Dim:
    total: Dim = 1
    for d in dims:
        total = total * d
    return total


def dot(a: Iterable[Dim], b: Iterable[Dim]) -> Dim:
    """The sum of the products of two lists."""
    total: Dim = 0
    for x, y in zip(a, b):
        total = total + x * y
    return total


def count(shape: Iterable[Dim]) -> int:
    """The number of elements that a shape has right now."""
    return hint_of(product(shape))


def maximum(a: Dim, b: Dim) -> Dim:
    return a if a >= b else b


def evaluate(x: Dim, values: dict[str, int]) -> int:
    """The number that a size is for these values of the symbols."""
    return x if isinstance(x, int) else int(eval(source(x), {"__builtins__": {}}, values))


def source(x: Dim) -> str:
    """A Python expression over the symbols that computes the size."""
    return terms_source(x.terms) if isinstance(x, Size) else str(int(x))


def terms_source(terms: Terms | int) -> str:
    if isinstance(terms, int):
        return str(terms)
    parts = []
    for monomial, coefficient in terms:
        factors = [_atom_source(a) for a in monomial]
        if coefficient != 1 or not factors:
            factors.insert(0, str(coefficient))
        parts.append("*".join(factors))
    return " + ".join(parts) if parts else "0"


def _atom_source(atom: Atom) -> str:
    if atom[0] == "sym":
        return atom[1]
    _, a, b = atom
    return f"(({terms_source(a)})//({terms_source(b)}))"
