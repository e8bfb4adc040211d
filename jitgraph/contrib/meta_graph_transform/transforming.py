"""``meta_graph_transform``: TransformGraph for a whole MetaGraphDef, with freezing, collections and signatures."""
from __future__ import annotations

import re
from typing import Any

from jitgraph.facade.names import resolve
from jitgraph.formats.graph_parts import node_name
from jitgraph.formats.import_graph import import_graph_def
from jitgraph.graph import errors
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.protobuf import messages
from jitgraph.tools.freeze import convert_variables_to_constants
from jitgraph.tools.graph_transforms import TransformGraph
from jitgraph.train.saver import Saver

_FREEZE = "freeze_graph"
_LEGACY_INIT, _MAIN = "legacy_init_op", "saved_model_main_op"
_TABLES = GraphKeys.TABLE_INITIALIZERS
_VARIABLES = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES,
              GraphKeys.LOCAL_VARIABLES, GraphKeys.MODEL_VARIABLES)
_SINGLE = (_LEGACY_INIT, _MAIN, GraphKeys.INIT_OP, GraphKeys.LOCAL_INIT_OP, GraphKeys.READY_OP, GraphKeys.READY_FOR_LOCAL_INIT_OP)


def meta_graph_transform(base_meta_graph_def: Any, input_names: list[str], output_names: list[str], transforms: list[str],
                         tags: list[str], checkpoint_path: str | None = None) -> Any:
    """The MetaGraphDef after all `transforms`, which are those of ``TransformGraph`` and ``freeze_graph``.

    What initializes, saves and restores stays beside what `output_names` need; collections and signatures lose what was removed.
    `tags` take the place of those it has; `checkpoint_path` is what ``freeze_graph`` restores variables from.  Raises ValueError
    for collections of an unexpected kind and if what saves was removed, UnimplementedError for ``sparsify_gather``.
    """
    result = type(base_meta_graph_def)()
    kept = _infrastructure(base_meta_graph_def)
    saver_def = base_meta_graph_def.saver_def
    result.graph_def.CopyFrom(_transformed(base_meta_graph_def.graph_def, input_names, output_names, kept, transforms, saver_def,
                                           checkpoint_path))
    result.meta_info_def.CopyFrom(base_meta_graph_def.meta_info_def)
    result.meta_info_def.ClearField("tags")
    result.meta_info_def.tags.extend(tags)
    removed = {node.name for node in base_meta_graph_def.graph_def.node} - {node.name for node in result.graph_def.node}
    if _FREEZE not in transforms and base_meta_graph_def.HasField("saver_def"):
        for name in (saver_def.filename_tensor_name, saver_def.save_tensor_name, saver_def.restore_op_name):
            _check_kept(name, removed)
        result.saver_def.CopyFrom(saver_def)
    for name in base_meta_graph_def.collection_def:
        _add_collection(base_meta_graph_def.collection_def[name], result.collection_def[name], removed)
    for name, signature in base_meta_graph_def.signature_def.items():
        tensors = [info.name for part in (signature.inputs, signature.outputs) for info in part.values()]
        if not any(_is_removed(tensor, removed) for tensor in tensors) and all(tensors):
            result.signature_def[name].CopyFrom(signature)
    return result


def _infrastructure(meta_graph_def: Any) -> dict[str, list[str]]:
    """{collection: the nodes that initialize, save and restore}"""
    found: dict[str, list[str]] = {}
    collections = meta_graph_def.collection_def
    savers = [meta_graph_def.saver_def] if meta_graph_def.HasField("saver_def") else []
    savers += _messages(meta_graph_def, GraphKeys.SAVERS, messages.SaverDef)
    if savers:
        found[GraphKeys.SAVERS] = [name for one in savers
                                   for name in (one.filename_tensor_name, one.save_tensor_name, one.restore_op_name)]
    for key in _VARIABLES:
        variables = _messages(meta_graph_def, key, messages.VariableDef)
        if variables:
            found[key] = [one.initializer_name for one in variables]
    for key in (_TABLES, *_SINGLE):
        if key not in collections:
            continue
        names = list(collections[key].node_list.value)
        if not names:
            raise ValueError(f"Collection {key} is present but type is not node_list.")
        if key != _TABLES and len(names) != 1:
            raise ValueError(f"Collection {key} is has {len(names)} elements; expected exactly one.")
        found[key] = names
    return found


def _messages(meta_graph_def: Any, key: str, kind: Any) -> list[Any]:
    if key not in meta_graph_def.collection_def:
        return []
    texts = meta_graph_def.collection_def[key].bytes_list.value
    if not texts:
        raise ValueError(f"Collection {key} is present but type is not bytes_list.")
    return [kind.FromString(text) for text in texts]


def _transformed(graph_def: Any, inputs: list[str], outputs: list[str], kept: dict[str, list[str]], transforms: list[str],
                 saver_def: Any, checkpoint: str | None) -> Any:
    waiting: list[str] = []

    def catch_up(graph_def: Any) -> Any:
        names = sorted(name for names in kept.values() for name in names)
        made = TransformGraph(graph_def, inputs, [*outputs, *names], waiting) if waiting else graph_def
        waiting.clear()
        return made

    for transform in transforms:
        if transform == "sparsify_gather":
            raise errors.UnimplementedError(None, None, "Transform 'sparsify_gather' is not part of jitgraph: leave it out, or "
                                                        "transform the graph with TensorFlow")
        if transform != _FREEZE:
            waiting.append(transform)
            continue
        graph_def = _frozen(catch_up(graph_def), [node_name(name) for name in outputs], kept, saver_def, checkpoint)
        tables = kept.get(_TABLES)
        kept = {key: kept[key] for key in (_TABLES, _LEGACY_INIT, _MAIN) if tables and key in kept}
    return catch_up(graph_def)


def _frozen(graph_def: Any, outputs: list[str], kept: dict[str, list[str]], saver_def: Any, checkpoint: str | None) -> Any:
    """The graph with constants for variables, and tables that are initialized together as before."""
    tables = kept.get(_TABLES, [])
    with Graph().as_default():
        import_graph_def(graph_def, name="")
        with resolve("Session")() as session:
            Saver(saver_def=saver_def).restore(session, checkpoint)
            frozen = convert_variables_to_constants(session, graph_def, [*outputs, *tables])
    if tables:
        shared = kept.get(_MAIN) or kept.get(_LEGACY_INIT)
        frozen.node.add(name=str(shared[0]) if shared else "None", op="NoOp", input=[f"^{name}" for name in tables])
    return frozen


def _add_collection(base: Any, made: Any, removed: set[str]) -> None:
    if base.HasField("any_list"):
        made.any_list.value.extend(one for one in base.any_list.value if not _mentions(one.value, removed))
    elif base.HasField("bytes_list"):
        made.bytes_list.value[:] = [text for text in base.bytes_list.value if not _mentions(text, removed)]
    elif base.HasField("node_list"):
        made.node_list.value[:] = [name for name in base.node_list.value if not _is_removed(name, removed)]
    else:
        made.CopyFrom(base)


def _is_removed(tensor: str, removed: set[str]) -> bool:
    return tensor.partition(":")[0] in removed


def _mentions(text: bytes, removed: set[str]) -> bool:
    """Whether a message speaks of a node that is gone, by the end of a word that looks like a name."""
    words = set(re.findall(r"[/a-zA-Z0-9_]+", text.decode("utf-8", "replace")))
    return any(word.endswith(name) for word in words for name in removed)


def _check_kept(tensor: str, removed: set[str]) -> None:
    if not tensor:
        raise ValueError("Tensor name should not be empty")
    if _is_removed(tensor, removed):
        raise ValueError(f"Expected Tensor, but it was removed: {tensor}")
