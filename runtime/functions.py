"""Operations that call functions: the branch that is taken, the body of a loop as often as its condition holds.

Each function has a plan of its own, over the variables of the session; it is kept with the session, per operation.
A loop holds its variables as arrays: one iteration is one run of the body's plan.
"""
from __future__ import annotations

import numpy as np

from jitgraph.compiler.order import variable_of
from jitgraph.compiler.prune import Reached, needed_variables
from jitgraph.graph.calls import bodies
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.function_graph import LOOPS, first_argument, inputs_by_value, is_state

from . import watch
from .background import BACKGROUND
from .iterations import Iterations
from .loop_steps import LoopSteps
from .scalar_expressions import Condition, through
from .scalar_loops import kernel_of

PATIENCE = 32       # runs of one function by the reference, in one run of the session, before it is compiled
KNOWN_LIMIT = 64    # elements of a constant that a function is compiled for


def call(op, arrays, state, compiled: bool, used: frozenset | None = None) -> tuple:
    """The outputs of an operation that calls functions, for the inputs that it is passed by value.

    `compiled`: whether the run that it belongs to is; a function that runs often is compiled in any case, unless
    compiling is switched off.  `used`: numbers of the outputs that are asked for, None for all; what serves others only is
    left out.
    """
    key = (op, used)
    caller = state.functions.get(key)
    if caller is None or caller.version != _version(op):
        caller = state.functions[key] = Loop(op, state, used) if op.type in LOOPS else Choice(op, state, used)
    return caller(arrays, compiled)


def _version(op) -> tuple:
    return len(op.outputs), *((f.version, f.mutations) for f in bodies(op))


class Function:
    """One function of an operation: its plan, fed with some of the operation's inputs.

    `outputs`: the tensors that the caller wants, those of the function if None; `fed`: tensors that it feeds before the
    inputs; `changing`: numbers of the inputs that change from one run to the next; `effects`: the operations that run
    for what they do, those of the function if None.
    """

    def __init__(self, graph, op, state, offset: int, outputs=None, fed=(), changing=(), effects=None):
        self.graph, self.op, self.state, self.fed = graph, op, state, list(fed)
        self.outputs = list(graph.outputs if outputs is None else outputs)
        places = {t: k + offset for k, t in enumerate(graph.inputs) if not is_state(t)}
        self.direct = [places.get(through(t)) for t in self.outputs]        # outputs that are inputs, handed on as they are
        self.fetches = list(dict.fromkeys(t for t, k in zip(self.outputs, self.direct) if k is None))
        self.effects = list(graph.control_outputs if effects is None else effects)
        needed = Reached(set(self.fed))
        needed.want(self.fetches, self.effects)
        self.parameters = [(t, k) for t, k in places.items() if t in needed.tensors]
        self.results = [self.fetches.index(t) if k is None else None for t, k in zip(self.outputs, self.direct)]
        self.plans: dict = {}
        self.constants = [(t, k, op.inputs[k].op.attrs["value"]) for t, k in self.parameters
                          if k not in changing and _is_known(op.inputs[k])]
        self.stated = [(t, k, value) for t, k in self.parameters if k not in changing and t.dtype.is_integer
                       and (value := constant_value(op.inputs[k])) is not None and value.size <= KNOWN_LIMIT]

    def close(self):
        for plan, _ in self.plans.values():
            plan.close()

    def bind(self, values):
        """(plan, numbers of the inputs that feed it) for a call with these input arrays."""
        known = {t: c for t, k, c in self.constants if values[k] is c or np.array_equal(values[k], c)}
        # another value than the graph knows, where a computed one was fed: shapes in here may follow from that
        contrary = tuple(t for t, k, c in self.stated if t not in known and not np.array_equal(values[k], c))
        key = (tuple(known), contrary)
        found = self.plans.get(key)
        if found is None:
            feeds = [(t, k) for t, k in self.parameters if t not in known]
            plan = self.state.make_plan(self.graph, self.fetches, self.effects, [*self.fed, *(t for t, _ in feeds)],
                                        self.state, self.state.jit, known=known, contrary=contrary)
            found = self.plans[key] = (plan, [k for _, k in feeds])
        return found


def _is_known(tensor) -> bool:
    """Whether an input is a small integer constant, which may decide a shape."""
    return tensor.op.type == "Const" and tensor.dtype.is_integer and tensor.op.attrs["value"].size <= KNOWN_LIMIT


def no_value(output):
    """What an operation gives for an output that nobody asks for."""
    dtype = output.dtype.base_dtype
    return np.zeros([d or 0 for d in output._shape or ()], object if dtype.name == "string" else dtype.as_numpy_dtype)


def contiguous(array):
    """The array as plans take it."""
    return array if not isinstance(array, np.ndarray) or array.flags.c_contiguous else np.ascontiguousarray(array)


class Caller:
    """What is common to the operations that call functions."""

    def __init__(self, op, state):
        self.op, self.state, self.version = op, state, _version(op)
        self.by_value = inputs_by_value(op)
        self.functions = bodies(op)
        self.offset = first_argument(op)

    def close(self):
        """Frees what the plans of its functions hold."""
        for function in vars(self).values():
            for one in function if isinstance(function, list) else [function]:
                if isinstance(one, Function):
                    one.close()

    def spread(self, arrays) -> list:
        """The inputs in their places; None for those that stand for variables."""
        values: list = [None] * len(self.op.inputs)
        for k, array in zip(self.by_value, arrays):
            values[k] = array
        return values

    def run(self, plan, feeds, compiled: bool) -> list:
        """One run of a function's plan."""
        plan.runs += 1
        if is_compiled(plan, compiled):
            return plan.segment.run(feeds)
        if plan.jit == "auto" and plan.runs == 1:
            shapes = [a.shape for a in feeds]
            _later(lambda: plan.prepare(shapes))
        return plan.reference(feeds)


def is_compiled(plan, compiled: bool) -> bool:
    """Whether the present run of a function's plan is a compiled one, in a run that is `compiled` or not."""
    return plan.jit == "always" or (plan.jit == "auto" and (compiled or plan.runs > PATIENCE))


def _later(job):
    """Compiles in the background; the run that needs it waits for it, and reports what goes wrong."""
    def quietly():
        try:
            job()
        except Exception:
            pass

    BACKGROUND.submit(quietly)


class Choice(Caller):
    """If and Case; and a call, as the choice of one."""

    def __init__(self, op, state, used=None):
        super().__init__(op, state)
        self.used = range(len(op.outputs)) if used is None else sorted(used)
        self.branches = [Function(f, op, state, self.offset, [f.outputs[k] for k in self.used]) for f in self.functions]

    def __call__(self, arrays, compiled) -> tuple:
        values = self.spread(arrays)
        branch = self.branches[self._number(values[0]) if self.offset else 0]
        plan, numbers = branch.bind(values)
        found = self.run(plan, [contiguous(values[k]) for k in numbers], compiled) if plan.fetches or plan.targets else []
        results: list = [None] * len(self.op.outputs)
        for k, r, d in zip(self.used, branch.results, branch.direct):
            results[k] = np.array(values[d]) if r is None else found[r]
        return tuple(no_value(t) if r is None else r for t, r in zip(self.op.outputs, results))

    def _number(self, index) -> int:
        if self.op.type == "Case":
            number = int(index)
            return number if 0 <= number < len(self.branches) else len(self.branches) - 1
        index = np.asarray(index)
        holds = bool(index.size) if index.ndim else bool(index.item())
        return 0 if holds else 1


class Loop(Caller):
    """While."""

    def __init__(self, op, state, used=None):
        super().__init__(op, state)
        cond, body = self.functions
        needed = needed_variables(cond, body, used)
        self.invariant = [through(t) is body.inputs[k] or k not in needed for k, t in enumerate(body.outputs)]
        self.steps = LoopSteps(body, self.invariant, cond, state)
        changing = {k for k, invariant in enumerate(self.invariant) if not invariant}
        self.cond = Function(cond, op, state, 0, changing=changing)
        self.body = Function(body, op, state, 0, self.steps.fetches, self.steps.fed, changing, self.steps.effects)
        self.test = Condition(cond, self.invariant)
        self.fixed = Function(cond, op, state, 0, self.test.fixed)
        self.sources = list(zip(self.body.results, self.body.direct))
        self.ahead = Iterations(self.steps, self.test, self.invariant, self.sources)
        self.kernel = None if state.jit == "off" else kernel_of(op, state)
        kept = {*self.body.direct, *self.steps.stored_variables}
        # what is handed on as it is, or stored, must not stand in memory that others write: that of a variable, or what
        # the caller's plan uses again
        self.copied = [k for k in self.by_value if k in kept and not self.invariant[k]
                       or variable_of(op.inputs[k]) is not None]

    def __call__(self, arrays, compiled) -> tuple:
        given = self.spread(arrays)
        values = list(given)
        for k in self.copied:
            values[k] = np.array(values[k])
        self._iterate(values, compiled)
        return tuple(self._result(k, given, value) for k, value in enumerate(values))

    def _iterate(self, values, compiled):
        holds = self._condition(values, compiled)
        if not holds(values):
            return
        plan, numbers = self.body.bind(values)
        for k in numbers:
            values[k] = contiguous(values[k])
        before, after, trivial = self.steps.before, self.steps.after, not (plan.fetches or plan.targets)
        sources, limit = self.sources, watch.present()
        native, count = self.kernel is not None and (compiled or self.state.jit == "always"), 0
        if self.kernel is not None and not native:
            _later(self.kernel.prepare)
        ahead = self.ahead if limit is None and not trivial and self.ahead.counters is not None else None
        waiting: list = []              # what has been taken for the next iterations
        self.steps.begin(values)
        while True:
            if native and self.kernel.run(values):
                break
            if limit is not None:
                limit.check()
            if ahead is not None and not waiting and is_compiled(plan, compiled):
                waiting, ahead = ahead.run(values, plan, numbers, holds)
                if not waiting:
                    break
            feeds = waiting.pop(0) if waiting else before(values)
            feeds += [values[k] for k in numbers]
            found = () if trivial else self.run(plan, feeds, compiled)
            after(values, [values[d] if r is None else found[r] for r, d in sources])
            if not holds(values):
                break
            count += 1
            native = native or count == PATIENCE and self.kernel is not None
        self.steps.end(values)

    def _condition(self, values, compiled):
        """A function of the loop's variables."""
        test = self.test.test
        if test is not None:
            fixed = ()
            if self.test.fixed:
                plan, numbers = self.fixed.bind(values)
                fixed = self.run(plan, [contiguous(values[k]) for k in numbers], compiled)
            return lambda values: bool(test(values, fixed))
        plan, numbers = self.cond.bind(values)
        source, = self.cond.direct
        if source is not None:
            return lambda values: bool(values[source])

        def holds(values):
            value = np.asarray(self.run(plan, [contiguous(values[k]) for k in numbers], compiled)[0])
            if value.ndim:
                raise InvalidArgumentError(None, self.op, f"the condition of the loop has shape {list(value.shape)} "
                                                          "instead of []")
            return bool(value)

        return holds

    def _result(self, k, given, value):
        """The final value of a variable, in memory of its own where it is that of an input."""
        if value is not given[k]:
            return value
        output = self.op.outputs[k]
        if value is None:                           # it stands for a variable, or nobody asks for it
            return no_value(output)
        if self.invariant[k] and not output._consumers and not self.op.graph.is_fetchable(output):
            return value
        return np.array(value)
