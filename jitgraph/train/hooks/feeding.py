"""Hooks that add feeds to every run, or compute something at the end."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import errors
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunHook


class FeedFnHook(SessionRunHook):
    """Feeds what ``feed_fn()`` gives, {tensor: value}, in every run."""

    def __init__(self, feed_fn: Callable[[], dict]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """The feeds of this run."""
        return SessionRunArgs(None, self.feed_fn())


class FinalOpsHook(SessionRunHook):
    """Runs `final_ops` (a tensor, or a structure of tensors) at the end; ``final_ops_values`` holds what they gave."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: dict | None = None):
        self._final_ops, self._final_ops_feed_dict = final_ops, final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values, None before the end."""
        return self._final_ops_values

    def end(self, session: Any) -> None:
        """Runs them."""
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)
        except (errors.OutOfRangeError, StopIteration):
            logs.warning("FinalOpsHook ran into the end of the input: what it runs must depend on variables alone, and "
                         "not on a batch.  Of a metric, give it the value and not the update.")
            raise
