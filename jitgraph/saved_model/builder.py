"""Writing SavedModels."""
from __future__ import annotations

import os
import shutil
from typing import Any

from google.protobuf import text_format

from jitgraph.app import logs
from jitgraph.formats.checkpoint import path_string
from jitgraph.formats.collection_protos import any_message
from jitgraph.formats.files import local_path, op_errors, write_bytes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import string
from jitgraph.graph.operation import Operation
from jitgraph.graph.tensor import Tensor
from jitgraph.protobuf import messages
from jitgraph.saved_model import constants, signatures
from jitgraph.train.saver import Saver
from jitgraph.variables.saveables import default_saveables

_ASSET_URL = "type.googleapis.com/tensorflow.AssetFileDef"


class SavedModelBuilder:
    """Writes a model, as one or more MetaGraphs that share variables and assets, into a new folder.

    First ``add_meta_graph_and_variables``, then ``add_meta_graph`` for further ones, then ``save``.  Raises
    AssertionError if the folder is there and not empty.
    """

    def __init__(self, export_dir: Any):
        self._folder = local_path(path_string(export_dir))
        if os.path.isdir(self._folder) and os.listdir(self._folder):
            raise AssertionError("Export directory already exists, and isn't empty. Please choose a different export "
                                 "directory, or delete all the contents of the specified directory: "
                                 f"{self._folder}")
        with op_errors(self._folder):
            os.makedirs(self._folder, exist_ok=True)
        self._saved_model = messages.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._has_saved_variables = False

    def add_meta_graph_and_variables(self, sess: Any, tags: Any, signature_def_map: Any = None,
                                     assets_collection: Any = None, legacy_init_op: Any = None,
                                     clear_devices: bool = False, main_op: Any = None,
                                     strip_default_attrs: bool = False, saver: Any = None) -> None:
        """Adds the graph of a session, and writes its variables and assets.

        Args:
          sess: the session, whose variables are initialized.
          tags: names by which this MetaGraph is chosen at loading, such as "serve".
          signature_def_map: {key: SignatureDef}.
          assets_collection: constants with the paths of files that the model needs; they are copied.
          main_op, legacy_init_op: one of them: an operation to run once after loading.
          clear_devices, strip_default_attrs: see ``tf.train.export_meta_graph``.
          saver: saves the variables; one of all variables if None.
        Raises AssertionError for a second call or invalid signatures, TypeError or ValueError for other arguments that
        do not suit, ``tf.errors`` if something cannot be read or written.
        """
        if self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke "
                                 "`add_meta_graph()` instead.")
        saver = self._prepare(signature_def_map, main_op, legacy_init_op, saver)
        self._copy_assets(assets_collection)
        variables = os.path.join(self._folder, constants.VARIABLES_DIRECTORY)
        with op_errors(variables):
            os.makedirs(variables, exist_ok=True)
        saver.save(sess, os.path.join(variables, constants.VARIABLES_FILENAME), write_meta_graph=False,
                   write_state=False)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_saved_variables = True

    def add_meta_graph(self, tags: Any, signature_def_map: Any = None, assets_collection: Any = None,
                       legacy_init_op: Any = None, clear_devices: bool = False, main_op: Any = None,
                       strip_default_attrs: bool = False, saver: Any = None) -> None:
        """Adds the default graph, which uses the variables and assets that are written already."""
        if not self._has_saved_variables:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke "
                                 "`add_meta_graph_and_variables()` first.")
        saver = self._prepare(signature_def_map, main_op, legacy_init_op, saver)
        self._copy_assets(assets_collection)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)

    def _prepare(self, signature_def_map: Any, main_op: Any, legacy_init_op: Any, saver: Any) -> Saver:
        for signature in (signature_def_map or {}).values():
            for info in (*signature.inputs.values(), *signature.outputs.values()):
                _check_tensor_info(info)
        _add_init_op(constants.MAIN_OP_KEY, main_op)
        _add_init_op(constants.LEGACY_INIT_OP_KEY, legacy_init_op)
        return saver or Saver(default_saveables(), sharded=True, allow_empty=True)

    def _copy_assets(self, assets_collection: Any) -> None:
        """Copies the files, each under a name of its own, and notes them in the graph."""
        names: dict[str, str] = {}
        if assets_collection is None:
            logs.info("No assets to save.")
        for tensor in assets_collection or ():
            path = _asset_path(tensor)
            if path not in names:
                names[path] = unused_name(os.path.basename(path), set(names.values()))
            info = messages.AssetFileDef(filename=names[path])
            info.tensor_info.name = tensor.name
            get_default_graph().add_to_collection(constants.ASSETS_KEY, any_message()(
                type_url=_ASSET_URL, value=info.SerializeToString(deterministic=True)))
        if assets_collection is not None:
            logs.info("Assets added to graph.")
        if not names:
            logs.info("No assets to write.")
            return
        folder = os.path.join(self._folder, constants.ASSETS_DIRECTORY)
        with op_errors(folder):
            os.makedirs(folder, exist_ok=True)
            for path, name in names.items():
                shutil.copyfile(path, os.path.join(folder, name))
        logs.info("Assets written to: %s", folder)

    def _add_train_op(self, train_op: Any) -> None:
        """Notes the training step of the default graph.  Raises TypeError if it is neither a tensor nor an operation."""
        if train_op is None:
            return
        if not isinstance(train_op, (Tensor, Operation)):
            raise TypeError(f"train_op needs to be a Tensor or Op: {train_op!r}")
        get_default_graph().add_to_collection(constants.TRAIN_OP_KEY, train_op)

    def _add(self, saver: Saver, tags: Any, signature_def_map: Any, clear_devices: bool,
             strip_default_attrs: bool) -> None:
        meta = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        meta.meta_info_def.tags.extend(tags)
        for key, signature in (signature_def_map or {}).items():
            meta.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.add().CopyFrom(meta)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the file with all MetaGraphs, which makes the model complete; returns its path."""
        path = os.path.join(self._folder, constants.SAVED_MODEL_FILENAME_PBTXT if as_text
                            else constants.SAVED_MODEL_FILENAME_PB)
        data = text_format.MessageToString(self._saved_model, descriptor_pool=messages.POOL) if as_text \
            else self._saved_model.SerializeToString(deterministic=True)
        with op_errors(path):
            write_bytes(path, data)
        logs.info("SavedModel written to: %s", path)
        return path.encode()


def _check_tensor_info(info: Any) -> None:
    if info.WhichOneof("encoding") is None or (info.WhichOneof("encoding") == "name" and not info.name):
        raise AssertionError("All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields "
                             f"(e.g., name or coo_sparse) set: {info}")
    if not info.dtype:
        raise AssertionError(f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}")


def _add_init_op(key: str, operation: Any) -> None:
    """Notes the operation to run after loading.  Raises ValueError if there is one already."""
    if operation is None:
        return
    if not isinstance(operation, Operation):
        raise TypeError(f"{'main_op' if key == constants.MAIN_OP_KEY else 'legacy_init_op'} needs to be an Operation: "
                        f"{operation}")
    graph = get_default_graph()
    for other in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if graph.get_collection(other):
            raise ValueError(f"Graph already contains one or more main ops under the collection {other}.")
    graph.add_to_collection(key, operation)


def _asset_path(tensor: Any) -> str:
    """The path in an asset tensor.  Raises TypeError or ValueError if it is no constant string."""
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Invalid asset filepath tensor {tensor}")
    if tensor.dtype.base_dtype is not string:
        raise TypeError("Asset path tensor must be of dtype string.")
    value = constant_value(tensor)
    if value is None:
        raise TypeError("Asset filepath must be a constant string tensor.")
    path = local_path(value.item().decode())
    if not path:
        raise ValueError(f"Invalid asset filepath tensor {tensor}")
    if not os.path.exists(path):
        from jitgraph.graph.errors import NotFoundError

        raise NotFoundError(None, None, f"{path}; No such file or directory")
    return path


def unused_name(name: str, taken: set[str]) -> str:
    """`name`, or ``name_1`` and so on if another file has it."""
    candidate, number = name, 1
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate


def simple_save(session: Any, export_dir: Any, inputs: dict[str, Any], outputs: dict[str, Any],
                legacy_init_op: Any = None) -> None:
    """``tf.saved_model.simple_save``: writes a model with one signature, "serving_default", under the tag "serve".

    `inputs`, `outputs`: {name: tensor}.  `legacy_init_op`: an operation to run once after loading.
    """
    signature = signatures.predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session, [constants.SERVING], {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS), main_op=legacy_init_op,
        clear_devices=True)
    builder.save()
