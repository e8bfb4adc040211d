"""The matrices of Winograd's minimal filtering, see ``winograd``; exact."""
from __future__ import annotations

from fractions import Fraction
from typing import Any

POINTS = (Fraction(0), Fraction(3, 4), Fraction(-3, 4), Fraction(3, 2), Fraction(-3, 2))        # and infinity

Matrix = list[list[Fraction]]


def pixels() -> Matrix:
    """[SIZE, SIZE], for the pixels that a tile sees: in row k, the product of all (x - point) but the k-th."""
    rows = [_expanded([q for q in POINTS if q != p]) + [Fraction(0)] for p in POINTS]
    return [*rows, _expanded(POINTS)]


def _expanded(roots: Any) -> list[Fraction]:
    """The coefficients of the product of all (x - root), those of low powers first."""
    found = [Fraction(1)]
    for root in roots:
        found = [high - root * low for high, low in zip([Fraction(0), *found], [*found, Fraction(0)])]
    return found


def weights(taps: int) -> Matrix:
    """[SIZE, taps], for a filter: its polynomial's values at the points, over what `pixels` leaves there."""
    rows = []
    for p in POINTS:
        scale = Fraction(1)
        for q in POINTS:
            scale *= p - q if q != p else 1
        rows.append([p ** k / scale for k in range(taps)])
    return [*rows, [Fraction(int(k == taps - 1)) for k in range(taps)]]


def result(count: int) -> Matrix:
    """[count, SIZE]: results from products."""
    return [[p ** k for p in POINTS] + [Fraction(int(k == count - 1))] for k in range(count)]
