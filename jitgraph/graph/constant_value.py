"""What is known of a tensor's value while the graph is built.

Shape arithmetic (``tf.shape(x)[0] * 2``, ``tf.stack([n, 10])``) is followed through cheap ops, so that shapes derived
from it stay known: through those whose declaration has a rule for it (``@op(constant=...)``, see
`jitgraph.graph.constant_rules`).  ``partial_value`` may know some elements only; ``constant_value`` knows all or nothing.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import shapes
from jitgraph.graph.constant_rules import LARGEST, evaluated, shape_of
from jitgraph.graph.tensor import Tensor

_DEEPEST = 40           # a chain of shape arithmetic longer than this is left alone


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


def static_value(tensor: Any, partial: bool = False) -> Any:
    """``tf.get_static_value``: as ``constant_value``, but where TensorFlow's Python does not fold the value, None.

    A program sees the difference: of a condition with a static value, assertions raise while the graph is built; of any other,
    when the graph runs, and then only in the branch that is taken.
    """
    if isinstance(tensor, Tensor) and not partial and not _folds(tensor.op):
        return None
    return constant_value(tensor, partial)


def static_shape(tensor: Tensor) -> list | None:
    """The sizes that `tensor` states, as far as TensorFlow's Python knows them, None for others; None if their number is not known.

    A program sees the difference to ``constant_value_as_shape``: where a shape is known, nodes that would compute it are left out.
    """
    op = tensor.op
    if op.type == "Shape":
        return None if op.inputs[0]._shape is None else list(op.inputs[0]._shape)
    if op.type == "Pack":
        parts = [static_value(part) for part in op.inputs]
        return [None if size is None or size < 0 else int(size) for size in parts]
    if op.type == "ConcatV2":
        joined = [static_shape(part) for part in op.inputs[:-1]]
        return None if None in joined else [size for sizes in joined for size in sizes or ()]
    if op.type == "StridedSlice":
        sliced = _static_slice(op)
        if sliced is not None:
            return sliced
    value = static_value(tensor)
    if value is not None:
        return [None if size == -1 else int(size) for size in np.ravel(value)]
    length = tensor._shape[0] if tensor._shape else None
    return None if length is None else [None] * length


def _static_slice(op: Any) -> list | None:
    """The sizes that are a plain slice of others; None if they do not follow."""
    masks = op.attrs
    if masks["ellipsis_mask"] or masks["new_axis_mask"] or masks["shrink_axis_mask"]:
        return None
    bounds = [static_value(tensor) for tensor in op.inputs[1:]]
    sizes = static_shape(op.inputs[0])
    if sizes is None or any(bound is None or len(bound) != 1 for bound in bounds):
        return None
    begin, end, step = (int(bound[0]) for bound in bounds)
    return sizes[None if masks["begin_mask"] else begin:None if masks["end_mask"] else end:step]


def _folds(op: Any) -> bool:
    seen, queue = set(), [op]
    while queue:
        op = queue.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.opdef is None or not op.opdef.static or len(seen) > LARGEST:
            return False
        if op.opdef.of_shape is None:
            queue += [t.op for t in op.inputs]
    return True


def partial_value(tensor: Tensor) -> Any:
    """The value of `tensor` as an ndarray; unknown elements are None in an object array; None if nothing is known."""
    return tensor.op.attrs["value"] if tensor.op.type == "Const" else _Values()(tensor)


def value_for_shape(tensor: Tensor) -> Any:
    """What shape inference knows of `tensor`: as ``partial_value``, and what any operations make of constants alone."""
    return tensor.op.attrs["value"] if tensor.op.type == "Const" else _Values(folding=True)(tensor)


def folded_shape(tensor: Tensor) -> tuple | None:
    """The static shape of `tensor`, or all of it where what any operations make of constants alone tells it."""
    return shape_of(tensor, _Values(folding=True))


class _Values:
    """The values found for one question, so that each tensor on the way is looked at once.

    `folding`: also those that no rule follows, but which are made of constants alone.
    """

    __slots__ = ("found", "depth", "of_constants", "folding")

    def __init__(self, folding: bool = False) -> None:
        self.found: dict[Tensor, Any] = {}
        self.of_constants: dict[Any, bool] = {}     # operation -> whether it depends on constants alone
        self.depth = 0
        self.folding = folding

    def __call__(self, tensor: Tensor) -> Any:
        op = tensor.op
        if op.type == "Const":
            return op.attrs["value"]
        if tensor not in self.found:
            value = self._followed(tensor)
            # what a body takes from the graph around is known here, and not where TensorFlow infers shapes: no more is made of it
            folding = self.folding and not (self.depth and op.graph.building_function)
            if value is None and folding and self._folds(op, 0):
                value = evaluated(op, tensor.value_index, [self(t) for t in op.inputs])
            self.found[tensor] = value
        return self.found[tensor]

    def _followed(self, tensor: Tensor) -> Any:
        """The value by the rule of the operation."""
        op = tensor.op
        rule = None if op.opdef is None else op.opdef.constant
        if rule is None or self.depth > _DEEPEST:
            return None
        self.depth += 1
        value = rule(op, tensor.value_index, self)
        self.depth -= 1
        return _plain(value, tensor.dtype)

    def _folds(self, op: Any, depth: int) -> bool:
        if op.type == "Const":
            return True
        known = self.of_constants.get(op)
        if known is None:
            pure = depth < _DEEPEST and op.opdef is not None and op.opdef.pure and bool(op.inputs) and not op.opdef.placeholder
            known = self.of_constants[op] = pure and all(self._folds(t.op, depth + 1) for t in op.inputs)
        return known


def _plain(value: Any, dtype: Any) -> Any:
    """An object array of which all elements are known as an array of its dtype."""
    if value is None or value.dtype != object or dtype._kind == "string" or any(v is None for v in value.ravel()):
        return value
    return value.astype(dtype.as_numpy_dtype)


def constant_value_as_shape(tensor: Any) -> shapes.TensorShape:
    """The shape that the 1-D integer `tensor` states, as far as it is known; sizes below 0 are unknown."""
    from jitgraph.graph.convert import convert_to_tensor

    tensor = convert_to_tensor(tensor)
    value = partial_value(tensor)
    if value is None:
        length = tensor._shape[0] if tensor._shape else None
        return shapes.unknown_shape(length)
    return shapes.TensorShape([None if size is None or size < 0 else int(size) for size in np.ravel(value)])
