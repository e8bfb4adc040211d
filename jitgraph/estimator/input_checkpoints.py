"""The hook that saves where the input of an Estimator stands."""
from __future__ import annotations

from typing import Any

from jitgraph.data.checkpointing import IteratorSaveable
from jitgraph.data.iterators import GLOBAL_ITERATORS
from jitgraph.graph.scopes import get_collection
from jitgraph.train.checkpoint_state import latest_checkpoint
from jitgraph.train.hooks.checkpoints import CheckpointSaverHook
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.saver import Saver


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves where the iterators of a graph stand, whenever an Estimator saves its variables, and restores it at the start.

    `estimator`: whose ``model_dir`` and configuration say where and when.  The files are called ``input.ckpt-STEP``.
    """

    def __init__(self, estimator: Any):
        config = estimator._config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        self._checkpoint_saver_hook = CheckpointSaverHook(estimator.model_dir, config.save_checkpoints_secs,
                                                          config.save_checkpoints_steps, checkpoint_basename=f"{prefix}.ckpt")
        self._latest_filename = f"checkpoint_{prefix}"
        self._first_run = True

    def begin(self) -> None:
        """Adds the nodes that save and restore all iterators."""
        saving = self._checkpoint_saver_hook
        if saving._saver is None and saving._scaffold is None:
            saveables = [IteratorSaveable(handle) for handle in get_collection(GLOBAL_ITERATORS)]
            saving._saver = _SaverOfState(saveables, self._latest_filename)
        saving.begin()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Before the first run, restores the iterators, or saves how they begin."""
        if self._first_run:
            self._restore_or_save(run_context.session)
            self._first_run = False
        return self._checkpoint_saver_hook.before_run(run_context)

    def _restore_or_save(self, session: Any) -> None:
        saving = self._checkpoint_saver_hook
        latest = latest_checkpoint(saving._checkpoint_dir, self._latest_filename)
        if latest:
            saving._get_saver().restore(session, latest)
            return
        step = session.run(saving._global_step_tensor)
        saving._save(session, step)
        saving._timer.update_last_triggered_step(step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves when it is due."""
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        """Saves the last step."""
        self._checkpoint_saver_hook.end(session)


class _SaverOfState(Saver):
    """A Saver whose list of checkpoints is not that of the variables."""

    def __init__(self, saveables: list, latest_filename: str):
        super().__init__(saveables)
        self._latest_filename = latest_filename

    def save(self, sess: Any, save_path: str, global_step: Any = None, latest_filename: str | None = None, *args: Any,
             **kwargs: Any) -> Any:
        return super().save(sess, save_path, global_step, latest_filename or self._latest_filename, *args, **kwargs)
