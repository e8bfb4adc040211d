"""Order: ``no_op``, ``group``, ``tuple``, ``with_dependencies``."""
from __future__ import annotations

from typing import Any

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.composite import IndexedSlices, convert_to_tensor_or_indexed_slices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import colocate_with, control_dependencies, device, name_scope
from jitgraph.graph.tensor import Tensor


@op("NoOp()", shape=shape_rules.no_outputs, host=True, idle=True, tested_in="tests/graph: nothing to compute")
def no_op():
    """Does nothing; other nodes can wait for it, and it for others."""


@op('ControlTrigger()', shape=shape_rules.no_outputs, host=True, idle=True, tested_in="tests/graph: nothing to compute")
def control_trigger():
    """Does nothing, like NoOp."""


def _flat(inputs: Any) -> list:
    found: list = []
    for item in inputs:
        if isinstance(item, (list, tuple)):
            found.extend(_flat(item))
        elif isinstance(item, dict):
            found.extend(_flat([item[key] for key in sorted(item)]))
        else:
            found.append(item)
    return found


def group(*inputs: Any, name: str | None = None, **kwargs: Any) -> Operation:
    """An operation that is done when all `inputs` (operations, tensors, variables, nested lists of them) are.

    It gives no value.  Inputs on several devices are grouped per device first.  Raises TypeError for other inputs.
    """
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    flat = _flat(inputs)
    with name_scope(name, "group_deps", [item for item in flat if item is not None]) as scope:
        if not flat:
            return no_op(name=scope)
        by_device: dict[str, list] = {}
        for item in flat:
            if not hasattr(item, "device"):
                raise TypeError(f"Expected tf.group() expected Tensor arguments not '{item}' with type '{type(item)}'")
            by_device.setdefault(item.device, []).append(item)
        if len(by_device) == 1:
            (place, items), = by_device.items()
            return _no_op_after(place, items, scope)
        done = [_no_op_after(place, by_device[place], None) for place in sorted(by_device)]
        return _no_op_after("", done, scope)


def _no_op_after(place: str, items: list, name: str | None) -> Operation:
    with control_dependencies(items):
        if not place:
            return no_op(name=name)
        with device(place):
            return no_op(name=name)


def tuple_(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list:
    """The same tensors, none of which is ready before all are computed (and `control_inputs` are done).

    Entries may be Tensors, IndexedSlices, operations (which become operations that wait) or None.  Raises ValueError
    if there is none, TypeError for `control_inputs` that are neither operations nor tensors.
    """
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        values = [t if t is None or isinstance(t, Operation) else convert_to_tensor_or_indexed_slices(t)
                  for t in tensors]
        gates = [t if isinstance(t, Operation) else t.op for t in values if t is not None]
        for item in control_inputs or ():
            if isinstance(item, Tensor):
                item = item.op
            elif not isinstance(item, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gates.append(item)
        if not gates:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*sorted(dict.fromkeys(gates), key=lambda op: op._id))
        gated: list = []
        for value in values:
            if isinstance(value, Operation):
                with control_dependencies([gate]):
                    gated.append(no_op())
            else:
                gated.append(None if value is None else with_dependencies([gate], value))
        return gated


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """`output_tensor`, ready only after `dependencies` are done; an Identity beside its operation."""
    identity = lookup("Identity").builder
    with (name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope,
          colocate_with(output_tensor), control_dependencies(dependencies)):
        output_tensor = convert_to_tensor_or_indexed_slices(output_tensor)
        if isinstance(output_tensor, IndexedSlices):
            return IndexedSlices(identity(output_tensor.values, name=scope), output_tensor.indices,
                                 output_tensor.dense_shape)
        return identity(convert_to_tensor(output_tensor), name=scope)
