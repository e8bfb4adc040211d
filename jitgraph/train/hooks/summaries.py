"""Hooks that write summaries: those of the graph, and steps per second."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.app.step_line import LINE
from jitgraph.protobuf.messages import SessionLog, Summary
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.hooks.timers import SecondOrStepTimer
from jitgraph.train.hooks.writers import cached_writer
from jitgraph.variables.global_steps import get_global_step, required_global_step_read


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds.

    Args:
      save_steps, save_secs: when; exactly one is given.
      output_dir: the folder of the event file, if there is no `summary_writer`.
      summary_writer: a ``tf.summary.FileWriter``.
      scaffold: a Scaffold, whose ``summary_op`` is written.
      summary_op: instead of it, a tensor of serialized summaries, or a list of them.
    Raises ValueError unless exactly one of `scaffold` and `summary_op`, and of `save_steps` and `save_secs`, is given;
    ``begin`` raises RuntimeError without a global step.
    """

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: Any = None,
                 summary_writer: Any = None, scaffold: Any = None, summary_op: Any = None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        """Opens the writer."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = cached_writer(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = required_global_step_read("SummarySaverHook")
        self._step_alone = SessionRunArgs({"global_step": self._global_step_tensor})

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The global step, and the summaries when they are due."""
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        summaries = self._get_summary_op() if self._request_summary else None
        if summaries is None:
            return self._step_alone
        return SessionRunArgs({"global_step": self._global_step_tensor, "summary": summaries})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes them."""
        writer = self._summary_writer
        if not writer:
            return
        results = run_values.results
        if not self._request_summary:
            self._next_step = results["global_step"] + 2
            return
        step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            writer.add_session_log(SessionLog(status=SessionLog.START), step)
        self._timer.update_last_triggered_step(step)
        for summary in results.get("summary", ()):
            writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Flushes the writer."""
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> list | None:
        found = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        return found if found is None or isinstance(found, list) else [found]


class StepCounterHook(SessionRunHook):
    """Logs and writes steps per second, every so many steps or seconds.

    `output_dir` or `summary_writer` say where to write it to; without both it is logged alone.  Raises ValueError unless
    exactly one of `every_n_steps` and `every_n_secs` is given; ``begin`` raises RuntimeError without a global step.
    """

    def __init__(self, every_n_steps: int | None = 100, every_n_secs: float | None = None, output_dir: Any = None,
                 summary_writer: Any = None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer, self._output_dir = summary_writer, output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        """Opens the writer."""
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = cached_writer(self._output_dir)
        self._global_step_tensor = required_global_step_read("StepCounterHook")
        self._summary_tag = get_global_step().op.name + "/sec"
        self._request = SessionRunArgs(self._global_step_tensor)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The global step."""
        return self._request

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Counts."""
        stale = run_values.results
        if self._timer.should_trigger_for_step(stale + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                elapsed_time, elapsed_steps = self._timer.update_last_triggered_step(step)
                if elapsed_time is not None:
                    self._log_and_record(elapsed_steps, elapsed_time, step)
        if stale == self._last_global_step:
            logs.log_first_n(logs.WARN, "It seems that global step (tf.train.get_global_step) has not been increased. "
                             "Current value (could be stable): %s vs previous value: %s. You could increase the global step "
                             "by passing tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
                             5, stale, self._last_global_step)
        self._last_global_step = stale

    def _log_and_record(self, elapsed_steps: Any, elapsed_time: Any, global_step: int) -> None:
        """Overridden by programs that want the rate for themselves."""
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            value = Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        logs.info("%s: %g", self._summary_tag, rate)


class StepLineHook(SessionRunHook):
    """Shows the global step of each run in the line of the terminal, see ``jitgraph.app.step_line``."""

    def begin(self) -> None:
        """Finds the global step."""
        self._request = SessionRunArgs(required_global_step_read("StepLineHook"))

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The global step."""
        return self._request

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Shows it."""
        LINE.saw(step=run_values.results)
