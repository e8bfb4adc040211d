"""Threads that fill queues: ``tf.train.QueueRunner`` and ``tf.train.start_queue_runners``."""
from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import errors
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scope_names import is_within, prepend_name_scope, strip_name_scope
from jitgraph.graph.stack import get_default_session
from jitgraph.resources.queue_host import patiently


class QueueRunner:
    """Enqueue operations of one queue, each run again and again by a thread of its own.

    `queue_closed_exception_types`: errors (a tuple of classes) with which an input ends in an orderly way
    (OutOfRangeError): after the last thread the queue is closed by `close_op`.  When a Coordinator stops, `cancel_op`
    closes it at once.  Raises ValueError without a queue or operations, TypeError for other exception types.
    """

    def __init__(self, queue: Any = None, enqueue_ops: Any = None, close_op: Any = None, cancel_op: Any = None,
                 queue_closed_exception_types: tuple | None = None, queue_runner_def: Any = None,
                 import_scope: str | None = None):
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_proto(queue_runner_def, import_scope)
        else:
            self._init_from_args(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        self._running: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[Exception] = []

    def _init_from_args(self, queue: Any, enqueue_ops: Any, close_op: Any, cancel_op: Any, closed: Any) -> None:
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        if closed is not None and (not isinstance(closed, tuple) or not closed or not all(
                isinstance(kind, type) and issubclass(kind, errors.OpError) for kind in closed)):
            raise TypeError("queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: "
                            f"{closed}")
        self._queue, self._enqueue_ops = queue, enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._closed_types = closed or (errors.OutOfRangeError,)

    def _init_from_proto(self, definition: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._queue = element(definition.queue_name)
        self._enqueue_ops = [element(name) for name in definition.enqueue_op_name]
        self._close_op, self._cancel_op = element(definition.close_op_name), element(definition.cancel_op_name)
        kinds = tuple(errors.exception_type_from_error_code(code) for code in definition.queue_closed_exception_types)
        self._closed_types = kinds or (errors.OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> Any:
        """The operations that the threads run."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """The operation that closes the queue at the end of the input."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """The operation that closes the queue when the Coordinator stops."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple:
        """The errors that mean the end of the input."""
        return self._closed_types

    @property
    def exceptions_raised(self) -> list[Exception]:
        """What threads without a Coordinator raised."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue's node."""
        return self._queue.name

    def create_threads(self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False) -> list:
        """The threads that fill the queue in the session `sess`, one per enqueue operation; [] while they run already.

        With a Coordinator they stop with it and report errors to it, and one more thread closes the queue when it
        stops.  `start` starts them; `daemon` lets the program end while they run.
        """
        with self._lock:
            if self._running.get(sess, 0) > 0:
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        threads = [threading.Thread(target=self._run, args=(sess, op, coord), daemon=daemon,
                                    name=f"QueueRunnerThread-{self.name}-{op.name}") for op in self._enqueue_ops]
        if coord is not None:
            threads.append(threading.Thread(target=self._close_on_stop, args=(sess, coord), daemon=daemon,
                                            name=f"QueueRunnerThread-{self.name}-close_on_stop"))
        for thread in threads:
            if coord is not None:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _run(self, sess: Any, enqueue_op: Any, coord: Any) -> None:
        ended = False
        try:
            enqueue = self._enqueuing(sess, enqueue_op)
            # under a time limit of runs, one that is told late that it is over might be too late
            with contextlib.nullcontext() if getattr(sess, "_timeout", 0) else patiently():
                while coord is None or not coord.should_stop():
                    try:
                        enqueue()
                    except self._closed_types:
                        ended = True
                        self._end(sess)
                        return
        except Exception as error:
            if coord is not None:
                coord.request_stop(error)
                return
            logs.error("Exception in QueueRunner: %s", error)
            with self._lock:
                self._exceptions_raised.append(error)
            raise
        finally:
            if not ended:
                with self._lock:
                    self._running[sess] -= 1

    def _enqueuing(self, sess: Any, enqueue_op: Any) -> Any:
        """A function that runs an enqueue operation."""
        return sess.make_callable(enqueue_op)

    def _end(self, sess: Any) -> None:
        """The input of one thread has ended; the last one closes the queue."""
        with self._lock:
            self._running[sess] -= 1
            last = self._running[sess] == 0
        if last:
            self._try(sess, self._close_op)

    def _close_on_stop(self, sess: Any, coord: Any) -> None:
        coord.wait_for_stop()
        self._try(sess, self._cancel_op)

    @staticmethod
    def _try(sess: Any, op: Any) -> None:
        try:
            sess.run(op)
        except Exception as error:          # the session may be closed, and so may the queue
            logs.debug("Ignored exception: %s", error)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The QueueRunnerDef; None if the queue is not in `export_scope`."""
        from jitgraph.protobuf.messages import QueueRunnerDef

        if not is_within(self.name, export_scope):
            return None
        kinds = [errors.error_code_from_exception_type(kind) for kind in self._closed_types]
        definition = QueueRunnerDef(queue_name=strip_name_scope(self.name, export_scope),
                                    close_op_name=strip_name_scope(self._close_op.name, export_scope),
                                    cancel_op_name=strip_name_scope(self._cancel_op.name, export_scope),
                                    queue_closed_exception_types=kinds)
        definition.enqueue_op_name.extend(strip_name_scope(op.name, export_scope) for op in self._enqueue_ops)
        return definition

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The QueueRunner that a QueueRunnerDef describes, its nodes being in the default graph already."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a QueueRunner to a collection of the default graph, for ``start_queue_runners``."""
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True,
                        collection: str = GraphKeys.QUEUE_RUNNERS) -> list:
    """Starts the threads of all QueueRunners of the session's graph; returns the threads.

    `sess` defaults to the default session; see ``QueueRunner.create_threads``.  A monitored session has started them itself.
    Raises ValueError without a session, TypeError for something else.
    """
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise ValueError("Cannot start queue runners: No default session is registered. Use `with "
                             "sess.as_default()` or pass an explicit session to tf.start_queue_runners(sess=sess)")
    if not all(hasattr(sess, part) for part in ("run", "graph")):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
        return []
    runners = sess.graph.get_collection(collection)
    if not runners:
        logs.warn("`tf.train.start_queue_runners()` was called when no queue runners were defined. You can safely "
                  "remove the call to this deprecated function.")
    with sess.graph.as_default():
        return [thread for runner in runners
                for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)]
