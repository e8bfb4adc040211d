"""Second derivatives: ``tf.hessians`` takes the gradient of each element of a gradient."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.autodiff.gradients import UnconnectedGradients, as_list, gradients
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import counted_as
from jitgraph.graph.tensor import Tensor

_NODES_OF_ROWS = 29     # of TensorFlow's loop over the rows, without what makes a row; the Pack here is one more
_UNROLLED = 256         # elements of an x up to which the rows of a hessian are written out


def hessians(ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
             gate_gradients: bool = False, aggregation_method: int | None = None) -> list:
    """For each of `xs` the matrix of second derivatives of the sum of `ys`, of shape ``x.shape + x.shape``."""
    from jitgraph.ops.arrays.join import concat, stack

    xs = as_list(xs)
    options: dict[str, Any] = {"colocate_gradients_with_ops": colocate_gradients_with_ops, "gate_gradients": gate_gradients,
               "aggregation_method": aggregation_method}
    found = []
    for x, grad in zip(xs, gradients(ys, xs, **options)):
        x = convert_to_tensor(x)
        flat = raw.Reshape(grad, [-1])
        count = flat.shape[0].value
        if count is not None and count <= _UNROLLED:
            rows: Any = stack(_written_rows(flat, count, x, options)) if count else flat
        else:
            rows = _looped_rows(flat, x, options)
        size = raw.Shape(x)
        found.append(raw.Reshape(rows, concat([size, size], 0)))
        if x._shape is not None:
            found[-1].set_shape(x._shape + x._shape)
    return found


def _row(element: Tensor, x: Tensor, options: dict) -> Tensor:
    return gradients(element, x, unconnected_gradients=UnconnectedGradients.ZERO, **options)[0]


def _written_rows(flat: Tensor, count: int, x: Tensor, options: dict) -> list:
    """The rows one by one; TensorFlow has a loop, whose body makes one row."""
    graph = flat.graph
    with counted_as(0) as block:
        made, start = len(graph.get_operations()), graph._ids.last
        rows = [_row(flat[0], x, options)]
        own = graph.get_operations()[made:]
        outside = {tensor for op in own for tensor in op.inputs} - {tensor for op in own for tensor in op.outputs} - {flat}
        block.nodes = _NODES_OF_ROWS + graph._ids.last - start + len(outside)       # an Enter for each value from outside
        rows += [_row(flat[i], x, options) for i in range(1, count)]
    return rows


def _looped_rows(flat: Tensor, x: Tensor, options: dict) -> Tensor:
    from jitgraph.control.while_loops import while_loop
    from jitgraph.tensor_arrays.tensor_array import TensorArray

    def step(index, rows):
        return index + 1, rows.write(index, _row(raw.GatherV2(flat, index, 0), x, options))

    count = raw.Size(flat)
    rows = TensorArray(x.dtype.base_dtype, count)
    return while_loop(lambda index, _: index < count, step, [0, rows])[1].stack()
