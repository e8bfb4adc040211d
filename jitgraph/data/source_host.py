"""Datasets on the host: where elements come from, and what it takes to iterate over them.

An element is a tuple of arrays.  A `Source` gives functions that give the next element at each call, or raise
StopIteration: unlike a generator, such a function goes on after an error, as TensorFlow's iterators do.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from jitgraph.graph import errors

Element = tuple[np.ndarray, ...]
Take = Callable[[], Any]         # gives an Element, or a list like one


class Session:
    """What one iteration shares with all its parts.

    ``state``: the session's; ``fused``: whether a shuffle and the repetition of it are one, as TensorFlow's optimiser
    makes them.  Things that are to end with the iteration are given to ``at_end``.
    """

    def __init__(self, state: Any):
        self.state = state
        self.closed = False
        self._kept: dict[Hashable, Any] = {}
        self._endings: list[Callable[[], None]] = []
        self._lock = threading.RLock()
        self._streams: Any = None

    def keep(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What stands under `key` as long as the iteration lasts, made at the first call."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            return self._kept[key]

    def function(self, graph: Any) -> Callable:
        """The function of a graph.  One that draws random numbers begins anew with each iteration."""
        if not _draws(graph):
            key = "function of a dataset", graph
            with self._lock:
                if key not in self.state.functions:
                    self.state.functions[key] = self.state.make_function(graph, self.state)
                return self.state.functions[key]
        return self.keep(("function", graph), lambda: self._fresh(graph))

    def _fresh(self, graph: Any) -> Any:
        if self._streams is None:
            self._streams = self.state.with_own_streams()
        made = self.state.make_function(graph, self._streams)
        self.at_end(made.close)
        return made

    def at_end(self, ending: Callable[[], None]) -> None:
        """Calls `ending` when the iteration is over: at once if it is already."""
        with self._lock:
            if not self.closed:
                self._endings.append(ending)
                return
        ending()

    def close(self) -> None:
        """Ends threads and files of this iteration."""
        with self._lock:
            self.closed, endings, self._endings = True, self._endings, []
        for ending in reversed(endings):
            ending()


def _draws(graph: Any) -> bool:
    from jitgraph.graph.calls import functions_of

    return any(op.opdef is not None and op.opdef.stream or any(map(_draws, functions_of(op))) for op in graph.get_operations())


class Run:
    """One place in one iteration: the session, and the path of sources that led to it."""

    __slots__ = ("session", "path", "fused")

    def __init__(self, session: Session, path: tuple = (), fused: bool = False):
        self.session, self.path, self.fused = session, path, fused

    def at(self, step: Hashable) -> Run:
        """The run of an input of the source at this place."""
        return Run(self.session, (*self.path, step), self.fused)

    def inside(self, number: int) -> Run:
        """The run of the dataset that a function made of element `number`; optimisers do not look into functions."""
        return Run(self.session, (*self.path, number), False)


class Source:
    """A dataset.  ``inputs``: those it is made of."""

    inputs: tuple[Source, ...] = ()

    def iterate(self, run: Run) -> Take:
        """The function that gives the elements of a new iteration."""
        raise NotImplementedError

    def size(self) -> int:
        """The number of elements; INFINITE, or UNKNOWN."""
        return UNKNOWN


INFINITE, UNKNOWN = -1, -2


class Function:
    """A function's graph with the arrays that it has captured, as an op of a dataset holds it."""

    __slots__ = ("graph", "captured")

    def __init__(self, graph: Any, captured: list):
        self.graph, self.captured = graph, captured

    def start(self, run: Run) -> Callable[[Element], list]:
        """The function of elements, for one iteration."""
        call, captured = run.session.function(self.graph), self.captured
        if not captured:
            return call
        return lambda element: call([*element, *captured])

    @property
    def waits(self) -> bool:
        """Whether it has operations of the host, during which other threads may get on."""
        return any(op.opdef is None or op.opdef.host and not op.opdef.placeholder for op in self.graph.get_operations())


def drained(take: Take) -> list[Element]:
    """All elements that are left."""
    found = []
    while True:
        try:
            found.append(take())
        except StopIteration:
            return found


def stacked(elements: list[Element]) -> Element:
    """Elements of equal shapes along a new first dimension.  Raises InvalidArgumentError if the shapes differ."""
    return tuple(_stack(k, [element[k] for element in elements]) for k in range(len(elements[0])))


def _stack(component: int, arrays: list[np.ndarray]) -> np.ndarray:
    first = arrays[0]
    out = np.empty((len(arrays), *first.shape), first.dtype)
    shape = first.shape
    for number, array in enumerate(arrays):
        if array.shape != shape:
            raise errors.InvalidArgumentError(
                None, None, f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                            f"{_brackets(shape)} and element {number} had shape {_brackets(array.shape)}.")
        out[number] = array if array.ndim else array[()]
    return out


def _brackets(shape: tuple) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def kept(array: Any) -> np.ndarray:
    """An array of our own, which nobody may write: the memory of an op's inputs is used again after the call."""
    own = np.array(array)
    own.setflags(write=False)
    return own
