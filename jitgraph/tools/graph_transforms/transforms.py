"""The transforms by name, and what applies a list of them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import errors
from jitgraph.tools.graph_transforms import labels, pruning, weights
from jitgraph.tools.graph_transforms.parameters import Parameters, invalid, parsed

TRANSFORMS: dict[str, Callable[[Any, Parameters], Any]] = {
    function.__name__: function for function in (
        labels.add_default_attributes, labels.obfuscate_names, labels.remove_attribute, labels.remove_control_dependencies,
        labels.remove_device, labels.rename_attribute, labels.rename_op, labels.set_device, labels.sort_by_execution_order,
        pruning.fold_constants, pruning.merge_duplicate_nodes, pruning.remove_nodes, pruning.strip_unused_nodes,
        weights.fold_batch_norms, weights.fold_old_batch_norms, weights.quantize_weights, weights.round_weights)}

_ELSEWHERE = ("backport_concatv2", "backport_tensor_array_v3", "flatten_atrous_conv", "freeze_requantization_ranges",
              "fuse_pad_and_conv", "fuse_remote_graph", "fuse_resize_and_conv", "fuse_resize_pad_and_conv", "insert_logging",
              "place_remote_graph_arguments", "quantize_nodes", "sparsify_gather")
"""Transforms of TensorFlow that write ops which only its own kernels and other programs want."""


def TransformGraph(input_graph_def: Any, inputs: list[str], outputs: list[str], transforms: list[str]) -> Any:
    """The GraphDef after all `transforms`, each a text such as ``"fold_constants(ignore_errors=true)"``.

    `inputs` and `outputs` name the nodes that are fed and fetched.  Raises InvalidArgumentError for unknown transforms and for
    graphs that a transform cannot take; with ``ignore_errors=true`` the graph stays as it is there.  Raises UnimplementedError for
    transforms that are not here.
    """
    graph_def = type(input_graph_def)()
    graph_def.CopyFrom(input_graph_def)
    for name, values in parsed(" ".join(transforms)):
        if name in _ELSEWHERE:
            raise errors.UnimplementedError(None, None, f"Transform '{name}' is not part of jitgraph, which makes kernels of the "
                                                        "graph as it is: leave it out, or transform the graph with TensorFlow")
        if name not in TRANSFORMS:
            raise invalid(f"Transform '{name}' not recognized.")
        given = Parameters(list(inputs), list(outputs), values)
        try:
            graph_def = TRANSFORMS[name](graph_def, given)
        except errors.OpError as error:
            if not given.one("ignore_errors", False):
                raise
            logs.error("%s: Ignoring error %s", name, error.message)
    return graph_def
