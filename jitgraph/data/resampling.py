"""``tf.data.experimental.rejection_resample``: other shares of classes, by leaving out elements at random.

An element of class i is accepted with probability (r_i - m) / (max r - m), where r_i is the share wanted over the share there
is and m the least of them; with probability m the next element is taken as it comes.  Then as little as possible is left out.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.control.conditionals import cond
from jitgraph.data.dataset import Dataset
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.ops.arrays.fill import fill, one_hot
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.checks.printing import Print
from jitgraph.ops.elementwise.arithmetic import truediv
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.reductions import reduce_max, reduce_min, reduce_sum

_ROWS, _SMOOTHING = 32, 10          # classes that an estimate is made of at a time; of each class, counted before the first


def resampled(dataset: Dataset, class_func: Callable, target_dist: Any, initial_dist: Any, seed: Any, sample: Callable,
              scan: Callable) -> Dataset:
    """See ``tf.data.experimental.rejection_resample``; `sample` and `scan` are the transformations of these names."""
    target = convert_to_tensor(target_dist, name="target_dist")
    classes = dataset.map(class_func)
    known = None
    if initial_dist is None:
        initial = _estimated(target, classes, scan)
        both = initial.map(lambda shares: _probabilities(shares, target))
        accepted, kept = both.map(lambda accept, _: accept), both.map(lambda _, keep: keep)
    else:
        shares = convert_to_tensor(initial_dist, name="initial_dist")
        accept, keep = _probabilities(shares, target)
        initial, accepted, kept = (Dataset.from_tensors(tensor).repeat() for tensor in (shares, accept, keep))
        values = constant_value(shares), constant_value(target)
        known = None if any(value is None for value in values) else np.min(values[1] / values[0])
    accepted = Dataset.zip((accepted, initial)).map(_told)
    chosen = Dataset.zip((classes, accepted, dataset)).map(lambda label, accept, data: (label, gather(accept, label), data))
    chosen = chosen.filter(lambda _, accept, __: random_uniform([], seed=seed) < accept)
    chosen = chosen.map(lambda label, _, data: (label, data)).prefetch(3)
    if known == 0:
        return chosen
    original = Dataset.zip((classes, dataset))
    if known == 1:
        return original
    return sample([original, chosen], weights=kept.map(lambda keep: [(keep, 1.0 - keep)]), seed=seed)


def _probabilities(initial: Any, target: Any) -> tuple:
    """Of accepting an element of each class, and of taking the next one as it comes."""
    ratio = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    largest, least = reduce_max(ratio), reduce_min(ratio)
    return (ratio - least) / (largest - least), least


def _told(accepted: Any, initial: Any) -> Any:
    """The probabilities; a line is printed where more than half of the elements are left out."""
    rejected = reduce_sum((1 - accepted) * initial)
    return cond(less(rejected, 0.5), lambda: accepted, lambda: Print(
        accepted, [rejected, initial, accepted], "Proportion of examples rejected by sampler is high: ", 10, 100))


def _estimated(target: Any, classes: Dataset, scan: Callable) -> Dataset:
    """The shares of the classes, as far as they have been seen, one for each element."""
    number = target.shape[0].value

    def step(seen: Any, labels: Any) -> tuple:
        seen = seen + reduce_sum(one_hot(labels, number, dtype=dtypes.int64), 0)
        shares = cast(truediv(seen, reduce_sum(seen)), dtypes.float32)
        return seen, tile(expand_dims(shares, 0), [_ROWS, 1])

    return scan(fill([number], np.int64(_SMOOTHING)), step)(classes.batch(_ROWS)).unbatch()
