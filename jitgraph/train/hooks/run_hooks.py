"""The interface between a monitored session and its hooks."""
from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What a hook adds to a run, or what the caller of the run gave.

    `fetches`: a tensor, or any structure that ``Session.run`` takes; `feed_dict`: what to feed; `options`: a RunOptions.
    """

    fetches: Any
    feed_dict: dict | None = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What ``after_run`` of a hook is given.

    `results`: the values of the hook's fetches, in their structure; `options` and `run_metadata` of the run.
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """What a hook knows of the run that it is called for."""

    __slots__ = ("_original_args", "_session", "_stop_requested")

    def __init__(self, original_args: SessionRunArgs, session: Any):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """Fetches and feeds of the caller, without those of hooks."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The ``tf.Session`` of the run."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked for the end."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes ``should_stop`` of the monitored session true after this run."""
        self._stop_requested = True


class SessionRunHook:
    """Base class of hooks: override what is needed.

    The order: ``begin`` while the graph may still grow, ``after_create_session``, then ``before_run`` and ``after_run``
    around every run, at last ``end``, which is left out after an error other than OutOfRangeError or StopIteration.
    """

    def begin(self) -> None:
        """Called once before the session is made; nodes may be added to the default graph here and no longer after it."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called with each new session: once, and again after a recovery.  `coord` is its Coordinator."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """What to add to the run that follows, or None."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after a run that did not fail."""

    def end(self, session: Any) -> None:
        """Called at the end, while the session is still open."""
