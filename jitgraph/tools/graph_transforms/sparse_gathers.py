"""The transform ``sparsify_gather``: rows of large constants of which most are zero, looked up in tables."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from jitgraph.formats import tensor_slice
from jitgraph.formats.checkpoint import open_checkpoint
from jitgraph.formats.graph_parts import copied, node_name
from jitgraph.graph import dtypes, errors
from jitgraph.graph.dtypes import as_dtype
from jitgraph.tools.graph_transforms.parameters import Parameters
from jitgraph.tools.graph_transforms.patterns import Match, Pattern, constant, copy_of, node_of, replaced, value_of

_WEIGHTS: Pattern = ("Identity", (("Const|Variable|VariableV2", ()),))
_PATTERNS: tuple[Pattern, ...] = (("Gather", (_WEIGHTS, ("*", ()))), ("GatherV2", (_WEIGHTS, ("*", ()), ("Const", ()))))
_LEAST = 1e-5           # what is smaller counts as zero
_OF_ONE = ("Assign", "Reshape", "Equal", "Mean", "ScalarSummary")
"""Ops that mean nothing once all but one of their inputs are gone."""


def sparsify_gather(graph_def: Any, given: Parameters) -> Any:
    """Looks up in tables what Gather takes from constants of one column, and leaves out what only they needed.

    The tables are initialized by the node `group_init_node`, "group_deps" if not given.  Values of variables are those of the
    checkpoint `input_checkpoint`.  Raises FailedPreconditionError for constants of other shapes and dtypes and for other axes,
    InternalError for variables without a checkpoint or that no node restores.
    """
    nodes = [copy_of(node) for node in graph_def.node]
    for node in nodes:
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]
    graph_def = copied(graph_def, nodes)
    slices = {node.name: _slice_of(nodes, node.name) for node in nodes if node.op in ("Variable", "VariableV2")}
    path = given.values.get("input_checkpoint", [None])[0]
    weights = _Weights(None if path is None else open_checkpoint(path), slices)
    for pattern in _PATTERNS:
        graph_def = _sparse(graph_def, given, pattern, weights)
    return graph_def


class _Weights:
    """Values of constants and of variables, these from a checkpoint."""

    def __init__(self, reader: Any, slices: dict[str, str]):
        self.reader, self.slices = reader, slices

    def of(self, node: Any) -> np.ndarray:
        """The value of a node, of shape [N, 1]."""
        if "dtype" not in node.attr or as_dtype(node.attr["dtype"].type) is not dtypes.float32:
            raise _unfit("Transform only applicable to subgraph with 'Const','Variable', or 'VariableV2' of dtype 'DT_FLOAT'. "
                         f"Found '{node.op}' with name '{node.name}' and dtype '{node.attr['dtype'].type}'.")
        value = value_of(node) if node.op == "Const" else self._restored(node.name)
        if value.ndim != 2 or value.shape[1] != 1:
            raise _unfit("Transform only applicable to subgraph with 'Const' with tensor of shape [N, 1]. But instead get shape "
                         f"{_shown(value.shape)}.")
        return value.ravel()

    def _restored(self, name: str) -> np.ndarray:
        if self.reader is None:
            raise errors.InternalError(None, None, "Checkpoint reader was not initialized. ")
        if not self.slices[name]:
            return self.reader.read(_whole(name))
        return self.reader.read_slice(_whole(name), tensor_slice.parse(self.slices[name])[1])


def _shown(shape: tuple[int, ...]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _unfit(message: str) -> errors.FailedPreconditionError:
    return errors.FailedPreconditionError(None, None, message)


def _whole(name: str) -> str:
    """The name in checkpoints of the variable that a variable is, or is a part of."""
    *before, last = name.split("/")
    return "/".join(before) if last.startswith("part_") else name


def _slice_of(nodes: list[Any], name: str) -> str:
    """Which part of a variable in a checkpoint is restored into the variable `name`: "" for all of it."""
    by_name = {node.name: node for node in nodes}
    restores = [node.input[1] for node in nodes if node.input and node.input[0] == name
                and (parts := node.name.split("/")) and len(parts) == 2
                and parts[0].startswith("save") and parts[1].startswith("Assign")]
    source = by_name.get(restores[0].split(":")[0]) if restores else None
    names = texts = None
    if source is not None and source.op == "RestoreV2":
        names, texts = (by_name.get(text) for text in source.input[1:3])
    at = [] if names is None else [k for k, one in enumerate(value_of(names).ravel()) if one == _whole(name).encode()]
    if not at:
        raise errors.InternalError(None, None, f"Unable to find RestoreV2 entry for variable: {name}")
    if texts is None:
        raise errors.InternalError(None, None, f"Unable to find slice for variable: {name}")
    return value_of(texts).ravel()[at[0]].decode()


def _bare(text: str) -> str:
    return text.replace("^", "")


def _sparse(graph_def: Any, given: Parameters, pattern: Pattern, weights: _Weights) -> Any:
    group = given.values.get("group_init_node", ["group_deps"])[0]
    uses: dict[str, int] = {}

    def count(texts: Iterable[str], by: int = 1) -> None:
        for text in texts:
            uses[_bare(text)] = uses.get(_bare(text), 0) + by

    for node in graph_def.node:
        count(node.input)
    while True:
        tables: list[str] = []
        gone: list[str] = []

        def make(match: Match, used: set[str], tables: list[str] = tables, gone: list[str] = gone) -> Iterable[Any]:
            if match.node.op == "GatherV2" and int(value_of(match.inputs[2].node)) != 0:
                raise _unfit("Transform only applicable to subgraph with GatherV2 over axis 0. Found axis "
                             f"{int(value_of(match.inputs[2].node))}.")
            identity, source = match.inputs[0].node, match.inputs[0].inputs[0].node
            made = list(_lookup(match.node, source.name, weights.of(source)))
            tables.append(f"{source.name}/InitializeTable")
            gone.extend((source.name, identity.name))
            count(identity.input, -1)
            for one in made:
                count(one.input)
            return [match.inputs[1].node, *made]

        found = list(replaced(graph_def, pattern, make, consistent=False).node)
        start = next((node for node in found if node.name == group and node.op == "NoOp"), None)
        if start is None:
            start = node_of("NoOp", group, [])
            found.append(start)
        start.input.extend(f"^{name}" for name in tables)
        count(tables)
        for text in (*given.outputs, *given.inputs):
            uses.pop(text, None)
        gone += [name for name, number in uses.items() if number == 0]
        graph_def = copied(graph_def, _without(found, gone, uses))
        if not tables:
            return graph_def


def _lookup(gather: Any, source: str, weights: np.ndarray) -> Iterator[Any]:
    """The nodes of a table of the weights that are not zero, its initializer, and what looks indices up in it."""
    key, number = dtypes.int64, dtypes.float32
    rows = np.flatnonzero(np.abs(weights) >= _LEAST)
    rows = rows if rows.size else np.array([0])             # a table needs something in it
    values = np.where(np.abs(weights[rows]) >= _LEAST, weights[rows], 0)
    yield constant(f"{source}/indices", rows.astype(np.int64), key)
    yield constant(f"{source}/values", values.astype(np.float32), number)
    yield node_of("HashTable", f"{source}/HashTable", [], key_dtype=key, value_dtype=number)
    yield node_of("InitializeTable", f"{source}/InitializeTable",
                  [f"{source}/HashTable", f"{source}/indices", f"{source}/values"], Tkey=key, Tval=number)
    yield node_of("LookupTableFind", f"{gather.name}/LookupTableFind",
                  [f"{source}/HashTable", gather.input[1], f"{gather.name}/Const"], Tin=key, Tout=number)
    yield constant(f"{gather.name}/Const", np.float32(0), number)
    yield constant(f"{gather.name}/ExpandDims/Const", np.int32(-1), dtypes.int32)
    yield node_of("ExpandDims", gather.name, [f"{gather.name}/LookupTableFind", f"{gather.name}/ExpandDims/Const"], T=number)


def _without(nodes: list[Any], gone: list[str], uses: dict[str, int]) -> list[Any]:
    """The nodes without those that are gone, and without what nobody uses then or has nothing left to use."""
    while gone:
        name = gone.pop()
        kept = []
        for node in nodes:
            if node.name == name and node.op != "RestoreV2":
                for text in map(_bare, node.input):
                    uses[text] = uses.get(text, 0) - 1
                    if uses[text] == 0:
                        gone.append(text)
                continue
            kept.append(node)
            left = [text for text in node.input if text not in (name, f"^{name}")]
            if len(left) < len(node.input):
                node.input[:] = left
                _shrink(node, uses, gone)
                if len(node.input) == 1 and node.op in _OF_ONE or not node.input:
                    gone.append(node.name)
        nodes = kept
    return nodes


def _shrink(node: Any, uses: dict[str, int], gone: list[str]) -> None:
    """A ConcatV2 joins what is left of its inputs, or hands the last one on."""
    if node.op != "ConcatV2":
        return
    if len(node.input) > 2:
        node.attr["N"].i = len(node.input) - 1
    elif len(node.input) == 2:
        if uses.get(node.input[1]) != 1:
            raise errors.InternalError(None, None, "Expect axis tensor of ConcatV2 node to only be referenced once.")
        uses[node.input[1]] -= 1
        gone.append(node_name(node.input[1]))
        del node.input[1], node.attr["N"]
        node.op = "Identity"
    else:
        raise errors.InternalError(None, None, "ConcatV2 should have at least two elements")
