"""Transforms for older readers of graphs: earlier forms of ops."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.tools.graph_transforms.parameters import Parameters
from jitgraph.tools.graph_transforms.patterns import Match, constant, copy_of, renamed_inputs, replaced

_OF_ARRAYS = "|".join(f"TensorArray{what}V3" for what in
                      ("Write", "Read", "Gather", "Scatter", "Concat", "Split", "Size", "Close"))


def backport_concatv2(graph_def: Any, given: Parameters) -> Any:
    """Makes each ConcatV2 a Concat, which takes the axis first."""

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        made = copy_of(match.node)
        made.op = "Concat"
        made.input[:] = [made.input[-1], *made.input[:-1]]
        if "Tidx" in made.attr:
            del made.attr["Tidx"]
        return [made]

    return replaced(graph_def, ("ConcatV2", ()), make, consistent=False)


def backport_tensor_array_v3(graph_def: Any, given: Parameters) -> Any:
    """Makes ops of TensorArrays those of version 2, whose arrays give no flow: a constant takes its place."""
    flows: dict[str, str] = {}

    def make_array(match: Match, used: set[str]) -> Iterable[Any]:
        flow = constant(f"{match.node.name}/replacement_flow_node", np.float32(1))
        flows[f"{match.node.name}:1"] = flow.name
        return [*make(match, used), flow]

    def make(match: Match, used: set[str]) -> Iterable[Any]:
        made = copy_of(match.node)
        made.op = made.op.removesuffix("3") + "2"
        return [made]

    graph_def = replaced(graph_def, ("TensorArrayV3|TensorArrayGradV3", ()), make_array, consistent=False)
    return replaced(renamed_inputs(graph_def, flows), (_OF_ARRAYS, ()), make, consistent=False)
