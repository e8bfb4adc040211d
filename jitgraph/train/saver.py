"""``tf.train.Saver``: checkpoints of variables, written and read by nodes of the graph."""
from __future__ import annotations

import os
import time
from typing import Any

from jitgraph.app import logs
from jitgraph.formats import meta_graph
from jitgraph.formats.checkpoint import path_string
from jitgraph.formats.files import local_path
from jitgraph.graph import errors
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scope_names import is_within, prepend_name_scope, strip_name_scope
from jitgraph.protobuf import messages
from jitgraph.train import checkpoint_state
from jitgraph.train.saver_nodes import BaseSaverBuilder, BulkSaverBuilder
from jitgraph.variables.global_steps import global_step as value_of_step
from jitgraph.variables.saveables import default_saveables

__all__ = ["BaseSaverBuilder", "BulkSaverBuilder", "Saver", "export_meta_graph", "import_meta_graph"]

_NAMES = ("filename_tensor_name", "save_tensor_name", "restore_op_name")


class Saver:
    """Saves variables to checkpoints and restores them.

    Args:
      var_list: the variables, as a list or as a dict of their names in the checkpoint; all global variables, and the
        objects of the collection SAVEABLE_OBJECTS, if None.
      reshape: restore tensors whose shape is another one of as many elements.
      sharded: write one file for each device.
      max_to_keep: how many of the newest checkpoints are kept; all if 0 or None.
      keep_checkpoint_every_n_hours: besides those, keep one for every so many hours of training.
      name: the name scope of the nodes, "save" if None.
      restore_sequentially: restore one variable after the other.
      saver_def: a SaverDef of nodes that are in the graph already, instead of making them.
      builder: what makes the nodes, a BaseSaverBuilder.
      defer_build: make the nodes only in ``build()``.
      allow_empty: do nothing, instead of raising ValueError, if there are no variables.
      write_version: ``tf.train.SaverDef.V2``, or V1 for the format before TensorFlow 0.12.
      pad_step_number: write steps with eight digits, so that file names sort.
      save_relative_paths: write paths relative to the folder into the state file, so that it can be moved.
      filename: the prefix if the nodes are run without one.
    Raises TypeError or ValueError for variables that are none, or share a name; ValueError if there are none.
    """

    def __init__(self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: int | None = 5,
                 keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
                 restore_sequentially: bool = False, saver_def: Any = None, builder: Any = None,
                 defer_build: bool = False, allow_empty: bool = False, write_version: int = messages.SaverDef.V2,
                 pad_step_number: bool = False, save_relative_paths: bool = False, filename: str | None = None):
        if defer_build and var_list is not None:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        self._var_list = var_list
        self._reshape, self._sharded, self._restore_sequentially = reshape, sharded, restore_sequentially
        self._max_to_keep, self._every_n_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._name, self._builder, self._filename = name, builder, filename
        self._allow_empty, self._write_version = allow_empty, write_version
        self._pad_step_number, self._save_relative_paths = pad_step_number, save_relative_paths
        self._is_built, self._is_empty = False, False
        self._last_checkpoints: list[tuple[str, float]] = []
        self._checkpoints_to_be_deleted: list[tuple[str, float]] = []
        self.saver_def = self._checked(saver_def)
        if not defer_build:
            self.build()
        if self.saver_def is not None:
            self._check_saver_def()
            self._write_version = self.saver_def.version
        self._next_checkpoint_time = time.time() + self._hours() * 3600

    def _checked(self, saver_def: Any) -> Any:
        if saver_def is None:
            return None
        if type(saver_def).__name__ != "SaverDef":
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {saver_def}")
        return messages.SaverDef.FromString(saver_def.SerializeToString())

    def _hours(self) -> float:
        return self.saver_def.keep_checkpoint_every_n_hours if self.saver_def is not None else self._every_n_hours

    def build(self) -> None:
        """Makes the nodes, if they were deferred.  Raises ValueError if there are no variables."""
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is not None:
            if self._name:      # nodes that were imported under a scope
                for field in _NAMES:
                    setattr(self.saver_def, field, prepend_name_scope(getattr(self.saver_def, field), self._name))
            return
        get_default_graph()._check_not_finalized()
        variables = default_saveables() if self._var_list is None else self._var_list
        if not variables:
            if not self._allow_empty:
                raise ValueError("No variables to save: make variables before the Saver, or pass var_list.")
            self._is_empty = True
            return
        builder = self._builder or BulkSaverBuilder(self._write_version)
        self.saver_def = builder.build(
            variables, reshape=self._reshape, sharded=self._sharded, max_to_keep=self._max_to_keep or 0,
            keep_checkpoint_every_n_hours=self._every_n_hours, name=self._name,
            restore_sequentially=self._restore_sequentially, filename=self._filename or "model")
        self._next_checkpoint_time = time.time() + self._hours() * 3600
        self._check_saver_def()

    def _check_saver_def(self) -> None:
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(f"saver_def must specify the {field}: {self.saver_def}")

    # -- the definition

    def as_saver_def(self) -> Any:
        """The SaverDef: the names of the nodes, and what is kept."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The SaverDef as seen in a name scope; None if the nodes are not in it."""
        if export_scope is None:
            return self.saver_def
        if not all(is_within(getattr(self.saver_def, field), export_scope) for field in _NAMES):
            return None
        definition = messages.SaverDef.FromString(self.saver_def.SerializeToString())
        for field in _NAMES:
            setattr(definition, field, strip_name_scope(getattr(definition, field), export_scope))
        return definition

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """A saver of nodes that are in the default graph, under `import_scope`."""
        return Saver(saver_def=saver_def, name=import_scope)

    # -- which checkpoints are kept

    @property
    def last_checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that are kept, oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        """Sets the list of checkpoints that are kept; their age counts as unknown."""
        if not isinstance(last_checkpoints, list):
            raise AssertionError(f"last_checkpoints must be a list, not {last_checkpoints!r}")
        self._last_checkpoints = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time: list[tuple[str, float]]) -> None:
        """Sets the list of checkpoints that are kept, as (path, time of writing)."""
        if not isinstance(last_checkpoints_with_time, list):
            raise AssertionError(f"last_checkpoints_with_time must be a list, not {last_checkpoints_with_time!r}")
        self._last_checkpoints = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths: list[str]) -> None:
        """Takes over the checkpoints that an earlier run left, so that the oldest are removed in their turn."""
        self.set_last_checkpoints_with_time(checkpoint_state.state_with_times(checkpoint_paths))

    def _record(self, path: str) -> None:
        """Puts `path` at the end of the kept ones; if they are too many, the first one waits to be deleted."""
        keep = self.saver_def.max_to_keep
        if not keep:
            return
        self._last_checkpoints = [entry for entry in self._last_checkpoints if entry[0] != path]
        self._last_checkpoints.append((path, time.time()))
        if len(self._last_checkpoints) > keep:      # one for each that is saved, so a run that keeps fewer loses none at once
            self._checkpoints_to_be_deleted.append(self._last_checkpoints.pop(0))

    def _delete_old(self, meta_graph_suffix: str) -> None:
        """Deletes what waits for it, except one for each period of ``keep_checkpoint_every_n_hours``."""
        while self._checkpoints_to_be_deleted:
            path, written = self._checkpoints_to_be_deleted.pop(0)
            if written > self._next_checkpoint_time:
                self._next_checkpoint_time += self._hours() * 3600
                continue
            try:
                checkpoint_state.remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
            except errors.OpError as error:
                logs.warn("Ignoring: %s", error)

    # -- saving

    def save(self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: str | None = None,
             meta_graph_suffix: str = "meta", write_meta_graph: bool = True, write_state: bool = True,
             strip_default_attrs: bool = False, save_debug_info: bool = False) -> str | None:
        """Writes the variables of a session to a checkpoint; returns its prefix, which ``restore`` takes, or None where there
        are none (`allow_empty`): then only the MetaGraph is written.

        Args:
          sess: the session whose variables are saved; they must be initialized.
          save_path: the prefix of the files; its folder is made if need be.
          global_step: a number, or a tensor or variable with it, appended as ``-25``.
          latest_filename: the state file, "checkpoint" if None.
          meta_graph_suffix: of the file with the MetaGraph.
          write_meta_graph, write_state: whether to write that file, and the state file.
          strip_default_attrs: see ``export_meta_graph``.
        Raises TypeError if `sess` is no session, ValueError if the folder cannot be made or names collide,
        RuntimeError before ``build``, ``tf.errors`` if something fails.
        """
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if not hasattr(sess, "run") or not hasattr(sess, "graph"):
            raise TypeError(f"'sess' must be a Session; {sess}")
        path = self._prefix(sess, path_string(save_path), global_step, latest_filename)
        written = None if self._is_empty else self._write(sess, path, save_path, latest_filename, meta_graph_suffix, write_state)
        if write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(checkpoint_state.meta_graph_filename(path, meta_graph_suffix),
                                       strip_default_attrs=strip_default_attrs)
        return written

    def _write(self, sess: Any, path: str, save_path: Any, latest_filename: str | None, meta_graph_suffix: str,
               write_state: bool) -> str:
        """Writes the variables of a session, and the state file; the prefix of the checkpoint."""
        folder = os.path.dirname(path)
        try:
            written = sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: path})
            written = written.decode() if isinstance(written, bytes) else str(written)
            if write_state:
                self._record(written)
                checkpoint_state.update_state_file(folder, written, self.last_checkpoints, latest_filename,
                                                   self._save_relative_paths)
                self._delete_old(meta_graph_suffix)
        except (errors.FailedPreconditionError, errors.NotFoundError) as error:
            if folder and not os.path.isdir(local_path(folder)):
                raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.") from error
            raise
        return written

    def _prefix(self, sess: Any, save_path: str, global_step: Any, latest_filename: str | None) -> str:
        """The prefix with the step.  Raises ValueError for names that cannot be."""
        if not save_path:
            raise ValueError("no path specified")
        state_file = checkpoint_state.STATE_FILE if latest_filename is None else latest_filename
        if os.path.dirname(state_file):
            raise ValueError("'latest_filename' must not contain path components")
        if global_step is not None:
            step = int(global_step) if hasattr(global_step, "__index__") and not hasattr(global_step, "graph") \
                else value_of_step(sess, global_step)
            return f"{save_path}-{step:08d}" if self._pad_step_number else f"{save_path}-{step}"
        if os.path.basename(save_path) == state_file and not self._sharded:
            raise ValueError(f"'latest_filename' collides with 'save_path': '{state_file}' and '{save_path}'")
        return save_path

    def export_meta_graph(self, filename: Any = None, collection_list: Any = None, as_text: bool = False,
                          export_scope: str | None = None, clear_devices: bool = False,
                          clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
                          save_debug_info: bool = False) -> Any:
        """The MetaGraphDef of the default graph with this saver; see ``tf.train.export_meta_graph``."""
        return export_meta_graph(filename, saver_def=self.saver_def, collection_list=collection_list, as_text=as_text,
                                 export_scope=export_scope, clear_devices=clear_devices,
                                 clear_extraneous_savers=clear_extraneous_savers,
                                 strip_default_attrs=strip_default_attrs)

    # -- restoring

    def restore(self, sess: Any, save_path: Any) -> None:
        """Reads the variables from the checkpoint `save_path` into a session; they need no initialization.

        Raises ValueError if there is no such checkpoint, NotFoundError if its folder is not there or a variable is not in it,
        InvalidArgumentError if one has another dtype or shape there.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None: tf.train.latest_checkpoint gives None for a folder "
                             "without checkpoints.")
        path = path_string(save_path)
        if not checkpoint_state.checkpoint_exists(path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        logs.info("Restoring parameters from %s", path)
        try:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: path})
        except errors.NotFoundError as error:
            raise _restore_failed(error, "a Variable name or other graph key that is missing from the checkpoint; compare with "
                                         f"tf.train.list_variables({path!r})") from error
        except errors.InvalidArgumentError as error:
            raise _restore_failed(error, "a mismatch between the current graph and the graph from the checkpoint: another shape or "
                                         "dtype") from error


def _restore_failed(error: errors.OpError, likely: str) -> errors.OpError:
    kind: Any = type(error)
    return kind(None, error.op, f"Restoring from checkpoint failed. This is most likely due to {likely}. Original error:\n\n"
                                f"{error.message}")


def _get_saver_or_default() -> Saver:
    """The saver of the collection SAVERS; if there is none, one of all variables, which is put there.

    Raises RuntimeError if there are several.
    """
    graph = get_default_graph()
    savers = graph.get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by "
                           "passing it to the constructor.")
    if not savers:
        savers = [Saver(sharded=True, allow_empty=True)]
        graph.add_to_collection(GraphKeys.SAVERS, savers[0])
    return savers[0]


def export_meta_graph(filename: Any = None, meta_info_def: Any = None, graph_def: Any = None, saver_def: Any = None,
                      collection_list: Any = None, as_text: bool = False, graph: Any = None,
                      export_scope: str | None = None, clear_devices: bool = False,
                      clear_extraneous_savers: bool = False, strip_default_attrs: bool = False,
                      save_debug_info: bool = False, **kwargs: Any) -> Any:
    """``tf.train.export_meta_graph``: the MetaGraphDef of a graph, written to `filename` if given.

    See ``jitgraph.formats.meta_graph.export_scoped_meta_graph`` for the arguments.
    """
    return meta_graph.export_scoped_meta_graph(
        filename, graph_def=graph_def, graph=graph, export_scope=export_scope, as_text=as_text,
        clear_devices=clear_devices, saver_def=saver_def, clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs, meta_info_def=meta_info_def, collection_list=collection_list,
        **kwargs)[0]


def import_meta_graph(meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None,
                      **kwargs: Any) -> Saver | None:
    """``tf.train.import_meta_graph``: adds a MetaGraph to the default graph; returns its saver.

    None if it has neither a saver nor variables.  See ``jitgraph.formats.meta_graph.import_scoped_meta_graph`` for the
    arguments (also `input_map`, `restore_collections_predicate`, `return_elements`) and errors.
    """
    return import_meta_graph_with_return_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def import_meta_graph_with_return_elements(meta_graph_or_file: Any, clear_devices: bool = False,
                                           import_scope: str | None = None, return_elements: Any = None,
                                           **kwargs: Any) -> tuple[Saver | None, Any]:
    """``import_meta_graph``, and the tensors and operations that `return_elements` names."""
    meta = meta_graph.as_meta_graph_def(meta_graph_or_file)
    variables, elements = meta_graph.import_with_return_elements(
        meta, clear_devices, import_scope=import_scope, return_elements=return_elements, **kwargs)
    return _saver_of(meta, variables, import_scope), elements


def _saver_of(meta: Any, variables: dict[str, Any], import_scope: str | None) -> Saver | None:
    if meta.HasField("saver_def"):
        scope = import_scope
        for name, variable in variables.items():        # the scope that was made, if the one asked for was taken
            scope = variable.name[:len(variable.name) - len(name)]
            break
        return Saver(saver_def=meta.saver_def, name=scope)
    if default_saveables(import_scope):
        return Saver()
    logs.info("Saver not created because there are no variables in the graph to restore")
    return None
