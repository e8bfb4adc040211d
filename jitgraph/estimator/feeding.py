"""Data in memory, fed batch by batch into a queue by threads of their own."""
from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.graph import dtypes, errors
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.resources.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from jitgraph.summary.summaries import scalar
from jitgraph.train.queue_runner import QueueRunner, add_queue_runner

GO = 256 << 10         # bytes of the batches that a thread puts into a queue in one go
_TEXTS = 1 << 16        # texts that stand as objects of their own at a time while they are encoded
_ENDED = (errors.OutOfRangeError, errors.CancelledError)


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose threads feed each run with what a function gives: the values of the placeholders, in order."""

    def __init__(self, queue: Any, enqueue_ops: list, placeholders: list, feed_fns: list[Callable]):
        super().__init__(queue, enqueue_ops, queue_closed_exception_types=_ENDED)
        self._fed = {op: fed for op, *fed in zip(enqueue_ops, placeholders, feed_fns)}

    def _enqueuing(self, sess: Any, enqueue_op: Any) -> Callable:
        placeholders, values = self._fed[enqueue_op]
        run = sess.make_callable(enqueue_op, feed_list=placeholders)
        return lambda: run(*values())


class _Epochs:
    """The rows of successive batches, round and round, from a first one on; OutOfRangeError after so many epochs."""

    def __init__(self, length: int, batch_size: int, random_start: bool, seed: int | None, num_epochs: int | None):
        self._length, self._batch_size, self._num_epochs = length, batch_size, num_epochs
        self._row = random.Random(seed).randrange(length) if random_start else 0
        self._left = None if num_epochs is None else num_epochs * length

    def next(self) -> np.ndarray:
        """The rows of the next batch; the last one may be shorter."""
        count = self._batch_size
        if self._left is not None:
            if self._left <= 0:
                raise errors.OutOfRangeError(None, None, f"Already emitted {self._num_epochs} epochs.")
            count = min(count, self._left)
            self._left -= count
        rows = np.arange(self._row, self._row + count) % self._length
        self._row = (self._row + count) % self._length
        return rows


def _of_arrays(index: np.ndarray | None, arrays: list[np.ndarray], epochs: _Epochs) -> Callable[[], list]:
    if any(len(array) != epochs._length for array in arrays):
        raise ValueError("Array lengths must match.")

    def values() -> list:
        rows = epochs.next()
        return [rows if index is None else index[rows], *(array[rows] for array in arrays)]

    return values


def _texts_as_bytes(array: np.ndarray) -> np.ndarray:
    """The array, str in it as the bytes that a queue holds: encoded once, not in each epoch, equal ones shared."""
    if array.dtype.kind not in "UO":
        return array
    known: dict[str, bytes] = {}
    flat, found = array.reshape(-1), np.empty(array.size, object)
    for begin in range(0, array.size, _TEXTS):
        texts = flat[begin:begin + _TEXTS].tolist()
        if set(map(type, texts)) != {str}:
            return array            # bytes already, or what the queue refuses
        known.update({text: text.encode() for text in set(texts).difference(known)})
        found[begin:begin + _TEXTS] = [known[text] for text in texts]
    return found.reshape(array.shape)


class _OfGenerator:
    """Batches of the dicts that a generator function gives, round and round; short ones are padded, if asked."""

    def __init__(self, generator: Callable, keys: list, batch_size: int, num_epochs: int | None, pad_value: Any):
        self._generator, self._keys, self._batch_size = generator, keys, batch_size
        self._num_epochs, self._pad_value = num_epochs, pad_value
        self._epoch = 0
        self._iterator = generator()

    def __call__(self) -> list:
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(None, None, f"Already emitted {self._num_epochs} epochs.")
        columns: list[list] = [[] for _ in self._keys]
        size = 0
        while size < self._batch_size:
            row = self._next_row()
            for column, key in zip(columns, self._keys):
                if key not in row:
                    raise KeyError(f"key mismatch between dicts emitted by GenFun Expected {self._keys} keys; got {row.keys()}")
                column.append(row[key])
                size += 1               # as TensorFlow counts: values, not examples
        return [np.asarray(column if self._pad_value is None else padded(column, self._pad_value)) for column in columns]

    def _next_row(self) -> dict:
        try:
            return next(self._iterator)
        except StopIteration:
            self._epoch += 1
            self._iterator = self._generator()
            return next(self._iterator)


def padded(arrays: list[np.ndarray], fill: Any = 0) -> Any:
    """Arrays that differ in their last size as one, filled up.  Raises ValueError if they differ elsewhere."""
    shapes = [array.shape[:-1] if array.ndim else None for array in arrays]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("Array shapes must match.")
    lengths = [array.shape[-1] if array.ndim else 0 for array in arrays]
    if len(set(lengths)) == 1:
        return arrays
    result = np.full([len(arrays), *(shapes[0] or ()), max(lengths)], fill, arrays[0].dtype)
    for row, array, length in zip(result, arrays, lengths):
        row[..., :length] = array
    return result


def _typed(values: list) -> tuple[list, list]:
    return [dtypes.as_dtype(value.dtype) for value in values], [value.shape for value in values]


def enqueued(data: Any, capacity: int, shuffle: bool = False, min_after_dequeue: float | None = None, num_threads: int = 1,
             seed: int | None = None, name: str = "enqueue_input", enqueue_size: int = 1, num_epochs: int | None = None,
             pad_value: Any = None) -> Any:
    """A queue of the rows of an array, a dict of arrays or a DataFrame, each after its number, or of a generator's dicts.

    `shuffle`: whether it gives them in random order, at least `min_after_dequeue` waiting.  `num_epochs` is for each of the
    threads.  Raises TypeError for other data, NotImplementedError for padding of what is no generator, or shuffled.
    """
    if pad_value is not None and (shuffle or not callable(data)):
        raise NotImplementedError("padding and shuffling data at the same time is not implemented" if callable(data)
                                  else "padding is only available with generator usage")
    _warn_of_threads(shuffle, num_threads, num_epochs)
    with name_scope(name):
        waiting = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue) if shuffle else 0
        types, shapes, make = _source(data, enqueue_size, (capacity - waiting) // 2, shuffle, num_epochs, pad_value)
        queue: Any
        if shuffle:
            queue = RandomShuffleQueue(capacity, waiting, dtypes=types, shapes=shapes, seed=seed)
        elif pad_value is not None:
            queue = PaddingFIFOQueue(capacity, dtypes=types, shapes=[(*s[:-1], None) if s else s for s in shapes])
        else:
            queue = FIFOQueue(capacity, dtypes=types, shapes=shapes)
        fed: list[list] = []
        operations = []
        for _ in range(num_threads):
            fed.append([placeholder(kind) for kind in types])
            operations.append(queue.enqueue_many(fed[-1]))
        feeds = [make(None if seed is None else (number + 1) * seed) for number in range(num_threads)]
        add_queue_runner(FeedingQueueRunner(queue, operations, fed, feeds))
        full = cast(maximum(0, queue.size() - waiting), dtypes.float32) * (1.0 / (capacity - waiting))
        scalar(f"queue/{queue.name}fraction_over_{waiting}_of_{capacity - waiting}_full", full)
        return queue


def _source(data: Any, batch_size: int, most: int, random_start: bool, num_epochs: int | None, pad_value: Any) -> tuple:
    """(dtypes, shapes, a function of a seed that gives a function of nothing that gives the values of a batch; of data in memory
    those of several, up to `most` rows: to put a batch into a queue takes as long as many more rows)"""
    if callable(data):
        first = next(data())
        keys = sorted(first)
        types, shapes = _typed([first[key] for key in keys])
        return types, shapes, lambda seed: _OfGenerator(data, keys, batch_size, num_epochs, pad_value)

    def epochs(seed: int | None, length: int, row_bytes: int) -> _Epochs:
        batches = min(most, GO // max(row_bytes, 1)) // batch_size
        return _Epochs(length, max(batches, 1) * batch_size, random_start, seed, num_epochs)

    index, arrays = _columns(data)
    types, shapes = _typed(arrays)
    first, shape = (dtypes.int64, ()) if index is None else (dtypes.as_dtype(index.dtype), index.shape[1:])
    index, arrays = None if index is None else _texts_as_bytes(index), [_texts_as_bytes(array) for array in arrays]
    row_bytes = sum(array.nbytes // max(len(array), 1) for array in arrays)
    return ([first, *types], [shape, *(shape[1:] for shape in shapes)],
            lambda seed: _of_arrays(index, arrays, epochs(seed, len(arrays[0]), row_bytes)))


def _columns(data: Any) -> tuple[np.ndarray | None, list[np.ndarray]]:
    """The index of a DataFrame, None for other data, and the columns.  Raises TypeError for what has none."""
    if isinstance(data, np.ndarray):
        return None, [data]
    if isinstance(data, dict):
        return None, list(data.values())
    if hasattr(data, "iloc"):
        return data.index.to_numpy(), [data.iloc[:, k].to_numpy() for k in range(data.shape[1])]
    raise TypeError("data must be either a numpy array or pandas DataFrame if pandas is installed; got "
                    f"{type(data).__name__}")


def _warn_of_threads(shuffle: bool, num_threads: int, num_epochs: int | None) -> None:
    if num_threads <= 1:
        return
    if num_epochs is not None:
        logs.warning("enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per thread, so this "
                     "will produce more epochs than you probably intend. If you want to limit epochs, use one thread.")
    if shuffle and num_epochs is not None:
        logs.warning("enqueue_data was called with shuffle=True, num_threads > 1, and num_epochs. This will create multiple "
                     "threads, all reading the array/dataframe in order adding to the same shuffling queue; the results will "
                     "likely not be sufficiently shuffled.")
    if not shuffle:
        logs.warning("enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple threads, all "
                     "reading the array/dataframe in order. If you want examples read in order, use one thread; if you want "
                     "multiple threads, enable shuffling.")
