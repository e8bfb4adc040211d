"""What is known of a tensor's value while the graph is built.

Shape arithmetic (``tf.shape(x)[0] * 2``, ``tf.stack([n, 10])``) is followed through a few cheap ops, so that shapes
derived from it stay known.  ``partial_value`` may know some elements only; ``constant_value`` knows all or nothing.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph import shapes
from jitgraph.graph.tensor import Tensor

_LARGEST = 4096         # elements; larger values are folded by the compiler, not while the graph is built
_DEEPEST = 40           # a chain of shape arithmetic longer than this is left alone

_Rule = Callable[[Any, int, Any], Any]


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of `tensor` as an ndarray if it follows from constants and static shapes, else None.

    With `partial`, elements that are not known are None in an object array.  Other objects are their own values.
    """
    if not isinstance(tensor, Tensor):
        if not hasattr(tensor, "_as_graph_element"):
            return tensor               # it is its own value: a number, a list, None
        from jitgraph.graph.convert import convert_to_tensor

        tensor = convert_to_tensor(tensor)
    value = partial_value(tensor)
    if value is None or partial:
        return value
    return value if value.dtype != object or tensor.dtype.base_dtype.name == "string" else None


# the ops that TensorFlow 1.15's Python folds; shape inference follows many more
_STATIC = {"Const", "Shape", "Size", "Rank", "Range", "Cast", "Concat", "ConcatV2", "ConcatOffset", "Pack", "Fill", "Equal",
           "NotEqual"}


def static_value(tensor: Any, partial: bool = False) -> Any:
    """``tf.get_static_value``: as ``constant_value``, but where TensorFlow's Python does not fold the value, None.

    A program sees the difference: of a condition with a static value, assertions raise while the graph is built; of any other,
    when the graph runs, and then only in the branch that is taken.
    """
    if isinstance(tensor, Tensor) and not partial and not _folds(tensor.op):
        return None
    return constant_value(tensor, partial)


def _folds(op: Any) -> bool:
    seen, queue = set(), [op]
    while queue:
        op = queue.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type not in _STATIC or len(seen) > _LARGEST:
            return False
        if op.type not in ("Shape", "Size", "Rank"):
            queue += [t.op for t in op.inputs]
    return True


def partial_value(tensor: Tensor) -> Any:
    """The value of `tensor` as an ndarray; unknown elements are None in an object array; None if nothing is known."""
    return tensor.op.attrs["value"] if tensor.op.type == "Const" else _Values()(tensor)


def value_for_shape(tensor: Tensor) -> Any:
    """What shape inference knows of `tensor`: as ``partial_value``, and what any operations make of constants alone."""
    return tensor.op.attrs["value"] if tensor.op.type == "Const" else _Values().folded(tensor)


class _Values:
    """The values found for one question, so that each tensor on the way is looked at once."""

    __slots__ = ("found", "depth", "of_constants")

    def __init__(self) -> None:
        self.found: dict[Tensor, Any] = {}
        self.of_constants: dict[Any, bool] = {}     # operation -> whether it depends on constants alone
        self.depth = 0

    def folded(self, tensor: Tensor) -> Any:
        """The value of a tensor, also where no rule follows it but all that it is made of is constant."""
        value = self(tensor)
        if value is None and self._folds(tensor.op, 0):
            value = self.found[tensor] = _evaluated(tensor.op, tensor.value_index, [self.folded(t) for t in tensor.op.inputs])
        return value

    def _folds(self, op: Any, depth: int) -> bool:
        if op.type == "Const":
            return True
        known = self.of_constants.get(op)
        if known is None:
            pure = depth < _DEEPEST and op.opdef is not None and op.opdef.pure and bool(op.inputs) \
                and op.type != "PlaceholderWithDefault"         # it may be fed
            known = self.of_constants[op] = pure and all(self._folds(t.op, depth + 1) for t in op.inputs)
        return known

    def __call__(self, tensor: Tensor) -> Any:
        op = tensor.op
        if op.type == "Const":
            return op.attrs["value"]
        rule = _RULES.get(op.type)
        if rule is None or self.depth > _DEEPEST:
            return None
        if tensor not in self.found:
            self.depth += 1
            value = rule(op, tensor.value_index, self)
            self.depth -= 1
            self.found[tensor] = _plain(value, tensor.dtype)
        return self.found[tensor]


def _plain(value: Any, dtype: Any) -> Any:
    """An object array of which all elements are known as an array of its dtype."""
    if value is None or value.dtype != object or dtype._kind == "string" or any(v is None for v in value.ravel()):
        return value
    return value.astype(dtype.as_numpy_dtype)


def constant_value_as_shape(tensor: Any) -> shapes.TensorShape:
    """The shape that the 1-D integer `tensor` states, as far as it is known; -1 is an unknown size."""
    from jitgraph.graph.convert import convert_to_tensor

    tensor = convert_to_tensor(tensor)
    value = partial_value(tensor)
    if value is None:
        length = tensor._shape[0] if tensor._shape else None
        return shapes.unknown_shape(length)
    return shapes.TensorShape([None if size is None or size == -1 else int(size) for size in np.ravel(value)])


def _known(value: Any) -> bool:
    return value is not None and value.dtype != object


def _array(values: list, dtype: Any) -> np.ndarray:
    """`values` as an array of `dtype`, or as an object array if some are None."""
    if any(v is None for v in values):
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.array(values, dtype.as_numpy_dtype)


def _shape_of(op: Any, index: int, value_of: _Values) -> Any:
    """The static shape of an input, or the shape of its value if that is known."""
    shape = op.inputs[index]._shape
    if shape is None or None in shape:
        value = value_of.folded(op.inputs[index])
        return shape if value is None else value.shape
    return shape


def _shape(op: Any, index: int, value_of: _Values) -> Any:
    shape = _shape_of(op, index, value_of)
    return None if shape is None else _array(list(shape), op.attrs["out_type"])


def _size(op: Any, index: int, value_of: _Values) -> Any:
    count = shapes.TensorShape._of(_shape_of(op, 0, value_of)).num_elements()
    return None if count is None else np.array(count, op.attrs["out_type"].as_numpy_dtype)


def _rank(op: Any, index: int, value_of: _Values) -> Any:
    shape = op.inputs[0]._shape
    return None if shape is None else np.array(len(shape), np.int32)


def _through(op: Any, index: int, value_of: _Values) -> Any:
    return value_of(op.inputs[index])


def _as_objects(value: Any, shape: tuple | None) -> Any:
    """`value` as an object array; all None if nothing is known but the `shape`."""
    if value is not None:
        return value.astype(object)
    return None if shape is None or None in shape else np.full(shape, None, object)


def _join(tensors: list, value_of: _Values, combine: Callable[[list], Any]) -> Any:
    values = [value_of(t) for t in tensors]
    if all(_known(v) for v in values):
        return combine(values)
    if all(v is None for v in values) or tensors[0].dtype.base_dtype.name == "string":
        return None
    parts = [_as_objects(v, t._shape) for v, t in zip(values, tensors)]
    return None if any(p is None for p in parts) else combine(parts)


def _pack(op: Any, index: int, value_of: _Values) -> Any:
    if len(op.inputs) > _LARGEST:
        return None
    return _join(op.inputs, value_of, lambda parts: np.stack(parts, op.attrs.get("axis", 0)))


def _concat(op: Any, index: int, value_of: _Values) -> Any:
    axis_first = op.type == "Concat"
    axis = value_of(op.inputs[0 if axis_first else -1])
    if not _known(axis):
        return None
    tensors = op.inputs[1:] if axis_first else op.inputs[:-1]
    return _join(tensors, value_of, lambda parts: np.concatenate(parts, int(axis)))


def _strided_slice(op: Any, index: int, value_of: _Values) -> Any:
    value = value_of(op.inputs[0])
    if value is None:
        return None
    bounds = [value_of(t) for t in op.inputs[1:4]]
    if not all(_known(b) for b in bounds):
        return None
    try:
        return np.asarray(value[numpy_index(bounds, op.attrs)], value.dtype)
    except IndexError:
        return None             # the shape rule or the run reports it


def numpy_index(bounds: list, attrs: dict[str, Any]) -> tuple:
    """The NumPy index that begin, end, strides and the masks of a StridedSlice mean."""
    index: list = []
    for i, (begin, end, stride) in enumerate(zip(*bounds)):
        bit = 1 << i
        if attrs["ellipsis_mask"] & bit:
            index.append(Ellipsis)
        elif attrs["new_axis_mask"] & bit:
            index.append(np.newaxis)
        elif attrs["shrink_axis_mask"] & bit:
            index.append(int(begin))
        else:
            index.append(slice(None if attrs["begin_mask"] & bit else int(begin),
                               None if attrs["end_mask"] & bit else int(end), int(stride)))
    return tuple(index)


def _by_value(op: Any, index: int, value_of: _Values) -> Any:
    """Ops whose NumPy meaning is applied when all inputs are known and small."""
    return _evaluated(op, index, [value_of(t) for t in op.inputs])


def _evaluated(op: Any, index: int, values: list) -> Any:
    """The NumPy meaning of an operation on values, if they are all known and small."""
    if op.opdef is None or not all(_known(v) and v.size <= _LARGEST for v in values):
        return None
    if op.type == "Fill" and np.prod(values[0], dtype=np.int64) > _LARGEST:
        return None
    try:
        return np.asarray(op.opdef.evaluate(values, op.attrs)[index])
    except Exception:
        return None


def _by_element(op: Any, index: int, value_of: _Values) -> Any:
    """Integer arithmetic on partly known vectors: what depends on an unknown element is unknown."""
    values = [value_of(t) for t in op.inputs]
    if any(v is None for v in values):
        return None
    if all(_known(v) for v in values):
        return _by_value(op, index, value_of)
    dtype = op.outputs[0].dtype
    if not dtype.is_integer:
        return None
    try:
        parts = np.broadcast_arrays(*values)
    except ValueError:
        return None
    result = np.empty(parts[0].shape, object)
    for position in np.ndindex(result.shape):
        items = [part[position] for part in parts]
        if all(item is not None for item in items):
            arrays = [np.asarray(item, t.dtype.as_numpy_dtype) for item, t in zip(items, op.inputs)]
            result[position] = op.opdef.evaluate(arrays, op.attrs)[0].item()
    return result


def _gather(op: Any, index: int, value_of: _Values) -> Any:
    value, indices = (value_of(t) for t in op.inputs[:2])
    if value is None or not _known(indices):
        return None
    axis = value_of(op.inputs[2]) if len(op.inputs) > 2 else np.array(0)
    if not _known(axis) or op.attrs.get("batch_dims", 0):
        return None
    try:
        return np.asarray(np.take(value, indices, int(axis)), value.dtype)
    except (IndexError, ValueError):
        return None


def _unpack(op: Any, index: int, value_of: _Values) -> Any:
    value = value_of(op.inputs[0])
    if value is None:
        return None
    return np.asarray(np.take(value, index, op.attrs["axis"]), value.dtype)


def _cast(op: Any, index: int, value_of: _Values) -> Any:
    value = value_of(op.inputs[0])
    if value is None or _known(value):
        return _by_value(op, index, value_of) if value is not None else None
    return value if op.attrs["DstT"].is_integer else None


def _view(function: Callable[[Any, list], Any]) -> _Rule:
    """Ops that rearrange the elements of input 0, given the values of the others."""

    def rule(op: Any, index: int, value_of: _Values) -> Any:
        value = value_of(op.inputs[0])
        others = [value_of(t) for t in op.inputs[1:]]
        if value is None or not all(_known(o) for o in others):
            return None
        try:
            return function(value, others)
        except ValueError:
            return None

    return rule


def _squeeze(op: Any, index: int, value_of: _Values) -> Any:
    value = value_of(op.inputs[0])
    if value is None:
        return None
    axes = tuple(op.attrs["squeeze_dims"])
    try:
        return np.squeeze(value, axes or None)
    except ValueError:
        return None


def _placeholder_with_default(op: Any, index: int, value_of: _Values) -> Any:
    return None             # it may be fed


def _fill(op: Any, index: int, value_of: _Values) -> Any:
    dims, value = (value_of(t) for t in op.inputs)
    if not _known(dims) or value is None or np.prod(dims, dtype=np.int64) > _LARGEST:
        return None
    return np.full(tuple(dims), value.item() if value.dtype == object else value)


def _placeholder(op: Any, index: int, value_of: _Values) -> Any:
    """In the graph of a function, the value that the caller passes."""
    source = getattr(op.graph, "sources", {}).get(op.outputs[index])
    return None if source is None else value_of(source)


_RULES: dict[str, _Rule] = {
    "Placeholder": _placeholder,
    "Shape": _shape, "ShapeN": _shape, "Size": _size, "Rank": _rank, "Identity": _through, "IdentityN": _through,
    "StopGradient": _through, "Snapshot": _through, "EnsureShape": lambda op, i, value_of: _through(op, 0, value_of),
    "Pack": _pack, "ConcatV2": _concat, "Concat": _concat, "StridedSlice": _strided_slice, "Cast": _cast,
    "Fill": _fill, "Unpack": _unpack, "GatherV2": _gather, "Gather": _gather, "Squeeze": _squeeze,
    "ExpandDims": _view(lambda value, others: np.expand_dims(value, int(others[0]))),
    "Reshape": _view(lambda value, others: value.reshape(tuple(others[0]))),
    "PlaceholderWithDefault": _placeholder_with_default,
    **dict.fromkeys(["Add", "AddV2", "Sub", "Mul", "FloorDiv", "FloorMod", "Maximum", "Minimum", "Neg"], _by_element),
    **dict.fromkeys(["Prod", "Sum", "Max", "Min", "Range", "Equal", "NotEqual", "Less", "LessEqual", "Greater",
                     "GreaterEqual", "All", "Any", "LogicalAnd", "LogicalOr", "LogicalNot", "Slice", "ReverseV2",
                     "RealDiv", "Div", "Floor", "Ceil", "BroadcastArgs", "Where", "Select", "Tile", "ZerosLike",
                     "OnesLike", "Split", "SplitV", "InvertPermutation", "ListDiff", "Abs", "Sign", "Square", "Round",
                     "Cumsum", "ArgMax", "ArgMin", "Transpose", "DynamicPartition", "DynamicStitch",
                     "ParallelDynamicStitch"], _by_value),

}
