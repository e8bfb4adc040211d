"""Loading SavedModels into a session."""
from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from jitgraph.app import logs
from jitgraph.formats.checkpoint import path_string
from jitgraph.formats.files import local_path
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scope_names import prepend_name_scope
from jitgraph.graph.scopes import get_collection
from jitgraph.protobuf import messages
from jitgraph.saved_model import constants
from jitgraph.train.saver import import_meta_graph_with_return_elements


def parse_saved_model(export_dir: Any) -> Any:
    """The SavedModel message of a folder.  Raises OSError if there is none, or it cannot be read."""
    folder = local_path(path_string(export_dir))
    binary = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB)
    text = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PBTXT)
    path = binary if os.path.exists(binary) else text
    if not os.path.exists(path):
        raise OSError(f"SavedModel file does not exist at: {folder}/{{{constants.SAVED_MODEL_FILENAME_PBTXT}|"
                      f"{constants.SAVED_MODEL_FILENAME_PB}}}")
    with open(path, "rb") as file:
        data = file.read()
    try:
        if path == binary:
            return messages.SavedModel.FromString(data)
        return text_format.Parse(data.decode(), messages.SavedModel(), descriptor_pool=messages.POOL)
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether a folder looks like a SavedModel: whether it has the main file of one."""
    folder = local_path(path_string(export_dir))
    return any(os.path.exists(os.path.join(folder, name))
               for name in (constants.SAVED_MODEL_FILENAME_PBTXT, constants.SAVED_MODEL_FILENAME_PB))


def load(sess: Any, tags: Any, export_dir: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
    """Loads the MetaGraph with exactly these tags into a session: graph, variables, and its initial operation.

    Args:
      sess: the session, whose graph the nodes join.
      tags: the tags of the MetaGraph.
      export_dir: the folder.
      import_scope: a name scope for the nodes.
      saver_kwargs: further arguments of ``tf.train.import_meta_graph``.
    Returns the MetaGraphDef, whose ``signature_def`` names the inputs and outputs.
    Raises OSError if there is no SavedModel, RuntimeError if none of its MetaGraphs has these tags.
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """The steps of ``load`` by themselves.  Raises OSError if `export_dir` holds no SavedModel."""

    def __init__(self, export_dir: Any):
        self._folder = path_string(export_dir)
        self._saved_model = parse_saved_model(self._folder)

    @property
    def export_dir(self) -> str:
        """The folder."""
        return self._folder

    @property
    def saved_model(self) -> Any:
        """The SavedModel message."""
        return self._saved_model

    @property
    def variables_path(self) -> str:
        """The prefix of the checkpoint."""
        return os.path.join(self._folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)

    def get_meta_graph_def_from_tags(self, tags: Any) -> Any:
        """The MetaGraphDef with exactly these tags.  Raises RuntimeError if there is none."""
        return meta_graph_with_tags(self._saved_model, tags)

    def load_graph(self, graph: Any, tags: Any, import_scope: str | None = None, **saver_kwargs: Any) -> tuple[Any, Any]:
        """(saver, the tensors of the argument ``return_elements``) after adding the nodes of a MetaGraph to `graph`."""
        meta = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return import_meta_graph_with_return_elements(meta, import_scope=import_scope, **saver_kwargs)

    def restore_variables(self, sess: Any, saver: Any, import_scope: str | None = None) -> None:
        """Restores the variables by `saver`, if there are any.  Raises ValueError for variables without a saver."""
        with sess.graph.as_default():
            if saver is not None and os.path.isdir(local_path(os.path.dirname(self.variables_path))):
                saver.restore(sess, self.variables_path)
                return
            saveable = get_collection(GraphKeys.GLOBAL_VARIABLES, import_scope)
            if saver is None and saveable:
                raise ValueError(f"There are variables, such as {saveable[0].name}, but the SavedModel has no saver for them.")
            logs.info("The specified SavedModel has no variables; no checkpoints were restored.")

    def run_init_ops(self, sess: Any, tags: Any, import_scope: str | None = None) -> None:
        """Runs what a MetaGraph asks to be run once."""
        meta = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            main = main_op_of(sess.graph, meta, import_scope)
            if main is not None:
                sess.run(main, _asset_feeds(sess.graph, meta, self._folder, import_scope))

    def load(self, sess: Any, tags: Any, import_scope: str | None = None, **saver_kwargs: Any) -> Any:
        """All of it; gives the MetaGraphDef."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            if saver is None:
                logs.info("The specified SavedModel has no variables; no checkpoints were restored.")
            else:
                self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def meta_graph_with_tags(saved_model: Any, tags: Any) -> Any:
    """The MetaGraphDef whose tags are `tags`.  Raises RuntimeError if there is none."""
    wanted = set(tags)
    for meta in saved_model.meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    available = [set(meta.meta_info_def.tags) for meta in saved_model.meta_graphs]
    listed = ",".join(tag if isinstance(tag, str) else tag.decode() for tag in tags)
    raise RuntimeError(f"MetaGraphDef associated with tags '{listed}' could not be found in SavedModel. "
                       f"available_tags: {available}")


def main_op_of(graph: Any, meta: Any, import_scope: str | None) -> Any:
    """What is to be run once after loading, None if nothing.  Raises RuntimeError if there are several."""
    signature = meta.signature_def.get(constants.INIT_OP_SIGNATURE_KEY) \
        if constants.INIT_OP_SIGNATURE_KEY in meta.signature_def else None
    if signature is not None:
        info = signature.outputs[constants.INIT_OP_SIGNATURE_KEY]
        return graph.as_graph_element(prepend_name_scope(info.name, import_scope))
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if key in meta.collection_def:
            names = meta.collection_def[key].node_list.value
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one op in the collection {key}, found {len(names)}: {list(names)}")
            return graph.as_graph_element(prepend_name_scope(names[0], import_scope))
    return None


def assets_of(meta: Any, folder: str) -> dict[str, str]:
    """{name of an asset tensor: path of the file here}; the graph itself has the path on the machine that wrote it."""
    assets = list(meta.asset_file_def)
    if not assets and constants.ASSETS_KEY in meta.collection_def:
        for value in meta.collection_def[constants.ASSETS_KEY].any_list.value:
            assets.append(messages.AssetFileDef.FromString(value.value))
    return {asset.tensor_info.name: os.path.join(folder, constants.ASSETS_DIRECTORY, asset.filename) for asset in assets}


def _asset_feeds(graph: Any, meta: Any, folder: str, import_scope: str | None) -> dict[Any, str]:
    """{asset tensor: path of the file here}"""
    return {graph.get_tensor_by_name(prepend_name_scope(name, import_scope)): path
            for name, path in assets_of(meta, folder).items()}
