"""Hooks that look at tensors: logging them, and stopping when one is not a number."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.app.step_line import LINE
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from jitgraph.train.hooks.timers import NeverTriggerTimer, SecondOrStepTimer


class LoggingTensorHook(SessionRunHook):
    """Logs tensors, at level INFO, every so many runs or seconds, or at the end.

    Args:
      tensors: {tag: tensor or its name}, or a list of tensors or names, which are their own tags.
      every_n_iter: log at the first and then at every so many-th run of this session.
      every_n_secs: log at most every so many seconds.
      at_end: log at the end; the tensors are computed once more for that.
      formatter: a function that makes the line of ``{tag: value}``.
    Raises ValueError unless exactly one of `every_n_iter` and `every_n_secs` is given (none may be with `at_end`), or
    if `every_n_iter` is not positive; ``begin`` raises it for tensors of other graphs and ambiguous names.
    """

    def __init__(self, tensors: Any, every_n_iter: int | None = None, every_n_secs: float | None = None,
                 at_end: bool = False, formatter: Callable | None = None):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order = sorted(tensors) if isinstance(tensors, dict) else tensors
        self._tensors = tensors if isinstance(tensors, dict) else {item: item for item in tensors}
        self._formatter = formatter
        self._timer: Any = NeverTriggerTimer() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._log_at_end = at_end

    def begin(self) -> None:
        """Finds the tensors."""
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: graph_element(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """The tensors, when they are due."""
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs them."""
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        """Logs them once more if that was asked for."""
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, values: dict) -> None:
        elapsed, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                logs.info(self._formatter(values))
                return
            line = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tag_order)
            if elapsed is None:
                logs.info("%s", line)
            else:
                logs.info("%s (%.3f sec)", line, elapsed)


def graph_element(item: Any) -> Any:
    """The tensor or operation that `item` is or names; "a" stands for the only output of the operation a.

    Raises ValueError for one of another graph, and for the name of an operation with several outputs.
    """
    graph = get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise ValueError(f"Passed {item} should have graph attribute that is equal to current graph {graph}.")
        return item
    if ":" in item:
        return graph.as_graph_element(item)
    element = graph.as_graph_element(item + ":0")
    if len(element.op.outputs) > 1:
        raise ValueError(f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return element


class NanLossDuringTrainingError(RuntimeError):
    """The loss became NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Ends training when `loss_tensor` is NaN: with NanLossDuringTrainingError, or by a stop if not `fail_on_nan_loss`."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True):
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss
        self._request = SessionRunArgs(loss_tensor)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The loss."""
        return self._request

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Looks at it."""
        loss = run_values.results
        # NaN is the only number that differs from itself; np.isnan takes ten times as long for a scalar
        if loss == loss if isinstance(loss, np.generic) else not np.isnan(loss):
            LINE.saw(loss=loss)
            return
        if self._fail_on_nan_loss:
            logs.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        logs.warning("Model diverged with loss = NaN.")
        run_context.request_stop()
