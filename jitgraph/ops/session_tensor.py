"""Tensors that a session keeps from run to run under a handle, a string that names them."""
from __future__ import annotations

import itertools

import numpy as np

from jitgraph.graph import shape_rules
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.op import NOT_DIFFERENTIABLE, op

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def _key(handle: np.ndarray) -> tuple:
    return ("session tensor", "", handle[()])


@op("GetSessionHandle(value: T) -> handle: string", shape=shape_rules.scalar, stateful=True, host=True,
    context=("state", "op"), grad=NOT_DIFFERENTIABLE)
def get_session_handle(value, state, op):
    """Keeps the value with the session; the handle under which it is found again."""
    number = next(state.resource(("session tensor count", "", ""), itertools.count))
    handle = np.array(f"{op.name};{number};{DEVICE}".encode(), object)
    kept = np.array(value)
    state.resource(_key(handle), lambda: kept)
    return handle


@op("GetSessionTensor(handle: string; dtype: type) -> value: dtype", shape=None, stateful=True, host=True,
    context=("state",), grad=NOT_DIFFERENTIABLE)
def get_session_tensor(handle, state):
    """The value that is kept under the handle."""
    found = state.resources.get(_key(handle))
    if found is None:
        raise InvalidArgumentError(None, None, f"The tensor with handle '{handle[()].decode()}' is not in the session "
                                               "store.")
    return found


@op("DeleteSessionTensor(handle: string)", shape=shape_rules.no_outputs, stateful=True, host=True, context=("state",))
def delete_session_tensor(handle, state):
    """Forgets the value that is kept under the handle."""
    if state.resources.pop(_key(handle), None) is None:
        raise InvalidArgumentError(None, None, f"Failed to delete a tensor with handle '{handle[()].decode()}' in the "
                                               "session store.")
