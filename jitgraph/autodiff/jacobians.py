"""``tensorflow.python.ops.parallel_for.gradients``: all derivatives of a tensor by others."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.autodiff.gradients import gradients
from jitgraph.control.parallel_loops import stacked_turns
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.checks.check_values import assert_equal


def jacobian(output: Any, inputs: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """The derivatives of each element of `output` by each of `inputs`, of shape ``output.shape + input.shape``.

    `inputs` may have any structure, which the result has; None stands for those on which `output` does not depend.
    """
    output = convert_to_tensor(output)
    sources = nest.flatten(inputs)
    flat = raw.Reshape(output, [-1])
    rows = stacked_turns(lambda index: gradients(raw.GatherV2(flat, index, 0), sources), raw.Size(output))
    found = []
    for row, source in zip(rows, sources):
        if row is not None:
            row = raw.Reshape(row, concat([raw.Shape(output), raw.Shape(row)[1:]], 0))
            row.set_shape(output.shape.concatenate(source.shape))
        found.append(row)
    return nest.pack_sequence_as(inputs, found)


def batch_jacobian(output: Any, inp: Any, use_pfor: bool = True, parallel_iterations: int | None = None) -> Any:
    """The derivatives of each row of `output` by the same row of `inp`, of shape ``output.shape + inp.shape[1:]``; None if
    `output` does not depend on it.

    Raises ValueError if the first dimensions differ.
    """
    if not output.shape[0].is_compatible_with(inp.shape[0]):
        raise ValueError(f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) to match.")
    batch, given = raw.Shape(output)[0], raw.Shape(inp)
    size = raw.FloorDiv(raw.Size(output), batch)
    with control_dependencies([assert_equal(batch, given[0])]):
        flat = raw.Reshape(output, [batch, size])
    rows, = stacked_turns(lambda index: gradients(raw.GatherV2(flat, index, 1), [inp]), size)
    if rows is None:
        return None
    made = raw.Transpose(raw.Reshape(rows, [size, batch, -1]), [1, 0, 2])
    made = raw.Reshape(made, concat([raw.Shape(output), given[1:]], 0))
    made.set_shape(output.shape.concatenate(inp.shape[1:]))
    return made
