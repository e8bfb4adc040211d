"""infer: what the shape rule of one operation says for the sizes of a run, and the errors of shapes that do not go together."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import DType
from jitgraph.graph.elements import Elements
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.operation import Operation

from . import sizes
from .sizes import Shape

PIN_LIMIT = 64          # elements of an integer input for whose value a segment may be compiled

# what shape rules and lowerings raise for inputs that do not go together, or attributes that are no numbers of the op's dtype
MISUSED = (ValueError, IndexError, TypeError, OverflowError)


class Info(NamedTuple):
    """What is known of a tensor before the run: dtype, shape (int or Size per dimension), perhaps its value; if it is the flow of
    a TensorArray, perhaps what is known of the elements."""

    dtype: Any
    shape: sizes.Shape
    value: Any = None           # ndarray; dtype object where it holds symbolic sizes
    elements: Elements | None = None


class Context:
    """What a shape rule sees; see jitgraph.graph.build.ShapeContext."""

    __slots__ = ("op_type", "inputs", "attrs", "shapes", "asked", "_infos")
    running = True

    def __init__(self, op: Operation, infos: Sequence[Info | None]) -> None:
        self.op_type, self.inputs, self.attrs, self._infos = op.type, op.inputs, op.attrs, infos
        self.shapes = [i.shape if i is not None else None for i in infos]
        self.asked: set[int] = set()        # the inputs whose value the rule looked at

    @property
    def dtypes(self) -> list[DType]:
        return [t.dtype.base_dtype for t in self.inputs]

    def constant(self, index: int) -> np.ndarray | None:
        self.asked.add(index % len(self.inputs))
        info = self._infos[index]
        return None if info is None else info.value

    def variable_shape(self, index: int) -> Shape | None:
        return self.shapes[index]

    def elements(self, index: int) -> Elements | None:
        info = self._infos[index]
        return None if info is None else info.elements


def apply_rule(op: Operation, infos: Sequence[Info | None]) -> list[Sequence[Any] | None]:
    """The shapes of an operation's outputs by its shape rule, from the `Info` of its inputs.  Raises InvalidArgumentError."""
    try:
        result = op.opdef.shape(Context(op, infos))
    except MISUSED as error:
        raise shape_error(op, infos, _with_numbers(op, infos) or error) from None
    return result if type(result) is list else [result] * len(op.outputs)


def _with_numbers(op: Operation, infos: Sequence[Info | None]) -> Exception | None:
    """What a shape rule says of the sizes of this run, where it refused symbols that stand for them."""
    if not any(i is not None and any(isinstance(d, sizes.Size) for d in i.shape) for i in infos):
        return None
    try:
        op.opdef.shape(Context(op, [i and i._replace(shape=tuple(map(sizes.hint_of, i.shape))) for i in infos]))
    except MISUSED as error:
        return error
    return None


def check_shapes(op: Operation, arrays: Iterable[Any]) -> list[Sequence[Any] | None]:
    """What the shape rule of an operation says of its outputs for these values, None where it says nothing or compiling does
    not ask it.  Raises InvalidArgumentError if it refuses them, as compiling does.

    NumPy takes more than TensorFlow, and has other words for what it refuses.
    """
    return [None] * len(op.outputs) if op.opdef is not None and op.opdef.dynamic else told_shapes(op, arrays)


def told_shapes(op: Operation, arrays: Iterable[Any]) -> list[Sequence[Any] | None]:
    """The same of any operation."""
    opdef = op.opdef
    if opdef is None or opdef.shape is None or opdef.calls:
        return [None] * len(op.outputs)
    return apply_rule(op, [Info(t.dtype.base_dtype, a.shape, a if a.dtype.kind in "iu" and a.size <= PIN_LIMIT else None)
                    for t, a in zip(op.inputs, map(np.asarray, arrays))])


def shape_error(op: Operation, infos: Sequence[Info | None], error: Exception) -> InvalidArgumentError:
    """A shape conflict that the run's feeds bring out, as TensorFlow's class."""
    return incompatible(op, [None if i is None else [sizes.hint_of(d) for d in i.shape] for i in infos], error)


def incompatible(op: Operation, shapes: Sequence[Any], error: Exception | None) -> InvalidArgumentError:
    """InvalidArgumentError for an operation whose inputs do not go together, in TensorFlow's words."""
    listed = ["?" if s is None else "[" + ",".join(map(str, s)) + "]" for s in shapes]
    if op.opdef.assigns:
        message = f"Assign requires shapes of both tensors to match. lhs shape= {listed[0]} rhs shape= {listed[1]}"
    elif (op.opdef.scalar is not None or op.opdef.shape is shape_rules.broadcast) and len(listed) == 2:
        message = f"Incompatible shapes: {listed[0]} vs. {listed[1]}"
    elif op.type == "MatMul" and all(s is not None and len(s) == 2 for s in shapes):
        message = f"Matrix size-incompatible: In[0]: {listed[0]}, In[1]: {listed[1]}"
    elif op.type.startswith("BatchMatMul") and all(s is not None and len(s) > 1 for s in shapes):
        adjoint = int(op.attrs["adj_x"]), int(op.attrs["adj_y"])
        inner = shapes[0][-1 - adjoint[0]], shapes[1][-2 + adjoint[1]]
        message = f"In[0] mismatch In[1] shape: {inner[0]} vs. {inner[1]}: {listed[0]} {listed[1]} {adjoint[0]} {adjoint[1]}"
    else:
        message = f"{error} with input shapes {', '.join(listed)}"
    return InvalidArgumentError(None, op, message)
