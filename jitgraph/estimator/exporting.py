"""An estimator as a SavedModel, in a folder named by the time."""
from __future__ import annotations

import os
import time
from typing import Any

from jitgraph.app import logs
from jitgraph.estimator.export_outputs import TAGS, outputs_of_mode, signature_defs
from jitgraph.estimator.modes import ModeKeys
from jitgraph.facade.names import resolve
from jitgraph.filesystem import gfile
from jitgraph.graph import errors
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.graph import Graph
from jitgraph.graph.scopes import get_collection
from jitgraph.graph.seeds import set_random_seed
from jitgraph.saved_model.builder import SavedModelBuilder
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.saver import Saver
from jitgraph.train.sessions.scaffold import Scaffold

ATTEMPTS = 10


def folder_of_now(base: Any) -> str:
    """A folder in `base` that is not there, named by the seconds since 1970.  Raises RuntimeError if ten are there."""
    for attempt in range(1, ATTEMPTS + 1):
        found = os.path.join(os.fsdecode(base), str(int(time.time())))
        if not gfile.Exists(found):
            return found
        time.sleep(1)
        logs.warn(f"Directory {found.encode()!r} already exists; retrying (attempt {attempt}/{ATTEMPTS})")
    raise RuntimeError(f"Failed to obtain a unique export directory name after {ATTEMPTS} attempts.")


def export_all(estimator: Any, export_dir_base: Any, receivers: dict[str, Any], assets_extra: Any = None,
               as_text: bool = False, checkpoint_path: Any = None, strip_default_attrs: bool = True) -> bytes:
    """Writes a SavedModel with a MetaGraph for each mode of {mode: receiver function}; returns its path.

    Raises ValueError without a checkpoint, for variables that it has not, and for no mode at all.
    """
    checkpoint_path = checkpoint_path or _checkpoint_of(estimator)
    folder = folder_of_now(export_dir_base)
    unfinished = os.path.join(os.path.dirname(folder), "temp-" + os.path.basename(folder))
    builder = SavedModelBuilder(unfinished)
    modes = [mode for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT) if receivers.get(mode)]
    for mode in modes:
        _add_mode(estimator, builder, mode, receivers[mode], checkpoint_path, mode == modes[0], strip_default_attrs)
    if not modes:
        raise ValueError(f"No valid modes for exporting found. Got {receivers.keys()}.")
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(unfinished, "assets.extra", os.fsdecode(name))
        gfile.MakeDirs(os.path.dirname(target))
        gfile.Copy(source, target)
    gfile.Rename(unfinished, folder)
    return folder.encode()


def _checkpoint_of(estimator: Any) -> Any:
    path = latest_checkpoint(estimator._model_dir)
    if path:
        return path
    settings = estimator._warm_start_settings
    if not settings:
        raise ValueError(f"Couldn't find trained model at {estimator._model_dir}.")
    start = settings.ckpt_to_initialize_from
    return latest_checkpoint(start) if gfile.IsDirectory(start) else start


def _add_mode(estimator: Any, builder: SavedModelBuilder, mode: str, receiver_fn: Any, checkpoint_path: Any,
              save_variables: bool, strip_default_attrs: bool) -> None:
    with Graph().as_default() as graph:
        estimator._create_and_assert_global_step(graph)
        set_random_seed(estimator._config.tf_random_seed)
        receiver = receiver_fn()
        spec = estimator._call_model_fn(receiver.features, getattr(receiver, "labels", None), mode, estimator.config)
        outputs = outputs_of_mode(mode, spec.export_outputs, spec.predictions, spec.loss, spec.eval_metric_ops)
        definitions = signature_defs(receiver.receiver_tensors, outputs,
                                     getattr(receiver, "receiver_tensors_alternatives", None),
                                     serving_only=mode == ModeKeys.PREDICT)
        with resolve("Session")(config=estimator._session_config) as session:
            local_init_op = spec.scaffold.local_init_op
            if local_init_op is None:
                local_init_op = Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            try:
                saver.restore(session, checkpoint_path)
            except errors.NotFoundError as error:
                raise ValueError("Could not load all requested variables from checkpoint. Please make sure your model_fn does not "
                                 f"expect variables that were not saved in the checkpoint.\n\nEncountered error with mode `{mode}` "
                                 f"while restoring checkpoint from: `{checkpoint_path}`. Full Traceback:\n\n{error}") from error
            builder._add_train_op(spec.train_op)
            given = dict(tags=TAGS[mode], signature_def_map=definitions,
                         assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS), main_op=local_init_op, saver=saver,
                         strip_default_attrs=strip_default_attrs)
            if save_variables:
                builder.add_meta_graph_and_variables(session, **given)
            else:
                builder.add_meta_graph(**given)
