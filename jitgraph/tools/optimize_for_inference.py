"""``tensorflow.python.tools.optimize_for_inference_lib``: a graph for inference without what only training needs."""
from __future__ import annotations

from typing import Any

from jitgraph.formats.graph_parts import remove_training_nodes, strip_unused


def optimize_for_inference(input_graph_def: Any, input_node_names: list[str], output_node_names: list[str],
                           placeholder_type_enum: Any, toco_compatible: bool = False) -> Any:
    """A GraphDef of what lies between inputs and outputs, without CheckNumerics and Identity nodes; see `strip_unused`.

    TensorFlow also multiplies batch normalisations into filters and joins resizing and padding with convolutions here.  The
    compiler does the like when it plans the graph, so the nodes stay as they are, for whoever else reads the graph; nothing
    is left for `toco_compatible` to forbid.
    """
    stripped = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    return remove_training_nodes(stripped, output_node_names)
