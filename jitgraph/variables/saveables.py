"""What a saver saves: tensors under names, and how each goes back where it came from."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType
from jitgraph.graph.function_graph import is_variable
from jitgraph.graph.scopes import device
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import reshape
from jitgraph.variables import reference_ops
from jitgraph.variables.partitioners import PartitionedVariable
from jitgraph.variables.resource_variables import ResourceVariable, shape_safe_assign_variable_handle
from jitgraph.variables.variable import Variable


class SaveSpec:
    """One tensor to save: `tensor` (or a function that makes it), its slice ("" for whole) and its name in the file."""

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: DType | None = None, device: str | None = None):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must "
                                     "be provided.")
            self.dtype, self.device = dtype, device
        else:
            self.dtype, self.device = tensor.dtype, tensor.device

    @property
    def tensor(self) -> Any:
        """The tensor; made anew at each call if a function makes it."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """Something with a name whose state is one or more tensors; the base of what users add to ``SAVEABLE_OBJECTS``.

    `op`: what is saved, told apart by it from others.  `specs`: SaveSpecs.  A subclass defines ``restore``.
    """

    def __init__(self, op: Any, specs: list[SaveSpec], name: str):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self) -> str:
        """The device of the first tensor."""
        return self.specs[0].device

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint without it may be restored."""
        return False

    def restore(self, restored_tensors: list[Tensor], restored_shapes: list | None) -> Any:
        """The operation that takes over what was read.

        `restored_tensors`: one for each spec.  `restored_shapes`: the shapes to give them, None to leave them.
        """
        raise NotImplementedError("a subclass of SaveableObject defines restore(restored_tensors, restored_shapes)")


class ReferenceVariableSaveable(SaveableObject):
    """A variable, or its reference, or a slice of a partitioned one."""

    def __init__(self, var: Any, slice_spec: str, name: str):
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: list[Tensor], restored_shapes: list | None) -> Any:
        """Assigns what was read; a shape that is fixed is checked."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        check = restored_shapes is None and self.op.get_shape().is_fully_defined()
        reference = self.op._variable if isinstance(self.op, Variable) else self.op
        return reference_ops.assign(reference, value, validate_shape=check)


class ResourceVariableSaveable(SaveableObject):
    """A resource variable, a tensor that reads one, or a slice of a partitioned one."""

    def __init__(self, var: Any, slice_spec: str, name: str):
        self._shape = var.shape
        if isinstance(var, Tensor):
            self.handle_op = var.op.inputs[0]
            tensor: Any = var
        else:
            self.handle_op = var.handle
            tensor = _reading(var)
        self._device = var.device
        super().__init__(var, [SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)], name)

    def restore(self, restored_tensors: list[Tensor], restored_shapes: list | None) -> Any:
        """Assigns what was read."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = reshape(value, restored_shapes[0])
        with device(self._device or None):
            return shape_safe_assign_variable_handle(self.handle_op, self._shape, identity(value))


def _reading(variable: ResourceVariable) -> Callable[[], Tensor]:
    """Reads the variable where it is, and brings the value to the host."""

    def read() -> Tensor:
        with device(variable.device or None):
            value = variable.read_value()
            with device("/device:CPU:0"):
                return identity(value)

    return read


def default_saveables(scope: str | None = None) -> list:
    """What a saver saves if it is not told: all global variables, and the collection ``SAVEABLE_OBJECTS``."""
    graph = get_default_graph()
    return graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS,
                                                                                          scope)


def _is_of_variable(tensor: Any) -> bool:
    return isinstance(tensor, (Tensor, Variable)) and (
        is_variable(tensor.op) or tensor.op.type in ("ReadVariableOp", "ResourceGather"))


def _as_variable_tensor(value: Any) -> Any:
    """The tensor by which a variable is saved: its reference, or the node that reads it."""
    if isinstance(value, ResourceVariable):
        return value._as_graph_element()
    return value if isinstance(value, Tensor) else convert_to_tensor(value, as_ref=True)


def by_name(op_list: Any) -> dict[str, Any]:
    """{name in the file: saveable, variable tensor, or list of slices} of a list of what is to be saved.

    Raises TypeError for what is no variable, ValueError for two of one name.
    """
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    found: dict[str, Any] = {}
    for item in sorted(_flat(op_list), key=lambda item: item.name):
        if isinstance(item, (SaveableObject, PartitionedVariable)):
            name, value = item.name, item
        elif isinstance(item, Variable) and item._get_save_slice_info() is not None:
            _add_slice(found, item)
            continue
        else:
            value = _as_variable_tensor(item)
            if not _is_of_variable(value):
                raise TypeError(f"Variable to save is not a Variable: {value}")
            name = value.op.inputs[0].op.name if value.op.type == "ReadVariableOp" else value.op.name
        if name in found:
            raise ValueError(f"At least two variables have the same name: {name}")
        found[name] = value
    return found


def _flat(items: Any) -> Iterator:
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _flat(item)
        else:
            yield item


def _add_slice(found: dict[str, Any], variable: Variable) -> None:
    name: Any = variable._get_save_slice_info().full_name     # type: ignore[attr-defined, union-attr]
    others = found.setdefault(name, [])
    if not isinstance(others, list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    others.append(variable)


def saveable_objects(names_to_saveables: Any) -> list[SaveableObject]:
    """The SaveableObjects, sorted by name, of a list, or of a dict of names to variables, slices and saveables.

    Raises TypeError for what is no variable or name, ValueError for slices that do not belong together and for a
    variable under two names.
    """
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = by_name(names_to_saveables)
    for name in names_to_saveables:
        if not isinstance(name, str):
            raise TypeError("names_to_saveables must be a dict mapping string names to trackable operations. Name is not "
                            f"a string: {name}")
    found, seen = [], set()
    for name in sorted(names_to_saveables):
        for saveable in _saveables_for(names_to_saveables[name], name):
            if saveable.op in seen:
                raise ValueError(f"The same saveable will be restored with two names: {saveable.name}")
            seen.add(saveable.op)
            found.append(saveable)
    return found


def _saveables_for(value: Any, name: str) -> Iterator[SaveableObject]:
    if isinstance(value, SaveableObject):
        yield value
    elif isinstance(value, (list, tuple, PartitionedVariable)):
        yield from _slices(list(value), name)
    else:
        tensor = _as_variable_tensor(value) if hasattr(value, "dtype") else value
        if not _is_of_variable(tensor):
            raise TypeError("names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
                            f"variable: {tensor}")
        cls = ReferenceVariableSaveable if tensor.op.opdef.variable == "reference" else ResourceVariableSaveable
        yield cls(tensor, "", name)


def _slices(variables: list, name: str) -> Iterator[SaveableObject]:
    full_name = None
    for variable in variables:
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if info is None:
            raise ValueError(f"Slices must all be slices: {variable}")
        if full_name is None:
            full_name = info.full_name
        elif full_name != info.full_name:
            raise ValueError(f"Slices must all be from the same tensor: {full_name} != {info.full_name}")
        cls = ResourceVariableSaveable if isinstance(variable, ResourceVariable) else ReferenceVariableSaveable
        yield cls(variable, info.spec, name)
