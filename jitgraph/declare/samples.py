"""Inputs for the tests of declared ops: what ``@op(samples=...)`` gives, and what is drawn where nothing is given.

A function of samples takes (rng, dtype): a NumPy Generator and the NumPy dtype of the op's type attribute T (of that of
its first input, if there is no T).  It returns a list of samples; a sample is a list with an array for each input (a
list of arrays for a list input), or a tuple of such a list and a dictionary of attributes.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# shapes that broadcast together: scalars, empty, size 1, missing dimensions
SHAPES: dict[int, list[tuple]] = {
    0: [()],
    1: [((2, 3),), ((),), ((0, 3),), ((1, 1),), ((5,),)],
    2: [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2, 3)), ((), ()), ((0, 3), (1, 3))],
    3: [((2, 3), (2, 3), (2, 3)), ((2, 3), (), ()), ((2, 1), (3,), (1, 3)), ((), (), ()), ((0, 3), (1, 3), (3,))],
}


def draw(rng: np.random.Generator, shape: Any, dtype: Any, low: float = -3, high: float = 3) -> np.ndarray:
    """An array with elements between `low` and `high` (unsigned ones not below 0); strings are short words."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        lowest = max(0, int(np.ceil(low))) if dtype.kind == "u" else int(np.ceil(low))
        return rng.integers(lowest, max(lowest, int(high)) + 1, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    if dtype.kind == "O":
        array = np.empty(shape, object)
        for index in np.ndindex(array.shape):
            array[index] = rng.choice([b"", b"a", b"bc", b"caf\xc3\xa9"])
        return array
    return np.asarray(rng.uniform(low, high, shape)).astype(dtype)


def ints(*values: Any) -> np.ndarray:
    """An int32 array of `values`."""
    return np.array(values, np.int32)


def results(builder: Any, inputs: list, attrs: dict[str, Any]) -> tuple:
    """The values that the op of `builder` has for `inputs`: what is fed to its gradient has their shapes."""
    opdef = builder.opdef
    filled = {name: attr.default for name, attr in opdef.attrs.items() if not attr.implied} | attrs
    with np.errstate(all="ignore"):
        return opdef.evaluate(inputs, filled)


def texts(*values: Any) -> np.ndarray:
    """An array of strings."""
    return np.array(values, object)


def between(low: float, high: float, count: int = 1) -> Callable[[np.random.Generator, Any], list]:
    """Samples of `count` inputs that broadcast, with elements between `low` and `high`."""

    def samples(rng: np.random.Generator, dtype: Any) -> list:
        return [[draw(rng, shape, dtype, low, high) for shape in shapes] for shapes in SHAPES[count]]

    return samples
