"""`Session.partial_run`: one run in several calls, each with more feeds and more fetches.

Every operation runs at most once per handle, as soon as a call asks for something that needs it.  Values are computed by
the reference and kept until the handle is used up.
"""
from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import compile
from jitgraph.compiler.order import counts
from jitgraph.declare.invalid import invalid
from jitgraph.graph.tensor import Tensor

from . import feed as feeding
from .fetch import Fetches
from .reference import Steps
from .watch import check, watching

if TYPE_CHECKING:
    from jitgraph.graph.operation import Operation

    from .session import BaseSession

_numbers = itertools.count()


class PartialRun:
    """What a handle stands for: the operations of all calls in order, those that ran, and their values."""

    def __init__(self, session: BaseSession, fetches: Any, feeds: Iterable[Any]) -> None:
        graph = session.graph
        taken = Fetches(graph, fetches, session)
        if not taken.tensors and not taken.targets:
            raise invalid("Must specify at least one target to fetch or execute.")
        self.feeds = [graph.as_graph_element(f, allow_tensor=True, allow_operation=False) for f in feeds]
        self.fetches, self.targets = list(taken.tensors), list(taken.targets)
        ordered = compile(graph, self.fetches, self.targets, dict.fromkeys(self.feeds, ()), until="divide",
                          options=session._state.options)
        # what stands for feeds and fetches in the graph that this one was raised to, if it was
        self.fed = dict(zip(self.feeds, ordered.feeds))
        self.found = dict(zip(self.fetches, ordered.fetches))
        self.ops, self.counts = ordered.ops, counts(ordered)
        self.done: set[Operation] = set()
        self.steps, self.calls = Steps({}, session._state, ordered.calls), ordered.calls
        self.unfed, self.unfetched = set(self.feeds), set(self.fetches)
        self.lock = threading.Lock()

    def run(self, session: BaseSession, fetches: Any, feed_dict: dict[Any, Any] | None) -> Any:
        """The values of `fetches`, in their structure.  Raises InvalidArgumentError for what was not announced."""
        graph = session.graph
        taken = Fetches(graph, fetches, session)
        if taken.targets:
            raise RuntimeError("partial_run() requires empty target_list.")
        fed = feeding.expand(graph, feed_dict) if feed_dict else {}
        with self.lock:
            self._check(taken.tensors, fed)
            self.steps.feed({self.fed[t]: feeding.convert(t, v) for t, v in fed.items()})
            needed = self._needed(taken.tensors, self.unfed - set(fed))
            self.unfed -= set(fed)
            wanted = dict.fromkeys(self.found[t] for t in taken.tensors)
            found = {t: _plain(self.steps.value(t)) for t in wanted if t.op in self.done or t in self.steps.values}
            for op in self.ops:
                if op in needed:
                    check()
                    self.steps.step(op)
                    self.done.add(op)
                    found.update((t, _plain(self.steps.value(t))) for t in op.outputs if t in wanted and t not in found)
            found.update((t, _plain(self.steps.state.read(variable))) for t, variable in self.counts.items() if t in wanted)
            self.unfetched -= set(taken.tensors)
            return taken.build([found[self.found[t]] for t in taken.tensors])

    @property
    def finished(self) -> bool:
        return not self.unfed and not self.unfetched

    def _check(self, tensors: Sequence[Tensor], fed: Iterable[Tensor]) -> None:
        for tensor in fed:
            if tensor not in self.feeds:
                raise invalid(f"The feed {tensor.name} was not specified in partial_run_setup.")
            if tensor not in self.unfed:
                raise invalid(f"The feed {tensor.name} has already been fed.")
        for tensor in tensors:
            if tensor not in self.fetches:
                raise invalid(f"The fetch {tensor.name} was not specified in partial_run_setup.")
            if tensor not in self.unfetched:
                raise invalid(f"The fetch {tensor.name} has already been fetched.")

    def _needed(self, tensors: Sequence[Tensor], unfed: set[Tensor]) -> set[Operation]:
        """The operations that these tensors still need.  Raises InvalidArgumentError if they need a feed to come."""
        needed: set[Operation] = set()
        stack: list[Any] = [self.found[t] for t in tensors]
        missing = {self.fed[t] for t in unfed}
        while stack:
            item = stack.pop()
            if item in missing:
                raise invalid(f"Fetch {tensors[0].name} can't be computed from the feeds that have been fed so far: it "
                               f"needs {item.name}.")
            if item in self.steps.values:
                continue
            op = getattr(item, "op", item)
            if op not in self.done and op not in needed:
                needed.add(op)
                stack += [t for k, t in enumerate(op.inputs) if op not in self.calls or self.calls[op].needs(k)]
                stack += op.control_inputs
        return needed


def _plain(value: Any) -> Any:
    array = np.array(value, copy=True)
    return array[()] if array.ndim == 0 else array


def setup(session: BaseSession, fetches: Any, feeds: Iterable[Any] | None) -> str:
    """A handle for a run in several calls; see `Session.partial_run_setup`."""
    handle = f"partial_run_{next(_numbers)}"
    session._state.resources["partial run", "", handle] = PartialRun(session, fetches, feeds or ())
    return handle


def run(session: BaseSession, handle: str, fetches: Any, feed_dict: dict[Any, Any] | None) -> Any:
    """One call of a run in several; see `Session.partial_run`."""
    key = ("partial run", "", handle)
    found = session._state.resources.get(key)
    if found is None:
        raise invalid("Must run 'setup' before performing partial runs!")
    with watching(session._timeout):
        result = found.run(session, fetches, feed_dict)
    if found.finished:
        session._state.resources.pop(key, None)
    return result
