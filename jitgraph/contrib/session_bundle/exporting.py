"""``tf.contrib.session_bundle.exporter``: writes a graph, its variables and its signatures into a numbered folder."""
from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.framework.deprecation import deprecated, silence
from jitgraph.contrib.session_bundle import constants, kept_versions
from jitgraph.contrib.session_bundle.manifest import AssetFile, Signature, Signatures
from jitgraph.filesystem import gfile
from jitgraph.formats.collection_protos import any_message
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import string
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import add_to_collection
from jitgraph.graph.tensor import Tensor
from jitgraph.protobuf.messages import GraphDef
from jitgraph.train.saver import Saver
from jitgraph.variables.global_steps import global_step

_OLD = deprecated("2017-06-30", "No longer supported. Switch to SavedModel immediately.")


@_OLD
def gfile_copy_callback(files_to_copy: dict[Any, Any], export_dir_path: Any) -> None:
    """Copies files into a folder: {path: name in the folder}.  A file that is there is replaced."""
    logs.info("Write assets into: %s using gfile_copy.", export_dir_path)
    gfile.MakeDirs(export_dir_path)
    for path, name in files_to_copy.items():
        target = os.path.join(os.fsencode(export_dir_path), os.fsencode(name))
        logs.info("Copying asset %s to path %s.", path, target)
        gfile.Copy(path, target, overwrite=True)


@_OLD
def regression_signature(input_tensor: Tensor, output_tensor: Tensor) -> Any:
    """A Signature message: a number for each example."""
    signature = Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


@_OLD
def classification_signature(input_tensor: Tensor, classes_tensor: Tensor | None = None,
                             scores_tensor: Tensor | None = None) -> Any:
    """A Signature message: names of classes for each example, their scores, or both."""
    signature = Signature()
    signature.classification_signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        signature.classification_signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        signature.classification_signature.scores.tensor_name = scores_tensor.name
    return signature


@_OLD
def generic_signature(name_tensor_map: dict[str, Tensor]) -> Any:
    """A Signature message: any tensors by names of their own."""
    signature = Signature()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


class Exporter:
    """Writes exports for servers.

    Args:
      saver: the Saver of the variables that are written.
    """

    def __init__(self, saver: Saver):
        saver_def = saver.as_saver_def()
        saver_def.ClearField("max_to_keep")         # which exports stay is said to export(), not to the Saver
        self._saver = Saver(saver_def=saver_def)
        self._has_init = False
        self._assets_to_copy: dict[bytes, bytes] = {}
        self._assets_callback: Callable | None = None

    @_OLD
    def init(self, graph_def: Any = None, init_op: Any = None, clear_devices: bool = False, default_graph_signature: Any = None,
             named_graph_signatures: dict[str, Any] | None = None, assets_collection: Any = None,
             assets_callback: Any = gfile_copy_callback) -> None:
        """Says in collections of the default graph what the export holds besides the variables.

        Args:
          graph_def: the GraphDef that serves, the default graph's if None.
          init_op: the operation that runs when the export is loaded.
          clear_devices: leave out the devices of the nodes.
          default_graph_signature: a Signature.
          named_graph_signatures: {name: Signature}.
          assets_collection: constant tensors, string[], with paths of files that are written beside the graph.
          assets_callback: a function of {path: name} and a folder that copies the files.
        Raises RuntimeError the second time, TypeError for an `init_op` that is none and for paths that are no constants,
        ValueError for an empty path.
        """
        assets = [(self._add_asset(tensor), tensor) for tensor in assets_collection or ()]
        if self._has_init:
            raise RuntimeError("init should be called only once")
        self._has_init = True
        if graph_def or clear_devices:
            _add(constants.GRAPH_KEY, _serving_graph(graph_def, clear_devices))
        if init_op is not None:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = Signatures()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        _add(constants.SIGNATURES_KEY, signatures)
        for basename, tensor in assets:
            asset = AssetFile(filename=os.fsdecode(basename))
            asset.tensor_binding.tensor_name = tensor.name
            _add(constants.ASSETS_KEY, asset)
        self._assets_callback = assets_callback

    def _add_asset(self, tensor: Any) -> bytes:
        path = _file_path(tensor)
        if not path:
            raise ValueError(f"invalid asset filepath tensor {tensor}")
        return self._assets_to_copy.setdefault(path, os.path.basename(path))

    @_OLD
    def export(self, export_dir_base: Any, global_step_tensor: Any, sess: Any = None,
               exports_to_keep: Callable | None = None) -> bytes:
        """Writes the export into a new folder, whose name is the global step with eight digits.

        Args:
          export_dir_base: the folder of the exports.
          global_step_tensor: the variable, or its name.
          sess: the session whose variables are written.
          exports_to_keep: a function of Paths, from ``session_bundle.gc``, that gives those that stay; None keeps all.
        Returns the folder of this export.
        Raises RuntimeError before ``init``, and if the folder is there.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first")
        base = os.fsdecode(export_dir_base).removesuffix("/")
        folder = os.path.join(base, constants.VERSION_FORMAT_SPECIFIER % global_step(sess, global_step_tensor))
        if gfile.Exists(folder):
            raise RuntimeError("Overwriting exports can cause corruption and are not allowed. Duplicate export dir: "
                               f"{os.fsencode(folder)!r}")
        unfinished = folder + "-tmp"
        gfile.MakeDirs(unfinished)
        self._saver.save(sess, os.path.join(unfinished, constants.EXPORT_BASE_NAME), meta_graph_suffix=constants.EXPORT_SUFFIX_NAME)
        if self._assets_callback and self._assets_to_copy:
            assets = os.fsencode(os.path.join(unfinished, constants.ASSETS_DIRECTORY))
            gfile.MakeDirs(assets)
            self._assets_callback(self._assets_to_copy, assets)
        gfile.Rename(unfinished, folder)            # so that a server sees whole exports only
        if exports_to_keep:
            for path in _others(base, exports_to_keep):
                gfile.DeleteRecursively(path.path)
        return os.fsencode(folder)


def _add(key: str, message: Any) -> None:
    wrapped = any_message()()
    wrapped.Pack(message)
    add_to_collection(key, wrapped)


def _serving_graph(graph_def: Any, clear_devices: bool) -> Any:
    """A copy of the GraphDef, of the default graph's if there is none."""
    copy = GraphDef.FromString((graph_def or get_default_graph().as_graph_def()).SerializeToString())
    for node in copy.node if clear_devices else ():
        node.device = ""
    return copy


def _file_path(tensor: Any) -> bytes:
    """The path in an asset tensor.  Raises TypeError unless it is one constant string."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensor is not a Tensor: {tensor!r}")
    if tensor.op.type != "Const":
        raise TypeError(f"Only constants tensor are supported: {tensor.name} comes of a node of type {tensor.op.type}")
    if tensor.dtype.base_dtype is not string:
        raise TypeError(f"File paths should be string: {tensor.name} is {tensor.dtype.name}")
    value = constant_value(tensor)
    if value is None or value.size != 1:
        raise TypeError(f"Only scalar tensors are supported: {tensor.name} has shape {tensor.shape}")
    return value.item()


def _others(base: str, keep: Callable) -> Iterable[Any]:
    """The exports in a folder that are not kept."""
    def numbered(path: Any) -> Any:
        number = re.fullmatch(r"\d{8}", os.path.basename(path.path.rstrip("/")))
        return number and path._replace(export_version=int(number.group()))

    with silence():
        return kept_versions.negation(keep)(kept_versions.get_paths(base, numbered))
