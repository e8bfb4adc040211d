"""``tf.contrib.session_bundle.session_bundle``: reads what an Exporter wrote."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.contrib.session_bundle import constants
from jitgraph.contrib.session_bundle.manifest import AssetFile
from jitgraph.facade.names import resolve
from jitgraph.filesystem import gfile
from jitgraph.graph.default_graph import get_default_graph, reset_default_graph
from jitgraph.protobuf.messages import GraphDef, MetaGraphDef
from jitgraph.train.saver import import_meta_graph


def maybe_session_bundle_dir(export_dir: Any) -> bool:
    """Whether a folder looks like an export: whether it has the file ``export.meta``."""
    return gfile.Exists(os.path.join(os.fsdecode(export_dir), constants.META_GRAPH_DEF_FILENAME))


def load_session_bundle_from_path(export_dir: Any, target: str = "", config: Any = None,
                                  meta_graph_def: Any = None) -> tuple[Any, Any]:
    """Loads an export into a new default graph: the graph, its variables, its first operation.

    Args:
      export_dir: the folder.
      target, config: of the session.
      meta_graph_def: the MetaGraphDef, read from the folder if None.
    Returns (session, MetaGraphDef); the collection ``serving_signatures`` of the latter names inputs and outputs.
    Raises RuntimeError if files are missing or the collections say too little or too much.
    """
    folder = os.fsdecode(export_dir)
    meta = meta_graph_def or _meta_graph(folder)
    collections = meta.collection_def
    if constants.GRAPH_KEY in collections:
        meta = MetaGraphDef.FromString(meta.SerializeToString())
        meta.graph_def.CopyFrom(_serving_graph(meta))
    reset_default_graph()
    session = resolve("Session")(target, config=config)
    saver = import_meta_graph(meta)
    variables = _variables(folder)
    if variables and saver is not None:
        saver.restore(session, variables)
    if constants.INIT_OP_KEY in collections:
        names = collections[constants.INIT_OP_KEY].node_list.value
        if len(names) != 1:
            raise RuntimeError(f"Expected exactly one serving init op in the collection {constants.INIT_OP_KEY}, "
                               f"found {len(names)}: {list(names)}")
        session.run(get_default_graph().as_graph_element(names[0]), feed_dict=_asset_paths(meta, folder))
    return session, meta


def _meta_graph(folder: str) -> Any:
    path = os.path.join(folder, constants.META_GRAPH_DEF_FILENAME)
    if not gfile.Exists(path):
        raise RuntimeError(f"Expected meta graph file missing {path}")
    with gfile.GFile(path, "rb") as file:
        return MetaGraphDef.FromString(file.read())


def _serving_graph(meta: Any) -> Any:
    graphs = meta.collection_def[constants.GRAPH_KEY].any_list.value
    if len(graphs) != 1:
        raise RuntimeError(f"Expected exactly one serving GraphDef in the collection {constants.GRAPH_KEY}, found {len(graphs)}")
    return GraphDef.FromString(graphs[0].value)


def _variables(folder: str) -> str:
    """What a Saver restores of the folder, empty if the graph has no variables.  Raises RuntimeError for files of two kinds."""
    new = gfile.Exists(os.path.join(folder, constants.VARIABLES_INDEX_FILENAME_V2))
    whole = gfile.Exists(os.path.join(folder, constants.VARIABLES_FILENAME))
    parts = gfile.Glob(os.path.join(folder, constants.VARIABLES_FILENAME_PATTERN))
    if new + whole + bool(parts) > 1:
        raise RuntimeError(f"{folder} holds variables in more than one format: remove the files that are out of date.")
    if parts:
        return os.path.join(folder, constants.VARIABLES_FILENAME_PATTERN)
    return os.path.join(folder, constants.VARIABLES_FILENAME) if new or whole else ""


def _asset_paths(meta: Any, folder: str) -> dict[str, str]:
    """{name of an asset tensor: path of the file here}"""
    if constants.ASSETS_KEY not in meta.collection_def:
        return {}
    assets = [AssetFile.FromString(value.value) for value in meta.collection_def[constants.ASSETS_KEY].any_list.value]
    return {asset.tensor_binding.tensor_name: os.path.join(folder, constants.ASSETS_DIRECTORY, asset.filename)
            for asset in assets}
