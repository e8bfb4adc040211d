"""``tf.get_session_handle`` and kin: values that stay with the session, and are named by a handle in other runs."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType, as_dtype, string
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import colocate_with, device
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.resources import session_handle_ops


class TensorHandle:
    """What a run gives for ``tf.get_session_handle``: it names a value that the session keeps.

    It may be fed in place of the value; ``handle`` is the string that ``tf.get_session_tensor`` takes.  The session
    forgets the values of handles that nobody holds, some of them at a time; not after ``get_raw_handle``.
    """

    def __init__(self, handle: Any, dtype: DType, session: Any):
        self._handle, self._dtype, self._session = as_text(handle), dtype, session
        self._deleted = self._raw = False

    def __del__(self) -> None:
        if not self._deleted and not self._raw:
            self._session._register_dead_handle(self._handle)

    @property
    def handle(self) -> str:
        """The name of the value."""
        return self._handle

    def get_raw_handle(self) -> str:
        """The name of the value, which is then no longer this object's to delete."""
        self._raw = True
        return self._handle

    def eval(self) -> Any:
        """The value.  Raises TypeError if it was deleted, RuntimeError if the session is closed."""
        self._check()
        return np.array(self._session._call_on_state(session_handle_ops.found, self._handle))[()]

    def to_numpy_array(self) -> np.ndarray:
        """The value as an array."""
        return np.asarray(self.eval())

    def delete(self) -> None:
        """Lets the session forget the value.  Raises TypeError if it was deleted before."""
        self._check()
        self._deleted = True
        self._session._call_on_state(session_handle_ops.delete, self._handle)

    def _check(self) -> None:
        if self._deleted:
            raise TypeError(f"Persistent tensor {self._handle} may have already been deleted.")

    def __str__(self) -> str:
        return self._handle


def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """A node that keeps `data` with the session; a run gives a ``TensorHandle`` for it."""
    data = data if isinstance(data, Tensor) else convert_to_tensor(data)
    with colocate_with(data):
        return session_handle_ops.get_session_handle(data, name=name)


def _holder(handle: Any) -> Tensor:
    """A placeholder for the handle, on the device that the handle names."""
    with device(str(handle).rpartition(";")[2]):
        return lookup("Placeholder").builder(dtype=string, shape=None)


def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(a placeholder for a handle, the value that is kept under the handle which is fed there)."""
    holder = _holder(handle)
    with device(holder.device):
        return holder, session_handle_ops.get_session_tensor(holder, dtype=as_dtype(dtype), name=name)


def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Operation]:
    """(a placeholder for a handle, an operation that forgets what is kept under the handle which is fed there)."""
    holder = _holder(handle)
    with device(holder.device):
        return holder, session_handle_ops.delete_session_tensor(holder, name=name)
