"""``tf.contrib.training.train``: a training operation run in a monitored session until it is to stop."""
from __future__ import annotations

from typing import Any

from jitgraph.summary.summaries import merge_all
from jitgraph.train.hooks.run_hooks import SessionRunHook
from jitgraph.train.hooks.writers import cached_writer
from jitgraph.train.sessions.monitored import MonitoredTrainingSession
from jitgraph.variables.global_steps import get_or_create_global_step, global_step


def train(train_op: Any, logdir: str | None, master: str = "", is_chief: bool = True, scaffold: Any = None,
          hooks: list | None = None, chief_only_hooks: list | None = None, save_checkpoint_secs: float | None = 600,
          save_summaries_steps: int | None = 100, config: Any = None, max_wait_secs: int = 7200, run_metadata: Any = None) -> Any:
    """The last value of `train_op`, run in a ``tf.train.MonitoredTrainingSession`` until a hook or the input ends it.

    Raises ValueError if there is no `logdir` and summaries or checkpoints are to be written.
    """
    if logdir is None and is_chief:
        if save_summaries_steps:
            raise ValueError("logdir cannot be None when save_summaries_steps is not None")
        if save_checkpoint_secs:
            raise ValueError("logdir cannot be None when save_checkpoint_secs is not None")
    loss = None
    with MonitoredTrainingSession(master=master, is_chief=is_chief, checkpoint_dir=logdir, scaffold=scaffold, hooks=hooks,
                                  chief_only_hooks=chief_only_hooks, save_checkpoint_secs=save_checkpoint_secs,
                                  save_summaries_steps=save_summaries_steps, config=config,
                                  max_wait_secs=max_wait_secs) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss


class SummaryAtEndHook(SessionRunHook):
    """Writes `summary_op` (all summaries if None) where a session ends.  Raises ValueError without folder and writer."""

    def __init__(self, log_dir: str | None = None, summary_writer: Any = None, summary_op: Any = None, feed_dict: Any = None):
        if log_dir is None and summary_writer is None:
            raise ValueError("One of log_dir or summary_writer should be used.")
        self._summary_op = summary_op
        self._replace_summary_op = summary_op is None
        self._feed_dict = feed_dict
        self._summary_writer = summary_writer
        self._log_dir = log_dir

    def begin(self) -> None:
        """Joins the summaries of the graph."""
        if self._replace_summary_op:
            self._summary_op = merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writer."""
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = cached_writer(self._log_dir)

    def end(self, session: Any) -> None:
        """Writes the summaries."""
        if self._summary_op is not None:
            step = global_step(session, self._global_step)
            summary = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(summary, step)
        if self._summary_writer:
            self._summary_writer.flush()
