"""The reference: operations one by one through their NumPy meaning.  The oracle of all tests, and the first run."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jitgraph.compiler.divide import ChoiceCall, LoopCall, divided
from jitgraph.compiler.infer import check_shapes
from jitgraph.compiler.lower import is_given, missing_feed, state_inputs
from jitgraph.compiler.order import chooses_in_a_run, is_transparent, is_variable, seen_through, variable_of
from jitgraph.compiler.prune import is_idle, must_be_fed
from jitgraph.graph import shape_rules
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import functions, hostcall, watch
from .state import State

Calls = dict[Operation, ChoiceCall | LoopCall]


def run(ops: Sequence[Operation], feeds: dict[Tensor, Any], fetches: Iterable[Tensor], state: State,
        calls: Calls | None = None, outliving: Iterable[Tensor] = ()) -> dict[Tensor, Any]:
    """Executes ordered operations; returns {tensor: ndarray} for the fetched tensors.  `calls`, `outliving`: see `Program`.

    A failing operation leaves variables as the operations before it left them.
    """
    return _Run(feeds, set(fetches), state, calls, outliving).execute(ops)


class Steps:
    """Executes one operation after the other; `values` holds feeds and results.  `calls`: the sub-programs of operations that
    call functions, see `Program`; those that it lacks compute everything.  `outliving`: see `Program`."""

    def __init__(self, feeds: dict[Tensor, Any], state: State, calls: Calls | None = None,
                 outliving: Iterable[Tensor] = ()) -> None:
        self.feeds, self.values, self.state, self.calls = feeds, dict(feeds), state, calls or {}
        self.outliving = set(outliving)
        self.chosen: dict[Operation, int] = {}      # of what hands on one of several references: the number of that input

    def value(self, tensor: Tensor) -> Any:
        """The value of a tensor; of a variable, the present one."""
        found = self.values.get(tensor, self.values.get(seen_through(tensor)))
        if found is None:
            variable = variable_of(tensor)
            if variable is None:
                raise KeyError(tensor.name)
            found = self.state.read(variable)
        return found

    def step(self, op: Operation) -> None:
        """Executes an operation whose inputs have values."""
        if is_variable(op) or is_idle(op) or is_transparent(op):
            if self.outliving and not self.outliving.isdisjoint(op.outputs):
                self._begin(op)
            return
        if is_given(op, self.values.__contains__):
            return
        if must_be_fed(op):
            raise missing_feed(op)
        if op.opdef is not None and op.opdef.calls:
            self._give(op, self._call(op))
            return
        refs = state_inputs(op, self.chosen)
        if refs:
            others = [self.value(t) for k, t in enumerate(op.inputs) if k not in refs]
            results = hostcall.call_on_state(op, refs, others, self.state, self._is_needed(op))
        else:
            arrays = [self.value(t) for t in op.inputs]
            if op.opdef is not None and op.opdef.forwards:
                results = (np.array(arrays[0]) if variable_of(op.inputs[0]) is not None else arrays[0],)
            else:
                results = hostcall.call(op, arrays, self.state)
                live = [a for t, a in zip(op.inputs, arrays) if variable_of(t) is not None]
                if live:
                    results = hostcall.apart(results, live)
            if not _sizes_are_stated(op):       # last: what the operation itself says of its operands is more to the point
                hostcall.check_results(op, check_shapes(op, arrays), results)
        if chooses_in_a_run(op):
            self.chosen[op] = int(self.value(op.inputs[0])) + 1
        self._give(op, results)

    def _begin(self, op: Operation) -> None:
        """Remembers the buffer that a variable has when the run begins, if it has one."""
        variable = variable_of(op.outputs[0])
        assert variable is not None
        if self.state.variable(variable).initialized:
            self._give(op, [self.state.read(variable)])

    def _is_needed(self, op: Operation) -> bool:
        """Whether anybody may use what an operation gives."""
        return True

    def _call(self, op: Operation) -> tuple[Any, ...]:
        call = self.calls.get(op) or divided(op, None, self.state.options)
        arrays = [self.value(op.inputs[k]) if call.needs(k) else functions.no_value(op.inputs[k]) for k in call.by_value]
        with np.errstate(all="ignore"):         # compiled runs tell NumPy so themselves, once for all calls
            return functions.run(call, arrays, self.state, compiled=False)

    def feed(self, fed: dict[Tensor, Any]) -> None:
        """Takes further feeds."""
        self.feeds.update(fed)
        self.values.update(fed)

    def _give(self, op: Operation, results: Iterable[Any]) -> None:
        """Records the values of an operation's outputs; what is fed keeps the value that was fed."""
        for tensor, value in zip(op.outputs, results):
            if tensor not in self.feeds:
                self.values[tensor] = value


def _sizes_are_stated(op: Operation) -> bool:
    """Whether the shape rule was asked about all sizes when the operation was made, or says what NumPy says."""
    if op.opdef is None or op.opdef.shape is shape_rules.broadcast:
        return True
    for tensors in (op.inputs, op.outputs):
        for tensor in tensors:
            shape = tensor._shape
            if shape is None or None in shape:
                return False
    return True


class _Run(Steps):
    """All operations of a run; values are dropped after their last use."""

    def __init__(self, feeds: dict[Tensor, Any], fetches: set[Tensor], state: State, calls: Calls | None,
                 outliving: Iterable[Tensor]) -> None:
        super().__init__(feeds, state, calls, outliving)
        self.fetches = fetches
        self.left: dict[Tensor, int] = {}               # how many operations will use a tensor yet
        self.results = {t: np.array(feeds[t]) for t in fetches if t in feeds}

    def execute(self, ops: Sequence[Operation]) -> dict[Tensor, Any]:
        left, watched = _uses(ops), watch.present()
        self.left = left
        for op in ops:
            if watched is None:
                self.step(op)
            else:
                self._watched(op, watched)
            for tensor in op.outputs:
                if tensor in self.fetches and tensor not in self.results:
                    self.results[tensor] = np.array(self.value(tensor), copy=True)
                if tensor not in left and tensor not in self.feeds:
                    self.values.pop(tensor, None)       # nobody uses it, as what assignments give seldom is
            for tensor in op.inputs:                # values are dropped after their last use
                left[tensor] -= 1
                if left[tensor] == 0 and tensor not in self.feeds:
                    self.values.pop(tensor, None)
        return self.results

    def _is_needed(self, op: Operation) -> bool:
        return any(tensor in self.left or tensor in self.fetches for tensor in op.outputs)

    def _watched(self, op: Operation, watched: watch.Watch) -> None:
        """The step under a time limit, with an entry in the trace."""
        watched.check()
        trace = watched.trace
        begin = trace.now() if trace is not None else 0
        self.step(op)
        if trace is not None:
            trace.operation(op, begin, [self.values.get(t) for t in op.outputs])


def _uses(ops: Sequence[Operation]) -> dict[Tensor, int]:
    count: dict[Tensor, int] = {}
    for op in ops:
        for tensor in op.inputs:
            count[tensor] = count.get(tensor, 0) + 1
    return count
