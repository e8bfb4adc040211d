"""Copies of views, in the same or another graph: ``Transformer``, whose handlers say what becomes of each part."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.graph_editor.lists import ControlOutputs, make_placeholder_from_tensor, scope_of
from jitgraph.contrib.graph_editor.replacing import copied
from jitgraph.contrib.graph_editor.rerouting import add_control_inputs
from jitgraph.contrib.graph_editor.views import SubGraphView, make_view
from jitgraph.graph import structures as nest
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor


class _Run:
    """What the handlers of one transformation are told; names that end in an underscore are of the copy."""

    def __init__(self, sgv: SubGraphView, graph_: Graph, scope_: str, scope: str):
        self.sgv, self.sgv_inputs_set, self.ops = sgv, frozenset(sgv.inputs), frozenset(sgv.ops)
        self.control_outputs = ControlOutputs(sgv.graph)
        self.graph, self.scope, self.graph_, self.scope_ = sgv.graph, scope, graph_, scope_
        self.transformed_ops: dict[Operation, Any] = {}
        self.transformed_ts: dict[Tensor, Any] = {}
        self.collections = {key: self.graph.get_collection(key) for key in self.graph.get_all_collection_keys()}
        self.later: list[tuple] = []

    def new_name(self, name: str) -> str:
        """The name of a copy.  Raises ValueError for what is not in the scope of the source."""
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope):]


def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Any:
    """A placeholder in the place of a tensor."""
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


def keep_t_if_possible_handler(info: Any, t: Tensor) -> Any:
    """The tensor itself, in another graph a placeholder."""
    return t if info.graph is info.graph_ else replace_t_with_placeholder_handler(info, t)


def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Puts a copy into the collections of what it is a copy of; those that are not TensorFlow's own are named anew."""
    known = {getattr(GraphKeys, key) for key in dir(GraphKeys) if not key.startswith("_")}
    for name, members in info.collections.items():
        if any(one is elem for one in members):
            info.graph_.add_to_collection(name if name in known else info.new_name(name), elem_)


def transform_op_if_inside_handler(info: Any, op: Operation, keep_if_possible: bool = True) -> Any:
    """The copy of an operation of the view; one outside stays as it is, in another graph it is left out."""
    if op in info.ops:
        return info.transformed_ops[op]
    return op if keep_if_possible and info.graph is info.graph_ else None


def copy_op_handler(info: Any, op: Operation, new_inputs: Any, copy_shape: bool = False, nodedef_fn: Any = None) -> tuple:
    """(a copy of an operation with other inputs, the copy's outputs).  Raises TypeError for a bool as the inputs.

    `nodedef_fn`: changes the NodeDef whose attributes the copy gets.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    made = copied(op, info.graph_, info.graph_.unique_name(info.new_name(op.name)), list(new_inputs), [])
    if nodedef_fn is not None:
        attributes = nodedef_fn(op.node_def).attr
        made.annotations = {key: value for key, value in (made.annotations or {}).items() if key in attributes}
        for key in attributes:
            made._set_attr(key, attributes[key])
    return made, made.outputs


class TransformerInfo:
    """What has become of which operation and tensor."""

    def __init__(self, info: Any):
        self._graph, self._scope, self._graph_, self._scope_ = info.graph, info.scope, info.graph_, info.scope_
        self._transformed_ops, self._transformed_ts = info.transformed_ops, info.transformed_ts

    def _map(self, top: Any) -> dict:
        if isinstance(top, Operation):
            return self._transformed_ops
        if isinstance(top, Tensor):
            return self._transformed_ts
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(top)}")

    def transformed(self, original: Any, missing_fn: Callable | None = None) -> Any:
        """The copy of an operation or tensor, or of a structure of them; ``missing_fn(it)``, or None, where there is none."""
        def one(top: Any) -> Any:
            known = self._map(top)
            return known[top] if top in known else None if missing_fn is None else missing_fn(top)

        return nest.map_structure(one, original)

    def original(self, transformed: Any, missing_fn: Callable | None = None) -> Any:
        """What an operation or tensor, or a structure of them, is a copy of."""
        def one(top: Any) -> Any:
            for source, copy in self._map(top).items():
                if copy is top:
                    return source
            return None if missing_fn is None else missing_fn(top)

        return nest.map_structure(one, transformed)

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            lines.append(f"  Within graph[{id(self._graph)}]{'' if self._scope_ else ' IN-PLACE'}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        mapped = [f"  {op.name} => {op_.name}" for op, op_ in self._transformed_ops.items()]
        return "\n".join([*lines, "Operations mapping:", *mapped, ""])


class Transformer:
    """Copies views; each attribute is a function that says what becomes of a part, and may be replaced."""

    def __init__(self) -> None:
        self.transform_op_handler: Callable = copy_op_handler
        self.transform_control_input_handler: Callable = transform_op_if_inside_handler
        self.assign_collections_handler: Callable = assign_renamed_collections_handler
        self.transform_external_input_handler: Callable = replace_t_with_placeholder_handler
        self.transform_external_hidden_input_handler: Callable = keep_t_if_possible_handler
        self.transform_original_op_handler: Callable = transform_op_if_inside_handler

    def __call__(self, sgv: Any, dst_graph: Any, dst_scope: str, src_scope: str = "", reuse_dst_scope: bool = False) -> tuple:
        """(a view of the copy, its TransformerInfo), made in `dst_graph` in the name scope `dst_scope`.

        Names lose `src_scope`; `dst_scope` is made unique unless `reuse_dst_scope`.  Raises TypeError for what is no graph,
        ValueError for operations outside of `src_scope`, and if a handler gives an operation of the view itself.
        """
        view = make_view(sgv)
        if not isinstance(dst_graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(dst_graph)}")
        scope_ = scope_of(dst_scope)
        if scope_ and not reuse_dst_scope:
            scope_ = scope_of(dst_graph.unique_name(scope_[:-1]))
        info = _Run(view, dst_graph, scope_, scope_of(src_scope))
        self._copy(info)
        for t, stand_in, user in info.later:
            user_ = info.transformed_ops[user]
            user_._update_input(list(user_.inputs).index(stand_in), info.transformed_ts[t])
        for op in view.ops:
            waits = [self.transform_control_input_handler(info, one) for one in op.control_inputs]
            add_control_inputs(info.transformed_ops[op], [one for one in waits if one is not None])
        return self._view(info, view), TransformerInfo(info)

    def _copy(self, info: _Run) -> None:
        for op in sorted(info.sgv.ops, key=lambda one: one._id):
            op_, outputs_ = self.transform_op_handler(info, op, [self._input(info, t, op) for t in op.inputs])
            if op is op_:
                raise ValueError("In-place transformation not allowed.")
            info.transformed_ops[op] = op_
            self.assign_collections_handler(info, op, op_)
            for t, t_ in zip(op.outputs, outputs_):
                info.transformed_ts[t] = t_
                self.assign_collections_handler(info, t, t_)

    def _input(self, info: _Run, t: Tensor, user: Operation) -> Any:
        if t in info.transformed_ts:
            return info.transformed_ts[t]
        if t in info.sgv_inputs_set:
            return self.transform_external_input_handler(info, t)
        if t.op not in info.ops:
            return self.transform_external_hidden_input_handler(info, t)
        # what an operation made later gives: something stands in for it until it is copied
        with info.graph_.as_default():
            stand_in = make_placeholder_from_tensor(t, scope=info.scope_, prefix="geph_tmp")
        info.later.append((t, stand_in, user))
        return stand_in

    def _view(self, info: _Run, view: SubGraphView) -> SubGraphView:
        made = SubGraphView(list(info.transformed_ops.values()))
        inputs, outputs = ([info.transformed_ts[t] for t in tensors if t in info.transformed_ts]
                           for tensors in (view.inputs, view.outputs))
        return made.remap([t for t in inputs if t in made.inputs], [t for t in outputs if t in made.outputs])


def copy(sgv: Any, dst_graph: Any = None, dst_scope: str = "", src_scope: str = "", reuse_dst_scope: bool = False) -> tuple:
    """(a view of a copy, its TransformerInfo): inputs become placeholders.  See ``Transformer``."""
    view = make_view(sgv)
    return Transformer()(view, view.graph if dst_graph is None else dst_graph, dst_scope, src_scope, reuse_dst_scope)


def copy_with_input_replacements(sgv: Any, replacement_ts: dict, dst_graph: Any = None, dst_scope: str = "",
                                 src_scope: str = "", reuse_dst_scope: bool = False) -> tuple:
    """``copy`` with `replacement_ts` {input: what takes its place}; other inputs stay as they are."""
    view = make_view(sgv)
    copier = Transformer()

    def replaced(info: Any, t: Tensor) -> Any:
        return replacement_ts[t] if t in replacement_ts else keep_t_if_possible_handler(info, t)

    copier.transform_external_input_handler = replaced
    return copier(view, view.graph if dst_graph is None else dst_graph, dst_scope, src_scope, reuse_dst_scope)
