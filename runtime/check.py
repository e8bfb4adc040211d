"""JITGRAPH_CHECK: compiled code beside the reference, operation by operation, to name the first that differs."""
from __future__ import annotations

import numpy as np

from jitgraph import environment
from jitgraph.compiler.kernel import CODES
from jitgraph.graph.errors import InternalError

from . import reference
from .state import State

TOLERANCE = {"float32": 1e-4, "float64": 1e-10}


def wanted() -> bool:
    """Whether every compiled run is to be checked (slow: for finding what went wrong)."""
    return environment.flag("JITGRAPH_CHECK")


def check(plan, feeds):
    """Runs the plan's operations by the reference and compiled, on copies of the state.

    Raises InternalError that names the first operation whose values differ by more than rounding explains.
    """
    tensors = [t for op in plan.ops for t in op.outputs
               if not t.dtype._is_ref_dtype and t.dtype.name in CODES and plan.graph.is_fetchable(t)]
    expected = reference.run(plan.ops, dict(zip(plan.feeds, feeds)), tensors, copied(plan.state))
    twin = type(plan)(plan.graph, tensors, plan.targets, plan.feeds, copied(plan.state, "always"), "always", checked=True)
    found = twin.run(feeds)
    for tensor, have in zip(tensors, found):
        want = expected[tensor]
        if not _close(np.asarray(have), np.asarray(want)):
            raise InternalError(None, tensor.op, f"JITGRAPH_CHECK: the compiled value of {tensor.name} differs from the "
                                f"reference: {_summary(have, want)}. Please report this with the program.")


def _close(have, want) -> bool:
    if have.shape != want.shape or have.dtype != want.dtype:
        return False
    tolerance = TOLERANCE.get(str(want.dtype))
    if tolerance is None:
        return bool(np.array_equal(have, want))
    finite = np.abs(want[np.isfinite(want)])
    return bool(np.allclose(have, want, rtol=tolerance, atol=tolerance * max(finite.max(initial=0.0), 1.0),
                            equal_nan=True))


def _summary(have, want) -> str:
    have, want = np.asarray(have), np.asarray(want)
    if have.shape != want.shape or have.dtype != want.dtype:
        return f"{have.dtype}{list(have.shape)} instead of {want.dtype}{list(want.shape)}"
    different = np.argwhere(~((have == want) | ((have != have) & (want != want))))
    where = tuple(int(i) for i in different[0])
    return f"at {list(where)} {have[where]!r} instead of {want[where]!r} ({len(different)} of {have.size} elements)"


def copied(state: State, jit: str = "off") -> State:
    """A state of its own with the same variables and random streams."""
    other = State(jit)
    for key, variable in state.variables.items():
        if variable.array is not None:
            twin = other.variables.setdefault(key, type(variable)(variable.name))
            other.allocate(twin, variable.array.shape, variable.array.dtype)[...] = variable.array
            twin.initialized = variable.initialized
    other.streams = {op: stream.copy() for op, stream in state.streams.items()}
    other.resources = state.resources
    return other
