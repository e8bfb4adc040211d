"""Datasets on the host: where elements come from, and what it takes to iterate over them.

An element is a tuple of arrays.  A `Source` gives functions that give the next element at each call, or raise
StopIteration: unlike a generator, such a function goes on after an error, as TensorFlow's iterators do.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jitgraph.graph import errors

Element = tuple[np.ndarray, ...]
Take = Callable[[], Any]         # gives an Element, or a list like one


class Session:
    """What one iteration shares with all its parts.

    ``state``: the session's.  ``drawn``: the seeds that were drawn for want of given ones, by the place that has them: what
    it takes, besides a number, to come to the same place again.  Things that are to end with the iteration are given to
    ``at_end``.
    """

    def __init__(self, state: Any, drawn: dict[str, tuple[int, int]] | None = None):
        self.state = state
        self.drawn = {} if drawn is None else dict(drawn)
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
    """One place in one iteration: the session, and the path of sources that led to it.

    ``fused``: whether a shuffle and the repetition of it are one, as TensorFlow's optimiser makes them; ``stats``: what takes
    the statistics of this place, if anything does; ``numbers``: whether sources give numbers instead of elements, of which
    ``Source.rows`` makes elements later.
    """

    __slots__ = ("session", "path", "fused", "stats", "numbers")

    def __init__(self, session: Session, path: tuple = (), fused: bool = False, stats: Any = None, numbers: bool = False):
        self.session, self.path, self.fused, self.stats, self.numbers = session, path, fused, stats, numbers

    def at(self, step: Hashable) -> Run:
        """The run of an input of the source at this place."""
        return Run(self.session, (*self.path, step), self.fused, self.stats, self.numbers)

    def with_(self, **changed: Any) -> Run:
        """The run at the same place, some of it changed."""
        return Run(**{name: changed.get(name, getattr(self, name)) for name in self.__slots__})

    def inside(self, number: int) -> Run:
        """The run of the dataset that a function made of element `number`; optimisers do not look into functions."""
        return Run(self.session, (*self.path, number), False, self.stats)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The node that made a dataset, and {name of an input: what it was given}: sources, scalars, arrays, lists of them."""

    op: Any
    values: dict[str, Any]


class Source:
    """A dataset.  ``inputs``: those it is made of; ``recipe``: how a node made it, None inside of others."""

    inputs: tuple[Source, ...] = ()
    recipe: Recipe | None = None
    fails_by_batches = False    # whether batches of it, in one step with it in TensorFlow, fail as a whole
    orders = False              # whether the elements are those of its inputs as they are, with numbers if these have some

    def iterate(self, run: Run) -> Take:
        """The function that gives the elements of a new iteration."""
        raise NotImplementedError

    def resume(self, run: Run, count: int) -> Take:
        """``iterate`` from element `count` on.

        The elements before it are gone through, unless a source knows a shorter way.  What stands in the place of one, an
        error, counts as one.
        """
        take = self.iterate(run)
        passed(take, count)
        return take

    def numbered(self) -> bool:
        """Whether the elements have numbers: all of them are at hand, they are alike in shape, and none is an error."""
        return self.orders and all(source.numbered() for source in self.inputs)

    def rows(self, numbers: list) -> Element:
        """The elements of these numbers, which an iteration with ``Run.numbers`` has given, stacked."""
        source, = self.inputs
        return source.rows(numbers)

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


def stateful_op(source: Source, allowed: frozenset[str] = frozenset()) -> str | None:
    """The type of an operation with state in the functions of a source and those it is made of, None if there is none."""
    parts = [part for value in vars(source).values() for part in (value if isinstance(value, tuple) else (value,))]
    graphs = [part.graph for part in parts if isinstance(part, Function)]
    found = [_stateful_op(graph, allowed) for graph in graphs]
    found += [stateful_op(part, allowed) for part in {id(part): part for part in parts if isinstance(part, Source)}.values()]
    return next(filter(None, found), None)


def _stateful_op(graph: Any, allowed: frozenset[str]) -> str | None:
    from jitgraph.graph.calls import functions_of

    for op in graph.get_operations():
        functions = list(functions_of(op))
        if functions:
            inner = next(filter(None, (_stateful_op(function, allowed) for function in functions)), None)
            if inner is not None:
                return inner
            continue
        keeps = op.opdef is not None and (op.opdef.stateful or op.opdef.stream) and not op.opdef.placeholder
        # sources of elements count among the stateful ones only so that they are not folded
        if keeps and op.type not in allowed and not (op.outputs and "Dataset" in op.type):
            return op.type
    return None


def passed(take: Take, count: int) -> None:
    """Leaves out `count` elements, or all that there are."""
    for _ in range(count):
        try:
            take()
        except StopIteration:
            return
        except errors.OpError:
            continue


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
    first, shape = arrays[0], arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != shape:
            raise errors.InvalidArgumentError(
                None, None, f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                            f"{_brackets(shape)} and element {number} had shape {_brackets(array.shape)}.")
    if shape:
        return np.concatenate(arrays, dtype=first.dtype).reshape(len(arrays), *shape)
    out = np.empty(len(arrays), first.dtype)
    for number, array in enumerate(arrays):
        out[number] = array[()]
    return out


def _brackets(shape: tuple) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def kept(array: Any) -> np.ndarray:
    """An array of our own, which nobody may write: the memory of an op's inputs is used again after the call."""
    own = np.array(array)
    own.setflags(write=False)
    return own
