"""The layers of a monitored session, from the inside: hooks, coordination of threads, recovery.

Each holds the one inside it as ``_sess``; programs are known to reach the ``tf.Session`` that way.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import errors
from jitgraph.protobuf.messages import RunMetadata, RunOptions
from jitgraph.train.hooks.run_hooks import SessionRunArgs, SessionRunContext, SessionRunValues
from jitgraph.train.sessions.left_values import LeftValues
from jitgraph.variables.global_steps import GLOBAL_STEP_READ_KEY, get_global_step
from jitgraph.variables.variable import Variable

PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)      # after these a new session may go on


class StepContext:
    """What a function given to ``run_step_fn`` may use."""

    def __init__(self, session: Any, run_with_hooks_fn: Callable):
        self._session, self._run_with_hooks_fn = session, run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The ``tf.Session``, whose runs call no hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """``MonitoredSession.run``; at most once in a step."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the ``with`` block of the monitored session, by raising StopIteration."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class WrappedSession:
    """A session around another; `sess` is a ``tf.Session`` or a WrappedSession."""

    def __init__(self, sess: Any):
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, WrappedSession)

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._sess.graph

    @property
    def sess_str(self) -> Any:
        """The target."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether this session, or one inside it, has come to its end; true once it is closed."""
        if self._sess is None or self._check_stop():
            return True
        if self._sess is None:
            return True
        return self._wrapped_is_stoppable and self._sess.should_stop()

    def _check_stop(self) -> bool:
        return False

    def close(self) -> None:
        """Closes the one inside; an error that a new session would get over is only logged."""
        if self._sess is None:
            return
        try:
            self._sess.close()
        except PREEMPTION_ERRORS as error:
            logs.warning("An error occurred when attempting to close the session. This may be due to a preemption in a "
                         "connected worker or parameter server. Error: %s", error)
        finally:
            self._sess = None

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs in the session inside."""
        return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)

    def run_step_fn(self, step_fn: Callable, raw_session: Any, run_with_hooks: Callable | None) -> Any:
        """``step_fn`` of a StepContext."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class HookedSession(WrappedSession):
    """Calls hooks around each run of a ``tf.Session``, and runs what they ask for in the same run.

    Reference variables are read for them after it.
    """

    def __init__(self, sess: Any, hooks: Any):
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False
        self._step_read, self._step_value = _step_to_fetch(sess)
        self._left = LeftValues(getattr(sess, "graph", None))

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs with hooks.

        Raises RuntimeError after the end, or if two hooks, or a hook and the caller, feed the same tensor.
        """
        session = self._sess
        if self._should_stop or session is None:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), session)
        merged, asked_for, hook_feeds, plain = [fetches], [], None, options is None and run_metadata is None
        for hook in self._hooks:
            request = hook.before_run(context)
            place, wanted = 0, None
            if request is not None:
                if not isinstance(request, SessionRunArgs):
                    raise AttributeError(f"'{type(request).__name__}' object has no attribute 'fetches': before_run of {hook} must "
                                         f"return tf.train.SessionRunArgs or None, not {request!r}")
                wanted, fed, asked = request
                if wanted is not None:
                    place = len(merged)
                    merged.append(self._without_asking(wanted))
                if fed:
                    hook_feeds = _joined(hook_feeds or {}, fed, "Same tensor is fed by two hooks.")
                if asked:
                    options, plain = options or RunOptions(), False
                    _merge_run_options(options, asked)
            asked_for.append((place, wanted))
        if hook_feeds:
            feed_dict = _joined(feed_dict or {}, hook_feeds, "Same tensor is fed by a SessionRunHook and user.")
        options, run_metadata = options or RunOptions(), run_metadata or RunMetadata()
        # Options that say nothing are the hooks' to look at; the session runs faster without them.
        further = {} if plain else {"options": options, "run_metadata": run_metadata}
        outputs = session.run(merged, feed_dict=feed_dict, **further)
        for hook, (place, wanted) in zip(self._hooks, asked_for):
            found = self._left.seen(session, wanted, outputs[place], feed_dict) if place else None
            hook.after_run(context, SessionRunValues(found, options, run_metadata))
        if context._stop_requested:
            self._should_stop = True
        return outputs[0]

    def _without_asking(self, wanted: Any) -> Any:
        """`wanted` with the step's own read for that of hooks, see `_step_to_fetch`."""
        if wanted is self._step_read:
            return self._step_value
        if type(wanted) is dict and self._step_read is not None:
            return {key: self._step_value if value is self._step_read else value for key, value in wanted.items()}
        return wanted


def _step_to_fetch(session: Any) -> tuple[Any, Any]:
    """(the node by which hooks read the global step, the tensor to fetch in its place); (None, None) without them.

    That node asks at every run whether the variable is initialised, which takes longer than a small step.  Here it is known
    once.  The variable's own read, made with it, has the value from before the run's training operation, as hooks expect.
    """
    graph = getattr(session, "graph", None)
    reads = [] if graph is None else graph.get_collection(GLOBAL_STEP_READ_KEY)
    step = get_global_step(graph) if len(reads) == 1 else None
    if not isinstance(step, Variable):
        return None, None
    try:
        session.run(step._snapshot)
    except errors.FailedPreconditionError:      # a creator of the program's own may leave it uninitialised
        return None, None
    return reads[0], step._snapshot


def _joined(feeds: dict, more: dict, message: str) -> dict:
    twice = [tensor for tensor in more if tensor in feeds]
    if twice:
        raise RuntimeError(f"{message} Conflict(s): {twice}")
    return {**feeds, **more}


def _merge_run_options(options: Any, more: Any) -> None:
    """Makes `options` ask for all that either asks for."""
    for field in ("trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs",
                  "report_tensor_allocations_upon_oom"):
        setattr(options, field, max(getattr(options, field), getattr(more, field)))


class CoordinatedSession(WrappedSession):
    """Raises what the threads of a Coordinator report, and ends them when it is closed."""

    def __init__(self, sess: Any, coord: Any, stop_grace_period_secs: float = 120):
        super().__init__(sess)
        self._coord, self._stop_grace_period_secs = coord, stop_grace_period_secs

    def _check_stop(self) -> bool:
        if not self._coord.should_stop():
            return False
        self._coord.raise_requested_exception()
        return True

    def close(self) -> None:
        """Ends the threads, then closes the session.  Raises what a thread reported."""
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception as error:      # what join raises says more
                logs.debug("Ignored exception: %s", error)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs; an error of the run that a preemption reported by a thread has caused is raised as that."""
        try:
            return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
        except PREEMPTION_ERRORS:
            raise
        except Exception:
            try:
                self._coord.raise_requested_exception()
            except PREEMPTION_ERRORS:
                raise
            except Exception as reported:
                logs.debug("A thread had reported: %s", reported)
            raise


class RecoverableSession(WrappedSession):
    """Makes a new session, and runs there, when a run raises AbortedError or UnavailableError."""

    def __init__(self, sess_creator: Any):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except PREEMPTION_ERRORS as error:
                logs.info("An error was raised while a session was being created. This may be due to a preemption of a "
                          "connected worker or parameter server. A new session will be created. Error: %s", error)

    def _check_stop(self) -> bool:
        try:
            return self._sess._check_stop()
        except PREEMPTION_ERRORS as error:
            logs.info("An error was raised while considering whether the session is complete. This may be due to a preemption "
                      "in a connected worker or parameter server. The current session will be closed and a new session will "
                      "be created. Error: %s", error)
            self.close()
            self._sess = self._create_session()
            return False
        except Exception as error:          # should_stop answers; the next run, or close, raises
            logs.debug("A thread has reported: %s", error)
            return True

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs, again in a new session if need be."""
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
            except PREEMPTION_ERRORS as error:
                self._give_up(error)

    def run_step_fn(self, step_fn: Callable, raw_session: Any, run_with_hooks: Callable | None) -> Any:
        """``step_fn`` of a StepContext, called again with a new session if need be."""
        while True:
            try:
                if self._sess is None:
                    self._sess = self._create_session()
                    raw_session = self._sess_creator.tf_sess
                return self._sess.run_step_fn(step_fn, raw_session, self._sess.run)
            except PREEMPTION_ERRORS as error:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        logs.info("An error was raised. This may be due to a preemption in a connected worker or parameter server. The current "
                  "session will be closed and a new session will be created. Error: %s", error)
        self.close()
