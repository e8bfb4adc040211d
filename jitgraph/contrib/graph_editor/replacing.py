"""``graph_replace``: what a computation would give for other inputs, as a copy of it."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.graph_editor.lists import ControlOutputs, scope_of
from jitgraph.contrib.graph_editor.selecting import get_walks_intersection_ops
from jitgraph.graph import structures as nest
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation


def copied(op: Operation, graph: Graph, name: str, inputs: list, control_inputs: list) -> Operation:
    """A copy of `op` in `graph` with other inputs."""
    made = graph.add_op(op.opdef, op.type, name, inputs, dict(op.attrs), [t.dtype for t in op.outputs],
                        [t._shape for t in op.outputs], control_inputs)
    for key, value in (op.annotations or {}).items():
        made._set_attr(key, value)
    return made


def graph_replace(target_ts: Any, replacement_ts: dict, dst_scope: str = "", src_scope: str = "",
                  reuse_dst_scope: bool = False) -> Any:
    """`target_ts`, a tensor or a structure of them, computed with `replacement_ts` {tensor: what takes its place}.

    What lies between is copied into the name scope `dst_scope`, made unique unless `reuse_dst_scope`; names lose `src_scope`.
    Raises ValueError if a target depends on none of them.
    """
    targets = nest.flatten(target_ts)
    graph = targets[0].graph
    ops = get_walks_intersection_ops(list(replacement_ts), targets, control_ios=ControlOutputs(graph))
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    source, scope = scope_of(src_scope), scope_of(dst_scope)
    if scope and not reuse_dst_scope:
        scope = scope_of(graph.unique_name(scope[:-1]))
    known: dict = dict(replacement_ts)
    copies: dict[Operation, Operation] = {}
    for op in sorted(ops, key=lambda one: one._id):
        if not op.name.startswith(source):
            raise ValueError(f"{op.name} does not belong to source scope: {source}.")
        name = graph.unique_name(scope + op.name[len(source):])
        copies[op] = copied(op, graph, name, [known.get(t, t) for t in op.inputs],
                            [copies.get(one, one) for one in op.control_inputs])
        for mine, theirs in zip(copies[op].outputs, op.outputs):
            known.setdefault(theirs, mine)
    return nest.map_structure(lambda t: known.get(t, t), target_ts)
