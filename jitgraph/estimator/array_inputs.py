"""Input functions of arrays and tables in memory: ``tf.estimator.inputs.numpy_input_fn`` and ``pandas_input_fn``."""
from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.estimator.feeding import enqueued


def _check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for "
                         f"training); got {shuffle}")


def _batch(queue: Any, batch_size: int, num_epochs: int | None) -> list:
    """The columns of the next rows; the first is their number.  With an end of the input, the last batch may be smaller."""
    return queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)


def _by_key(arrays: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(arrays.items()))


def numpy_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1, shuffle: bool | None = None,
                   queue_capacity: int = 1000, num_threads: int = 1) -> Callable:
    """A function that gives batches of arrays: features like `x`, an array or {key: array}, and labels like `y` unless None.

    `num_epochs`: None is for ever.  Raises ValueError unless `shuffle` is a bool; the function itself ValueError for no
    arrays, lengths that differ, or a key that both have, TypeError for an `x` that is neither.
    """
    _check_shuffle(shuffle)

    def input_fn() -> Any:
        if not isinstance(x, (dict, np.ndarray)):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        if isinstance(x, np.ndarray) and not x.size or not isinstance(x, np.ndarray) and not x:
            raise ValueError("x cannot be an empty dict" if isinstance(x, dict) else "x cannot be an empty array")
        features = _by_key(x) if isinstance(x, dict) else {"__direct_np_input__": x}
        labels = _labels(features, y)
        _check_lengths(features, labels, y)
        queue = enqueued({**features, **labels}, queue_capacity, shuffle=bool(shuffle), num_threads=num_threads,
                         enqueue_size=batch_size, num_epochs=num_epochs)
        batch = _batch(queue, batch_size, num_epochs)[1:]
        found = dict(zip([*features, *labels], batch))
        given = {key: found[key] for key in features} if isinstance(x, dict) else batch[0]
        if y is None:
            return given
        return given, ({key: found[key] for key in labels} if isinstance(y, dict) else batch[-1])

    return input_fn


def _labels(features: dict[str, Any], y: Any) -> dict[str, Any]:
    if y is None:
        return {}
    if not isinstance(y, dict):
        key = "__target_key__"
        while key in features:
            key += "_n"
        return {key: y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    both = set(features) & set(y)
    if both:
        raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
    return _by_key(y)


def _check_lengths(features: dict[str, Any], labels: dict[str, Any], y: Any) -> None:
    if len({array.shape[0] for array in [*features.values(), *labels.values()]}) == 1:
        return
    of_x = {key: array.shape for key, array in features.items()}
    of_y = None if y is None else {key: array.shape for key, array in labels.items()} if isinstance(y, dict) else y.shape
    raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
                     f"Shapes in x: {of_x}\nShapes in y: {of_y}\n")


def pandas_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1, shuffle: bool | None = None,
                    queue_capacity: int | None = 1000, num_threads: int = 1, target_column: str = "target") -> Callable:
    """A function that gives batches of a DataFrame `x`: {column: vector}, and labels of a Series or DataFrame `y`.

    Raises ValueError unless `shuffle` is a bool, if `x` has a column `target_column`, or if the indices differ, TypeError if
    that is no string.
    """
    _check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    x = x.copy()
    targets: dict[str, str] = {}                        # column of y -> its column in x
    if y is not None:
        if target_column in x:
            raise ValueError(f"Cannot use name {target_column} for target column: DataFrame already has a column with that name: "
                             f"{x.columns}")
        if not np.array_equal(x.index, y.index):
            raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n")
        if hasattr(y, "columns"):
            targets = {column: f"{column}_{uuid.uuid4()}" if column in x else column for column in y.columns}
            x[list(targets.values())] = y
        else:
            x[target_column] = y
    if queue_capacity is None:
        queue_capacity = 4 * len(x) if shuffle else len(x)
    capacity = queue_capacity

    def input_fn() -> Any:
        queue = enqueued(x, capacity, shuffle=bool(shuffle), min_after_dequeue=max(capacity / 4, 1), num_threads=num_threads,
                         enqueue_size=batch_size, num_epochs=num_epochs)
        batch = _batch(queue, batch_size, num_epochs)
        features = dict(zip(list(x.columns), batch[1:]))
        if y is None:
            return features
        if targets:
            return features, {column: features.pop(own) for column, own in targets.items()}
        label = features.pop(target_column)
        return features, label

    return input_fn
