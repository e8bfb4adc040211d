"""MetaGraphs: a graph together with its collections and its saver, as ``.meta`` files hold them."""
from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from jitgraph.facade import version
from jitgraph.formats.checkpoint import path_string
from jitgraph.formats.collection_protos import restore_collection, to_collection_def
from jitgraph.formats.files import local_path
from jitgraph.formats.import_graph import import_graph_def
from jitgraph.formats.message_files import write_message
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.errors import NotFoundError
from jitgraph.graph.graph import Graph
from jitgraph.graph.protos import attr_value
from jitgraph.graph.protos.op_def import op_def_proto
from jitgraph.graph.registry import lookup
from jitgraph.graph.scope_names import is_within, strip_name_scope
from jitgraph.graph.signature import REQUIRED
from jitgraph.protobuf import messages

UNBOUND = "$unbound_inputs_"        # stands before inputs that an exported part takes from outside of it
UNBOUND_INPUTS = "unbound_inputs"   # and the collection that lists them

_TEXT = re.compile(rb"\s*(#|(meta_info_def|graph_def|saver_def|collection_def|signature_def|asset_file_def)\s*[:{])")


# -- files ---------------------------------------------------------------------------------------------------------

def read_meta_graph_file(filename: Any) -> Any:
    """The MetaGraphDef in a file, binary or text.  Raises OSError if it cannot be read or is no MetaGraphDef."""
    path = local_path(path_string(filename))
    if not os.path.exists(path):
        raise OSError(f"File {filename} does not exist.")
    with open(path, "rb") as file:
        data = file.read()
    try:
        if _TEXT.match(data):
            return text_format.Parse(data.decode(), messages.MetaGraphDef(), descriptor_pool=messages.POOL)
        return messages.MetaGraphDef.FromString(data)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None


# -- export --------------------------------------------------------------------------------------------------------

def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The op types that a GraphDef and the functions it calls use, without the functions."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    found: set[str] = set()
    left = [node.op for node in graph_def.node]
    while left:
        op_type = left.pop()
        if op_type not in found:
            found.add(op_type)
            if op_type in functions:
                left += [node.op for node in functions[op_type].node_def]
    return sorted(found - set(functions))


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The OpList of the op types that a GraphDef and its functions use, sorted by name."""
    ops = messages.OpList()
    for op_type in sorted(ops_used_by_graph_def(graph_def)):
        try:
            ops.op.append(op_def_proto(lookup(op_type)))
        except NotFoundError:
            continue            # a reader with that op knows it; one without cannot use the graph anyway
    return ops


def strip_default_attributes(graph_def: Any) -> None:
    """Takes away the attributes that say what readers assume without them."""
    nodes = [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]
    for node in nodes:
        try:
            opdef = lookup(node.op)
        except NotFoundError:
            continue
        for attr in opdef.attrs.values():
            if attr.default is not REQUIRED and attr.name in node.attr and \
                    node.attr[attr.name] == attr_value.to_proto(attr.default, attr.kind):
                del node.attr[attr.name]


def _node_within(node: Any, scope: str, unbound: list[str]) -> Any:
    """A NodeDef as it stands in the part of a graph that is `scope`."""
    part = messages.NodeDef()
    part.CopyFrom(node)
    part.name = strip_name_scope(node.name, scope)
    for i, text in enumerate(node.input):
        if is_within(text, scope):
            part.input[i] = strip_name_scope(text, scope)
        else:
            part.input[i] = "^" + UNBOUND + text[1:] if text.startswith("^") else UNBOUND + text
            unbound.append(part.input[i])
    if "_class" in part.attr:
        groups = [strip_name_scope(s, scope).encode() for s in part.attr["_class"].list.s
                  if is_within(s.decode(), scope)]
        part.attr["_class"].list.s[:] = groups
        if not groups:
            del part.attr["_class"]
    return part


def _part_of(graph_def: Any, scope: str) -> tuple[Any, list[str]]:
    """The GraphDef of what lies in `scope`, and the inputs that it takes from outside."""
    part = messages.GraphDef(versions=graph_def.versions, library=graph_def.library)
    unbound: list[str] = []
    part.node.extend(_node_within(node, scope, unbound) for node in graph_def.node if is_within(node.name, scope))
    return part, list(dict.fromkeys(unbound))


def _require(value: Any, cls: Any, name: str, cls_name: str) -> None:
    if value is not None and not isinstance(value, cls):
        raise TypeError(f"{name} must be of type {cls_name}, not {type(value)}")


def create_meta_graph_def(meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
                          collection_list: Any = None, graph: Any = None, export_scope: str | None = None,
                          clear_extraneous_savers: bool = False, strip_default_attrs: bool = False) -> Any:
    """The MetaGraphDef of a graph, or of its part `export_scope`; see ``export_scoped_meta_graph``."""
    _require(graph, Graph, "graph", "Graph")
    _require(meta_info_def, messages.MetaGraphDef.MetaInfoDef, "meta_info_def", "MetaInfoDef")
    _require(graph_def, messages.GraphDef, "graph_def", "GraphDef")
    _require(saver_def, messages.SaverDef, "saver_def", "SaverDef")
    graph = graph or get_default_graph()
    meta = messages.MetaGraphDef()
    unbound: list[str] = []
    if graph_def is None:
        graph_def = graph.as_graph_def(add_shapes=True)
    if export_scope:
        graph_def, unbound = _part_of(graph_def, export_scope)
    meta.graph_def.CopyFrom(graph_def)
    if clear_extraneous_savers:
        _drop_other_savers(meta.graph_def, saver_def)
    if strip_default_attrs:
        strip_default_attributes(meta.graph_def)
    _describe(meta, meta_info_def, strip_default_attrs)
    if saver_def is not None:
        meta.saver_def.CopyFrom(saver_def)
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        members = graph.get_collection(key)
        if not members or clear_extraneous_savers and key == GraphKeys.SAVERS:
            continue
        collection = to_collection_def(key, members, export_scope)
        if collection is not None:
            meta.collection_def[key].CopyFrom(collection)
    if unbound:
        meta.collection_def[UNBOUND_INPUTS].bytes_list.value.extend(text.encode() for text in unbound)
    return meta


def _describe(meta: Any, meta_info_def: Any, strip_default_attrs: bool) -> None:
    """Fills in who wrote the MetaGraph, and the ops it uses."""
    info = meta.meta_info_def
    if meta_info_def is not None:
        info.CopyFrom(meta_info_def)
    info.tensorflow_version = version.VERSION
    info.tensorflow_git_version = version.GIT_VERSION
    if not info.HasField("stripped_op_list"):
        info.stripped_op_list.CopyFrom(stripped_op_list_for_graph(meta.graph_def))
    info.stripped_default_attrs = strip_default_attrs


def _drop_other_savers(graph_def: Any, saver_def: Any) -> None:
    """Removes the nodes of all savers except that of `saver_def`."""
    keep = saver_def.filename_tensor_name.partition(":")[0].rpartition("/")[0] if saver_def is not None else None
    scopes = {node.name.rpartition("/")[0] for node in graph_def.node if node.op == "RestoreV2"}
    scopes &= {node.name.removesuffix("/restore_all") for node in graph_def.node if node.op == "NoOp"}
    others = tuple(scope + "/" for scope in scopes if scope and scope != keep)
    kept = [node for node in graph_def.node if not node.name.startswith(others)]
    del graph_def.node[:]
    graph_def.node.extend(kept)


def export_scoped_meta_graph(filename: Any = None, graph_def: Any = None, graph: Any = None,
                             export_scope: str | None = None, as_text: bool = False,
                             unbound_inputs_col_name: str = UNBOUND_INPUTS, clear_devices: bool = False,
                             saver_def: Any = None, clear_extraneous_savers: bool = False,
                             strip_default_attrs: bool = False, save_debug_info: bool = False,
                             meta_info_def: Any = None, collection_list: Any = None) -> tuple[Any, dict[str, Any]]:
    """The MetaGraphDef of a graph (the default graph if None) and its variables by name, both as seen in the scope.

    Args:
      filename: where to write it; nothing is written if None.
      export_scope: the name scope to export; what it takes from outside is listed in the collection
        "unbound_inputs", and must be given to ``import_scoped_meta_graph`` in its `input_map`.
      as_text: whether the file is text.
      clear_devices: leave out the devices of nodes.
      saver_def: the SaverDef to include.
      clear_extraneous_savers: leave out the nodes of all other savers.
      strip_default_attrs: leave out attributes with default values, for readers that do not know them.
      collection_list: the names of the collections to include, all if None.
    Raises TypeError for arguments of other kinds, ValueError if `export_scope` is used with a graph of functions.
    """
    graph = graph or get_default_graph()
    meta = create_meta_graph_def(meta_info_def, graph_def, saver_def, collection_list, graph, export_scope,
                                 clear_extraneous_savers, strip_default_attrs)
    if unbound_inputs_col_name != UNBOUND_INPUTS and UNBOUND_INPUTS in meta.collection_def:
        if unbound_inputs_col_name:
            meta.collection_def[unbound_inputs_col_name].CopyFrom(meta.collection_def[UNBOUND_INPUTS])
        del meta.collection_def[UNBOUND_INPUTS]
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    if filename is not None:
        write_message(meta, path_string(filename), as_text)
    variables = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if is_within(v.name, export_scope)]
    return meta, {strip_name_scope(v.name, export_scope): v for v in variables}


# -- import --------------------------------------------------------------------------------------------------------

def as_meta_graph_def(meta_graph_or_file: Any) -> Any:
    """A MetaGraphDef as it is, another runtime's as a copy, the content of a file by its name."""
    if isinstance(meta_graph_or_file, messages.MetaGraphDef):
        return meta_graph_or_file
    if type(meta_graph_or_file).__name__ == "MetaGraphDef":
        return messages.MetaGraphDef.FromString(meta_graph_or_file.SerializeToString())
    return read_meta_graph_file(meta_graph_or_file)


def import_scoped_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, graph: Any = None,
                             import_scope: str | None = None, input_map: Any = None,
                             unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
                             restore_collections_predicate: Callable[[str], bool] = lambda key: True) -> dict[str, Any]:
    """Adds a MetaGraph to `graph` (the default graph if None); returns its variables by the names they have in it.

    Args:
      meta_graph_or_file: a MetaGraphDef, or the name of a file with one.
      clear_devices: forget the devices of nodes.
      import_scope: a name scope to put everything in.
      input_map: {"node:0": tensor} to connect instead of tensors of the MetaGraph.
      restore_collections_predicate: tells by its name whether a collection is restored.
    Raises OSError for a file that is none, ValueError for a graph that cannot be imported or has unbound inputs.
    """
    return import_with_return_elements(meta_graph_or_file, clear_devices, graph, import_scope, input_map,
                                       unbound_inputs_col_name, restore_collections_predicate)[0]


def import_with_return_elements(meta_graph_or_file: Any, clear_devices: bool = False, graph: Any = None,
                                import_scope: str | None = None, input_map: Any = None,
                                unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
                                restore_collections_predicate: Callable[[str], bool] = lambda key: True,
                                return_elements: Any = None) -> tuple[dict[str, Any], Any]:
    """``import_scoped_meta_graph``, and the `return_elements` of ``import_graph_def``."""
    meta = as_meta_graph_def(meta_graph_or_file)
    _check_bound(meta, unbound_inputs_col_name, input_map)
    graph = graph or get_default_graph()
    graph_def = meta.graph_def
    if clear_devices:
        graph_def = messages.GraphDef.FromString(graph_def.SerializeToString())
        for node in graph_def.node:
            node.device = ""
    with graph.as_default():
        scope = graph.unique_name(import_scope or "", mark_as_used=False)
        producer_ops = meta.meta_info_def.stripped_op_list
        elements = import_graph_def(graph_def, input_map, return_elements, name=import_scope or scope,
                                    producer_op_list=producer_ops)
        made: dict[bytes, Any] = {}
        for key in sorted(meta.collection_def):
            if key != unbound_inputs_col_name and restore_collections_predicate(key):
                restore_collection(graph, key, meta.collection_def[key], scope, made)
        for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
            if hasattr(variable, "_trainable"):     # files of older versions tell it by the collection only
                variable._trainable = True
    variables = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
                 if hasattr(v, "name") and is_within(v.name, scope)]
    return {strip_name_scope(v.name, scope): v for v in variables}, elements


def _check_bound(meta: Any, collection: str | None, input_map: Any) -> None:
    """Raises ValueError if the MetaGraph is a part, and something it takes from outside is not in `input_map`."""
    if not collection or collection not in meta.collection_def:
        return
    names = [value.decode() for value in meta.collection_def[collection].bytes_list.value]
    missing = [name for name in names if name not in (input_map or {})]
    if missing:
        raise ValueError(f"Graph contains unbound inputs: {', '.join(missing)}. Must provide these inputs through "
                         "input_map.")
