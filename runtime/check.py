"""JITGRAPH_CHECK: compiled code beside the reference, operation by operation, to name the first that differs.

Rounding is no difference, nor is what later operations make of it: where `exp(x) - y` all but cancels, or a polynomial's
terms do, a unit in the last place of a term is all that is left.  So a value that differs is looked at again: the
reference computes it from the compiled inputs, and from those moved by a few units in the last place.  What it moves by
is what rounding may do.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph import environment
from jitgraph.compiler.kernel import CODES
from jitgraph.compiler.order import touched_variables
from jitgraph.graph.errors import InternalError
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from . import reference
from .state import State

if TYPE_CHECKING:
    from .plan import Plan

TOLERANCE = {"float32": 1e-4, "float64": 1e-10}
UNITS = 4               # units in the last place by which inputs are moved ...
TRIALS = 3              # ... so often, at random
ALLOWED = 4             # times as far as that moves it, a value may lie from the reference's


def wanted() -> bool:
    """Whether every compiled run is to be checked (slow: for finding what went wrong)."""
    return environment.flag("JITGRAPH_CHECK")


def check(plan: Plan, feeds: Sequence[np.ndarray]) -> None:
    """Runs the plan's operations by the reference and compiled, on copies of the state.

    Raises InternalError that names the first operation whose values differ by more than rounding explains.
    """
    tensors = [t for op in plan.ops for t in op.outputs
               if not t.dtype._is_ref_dtype and t.dtype.name in CODES and plan.graph.is_fetchable(t)]
    expected = reference.run(plan.ops, dict(zip(plan.feeds, feeds)), tensors, copied(plan.state))
    twin = type(plan)(plan.graph, tensors, plan.targets, plan.feeds, copied(plan.state, "always"), "always", checked=True)
    found = {t: np.asarray(have) for t, have in zip(tensors, twin.run(feeds))}
    second = SecondLook({**expected, **dict(zip(plan.feeds, feeds)), **found}, plan.state)
    for tensor, have in found.items():
        want = np.asarray(expected[tensor])
        if not _close(have, want) and not second.explains(tensor, have):
            raise InternalError(None, tensor.op, f"JITGRAPH_CHECK: the compiled value of {tensor.name} differs from the "
                                f"reference: {_summary(have, want)}. Please report this with the program.")


class SecondLook:
    """Whether rounding explains a difference.  `values`: those of the compiled program, by tensor; `state`: as the run
    found it."""

    def __init__(self, values: dict[Tensor, Any], state: State):
        self.values, self.state = values, state
        self.rounded: set[Operation] = set()           # operations whose values differ by rounding

    def explains(self, tensor: Tensor, have: np.ndarray) -> bool:
        """Whether a value lies where the reference puts it for the inputs that it was computed from."""
        op = tensor.op
        inherited = any(t.op in self.rounded for t in op.inputs) or bool(self.rounded) and any(touched_variables(op))
        explained = self._from_inputs(tensor, have) if self._repeatable(op) else False
        if explained or (inherited and not self._repeatable(op)):
            self.rounded.add(op)
            return True
        return False

    def _repeatable(self, op: Operation) -> bool:
        """Whether the reference can compute it once more, without any effect, from values that are known."""
        opdef = op.opdef
        return (opdef is not None and (opdef.pure or opdef.calls and not opdef.stateful) and not any(touched_variables(op))
                and all(t in self.values for t in op.inputs))

    def _from_inputs(self, tensor: Tensor, have: np.ndarray) -> bool:
        inputs = {t: np.asarray(self.values[t]) for t in tensor.op.inputs}
        want = self._evaluate(tensor, inputs)
        if _close(have, want):
            return True
        if have.shape != want.shape or have.dtype != want.dtype or want.dtype.kind != "f":
            return False
        random, moved = np.random.RandomState(0), np.zeros(want.shape, np.float64)
        for _ in range(TRIALS):
            other = self._evaluate(tensor, {t: _moved(array, random) for t, array in inputs.items()})
            if other.shape != want.shape:
                return False
            moved = np.fmax(moved, _distance(other, want))
        tolerance = TOLERANCE[str(want.dtype)]
        same = (have == want) | (np.isnan(have) & np.isnan(want))
        return bool(np.all(same | (_distance(have, want) <= ALLOWED * moved + tolerance * np.abs(want))))

    def _evaluate(self, tensor: Tensor, inputs: dict[Tensor, Any]) -> np.ndarray:
        op = tensor.op
        state = copied(self.state) if op.opdef.calls else self.state
        steps = reference.Steps(inputs, state)
        steps.step(op)
        return np.asarray(steps.value(tensor))


def _moved(array: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """An array whose floats lie a few units in the last place away."""
    if array.dtype.kind != "f":
        return array
    step: Any = UNITS * np.finfo(array.dtype).eps
    return (array * (1 + step * random.choice([-1, 1], array.shape))).astype(array.dtype)


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.abs(a.astype(np.float64) - b.astype(np.float64))


def _close(have: np.ndarray, want: np.ndarray) -> bool:
    if have.shape != want.shape or have.dtype != want.dtype:
        return False
    tolerance = TOLERANCE.get(str(want.dtype))
    if tolerance is None:
        return bool(np.array_equal(have, want))
    finite = np.abs(want[np.isfinite(want)])
    return bool(np.allclose(have, want, rtol=tolerance, atol=tolerance * max(finite.max(initial=0.0), 1.0),
                            equal_nan=True))


def _summary(have: np.ndarray, want: np.ndarray) -> str:
    have, want = np.asarray(have), np.asarray(want)
    if have.shape != want.shape or have.dtype != want.dtype:
        return f"{have.dtype}{list(have.shape)} instead of {want.dtype}{list(want.shape)}"
    different = np.argwhere(~((have == want) | ((have != have) & (want != want))))
    where = tuple(int(i) for i in different[0])
    return f"at {list(where)} {have[where]!r} instead of {want[where]!r} ({len(different)} of {have.size} elements)"


def copied(state: State, jit: str = "off") -> State:
    """A state of its own with the same variables and random streams."""
    other = State(jit, state.make_plan, state.compiler, state.make_function)
    other.target = state.target
    for key, variable in state.variables.items():
        if variable.array is not None:
            twin = other.variables.setdefault(key, other.new_variable(variable.name))
            other.allocate(twin, variable.array.shape, variable.array.dtype)[...] = variable.value()
            twin.written()
            twin.initialized = variable.initialized
    other.streams = {op: stream.copy() for op, stream in state.streams.items()}
    other.resources = state.resources
    return other
