"""The transforms by name, and what applies a list of them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import errors
from jitgraph.tools.graph_transforms import (
    backports,
    convolutions,
    eight_bits,
    labels,
    pruning,
    ranges,
    sparse_gathers,
    weights,
)
from jitgraph.tools.graph_transforms.parameters import Parameters, invalid, parsed

TRANSFORMS: dict[str, Callable[[Any, Parameters], Any]] = {
    function.__name__: function for function in (
        backports.backport_concatv2, backports.backport_tensor_array_v3,
        convolutions.flatten_atrous_conv, convolutions.fuse_pad_and_conv, convolutions.fuse_resize_and_conv,
        convolutions.fuse_resize_pad_and_conv, eight_bits.quantize_nodes,
        labels.add_default_attributes, labels.obfuscate_names, labels.remove_attribute, labels.remove_control_dependencies,
        labels.remove_device, labels.rename_attribute, labels.rename_op, labels.set_device, labels.sort_by_execution_order,
        pruning.fold_constants, pruning.merge_duplicate_nodes, pruning.remove_nodes, pruning.strip_unused_nodes,
        ranges.freeze_requantization_ranges, ranges.insert_logging, sparse_gathers.sparsify_gather,
        weights.fold_batch_norms, weights.fold_old_batch_norms, weights.quantize_weights, weights.round_weights)}

_ELSEWHERE = ("fuse_remote_graph", "place_remote_graph_arguments")
"""Transforms of TensorFlow that hand parts of a graph to a library of another processor, which its own build must hold."""


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
            raise errors.UnimplementedError(None, None, f"Transform '{name}' is not part of jitgraph: it is for libraries of other "
                                                        "processors, which TensorFlow must be built with: leave it out")
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
