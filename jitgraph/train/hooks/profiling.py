"""The hook that writes timelines."""
from __future__ import annotations

import os
from typing import Any

from jitgraph.app import logs
from jitgraph.protobuf.messages import RunOptions
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.hooks.timers import SecondOrStepTimer
from jitgraph.train.hooks.writers import cached_writer
from jitgraph.variables.global_steps import required_global_step_read


class ProfilerHook(SessionRunHook):
    """Traces a run every so many steps or seconds and writes ``timeline-STEP.json`` in Chrome's trace format.

    Args:
      save_steps, save_secs: when; exactly one is given.
      output_dir: the folder of the timelines, the present one by default.
      show_dataflow: whether the trace has arrows from who makes a tensor to who takes it.
      show_memory: whether the trace shows the tensors' sizes and lives.
    Raises ValueError unless exactly one of `save_steps` and `save_secs` is given; ``begin`` raises RuntimeError without
    a global step.
    """

    def __init__(self, save_steps: int | None = None, save_secs: float | None = None, output_dir: str = "",
                 show_dataflow: bool = True, show_memory: bool = False):
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._file_writer = cached_writer(output_dir)
        self._show_dataflow, self._show_memory = show_dataflow, show_memory

    def begin(self) -> None:
        """Makes the node that reads the global step."""
        self._next_step: int | None = None
        self._global_step_tensor = required_global_step_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The global step, and a trace when it is due; never of the first run, which compiles."""
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = RunOptions(trace_level=RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes the trace."""
        stale = run_values.results["global_step"]
        if self._next_step is None:     # so that the first trace comes after the first so many steps or seconds
            self._timer.update_last_triggered_step(stale)
        step = stale + 1
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            self._save(step, self._output_file.format(step), run_values.run_metadata.step_stats)
            self._file_writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step: int, save_path: str, step_stats: Any) -> None:
        from jitgraph.app.timeline import Timeline

        logs.info("Saving timeline for %d into '%s'.", step, save_path)
        trace = Timeline(step_stats).generate_chrome_trace_format(self._show_dataflow, self._show_memory)
        with open(save_path, "w", encoding="utf-8") as file:
            file.write(trace)
