"""Batches of examples in files, by queues: ``tf.contrib.learn.read_batch_examples``, ``read_batch_features`` and their kin."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.facade.names import resolve
from jitgraph.filesystem import gfile
from jitgraph.graph import dtypes, errors
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.files.parsing import parse_example
from jitgraph.summary.summaries import scalar

_KEY = "__key__"
_INSTEAD = deprecated(None, "Use tf.data.")


def _file_names(file_pattern: Any, randomize_input: bool) -> list[str]:
    if isinstance(file_pattern, list) and not file_pattern:
        raise ValueError("No files given to dequeue_examples.")
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    found = [name for pattern in patterns for name in gfile.Glob(pattern)]
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found if randomize_input else sorted(found)


def _examples(queue: Any, reader: Any, num_threads: int, read_batch_size: int, parse_fn: Any) -> list:
    found: list[Any] = []
    with name_scope("read"):
        for _ in range(num_threads):
            keys, examples = reader().read_up_to(queue, read_batch_size) if read_batch_size > 1 else reader().read(queue)
            parsed = parse_fn(examples) if parse_fn else examples
            if isinstance(parsed, dict):
                parsed[_KEY] = keys
                found.append(parsed)
            else:
                found.append((keys, parsed))
    return found


def _check(batch_size: Any, num_epochs: Any, queue_capacity: Any, num_threads: Any, read_batch_size: Any) -> None:
    if not queue_capacity or queue_capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {queue_capacity}.")
    if batch_size is None or (not isinstance(batch_size, Tensor) and not 0 < batch_size < queue_capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {queue_capacity}.")
    if read_batch_size is None or (not isinstance(read_batch_size, Tensor) and read_batch_size <= 0):
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if not num_threads or num_threads <= 0:
        raise ValueError(f"Invalid num_threads {num_threads}.")
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"Invalid num_epochs {num_epochs}.")


@_INSTEAD
def read_keyed_batch_examples(file_pattern: Any, batch_size: Any, reader: Any, randomize_input: bool = True,
                              num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1,
                              read_batch_size: int = 1, parse_fn: Any = None, name: str | None = None,
                              seed: int | None = None) -> tuple[Any, Any]:
    """(keys, batch): examples that `reader`, a class such as ``tf.TFRecordReader``, reads from files.

    `parse_fn` makes something else of them, `num_epochs` ends them.  Raises ValueError if no file matches, and for sizes below 1
    or a batch that does not fit into the queue.
    """
    names = _file_names(file_pattern, randomize_input)
    _check(batch_size, num_epochs, queue_capacity, num_threads, read_batch_size)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with name_scope("file_name_queue") as queue_scope:
            queue = resolve("train.string_input_producer")(constant(names, name="input"), shuffle=randomize_input,
                                                           num_epochs=num_epochs, name=queue_scope, seed=seed)
        examples = _examples(queue, reader, num_threads, read_batch_size, parse_fn)
        given = dict(capacity=queue_capacity, enqueue_many=read_batch_size > 1, name=scope,
                     allow_smaller_final_batch=num_epochs is not None)
        if randomize_input:
            unknown = isinstance(batch_size, Tensor)
            least = int(queue_capacity * 0.4) if unknown else max(queue_capacity - 3 * batch_size, batch_size)
            found = resolve("train.shuffle_batch_join")(examples, batch_size, min_after_dequeue=least, seed=seed, **given)
        else:
            found = resolve("train.batch_join")(examples, batch_size, **given)
        return (found.pop(_KEY), found) if isinstance(found, dict) else found


@_INSTEAD
def read_batch_examples(file_pattern: Any, batch_size: Any, reader: Any, randomize_input: bool = True,
                        num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1, read_batch_size: int = 1,
                        parse_fn: Any = None, name: str | None = None, seed: int | None = None) -> Any:
    """``read_keyed_batch_examples`` without the keys."""
    return read_keyed_batch_examples(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads,
                                     read_batch_size, parse_fn, name, seed)[1]


@_INSTEAD
def queue_parsed_features(parsed_features: dict[str, Any], keys: Any = None, feature_queue_capacity: int = 100,
                          num_enqueue_threads: int = 2, name: str | None = None) -> tuple[Any, dict[str, Any]]:
    """(keys, features) out of a queue that threads fill: parsing goes on while the model runs."""
    with name_scope(name, "queue_parsed_features", [*parsed_features.values(), *([] if keys is None else [keys])]):
        order, tensors = sorted(parsed_features), []
        for key in order:
            value = parsed_features[key]
            tensors += [value.indices, value.values, value.dense_shape] if isinstance(value, SparseTensor) else [value]
        tensors += [] if keys is None else [keys]
        queue = resolve("FIFOQueue")(feature_queue_capacity, [tensor.dtype for tensor in tensors])
        scalar(f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full",
               cast(queue.size(), dtypes.float32) * (1.0 / feature_queue_capacity))
        runner = resolve("train.QueueRunner")(queue, [queue.enqueue(tensors) for _ in range(num_enqueue_threads)],
                                              queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError))
        resolve("train.add_queue_runner")(runner)
        out = queue.dequeue()
        out = out if isinstance(out, (list, tuple)) else [out]
        for mine, theirs in zip(out, tensors):
            mine.set_shape(theirs.get_shape())
        rest, found = list(out), {}
        for key in order:
            if isinstance(parsed_features[key], SparseTensor):
                found[key] = SparseTensor(rest.pop(0), rest.pop(0), rest.pop(0))
            else:
                found[key] = rest.pop(0)
        return (None if keys is None else rest.pop(0)), found


@_INSTEAD
def read_keyed_batch_features(file_pattern: Any, batch_size: Any, features: dict[str, Any], reader: Any,
                              randomize_input: bool = True, num_epochs: int | None = None, queue_capacity: int = 10000,
                              reader_num_threads: int = 1, feature_queue_capacity: int = 100, num_enqueue_threads: int = 2,
                              parse_fn: Any = None, name: str | None = None,
                              read_batch_size: int | None = None) -> tuple[Any, dict[str, Any]]:
    """(keys, {name: tensor}) of serialized ``tf.train.Example``s in files, parsed by `features`."""
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern, batch_size, reader, randomize_input=randomize_input, num_epochs=num_epochs, parse_fn=parse_fn,
            queue_capacity=queue_capacity, num_threads=reader_num_threads, name=scope,
            read_batch_size=batch_size if read_batch_size is None else read_batch_size)
        return queue_parsed_features(parse_example(examples, features), keys=keys, feature_queue_capacity=feature_queue_capacity,
                                     num_enqueue_threads=num_enqueue_threads, name=scope)


@_INSTEAD
def read_batch_features(file_pattern: Any, batch_size: Any, features: dict[str, Any], reader: Any, randomize_input: bool = True,
                        num_epochs: int | None = None, queue_capacity: int = 10000, feature_queue_capacity: int = 100,
                        reader_num_threads: int = 1, num_enqueue_threads: int = 2, parse_fn: Any = None, name: str | None = None,
                        read_batch_size: int | None = None) -> dict[str, Any]:
    """``read_keyed_batch_features`` without the keys."""
    return read_keyed_batch_features(file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
                                     reader_num_threads, feature_queue_capacity, num_enqueue_threads, parse_fn, name,
                                     read_batch_size)[1]


@_INSTEAD
def read_batch_record_features(file_pattern: Any, batch_size: Any, features: dict[str, Any], randomize_input: bool = True,
                               num_epochs: int | None = None, queue_capacity: int = 10000, reader_num_threads: int = 1,
                               name: str = "dequeue_record_examples") -> dict[str, Any]:
    """``read_batch_features`` of TFRecord files."""
    return read_batch_features(file_pattern, batch_size, features, resolve("TFRecordReader"), randomize_input, num_epochs,
                               queue_capacity, reader_num_threads=reader_num_threads, name=name)


def read_keyed_batch_examples_shared_queue(file_pattern: Any, batch_size: Any, reader: Any, randomize_input: bool = True,
                                           num_epochs: int | None = None, queue_capacity: int = 10000, num_threads: int = 1,
                                           read_batch_size: int = 1, parse_fn: Any = None, name: str | None = None,
                                           seed: int | None = None) -> tuple[Any, Any]:
    """As ``read_keyed_batch_examples``: the queue of names that workers would share is that of the one program."""
    return read_keyed_batch_examples(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, num_threads,
                                     read_batch_size, parse_fn, name, seed)


def read_keyed_batch_features_shared_queue(file_pattern: Any, batch_size: Any, features: dict[str, Any], reader: Any,
                                           randomize_input: bool = True, num_epochs: int | None = None, queue_capacity: int = 10000,
                                           reader_num_threads: int = 1, feature_queue_capacity: int = 100,
                                           num_queue_runners: int = 2, parse_fn: Any = None,
                                           name: str | None = None) -> tuple[Any, dict[str, Any]]:
    """As ``read_keyed_batch_features``: the queue of names that workers would share is that of the one program."""
    return read_keyed_batch_features(file_pattern, batch_size, features, reader, randomize_input, num_epochs, queue_capacity,
                                     reader_num_threads, feature_queue_capacity, num_queue_runners, parse_fn, name)
