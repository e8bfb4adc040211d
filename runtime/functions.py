"""Operations that call functions: the branch that is taken, the body of a loop as often as its condition holds.

The compiler divides them into sub-programs (``jitgraph.compiler.divide``); each of these has plans of its own, over the
variables of the session, which are kept with the session.  A loop holds its variables as arrays: one iteration is one run of
the body's plan.
"""
from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import divide
from jitgraph.compiler.loops.expressions import ScalarFunction
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.function_graph import FunctionGraph
from jitgraph.graph.tensor import Tensor

from . import loop_numbers, side_by_side, watch
from .background import BACKGROUND
from .iterations import Iterations
from .loop_courses import Condition
from .loop_steps import LoopSteps
from .memory import on_host
from .scalar_loops import ScalarKernel

if TYPE_CHECKING:
    from .cuda.iterations import DeviceIterations
    from .plan import Plan
    from .side_by_side import Asking, Request
    from .state import State

PATIENCE = 32       # runs of one function by the reference, in one run of the session, before it is compiled


def run(call: divide.ChoiceCall | divide.LoopCall, arrays: Sequence[Any], state: State,
        compiled: bool) -> tuple[Any, ...]:
    """The outputs of an operation that calls functions, for the inputs that it is passed by value.  Whoever calls it tells NumPy
    not to warn of what numbers come to.

    `compiled`: whether the run that it belongs to is; a function that runs often is compiled in any case, unless
    compiling is switched off.
    """
    return caller(call, state)(arrays, compiled)


def caller(call: divide.ChoiceCall | divide.LoopCall, state: State) -> Any:
    """The session's caller of an operation's functions."""
    key = call.op, call.outputs
    found = state.functions.get(key)
    if found is None or found.call is not call:
        found = state.functions[key] = LoopCaller(call, state) if isinstance(call, divide.LoopCall) else ChoiceCaller(call, state)
    return found


class Function:
    """The plans of one sub-program, one for each set of constants that it is called with."""

    def __init__(self, program: divide.SubProgram, state: State) -> None:
        self.program, self.state = program, state
        self.plans: dict[tuple[Any, ...], tuple[Plan, list[int]]] = {}

    def close(self) -> None:
        for plan, _ in self.plans.values():
            plan.close()

    def bind(self, values: list[Any]) -> tuple[Plan, list[int]]:
        """(plan, numbers of the inputs that feed it) for a call with these input arrays."""
        program = self.program
        known = {t: c for t, k, c in program.constants if values[k] is c or np.array_equal(values[k], c)}
        # another value than the graph knows, where a computed one was fed: shapes in here may follow from that
        contrary = tuple(t for t, k, c in program.stated if t not in known and not np.array_equal(values[k], c))
        key = (tuple(known), contrary)
        found = self.plans.get(key)
        if found is None:
            feeds = [(t, k) for t, k in program.parameters if t not in known]
            plan = self.state.make_plan(program.graph, program.fetches, program.effects, [*program.fed, *(t for t, _ in feeds)],
                                        self.state, self.state.jit, known=known, contrary=contrary,
                                        early=program.early)
            plan.resident = self.state.machine is not None
            found = self.plans[key] = (plan, [k for _, k in feeds])
        return found


def no_value(output: Tensor) -> np.ndarray:
    """What an operation gives for an output that nobody asks for."""
    dtype = output.dtype.base_dtype
    zero: np.ndarray = np.zeros((), object if dtype.name == "string" else dtype.as_numpy_dtype)
    zero.flags.writeable = False
    return np.broadcast_to(zero, [d or 0 for d in output._shape]) if output._shape else zero        # which takes no memory


def contiguous(array: Any) -> Any:
    """The array as plans take it."""
    return array if not isinstance(array, np.ndarray) or array.flags.c_contiguous else np.ascontiguousarray(array)


class Caller:
    """What is common to the operations that call functions.  `functions`: those of the call's sub-programs, in its order."""

    def __init__(self, call: divide.Call, state: State) -> None:
        self.call, self.op, self.state = call, call.op, state
        self.functions = [Function(program, state) for program in call.programs]
        self._nothing: dict[int, np.ndarray] = {}

    def nothing(self, k: int) -> np.ndarray:
        """What stands for output `k` where nobody asks for it."""
        if k not in self._nothing:
            self._nothing[k] = no_value(self.op.outputs[k])
        return self._nothing[k]

    def close(self) -> None:
        """Frees what the plans of its functions hold."""
        for function in self.functions:
            function.close()

    def spread(self, arrays: Sequence[Any]) -> list[Any]:
        """The inputs in their places; None for those that stand for variables."""
        values: list[Any] = [None] * len(self.op.inputs)
        for k, array in zip(self.call.by_value, arrays):
            values[k] = array
        return values


class Delegate:
    """A function that something of the host calls with one element after the other, such as that of Dataset.map.

    It has one plan, in `state`; calls give fresh arrays, or arguments as they are.  Several threads may call it.
    """

    def __init__(self, graph: FunctionGraph, state: State) -> None:
        self.program = program = divide.SubProgram(graph, None, 0, changing=range(len(graph.inputs)))
        self.numbers = [k for _, k in program.parameters]
        self.plan = state.make_plan(graph, program.fetches, program.effects, [t for t, _ in program.parameters], state,
                                    state.jit) if program.fetches or program.effects else None

    def __call__(self, values: list[Any]) -> list[Any]:
        program, found = self.program, []
        if self.plan is not None:
            found = run_plan(self.plan, [contiguous(values[k]) for k in self.numbers], False)
        return [values[d] if r is None else found[r] for r, d in zip(program.results, program.direct)]

    def close(self) -> None:
        """Frees what its plan holds."""
        if self.plan is not None:
            self.plan.close()


def run_plan(plan: Plan, feeds: list[Any], compiled: bool) -> list[Any]:
    """One run of a function's plan."""
    plan.runs += 1
    if is_compiled(plan, compiled):
        return plan.segment.run(feeds)
    if plan.jit == "auto" and plan.runs == 1:
        shapes = [a.shape for a in feeds]
        BACKGROUND.submit(lambda: plan.prepare(shapes))
    return plan.reference(feeds)


def is_compiled(plan: Plan, compiled: bool) -> bool:
    """Whether the present run of a function's plan is a compiled one, in a run that is `compiled` or not."""
    return plan.jit == "always" or (plan.jit == "auto" and (compiled or plan.runs > PATIENCE))


class ChoiceCaller(Caller):
    """If and Case; and a call, as the choice of one."""

    call: divide.ChoiceCall

    def __call__(self, arrays: Sequence[Any], compiled: bool) -> tuple[Any, ...]:
        values = self.spread(arrays)
        branch = self.functions[self._number(values[0]) if self.call.offset else 0]
        plan, numbers = branch.bind(values)
        found = run_plan(plan, [contiguous(values[k]) for k in numbers], compiled) if plan.fetches or plan.targets else []
        results: list[Any] = [None] * len(self.op.outputs)
        for k, r, d in zip(self.call.used, branch.program.results, branch.program.direct):
            results[k] = values[d].copy() if r is None else found[r]
        return tuple(self.nothing(k) if r is None else r for k, r in enumerate(results))

    def _number(self, index: Any) -> int:
        if self.op.type == "Case":
            number = int(index)
            return number if 0 <= number < len(self.functions) else len(self.functions) - 1
        index = np.asarray(index)
        holds = bool(index.size) if index.ndim else bool(index.item())
        return 0 if holds else 1


class LoopCaller(Caller):
    """While."""

    call: divide.LoopCall
    steps: LoopSteps
    ahead: Iterations | DeviceIterations | None     # who runs many iterations of a loop that counts

    def __init__(self, call: divide.LoopCall, state: State) -> None:
        super().__init__(call, state)
        self.cond, self.body, self.fixed = self.functions
        self.sources, self.ahead = call.sources, None
        self.wanted = [call.gives(k) for k in range(len(self.op.outputs))]
        self.counted: dict[int, ScalarFunction] = {}        # number of a fetch -> what the host computes instead
        if state.machine is None:
            self.steps = LoopSteps(call.division, state)
            if call.counters is not None:
                if all(counter.stride is not None for counter in call.counters):
                    self._count(loop_numbers.steady(call))
                self.ahead = Iterations(call, self.steps, self.sources, self.counted)
        else:
            self._use_devices(state)
        self.kernel = None if call.kernel is None else ScalarKernel(call, state)

    def _count(self, numbers: dict[int, ScalarFunction]) -> None:
        """Leaves these numbers of the body to the host."""
        self.counted = numbers
        program, self.sources = loop_numbers.without(self.call, numbers)
        self.body = self.functions[1] = Function(program, self.state)

    def _use_devices(self, state: State) -> None:
        from .cuda.iterations import DeviceIterations
        from .cuda.loops import DeviceLoopSteps

        self._count(loop_numbers.counted(self.call))
        self.steps = DeviceLoopSteps(self.call, state)
        if self.call.counters is not None:
            self.ahead = DeviceIterations(self.call, self.steps, self.sources, self.counted)

    def __call__(self, arrays: Sequence[Any], compiled: bool) -> tuple[Any, ...]:
        return side_by_side.alone(self.asking(arrays, compiled))

    def asking(self, arrays: Sequence[Any], compiled: bool) -> Generator[Request, None, tuple[Any, ...]]:
        """The same, which asks for what it does natively."""
        given = self.spread(arrays)
        values = list(given)
        for k in self.call.copied:
            values[k] = values[k].copy()
        yield from self._iterate(values, compiled)
        wanted = self.wanted
        return tuple([self._result(k, value) if value is given[k] and wanted[k] else value for k, value in enumerate(values)])

    def _iterate(self, values: list[Any], compiled: bool) -> Asking:
        condition = self._condition(values, compiled)
        holds = condition.one
        if not holds(values):
            return
        plan, numbers = self.body.bind(values)
        for k in numbers:
            values[k] = contiguous(values[k])
        before, after, trivial = self.steps.before, self.steps.after, not (plan.fetches or plan.targets)
        sources, limit = self.sources, watch.present()
        native, count = self.kernel is not None and (compiled or self.state.jit == "always"), 0
        if self.kernel is not None and not native:
            BACKGROUND.submit(self.kernel.prepare)
        ahead = self.ahead if limit is None and not trivial else None
        waiting: list[list[Any]] = []              # what has been taken for the next iterations
        self.steps.begin(values)
        while True:
            if native and self.kernel is not None and self.kernel.run(values):
                break
            if limit is not None:
                limit.check()
            if ahead is not None and not waiting and is_compiled(plan, compiled):
                found = ahead.run(values, plan, numbers, condition)
                waiting, ahead = (yield from found) if isinstance(found, Generator) else found
                if not waiting:
                    break
            feeds = [*map(contiguous, waiting.pop(0) if waiting else before(values)), *(contiguous(values[k]) for k in numbers)]
            results = () if trivial else run_plan(plan, feeds, compiled)
            new = [values[d] if r is None else results[r] for r, d in sources]
            for number, function in self.counted.items():
                new[number] = np.asarray(function.one(values, feeds))
            after(values, new)
            if not holds(values):
                break
            count += 1
            native = native or count == PATIENCE and self.kernel is not None
        self.steps.end(values)

    def _condition(self, values: list[Any], compiled: bool) -> Condition:
        test = self.call.condition.test
        if test is not None:
            fixed: Sequence[Any] = ()
            if self.call.condition.fixed:
                plan, numbers = self.fixed.bind(values)
                fixed = [on_host(value) for value in run_plan(plan, [contiguous(values[k]) for k in numbers], compiled)]
            known, looked_at = tuple([value.item() for value in fixed]), [*self.call.condition.variables]
            return Condition(lambda values: bool(test.one(values, fixed)), lambda values: test.column(values, fixed),
                             lambda values: (*known, *[values[k].item() for k in looked_at]))
        plan, numbers = self.cond.bind(values)
        source, = self.cond.program.direct
        if source is not None:
            return Condition(lambda values: bool(values[source]), None, tuple)

        def holds(values: list[Any]) -> bool:
            value = np.asarray(run_plan(plan, [contiguous(values[k]) for k in numbers], compiled)[0])
            if value.ndim:
                raise InvalidArgumentError(None, self.op, f"the condition of the loop has shape {list(value.shape)} "
                                                          "instead of []")
            return bool(value)

        return Condition(holds, None, tuple)

    def _result(self, k: int, value: Any) -> Any:
        """The final value of a variable that is that of its input, in memory of its own."""
        output = self.op.outputs[k]
        if value is None:                           # it stands for a variable, or nobody asks for it
            return self.nothing(k)
        if self.call.invariant[k] and not output._consumers and not self.op.graph.is_fetchable(output):
            return value
        return value.copy()
