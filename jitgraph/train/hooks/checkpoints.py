"""The hook that saves checkpoints, and what may listen to it."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.app import logs
from jitgraph.formats.message_files import write_graph
from jitgraph.formats.meta_graph import create_meta_graph_def
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.protobuf.messages import SessionLog
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.hooks.timers import SecondOrStepTimer
from jitgraph.train.hooks.writers import cached_writer
from jitgraph.variables.global_steps import required_global_step_read


class CheckpointSaverListener:
    """What is done before and after a CheckpointSaverHook saves: override what is needed."""

    def begin(self) -> None:
        """Called once, before the graph is finalized."""

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Called before each save."""

    def after_save(self, session: Any, global_step_value: int) -> bool | None:
        """Called after each save; True asks training to stop."""
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Called once, after the last save."""


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the start, every so many steps or seconds, and at the end; ``graph.pbtxt`` beside it.

    Args:
      checkpoint_dir: the folder.
      save_secs, save_steps: when; exactly one is given.
      saver: a Saver; that of `scaffold`, else the one of the collection SAVERS, if None.
      checkpoint_basename: the files are called CHECKPOINT_BASENAME-STEP.
      scaffold: a Scaffold with a saver.
      listeners: CheckpointSaverListeners, called in order.
    Raises ValueError if both `saver` and `scaffold` are given, or not exactly one of `save_secs` and `save_steps`;
    ``begin`` raises RuntimeError without a global step.
    """

    def __init__(self, checkpoint_dir: Any, save_secs: float | None = None, save_steps: int | None = None, saver: Any = None,
                 checkpoint_basename: str = "model.ckpt", scaffold: Any = None, listeners: Any = None):
        logs.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Opens the writer of events."""
        self._summary_writer = cached_writer(self._checkpoint_dir)
        self._global_step_tensor = required_global_step_read("CheckpointSaverHook")
        self._request = SessionRunArgs(self._global_step_tensor)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Writes the graph and the first checkpoint, so that there is one to recover from."""
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        definition = graph.as_graph_def(add_shapes=True)
        write_graph(definition, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        meta = create_meta_graph_def(graph_def=definition, saver_def=saver.saver_def if saver else None)
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(meta)
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The global step."""
        return self._request

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves when it is due."""
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves the last step, unless that was done."""
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Any, step: int) -> bool:
        """Saves; whether a listener asks training to stop."""
        logs.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        self._summary_writer.add_session_log(
            SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path), step)
        should_stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logs.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                should_stop = True
        return should_stop

    def _get_saver(self) -> Any:
        if self._saver is None and self._scaffold is not None:
            return self._scaffold.saver
        if self._saver is None:
            savers = get_default_graph().get_collection(GraphKeys.SAVERS)
            if not savers:
                raise RuntimeError(f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or "
                                   "provide a saver or scaffold.")
            if len(savers) > 1:
                raise RuntimeError(f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use "
                                   "by passing it to the constructor.")
            self._saver = savers[0]
        return self._saver
