"""``tf.saved_model.save``: objects with variables and functions as SavedModels."""
from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.formats.bundle_writer import BundleWriter
from jitgraph.formats.checkpoint import path_string
from jitgraph.formats.files import local_path, op_errors, write_bytes
from jitgraph.graph import dtypes
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.protobuf import messages
from jitgraph.saved_model import constants
from jitgraph.saved_model.exported_graph import ExportedGraph
from jitgraph.saved_model.saved_objects import SavedObjects, functions_of
from jitgraph.saved_model.signature_functions import ATTRIBUTE, SignatureMap, by_key, function_to_export
from jitgraph.train.object_checkpoint import session_to_save, text_bytes
from jitgraph.train.object_graph import OBJECT_GRAPH, PythonState, children, is_trackable
from jitgraph.variables.variable import Variable


def save(obj: Any, export_dir: Any, signatures: Any = None) -> None:
    """``tf.saved_model.save``: writes an object, its variables and its ``tf.function``s as a SavedModel.

    Args:
      obj: a tf.Module, a tf.train.Checkpoint, or another object that is saved by its attributes.
      export_dir: the folder.
      signatures: what servers call: a ``tf.function`` with an input signature or a concrete function, or {key: function}.  By
        default the only function of `obj` that can be one, if there is one.
    The values of the variables are those of the default session; nothing is added to the graph.  Functions are saved for all
    arguments that they were called with, or for their input signature; the resource variables, tables, files and constants that
    they take from around them go with them.
    Raises ValueError for other objects and signatures, without a session, and for functions that use other tensors of the graph;
    AssertionError inside of a function, and for functions that use variables that `obj` does not have; ``tf.errors`` for
    variables that are not initialized, and if something cannot be written.
    """
    if get_default_graph().building_function:
        raise AssertionError("tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer "
                             "eagerly-executed context.")
    if isinstance(obj, (list, dict)) or not is_trackable(obj):
        raise ValueError(f"Expected a Trackable object for export, got {obj}.")
    chosen = by_key(function_to_export(functions_of(obj)) if signatures is None else signatures)
    if not isinstance(dict(children(obj)).get(ATTRIBUTE, SignatureMap()), SignatureMap):
        raise ValueError(f"Exporting an object {obj} which has an attribute named '{ATTRIBUTE}'. This is a reserved attribute used "
                         "to store SavedModel signatures in objects which come from `tf.saved_model.load`. Delete this attribute "
                         f"(e.g. 'del obj.{ATTRIBUTE}') before saving if this shadowing is acceptable.")
    session = session_to_save()
    export = ExportedGraph(obj, chosen)
    meta = export.meta_graph()
    folder = local_path(path_string(export_dir))
    variables = os.path.join(folder, constants.VARIABLES_DIRECTORY)
    with op_errors(folder):
        os.makedirs(variables, exist_ok=True)
    _write_variables(export.objects, os.path.join(variables, constants.VARIABLES_FILENAME), session)
    _copy_files(export.files, os.path.join(folder, constants.ASSETS_DIRECTORY))
    model = messages.SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION, meta_graphs=[meta])
    path = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB)
    with op_errors(path):
        write_bytes(path, model.SerializeToString(deterministic=True))
    logs.info("SavedModel written to: %s", path)


def _write_variables(objects: SavedObjects, prefix: str, session: Any) -> None:
    """Writes the checkpoint: what the objects hold, and which objects there are."""
    held = objects.checkpointed.variables()
    values = session.run({key: one for key, one in held.items() if isinstance(one, Variable)})
    with BundleWriter(prefix) as writer:
        for key, one in sorted(held.items()):
            if isinstance(one, PythonState):
                writer.add(key, _text(text_bytes(one.serialize())), dtypes.string)
            else:
                writer.add(key, np.asarray(values[key]), one.dtype)
        writer.add(OBJECT_GRAPH, _text(objects.checkpoint_proto().SerializeToString()), dtypes.string)


def _copy_files(files: dict[str, str], folder: str) -> None:
    """Copies files, {path: name of the copy}."""
    with op_errors(folder):
        os.makedirs(folder, exist_ok=True)
        for path, name in files.items():
            shutil.copyfile(local_path(path), os.path.join(folder, name))
    if files:
        logs.info("Assets written to: %s", folder)


def _text(value: bytes) -> np.ndarray:
    array = np.empty((), object)
    array[()] = value
    return array
