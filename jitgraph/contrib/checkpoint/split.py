"""``split_dependency``: values that one operation gives, saved under several objects, and restored together by one."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from jitgraph.control.order_ops import no_op
from jitgraph.train.object_graph import VALUE
from jitgraph.variables.saveables import SaveableObject, SaveSpec


class _Saveable(SaveableObject):
    """A tensor that a function makes, and takes back."""

    def __init__(self, name: str, part: _Part):
        super().__init__(part.save, [SaveSpec(part.save, "", name, dtype=part.dtype, device=part.device)], name)
        self._part = part

    def restore(self, restored_tensors: list, restored_shapes: list | None) -> Any:
        """The operation that takes all parts over, made with the last of them."""
        return self._part.restore(restored_tensors[0])


class _Part:
    """One of the values, which looks like a variable to what saves."""

    def __init__(self, name: str, dtype: Any, device: str, shared: _Shared):
        self.name, self.dtype, self.device, self._shared = name, dtype, device, shared

    def save(self) -> Any:
        """Its tensor; those of all parts are made together, when the first is asked for."""
        held = self._shared.saved
        if self.name not in held:
            if held:
                raise AssertionError(f"Split dependency {self.name} ({self}) unsynchronized. Split dependencies must be saved "
                                     "together.")
            self._shared.fill(held)
        return held.pop(self.name)

    def restore(self, tensor: Any) -> Any:
        """Keeps a tensor; with the last one, the operation that takes them all."""
        held = self._shared.restored
        if self.name in held:
            raise AssertionError(f"Split dependency {self.name} ({self}) unsynchronized. Split dependencies must be restored "
                                 "together.")
        held[self.name] = tensor
        if len(held) < self._shared.count:
            return no_op()
        taken, self._shared.restored = held, {}
        return self._shared.consume(taken)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Callable]:
        return {VALUE: functools.partial(_Saveable, part=self)}


class _Shared:
    """What the parts of one operation share."""

    def __init__(self, count: int, fill: Callable, consume: Callable):
        self.count, self.fill, self.consume = count, fill, consume
        self.saved: dict[str, Any] = {}
        self.restored: dict[str, Any] = {}


def split_dependency(component_names: Iterable[str], component_dtypes: Iterable[Any], fill_save_buffer_fn: Callable,
                     consume_restore_buffer_fn: Callable, device: str) -> dict[str, Any]:
    """{name: object} of values that are saved and restored together; each object can be held by another one.

    `fill_save_buffer_fn` puts the tensors of all names into a dict, `consume_restore_buffer_fn` gives the operation that takes a
    dict of what was read.  Saving or restoring some without the others raises AssertionError.
    """
    names = list(component_names)
    shared = _Shared(len(names), fill_save_buffer_fn, consume_restore_buffer_fn)
    return {name: _Part(name, dtype, device, shared) for name, dtype in zip(names, component_dtypes)}
