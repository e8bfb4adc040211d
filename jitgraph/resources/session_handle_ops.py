"""Tensors that a session keeps from run to run under a handle, a string that names them."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.resources import handle as as_handle

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def _key(handle: str) -> tuple:
    return ("session tensor", "", handle)


def found(state: Any, handle: str) -> np.ndarray:
    """The value that is kept under a handle.  Raises InvalidArgumentError if there is none."""
    value = state.resources.get(_key(handle))
    if value is None:
        raise InvalidArgumentError(None, None, f"The tensor with handle '{handle}' is not in the session store.")
    return value


def delete(state: Any, handle: str) -> None:
    """Forgets the value that is kept under a handle.  Raises InvalidArgumentError if there is none."""
    if state.resources.pop(_key(handle), None) is None:
        raise InvalidArgumentError(None, None, f"Failed to delete a tensor with handle '{handle}' in the session store.")


def forget(state: Any, handles: list[str]) -> None:
    """Forgets the values of handles that nobody holds, as far as they are still there."""
    for handle in handles:
        state.resources.pop(_key(handle), None)


@op("GetSessionHandle(value: T) -> handle: string", shape=shape_rules.scalar, stateful=True, host=True,
    context=("state", "op"), grad=NOT_DIFFERENTIABLE, tested_in="tests/runtime/test_state.py: a handle of the session")
def get_session_handle(value, state, op):
    """Keeps the value with the session; the handle under which it is found again."""
    return np.array(_keep(value, state, op).encode(), object)


def _keep(value: Any, state: Any, op: Any) -> str:
    number = next(state.resource(("session tensor count", "", ""), itertools.count))
    handle = f"{op.name};{number};{DEVICE}"
    kept = np.array(value)
    state.resource(_key(handle), lambda: kept)
    return handle


@op("GetSessionHandleV2(value: T) -> handle: resource", shape=shape_rules.scalar, stateful=True, host=True,
    context=("state", "op"), grad=NOT_DIFFERENTIABLE, tested_in="tests/runtime/test_state.py: a handle of the session")
def get_session_handle_v2(value, state, op):
    """As GetSessionHandle; what stands for the handle is a thing of the session, which no op takes."""
    return as_handle(_keep(value, state, op))


@op("GetSessionTensor(handle: string; dtype: type) -> value: dtype", shape=None, stateful=True, host=True,
    context=("state",), grad=NOT_DIFFERENTIABLE, tested_in="tests/runtime/test_state.py: a handle of the session")
def get_session_tensor(handle, state):
    """The value that is kept under the handle."""
    return np.array(found(state, handle[()].decode()))


@op("DeleteSessionTensor(handle: string)", shape=shape_rules.no_outputs, stateful=True, host=True, context=("state",),
    tested_in="tests/runtime/test_state.py: a handle of the session")
def delete_session_tensor(handle, state):
    """Forgets the value that is kept under the handle."""
    delete(state, handle[()].decode())
