"""Structures of Python values (lists, tuples, dicts, specs of tensors) as StructuredValue messages."""
from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.protos.tensor_proto import from_array, shape_from_proto, shape_to_proto, to_array
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.type_specs import BoundedTensorSpec, IndexedSlicesSpec, SparseTensorSpec, TensorSpec, type_spec_from_value
from jitgraph.protobuf import messages
from jitgraph.ragged.specs import RaggedTensorSpec
from jitgraph.tensor_arrays.specs import TensorArraySpec

_SPECS: dict[int, Any] = {
    messages.TypeSpecProto.SPARSE_TENSOR_SPEC: SparseTensorSpec, messages.TypeSpecProto.INDEXED_SLICES_SPEC: IndexedSlicesSpec,
    messages.TypeSpecProto.RAGGED_TENSOR_SPEC: RaggedTensorSpec, messages.TypeSpecProto.TENSOR_ARRAY_SPEC: TensorArraySpec}
_NUMBERS = {spec: number for number, spec in _SPECS.items()}


class NotEncodableError(Exception):
    """A value that cannot be written."""


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a tuple whose parts have names."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def specs_of(structure: Any) -> Any:
    """A structure with specs in the place of tensors, of the names of the places where they stand."""
    leaves = [_spec_of(leaf, path) for leaf, path in zip(nest.flatten(structure), nest.paths(structure))]
    return nest.pack_sequence_as(structure, leaves)


def _spec_of(leaf: Any, path: tuple) -> Any:
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype, "/".join(map(str, path)))
    return type_spec_from_value(leaf) if nest.is_composite(leaf) else leaf


def encoded(value: Any) -> Any:
    """The StructuredValue of a structure.  Raises NotEncodableError if a part of it is neither a plain value nor a spec."""
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            message = messages.StructuredValue()
            write(message, value)
            return message
    raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")


def _write_list(message: Any, value: list) -> None:
    message.list_value.SetInParent()
    message.list_value.values.extend(map(encoded, value))


def _write_tuple(message: Any, value: tuple) -> None:
    if is_named_tuple(value):
        message.named_tuple_value.name = type(value).__name__
        for name, part in zip(value._fields, value):        # type: ignore[attr-defined]
            message.named_tuple_value.values.add(key=name, value=encoded(part))
        return
    message.tuple_value.SetInParent()
    message.tuple_value.values.extend(map(encoded, value))


def _write_dict(message: Any, value: Mapping) -> None:
    message.dict_value.SetInParent()
    for key, part in value.items():
        message.dict_value.fields[key].CopyFrom(encoded(part))


def _write_spec(message: Any, spec: TensorSpec) -> None:
    message.tensor_spec_value.shape.CopyFrom(shape_to_proto(spec.shape._raw))
    message.tensor_spec_value.dtype = spec.dtype.as_datatype_enum
    message.tensor_spec_value.name = spec.name or ""


def _write_bounded_spec(message: Any, spec: BoundedTensorSpec) -> None:
    bounded = message.bounded_tensor_spec_value
    bounded.shape.CopyFrom(shape_to_proto(spec.shape._raw))
    bounded.dtype, bounded.name = spec.dtype.as_datatype_enum, spec.name or ""
    bounded.minimum.CopyFrom(from_array(spec.minimum))
    bounded.maximum.CopyFrom(from_array(spec.maximum))


def _write_other_spec(message: Any, spec: Any) -> None:
    message.type_spec_value.type_spec_class = _NUMBERS[type(spec)]
    message.type_spec_value.type_spec_class_name = type(spec).__name__
    message.type_spec_value.type_state.CopyFrom(encoded(spec._serialize()))


def _setter(field: str, plain: Callable = lambda value: value) -> Callable:
    return lambda message, value: setattr(message, field, plain(value))


# the first kind that fits: a bool is an int, and a bounded spec a spec
_WRITERS: list[tuple[Any, Callable]] = [
    (list, _write_list), (tuple, _write_tuple), (Mapping, _write_dict), (bool, _setter("bool_value")),
    (float, _setter("float64_value")), (int, _setter("int64_value")), (str, _setter("string_value")),
    (type(None), lambda message, value: message.none_value.SetInParent()),
    (TensorShape, lambda message, value: message.tensor_shape_value.CopyFrom(shape_to_proto(value._raw))),
    (DType, _setter("tensor_dtype_value", lambda dtype: dtype.as_datatype_enum)),
    (BoundedTensorSpec, _write_bounded_spec), (TensorSpec, _write_spec), (tuple(_NUMBERS), _write_other_spec)]


# -- reading -----------------------------------------------------------------------------------------------------------

def decoded(message: Any) -> Any:
    """The structure that a StructuredValue states; a named tuple is of a class of its own.

    Raises ValueError for specs of kinds that are not known here.
    """
    kind = message.WhichOneof("kind")
    if kind not in _READERS:
        raise ValueError(f"a StructuredValue of the kind {kind!r} is not known")
    return _READERS[kind](getattr(message, kind))


def _read_named_tuple(value: Any) -> Any:
    made: Any = collections.namedtuple(value.name, [pair.key for pair in value.values])     # type: ignore[misc]
    return made(*[decoded(pair.value) for pair in value.values])


def _shape(proto: Any) -> TensorShape:
    return TensorShape(shape_from_proto(proto))


def _read_type_spec(value: Any) -> Any:
    spec = _SPECS.get(value.type_spec_class)
    if spec is None:
        raise ValueError(f"The type '{value.type_spec_class_name}' is not supported by this version of TensorFlow. (The object you "
                         "are loading must have been created with a newer version of TensorFlow.)")
    return spec(*decoded(value.type_state))


_READERS: dict[str | None, Callable] = {
    "none_value": lambda value: None,
    **dict.fromkeys(("float64_value", "int64_value", "string_value", "bool_value"), lambda value: value),
    "tensor_shape_value": _shape,
    "tensor_dtype_value": as_dtype,
    "tensor_spec_value": lambda value: TensorSpec(_shape(value.shape), as_dtype(value.dtype), value.name or None),
    "bounded_tensor_spec_value": lambda value: BoundedTensorSpec(
        _shape(value.shape), as_dtype(value.dtype), to_array(value.minimum), to_array(value.maximum), value.name or None),
    "type_spec_value": _read_type_spec,
    "list_value": lambda value: [decoded(part) for part in value.values],
    "tuple_value": lambda value: tuple(decoded(part) for part in value.values),
    "dict_value": lambda value: {key: decoded(part) for key, part in sorted(value.fields.items())},
    "named_tuple_value": _read_named_tuple,
}
