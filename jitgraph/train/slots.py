"""Slot variables: what an optimizer keeps beside each variable, named after it (``w/Momentum``)."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.scopes import colocate_with
from jitgraph.ops.arrays.fill import zeros
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_initializers import Zeros
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


def is_resource(variable: Any) -> bool:
    """Whether `variable` is a resource variable."""
    return hasattr(variable, "handle")


def _prefix(primary: Any) -> str:
    return primary._shared_name if isinstance(primary, Variable) else primary.op.name


def _make(primary: Any, name: str, colocate: bool, **arguments: Any) -> Any:
    with variable_scope(None, _prefix(primary) + "/" + name):
        if not colocate:
            return _slot_variable(primary, **arguments)
        with colocate_with(primary.op):
            return _slot_variable(primary, **arguments)


def _slot_variable(primary: Any, **arguments: Any) -> Any:
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    try:
        kind = is_resource(primary) if isinstance(primary, Variable) or is_resource(primary) else None     # None: as the scope says
        slot = get_variable("", trainable=False, use_resource=kind, **arguments)
    finally:
        scope.set_partitioner(partitioner)
    info = getattr(primary, "_save_slice_info", None)
    if info is not None:
        # the slot of a part of a variable is saved as a part of the slot of the whole
        whole = slot.op.name[len(primary.op.name) + 1:]
        slot._set_save_slice_info(Variable.SaveSliceInfo(f"{info.full_name}/{whole}", info.full_shape,
                                                         info.var_offset, info.var_shape))
    return slot


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A variable ``primary/name`` that starts with the value `val` (a tensor)."""
    return _make(primary, name, colocate_with_primary, initializer=val, validate_shape=val.shape.is_fully_defined())


def create_slot_with_initializer(primary: Any, initializer: Any, shape: Any, dtype: Any, name: str,
                                 colocate_with_primary: bool = True) -> Any:
    """A variable ``primary/name`` of `shape` and `dtype`, started by an initializer, or by a tensor of that shape."""
    return _make(primary, name, colocate_with_primary, initializer=initializer, shape=shape if callable(initializer) else None,
                 dtype=dtype, validate_shape=shape.is_fully_defined())


def create_zeros_slot(primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True) -> Any:
    """A variable ``primary/name`` of zeros in the shape of `primary`."""
    dtype = (primary.dtype if dtype is None else dtype).base_dtype
    shape = primary.shape
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, Zeros(), shape, dtype, name, colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(raw.Shape(value), dtype), name, colocate_with_primary)
