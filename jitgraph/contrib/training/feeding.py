"""``FeedingQueueRunner``: a QueueRunner whose threads feed what functions give."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import errors
from jitgraph.train.queue_runner import QueueRunner


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner each of whose threads asks one of `feed_fns` for the feed_dict of every run.

    The other arguments are those of ``tf.train.QueueRunner``.  Raises ValueError unless there is a function (or None) for each of
    `enqueue_ops`.
    """

    def __init__(self, queue: Any = None, enqueue_ops: Any = None, close_op: Any = None, cancel_op: Any = None,
                 feed_fns: list[Callable | None] | None = None, queue_closed_exception_types: tuple | None = None):
        super().__init__(queue, enqueue_ops, close_op, cancel_op,
                         queue_closed_exception_types or (errors.OutOfRangeError, errors.CancelledError))
        if feed_fns is None:
            feed_fns = [None] * len(enqueue_ops)
        if len(feed_fns) != len(enqueue_ops):
            raise ValueError("If feed_fns is not None, it must have the same length as enqueue_ops.")
        self._feeds = dict(zip(enqueue_ops, feed_fns))

    def _enqueuing(self, sess: Any, enqueue_op: Any) -> Callable:
        feeds = self._feeds[enqueue_op]
        return lambda: sess.run(enqueue_op, feed_dict=None if feeds is None else feeds())

    def to_proto(self) -> Any:        # type: ignore[override]
        """Raises NotImplementedError: functions of Python cannot be written."""
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")
