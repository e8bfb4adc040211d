"""Records read by several readers into one queue, and items fetched ahead."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from jitgraph.filesystem.gfile import Glob
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.dtypes import float32, string
from jitgraph.graph.scopes import get_collection, name_scope
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.resources.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from jitgraph.resources.readers import ReaderBase
from jitgraph.summary.summaries import scalar
from jitgraph.train.coordinator import Coordinator
from jitgraph.train.input_producers import string_input_producer
from jitgraph.train.queue_runner import QueueRunner, add_queue_runner


class ParallelReader(ReaderBase):
    """`num_readers` readers of `reader_class` that fill `common_queue` with (key, value), both strings.

    Raises TypeError for a queue of other dtypes.
    """

    def __init__(self, reader_class: Any, common_queue: Any, num_readers: int = 4, reader_kwargs: dict | None = None):
        if len(common_queue.dtypes) != 2 or any(not one.is_compatible_with(dtypes.string) for one in common_queue.dtypes):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """The number of readers."""
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        """The queue that the readers fill."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """(key, value) of a record of the files in `queue`; the readers run in threads of a QueueRunner."""
        self._fill_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """(keys, values) of at most `num_records` records."""
        self._fill_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _fill_from(self, queue: Any) -> None:
        enqueues = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records all readers read."""
        return add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many files all readers read to the end."""
        return add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(data_sources: Any, reader_class: Any, num_epochs: int | None = None, num_readers: int = 4,
                  reader_kwargs: dict | None = None, shuffle: bool = True, dtypes: Any = None, capacity: int = 256,
                  min_after_dequeue: int = 128, seed: int | None = None, scope: str | None = None) -> Any:
    """(key, value) of a record of `data_sources` (see ``get_data_files``), read by several readers.

    `shuffle`: whether files and records come in any order, from a queue that keeps `min_after_dequeue` of `capacity` records.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [string, string]
        if shuffle:
            queue: Any = RandomShuffleQueue(capacity=capacity, min_after_dequeue=min_after_dequeue, dtypes=dtypes, seed=seed,
                                            name="common_queue")
        else:
            queue = FIFOQueue(capacity=capacity, dtypes=dtypes, name="common_queue")
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), float32) * (1.0 / capacity))
        return ParallelReader(reader_class, queue, num_readers=num_readers, reader_kwargs=reader_kwargs).read(names)


def single_pass_read(data_sources: Any, reader_class: Any, reader_kwargs: dict | None = None, scope: str | None = None) -> Any:
    """(key, value) of a record of `data_sources`, each read once and in order."""
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


def get_data_files(data_sources: Any) -> list:
    """The files of a path, a pattern with ``*``, ``?`` or ``[``, or a list of these.  Raises ValueError if there are none."""
    if isinstance(data_sources, (list, tuple)):
        files = [name for source in data_sources for name in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        files = Glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files


def prefetch_queue(tensors: Any, capacity: int = 8, num_threads: int = 1, dynamic_pad: bool = False,
                   shared_name: str | None = None, name: str | None = None) -> Any:
    """A queue that threads fill with `tensors`, a list or dictionary, ahead of what is taken from it."""
    names = sorted(tensors) if isinstance(tensors, dict) else None
    listed = [tensors[key] for key in names] if names is not None else tensors
    with name_scope(name, "prefetch_queue", listed):
        queue = (PaddingFIFOQueue if dynamic_pad else FIFOQueue)(
            capacity=capacity, dtypes=[one.dtype for one in listed], shapes=[one.shape for one in listed], names=names,
            shared_name=shared_name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), float32) * (1.0 / capacity))
        return queue


class NestedQueueRunnerError(Exception):
    """``QueueRunners`` within ``QueueRunners``."""


_RUNNING = threading.Lock()


@contextlib.contextmanager
def QueueRunners(session: Any) -> Iterator[None]:
    """A block in which the queue runners of the graph run; they are stopped at its end.  Raises NestedQueueRunnerError in one."""
    if not _RUNNING.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    coordinator = Coordinator()
    threads = [thread for runner in get_collection(GraphKeys.QUEUE_RUNNERS)
               for thread in runner.create_threads(session, coord=coordinator, daemon=True, start=True)]
    try:
        yield
    finally:
        coordinator.request_stop()
        try:
            coordinator.join(threads, stop_grace_period_secs=120)
        except RuntimeError:
            session.close()
        _RUNNING.release()
