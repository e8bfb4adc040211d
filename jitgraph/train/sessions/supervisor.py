"""``tf.train.Supervisor``: the older way to train with checkpoints and summaries, by threads instead of hooks."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.app import logs
from jitgraph.app.step_line import LINE
from jitgraph.formats.message_files import write_graph
from jitgraph.formats.meta_graph import create_meta_graph_def
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.protobuf.messages import SessionLog
from jitgraph.train.coordinator import Coordinator, LooperThread
from jitgraph.train.hooks.writers import merged_summaries, new_writer
from jitgraph.train.sessions import supervisor_parts as parts
from jitgraph.train.sessions.services import SVStepCounterThread, SVSummaryThread, SVTimerCheckpointThread
from jitgraph.train.sessions.session_manager import SessionManager
from jitgraph.variables.global_steps import global_step as value_of_step
from jitgraph.variables.variable_collections import global_variables_initializer, report_uninitialized_variables


class Supervisor:
    """Prepares a session, restores it, and saves checkpoints and summaries beside the training loop.

    ::

        sv = tf.train.Supervisor(logdir="/tmp/run")
        with sv.managed_session() as sess:
            while not sv.should_stop():
                sess.run(train_op)

    What has the default USE_DEFAULT is found in the collections of the graph, or made; None does without it.

    Args:
      graph: the graph; the default graph if None.  It is finalized.
      ready_op, ready_for_local_init_op: see ``SessionManager``.
      is_chief: the chief initialises, restores and saves; others wait for it.
      init_op, init_feed_dict, init_fn, local_init_op, local_init_run_options: see ``SessionManager``.
      logdir: the folder of checkpoints and events.
      summary_op: all summaries.
      saver: a ``tf.train.Saver``.
      global_step: the tensor of the step.
      save_summaries_secs, save_model_secs: seconds between two; 0 for never.
      recovery_wait_secs: seconds between two looks at a session that is not ready.
      stop_grace_secs: how long threads may take to end.
      checkpoint_basename: the files are called CHECKPOINT_BASENAME-STEP.
      session_manager: a SessionManager.
      summary_writer: a ``tf.summary.FileWriter``; one on `logdir` by default.
    Raises ValueError, if not the chief, for variables without a device.
    """

    USE_DEFAULT = 0

    def __init__(self, graph: Any = None, ready_op: Any = USE_DEFAULT, ready_for_local_init_op: Any = USE_DEFAULT,
                 is_chief: bool = True, init_op: Any = USE_DEFAULT, init_feed_dict: dict | None = None,
                 local_init_op: Any = USE_DEFAULT, logdir: Any = None, summary_op: Any = USE_DEFAULT,
                 saver: Any = USE_DEFAULT, global_step: Any = USE_DEFAULT, save_summaries_secs: float = 120,
                 save_model_secs: float = 600, recovery_wait_secs: float = 30, stop_grace_secs: float = 120,
                 checkpoint_basename: str = "model.ckpt", session_manager: Any = None,
                 summary_writer: Any = USE_DEFAULT, init_fn: Callable | None = None, local_init_run_options: Any = None):
        self._graph = get_default_graph() if graph is None else graph
        with self._graph.as_default():
            self._ready_op = _given_or(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = _given_or(ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, _none)
            self._init_op = _given_or(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = _given_or(local_init_op, GraphKeys.LOCAL_INIT_OP, parts.local_init_op)
            self._saver = _given_or(saver, GraphKeys.SAVERS, parts.saver_of_all)
            self._summary_op = _given_or(summary_op, GraphKeys.SUMMARY_OP, merged_summaries)
            self._global_step = _given_or(global_step, GraphKeys.GLOBAL_STEP, parts.global_step_by_name)
            self._meta_graph_def = create_meta_graph_def(
                graph_def=self._graph.as_graph_def(add_shapes=True), graph=self._graph,
                saver_def=self._saver.saver_def if self._saver else None)
        self._init_feed_dict, self._init_fn = init_feed_dict, init_fn
        self._is_chief, self._coord, self._stop_grace_secs = is_chief, Coordinator(), stop_grace_secs
        self._graph_added_to_summary = False
        self._logdir = logdir if is_chief else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(logdir, checkpoint_basename) if is_chief and logdir else None
        self._summary_writer = None
        if is_chief and summary_writer is not Supervisor.USE_DEFAULT:
            self._summary_writer = summary_writer
        elif is_chief and logdir:
            self._summary_writer = new_writer(logdir)
        self._session_manager = session_manager if session_manager is not None else SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op, graph=self._graph,
            recovery_wait_secs=recovery_wait_secs, local_init_run_options=local_init_run_options)
        self._verify_setup()
        self._graph.finalize()

    def _verify_setup(self) -> None:
        if self._is_chief:
            return
        for op in self._graph.get_operations():
            if op.opdef is not None and op.opdef.variable == "reference" and not op.device:
                raise ValueError(f"When using replicas, all Variables must have their device set: {op}")

    # -- what it holds

    @property
    def is_chief(self) -> bool:
        """Whether this is the chief."""
        return self._is_chief

    @property
    def session_manager(self) -> Any:
        """The SessionManager."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The Coordinator of its threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """Initialises the variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> dict | None:
        """What is fed to ``init_op``."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """The names of what is not initialised."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The names of what must be initialised before local variables are."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        """The FileWriter, or None."""
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        """All summaries, or None."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """Seconds between two summaries."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """The tensor of the step, or None."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """The Saver, or None."""
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        """Seconds between two checkpoints."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The prefix of checkpoints."""
        return self._save_path

    # -- sessions

    @contextlib.contextmanager
    def managed_session(self, master: str = "", config: Any = None, start_standard_services: bool = True,
                        close_summary_writer: bool = True) -> Iterator[Any]:
        """A block with a session that is ready; at its end the threads are stopped and the session is closed.

        An error in the block ends the threads and is raised; OutOfRangeError ends the block in an orderly way.
        """
        session = None
        try:
            session = self.prepare_or_wait_for_session(master=master, config=config,
                                                       start_standard_services=start_standard_services)
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                LINE.finish()
                with contextlib.suppress(Exception):
                    session.close()     # type: ignore[union-attr]

    def prepare_or_wait_for_session(self, master: str = "", config: Any = None, wait_for_checkpoint: bool = False,
                                    max_wait_secs: float = 7200, start_standard_services: bool = True) -> Any:
        """A session that is restored or initialised, or, if this is not the chief, waited for; starts the threads."""
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            session = self._session_manager.prepare_session(
                master, init_op=self.init_op, saver=self.saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            self._write_graph()
            if start_standard_services:
                logs.info("Starting standard services.")
                self.start_standard_services(session)
        else:
            session = self._session_manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if start_standard_services:
            logs.info("Starting queue runners.")
            self.start_queue_runners(session)
        return session

    def _write_graph(self) -> None:
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess: Any) -> list | None:
        """Starts the threads that save checkpoints and summaries; returns them.

        None without a `logdir`.  Raises RuntimeError if this is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can write "
                               "events.")
        if not self._logdir:
            logs.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._summary_writer:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), value_of_step(sess, self._global_step))
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def start_queue_runners(self, sess: Any, queue_runners: Any = None) -> list:
        """Starts the threads of queue runners, those of the graph if None; returns them."""
        runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS) if queue_runners is None else queue_runners
        return [thread for runner in runners
                for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)]

    def loop(self, timer_interval_secs: float | None, target: Callable, args: Any = None, kwargs: Any = None) -> LooperThread:
        """A started thread that calls ``target(*args, **kwargs)`` every so many seconds."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    # -- the end

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Ends the threads and closes the writer.  Raises what a thread reported."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, stop_grace_period_secs=self._stop_grace_secs, ignore_live_threads=ignore_live_threads)
        finally:
            if close_summary_writer and self._summary_writer:
                self._summary_writer.add_session_log(SessionLog(status=SessionLog.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop; see ``Coordinator.request_stop``."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """A context that turns an exception inside into a request to stop."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Any, summary: Any, global_step: Any = None) -> None:
        """Writes a summary that the program has computed.  Raises RuntimeError without a writer."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = value_of_step(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _given_or(given: Any, key: str, make: Callable[[], Any]) -> Any:
    """What the caller gave; by default the first member of a collection, or what `make` makes."""
    return parts.first_or_made(key, make) if given is Supervisor.USE_DEFAULT else given


def _none() -> None:
    """Nothing is made where the collection is empty."""
