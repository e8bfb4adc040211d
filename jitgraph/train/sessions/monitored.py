"""``tf.train.MonitoredTrainingSession`` and its kin: sessions for training loops."""
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from jitgraph.app.step_line import LINE
from jitgraph.graph import errors
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.train.coordinator import Coordinator
from jitgraph.train.hooks.checkpoints import CheckpointSaverHook
from jitgraph.train.hooks.summaries import StepCounterHook, StepLineHook, SummarySaverHook
from jitgraph.train.queue_runner import start_queue_runners
from jitgraph.train.sessions.creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from jitgraph.train.sessions.scaffold import Scaffold
from jitgraph.train.sessions.wrapped import (
    CoordinatedSession,
    HookedSession,
    RecoverableSession,
    StepContext,
    WrappedSession,
)
from jitgraph.variables.global_steps import get_global_step

USE_DEFAULT = object()      # an argument whose default depends on its sibling


class _CoordinatedSessionCreator(SessionCreator):
    """Makes sessions with hooks and queue runners; `tf_sess` and `coord` are those of the newest."""

    def __init__(self, session_creator: SessionCreator, hooks: list, stop_grace_period_secs: float):
        self._session_creator, self._hooks = session_creator, hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None

    def create_session(self) -> CoordinatedSession:
        self.tf_sess = self._session_creator.create_session()
        # No exception is a clean one: OutOfRangeError of an input must come to the loop, which ends with it.
        self.coord = Coordinator(clean_stop_exception_types=())
        if get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return CoordinatedSession(HookedSession(self.tf_sess, self._hooks), self.coord, self._stop_grace_period_secs)


class _MonitoredSession:
    """What MonitoredSession and SingularMonitoredSession have in common."""

    StepContext = StepContext

    def __init__(self, session_creator: SessionCreator | None, hooks: Any, should_recover: bool,
                 stop_grace_period_secs: float = 120):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(session_creator or ChiefSessionCreator(), self._hooks,
                                                               stop_grace_period_secs)
        self._sess: WrappedSession | None = RecoverableSession(self._coordinated_creator) if should_recover \
            else self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The graph, None once the session is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """``Session.run`` with hooks.  Raises RuntimeError after the end, and what the run or a hook raises."""
        if self._sess is None:
            raise RuntimeError("Attempted to use a closed Session.")
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable) -> Any:
        """``step_fn(step_context)``, whose context gives the session, and ``run_with_hooks``.

        Raises ValueError if the function takes other arguments than `step_context` (after `self`), RuntimeError once the
        session is closed.
        """
        arguments = tuple(inspect.signature(step_fn).parameters)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if "
                             f"it's an instance method. Got {arguments} instead.")
        if self._sess is None:
            raise RuntimeError("Attempted to use a closed Session.")
        return self._sess.run_step_fn(step_fn, self._tf_sess(), None)

    def should_stop(self) -> bool:
        """Whether the loop is to end: a hook or a thread asked for it, or the session is closed."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Calls ``end`` of the hooks, ends the threads and closes the session."""
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, exception_type: Any, exception_value: Any, traceback: Any) -> bool:
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None           # the end of the input is the end of the loop
        self._close_internal(exception_type)
        return exception_type is None

    def _close_internal(self, exception_type: Any = None) -> None:
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            if any(isinstance(hook, StepLineHook) for hook in self._hooks):
                LINE.finish()
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that initialises, calls hooks and recovers.

    ::

        with tf.train.MonitoredSession(session_creator=tf.train.ChiefSessionCreator(...), hooks=[...]) as session:
            while not session.should_stop():
                session.run(train_op)

    After AbortedError and UnavailableError a new session is made, restored from the last checkpoint, and the run is
    repeated there.  OutOfRangeError and StopIteration end the block in an orderly way.  The graph is finalized until it is
    closed.

    Args:
      session_creator: makes the session; a ChiefSessionCreator if None.
      hooks: SessionRunHooks, called in order.
      stop_grace_period_secs: how long threads may take to end.
    """

    def __init__(self, session_creator: SessionCreator | None = None, hooks: Any = None, stop_grace_period_secs: float = 120):
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A MonitoredSession that does not recover, and shows its ``tf.Session``.

    Args:
      hooks: SessionRunHooks, called in order.
      scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path: see ChiefSessionCreator.
      stop_grace_period_secs: how long threads may take to end.
    """

    def __init__(self, hooks: Any = None, scaffold: Scaffold | None = None, master: str = "", config: Any = None,
                 checkpoint_dir: Any = None, stop_grace_period_secs: float = 120, checkpoint_filename_with_path: Any = None):
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Any:
        """The ``tf.Session``, whose runs call no hooks."""
        return self._tf_sess()


def MonitoredTrainingSession(
        master: str = "", is_chief: bool = True, checkpoint_dir: Any = None, scaffold: Scaffold | None = None, hooks: Any = None,
        chief_only_hooks: Any = None, save_checkpoint_secs: Any = USE_DEFAULT, save_summaries_steps: Any = USE_DEFAULT,
        save_summaries_secs: Any = USE_DEFAULT, config: Any = None, stop_grace_period_secs: float = 120,
        log_step_count_steps: int | None = 100, max_wait_secs: float = 7200, save_checkpoint_steps: Any = USE_DEFAULT,
        summary_dir: Any = None) -> MonitoredSession:
    """A MonitoredSession that saves checkpoints and summaries, and goes on from the newest checkpoint.

    Args:
      master: the target, "" or that of a Server.
      is_chief: the chief initialises, restores and saves; a worker waits for it.
      checkpoint_dir: the folder of checkpoints; none are saved if None.
      scaffold: the parts of the graph; one is made if None.
      hooks: SessionRunHooks.
      chief_only_hooks: SessionRunHooks that only the chief calls, before the others.
      save_checkpoint_secs, save_checkpoint_steps: when to save; every 600 seconds if neither is given.
      save_summaries_steps, save_summaries_secs: when to write summaries; every 100 steps if neither is given.
      config: the ConfigProto of the session.
      stop_grace_period_secs: how long threads may take to end.
      log_step_count_steps: after how many steps their rate is logged; never if None or 0.
      max_wait_secs: how long a worker waits for the chief.
      summary_dir: the folder of summaries; `checkpoint_dir` if None.
    Raises RuntimeError if something is to be saved and there is no global step, or variables stay uninitialised.
    """
    save_summaries_steps, save_summaries_secs = _steps_or_secs(save_summaries_steps, save_summaries_secs, (100, None))
    save_checkpoint_steps, save_checkpoint_secs = _steps_or_secs(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    if LINE.wanted() and get_global_step() is not None:
        all_hooks.append(StepLineHook())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if _positive(log_step_count_steps):
            all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
        if _positive(save_summaries_steps) or _positive(save_summaries_secs):
            all_hooks.append(SummarySaverHook(scaffold=scaffold, save_steps=save_summaries_steps,
                                              save_secs=save_summaries_secs, output_dir=summary_dir))
    if checkpoint_dir and (_positive(save_checkpoint_secs) or _positive(save_checkpoint_steps)):
        all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_steps=save_checkpoint_steps,
                                             save_secs=save_checkpoint_secs, scaffold=scaffold))
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(chief, [*all_hooks, *(hooks or ())], stop_grace_period_secs)


def _steps_or_secs(steps: Any, secs: Any, default: tuple) -> tuple:
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default
    return None if steps is USE_DEFAULT else steps, None if secs is USE_DEFAULT else secs


def _positive(number: Any) -> bool:
    return bool(number) and number > 0
