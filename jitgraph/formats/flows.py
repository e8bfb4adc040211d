"""What the flows of TensorArrays are in a file: numbers that only order operations, or the arrays themselves."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jitgraph.graph import dtypes

_ARGUMENTS = ("T", "Tin")       # the dtypes of what functional control flow hands to its functions


def flows_are_values(graph_def: Any) -> bool:
    """Whether loops or branches of a GraphDef take the flow of a TensorArray as a variant, as those that programs build here.

    Then its operations on TensorArrays are those of programs; else those that change an array behind its handle.
    """
    return any(map(_has_such_a_node, [graph_def.node, *(function.node_def for function in graph_def.library.function)]))


def _has_such_a_node(nodes: Iterable[Any]) -> bool:
    arrays = {node.name for node in nodes if node.op.startswith("TensorArray") and node.op.endswith("V3")}
    return bool(arrays) and any(_takes_variant_of(node, arrays) for node in nodes)


def _takes_variant_of(node: Any, arrays: set[str]) -> bool:
    inputs = [text.split(":")[0] for text in node.input if not text.startswith("^")]
    kinds = [kind for key in _ARGUMENTS if key in node.attr for kind in node.attr[key].list.type]
    return any(name in arrays and kind == dtypes.variant.as_datatype_enum
               for name, kind in zip(reversed(inputs), reversed(kinds)))
