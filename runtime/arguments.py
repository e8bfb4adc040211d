"""The sizes argument of kernels: a word for each of `Kernel.sizes`."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.emit.bind import Numbers
from jitgraph.compiler.options import DIRECT
from jitgraph.compiler.primitives.memory import SIZE

from .library import LIBRARY

if TYPE_CHECKING:
    from jitgraph.compiler.ir import Value


class SizeArguments:
    """The words of kernels one after the other, before the sizes of a run are known: `numbers` has for each the number of an
    expression; `scalars` are (place, number, item of `Kernel.sizes`) of those that are a scalar's bytes."""

    def __init__(self, numbers: Numbers, compiler: str = DIRECT) -> None:
        self._add, self.compiler = numbers.add, compiler
        self.numbers: list[int] = []
        self.scalars: list[tuple[int, int, tuple[str, Value, str]]] = []

    def add(self, given: Iterable[Any]) -> None:
        """Appends the words of one kernel, by its `sizes`."""
        for item in given:
            if not isinstance(item, tuple):
                number = self._add(item)
            elif item[0] == "blas":
                number = self._add(LIBRARY.blas(item[1]))
            elif item[0] == "kernel":
                number = self._add(LIBRARY.addresses([item[1]], self.compiler)[0])
            else:
                node = item[1].node
                array = node.attrs["array"]
                if node.kind is SIZE:
                    number = self._add(array.item())
                    self.scalars.append((len(self.numbers), number, item))
                else:
                    number = self._add(_as_word(array, item))
            self.numbers.append(number)

    def words(self, found: Sequence[int]) -> list[int]:
        """The words for a run in which the expressions come to these numbers."""
        words = [found[number] for number in self.numbers]
        for place, number, item in self.scalars:
            words[place] = _as_word(found[number], item)
        return words

    def array(self, found: np.ndarray) -> np.ndarray:
        """The same as an array [words] of int64, from an array of the numbers."""
        words = found[self._places]
        for place, number, item in self.scalars:
            words[place] = _as_word(int(found[number]), item)
        return words

    @cached_property
    def _places(self) -> np.ndarray:
        return np.array(self.numbers, np.int64)


def _as_word(number: Any, item: tuple[str, Value, str]) -> int:
    """A scalar that a kernel gets in its sizes argument, or a part of a complex one: its bytes as an integer."""
    _, value, code = item
    array: np.ndarray = np.asarray(number).reshape(()).astype(value.dtype.as_numpy_dtype)
    if code in ("real", "imag"):
        array = getattr(array, code)
    return int.from_bytes(array.tobytes().ljust(8, b"\0"), "little", signed=True)
