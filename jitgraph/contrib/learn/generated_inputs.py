"""``tf.contrib.learn.io.generator_input_fn``: dicts that a generator yields as input."""
from __future__ import annotations

from collections.abc import Callable, Container
from types import FunctionType, GeneratorType
from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.estimator.feeding import enqueued


@deprecated(None, "Please use tf.data.")
def generator_input_fn(x: Any, target_key: Any = None, batch_size: int = 128, num_epochs: int | None = 1, shuffle: bool = True,
                       queue_capacity: int = 1000, num_threads: int = 1, pad_value: Any = None) -> Callable:
    """An input function of the dicts {name: array of an example} that the generator function `x` yields, in batches.

    `target_key`: the names of labels, one or several; `pad_value` fills up arrays that are shorter.  Raises TypeError for what is
    no generator function of dicts, or no name, KeyError for a name that is not in the dicts.
    """
    if not isinstance(x, FunctionType):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not isinstance(generator, GeneratorType):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    first = next(generator)
    if not isinstance(first, dict):
        raise TypeError(f"x() must yield dict; got {type(first).__name__}")
    keys = sorted(first)
    targets = _checked_targets(target_key, keys)

    def input_fn() -> Any:
        queue = enqueued(x, queue_capacity, shuffle=shuffle, num_threads=num_threads, enqueue_size=batch_size,
                         num_epochs=num_epochs, pad_value=pad_value)
        found = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
        features = dict(zip(keys, found if isinstance(found, list) else [found]))
        if targets is None:
            return features
        labels = {key: features.pop(key) for key in targets}
        return features, labels if len(targets) > 1 else labels[targets[0]]

    return input_fn


def _checked_targets(given: Any, keys: list[str]) -> list | None:
    if given is None:
        return None
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Container):
        raise TypeError(f"target_key must be str or Container of str; got {type(given).__name__}")
    for item in given:                                      # type: ignore[attr-defined]
        if not isinstance(item, str):
            raise TypeError(f"target_key must be str or Container of str; got {type(item).__name__}")
        if item not in keys:
            raise KeyError(f"target_key not in yielded dict. Expected {keys} keys; got {item}")
    return list(given)                                      # type: ignore[call-overload]
