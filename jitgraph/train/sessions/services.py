"""The threads of a Supervisor: summaries, steps per second, and checkpoints, each at its own pace."""
from __future__ import annotations

import math
import time
from typing import Any

from jitgraph.app import logs
from jitgraph.app.step_line import LINE
from jitgraph.protobuf.messages import SessionLog, Summary
from jitgraph.train.coordinator import LooperThread
from jitgraph.variables.global_steps import global_step


class SVSummaryThread(LooperThread):
    """Writes the Supervisor's summaries."""

    def __init__(self, sv: Any, sess: Any):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Writes them once."""
        step = None
        if self._sv.global_step is None:
            summaries = self._sess.run(self._sv.summary_op)
        else:
            summaries, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            logs.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summaries, step)


class SVStepCounterThread(LooperThread):
    """Writes steps per second; of `step_counter` instead of the global step if given."""

    def __init__(self, sv: Any, sess: Any, step_counter: Any = None):
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"

    def start_loop(self) -> None:
        """Notes where it begins."""
        LINE.wanted()
        self._last_time = time.time()
        self._last_step = global_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        """Writes the rate since the time before."""
        step, now = global_step(self._sess, self._step_counter), time.time()
        LINE.saw(step=step)
        elapsed = now - self._last_time
        rate = (step - self._last_step) / elapsed if elapsed > 0 else math.inf
        self._last_step, self._last_time = step, now
        if self._sv.summary_writer:
            value = Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)
        logs.log_first_n(logs.INFO, "%s: %g", 10, self._summary_tag, rate)


class SVTimerCheckpointThread(LooperThread):
    """Saves checkpoints."""

    def __init__(self, sv: Any, sess: Any):
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        """Saves one."""
        logs.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._sv.save_path)
            self._sv.summary_writer.add_session_log(log, global_step(self._sess, self._sv.global_step))
