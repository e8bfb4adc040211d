"""Products of a loop's iterations that do not wait for one another: they are made for many iterations at once.

Early ones, of a recurrent cell:

    z = concat([x, h], 1) @ w           x an element of a TensorArray that the loop only reads, w the same in all iterations

is x @ w[:n] + h @ w[n:], and the first term does not wait for h.  Late ones, of its gradient:

    dx = (dz @ w.T)[:, :n]              which is all that this iteration does for the TensorArray's gradient

are asked for after the loop.  One product of many rows reads the matrix once, and costs a fraction of many short ones.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor

from ..builder import Builder
from ..ir import Value
from .expressions import through

LEAST = 1 << 12         # elements of a matrix from which this is worth while


class FixedInput(NamedTuple):
    """A matrix that is the loop's input `number`."""

    number: int


class FixedVariable(NamedTuple):
    """A matrix that is the value of a variable, which the loop does not write."""

    variable: Operation


Fixed = FixedInput | FixedVariable


class EarlyTerms:
    """Some neighbouring terms of the products that the MatMul `op` makes, for rows of many iterations.

    `element`: the tensor that has their columns of the left factor; `tensor`: what an iteration is fed, the terms' sum;
    `rest`: [(first term, parts of the left factor that stand side by side)] of the other terms.  `graph` computes `product`
    from the tensors `given`: rows, and the whole matrix.
    """

    def __init__(self, op: Operation, parts: list[Tensor], early: int, matrix: Fixed) -> None:
        from jitgraph.ops.arrays.identity import placeholder
        from jitgraph.ops.linalg.matmul import matmul

        self.op, self.element, self.matrix = op, parts[early], matrix
        starts = [0]
        for part in parts:
            starts.append(starts[-1] + part._shape[1])
        begin, end = starts[early], starts[early + 1]
        self.rest = [(start, side) for start, side in ((0, parts[:early]), (end, parts[early + 1:])) if side]
        _, columns = op.outputs[0]._shape
        dtype = op.outputs[0].dtype
        self.graph = Graph()
        with self.graph.as_default():
            self.tensor = placeholder(dtype, (self.element._shape[0], columns))
            self.given = [placeholder(dtype, (None, end - begin)), placeholder(dtype, (starts[-1], columns))]
            self.product = matmul(self.given[0], self.given[1][begin:end])

    def lower(self, b: Builder, early: Value, values: Callable[[Tensor], Value]) -> Value:
        """The whole product in primitives, from the early terms' sum and the `values` of other tensors."""
        total = early
        for start, side in self.rest:
            matrix = values(self.op.inputs[1])
            left = values(side[0]) if len(side) == 1 else b.concat([values(part) for part in side], 1)
            right = b.slice(matrix, (start, 0), (left.shape[1], matrix.shape[1]))
            total = b.map("add", [total, b.matmul(left, right)])
        return total


def early_terms(op: Operation, is_early: Callable[[Tensor], bool], fixed: Callable[[Tensor], Fixed | None]) -> EarlyTerms | None:
    """The terms of an operation's products that do not wait; None if it is no MatMul of such."""
    if not _is_product(op) or op.attrs["transpose_b"]:
        return None
    left = through(op.inputs[0])
    parts = [left]
    if left.op.type == "ConcatV2" and not is_early(left):
        axis = constant_value(left.op.inputs[-1])
        if axis is None or int(axis) not in (1, -1):
            return None
        parts = [through(t) for t in left.op.inputs[:-1]]
    found = [k for k, t in enumerate(parts) if is_early(t)]
    matrix = fixed(op.inputs[1]) if found else None
    shape = op.inputs[1]._shape
    if matrix is None or shape is None or None in shape or any(_columns(t) is None for t in parts):
        return None
    is_large = parts[found[0]]._shape[1] * shape[1] >= LEAST
    return EarlyTerms(op, parts, found[0], matrix) if is_large else None


class LateRows:
    """A tensor that is made of the rows of others by products with fixed matrices, by choosing columns and by adding.

    `leaves`: these others; `matrices`; `graph` computes `product` from the tensors `given`, the joined rows of each leaf and
    then the matrices.
    """

    def __init__(self, fixed: Callable[[Tensor], Fixed | None]) -> None:
        self._fixed = fixed
        self.leaves: list[Tensor] = []
        self.matrices: list[Fixed] = []
        self.graph = Graph()
        self._rows: dict[Tensor, Tensor] = {}
        self._given: dict[Fixed, Tensor] = {}
        self.product: Tensor | None = None

    @property
    def given(self) -> list[Tensor]:
        return [*(self._rows[t] for t in self.leaves), *(self._given[m] for m in self.matrices)]

    @staticmethod
    def of(tensor: Tensor, fixed: Callable[[Tensor], Fixed | None]) -> LateRows | None:
        """How `tensor` is made so; None if it is not."""
        found = LateRows(fixed)
        with found.graph.as_default():
            found.product = found._made(tensor, 8)
        return found if found.product is not None else None

    def _made(self, tensor: Tensor, depth: int) -> Tensor | None:
        """What gives the same in `graph` for joined rows."""
        from jitgraph.ops.elementwise.sums import add_n

        tensor = through(tensor)
        op = tensor.op
        if not depth or op.control_inputs or _columns(tensor) is None:
            return None
        if _is_product(op):
            return self._product(op)
        if op.type == "Slice":
            begin = _first_column(op)
            if begin is None or (whole := self._made(op.inputs[0], depth - 1)) is None:
                return None
            return whole[:, begin:begin + tensor._shape[1]]
        if op.type == "AddN":
            parts = [self._made(t, depth - 1) for t in op.inputs]
            return None if any(t is None for t in parts) else add_n(parts)
        return None

    def _product(self, op: Operation) -> Tensor | None:
        from jitgraph.ops.arrays.identity import placeholder
        from jitgraph.ops.linalg.matmul import matmul

        left, matrix = through(op.inputs[0]), self._fixed(op.inputs[1])
        shape = op.inputs[1]._shape
        if matrix is None or _columns(left) is None or shape is None or None in shape or shape[0] * shape[1] < LEAST:
            return None
        if left not in self._rows:
            self._rows[left] = placeholder(left.dtype, (None, left._shape[1]))
            self.leaves.append(left)
        if matrix not in self._given:
            self._given[matrix] = placeholder(left.dtype, shape)
            self.matrices.append(matrix)
        return matmul(self._rows[left], self._given[matrix], transpose_b=op.attrs["transpose_b"])


def _is_product(op: Operation) -> bool:
    """Whether an operation multiplies each row of a matrix by another one."""
    return op.type == "MatMul" and not op.attrs["transpose_a"] and op.outputs[0].dtype.name in ("float32", "float64")


def _columns(tensor: Tensor) -> int | None:
    """The number of columns of a matrix, None if it is not known, or the tensor is no matrix."""
    return tensor._shape[1] if tensor._shape is not None and len(tensor._shape) == 2 else None


def _first_column(op: Operation) -> int | None:
    """Where a Slice begins that takes some columns of all rows, as the gradient of a concatenation does; None for others."""
    begin = through(op.inputs[1])
    if begin.op.type != "ConcatOffset" or constant_value(begin.op.inputs[0]) not in (1, -1):
        return None
    shapes = [t.op.inputs[t.value_index]._shape if t.op.type in ("Shape", "ShapeN") else None for t in begin.op.inputs[1:]]
    widths = [shape[1] for shape in shapes[:begin.value_index] if shape is not None and len(shape) == 2]
    # the gradient of a concatenation takes parts of the concatenated sizes
    is_part = through(op.inputs[2]) is begin.op.inputs[1 + begin.value_index]
    return sum(widths) if is_part and len(widths) == begin.value_index and None not in widths else None
