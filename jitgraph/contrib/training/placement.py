"""Which of several parameter servers holds a variable: strategies for ``tf.train.replica_device_setter``."""
from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph.shapes import TensorShape


class RandomStrategy:
    """A server for each op by the hash of its name and `seed`."""

    def __init__(self, num_ps_tasks: int, seed: int = 0):
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Any) -> int:
        key = f"{op.name}_{self._seed}".encode()
        return int(hashlib.md5(key).hexdigest(), 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """For each op the server with the least load; ``load_fn(op)`` says what an op adds to it."""

    def __init__(self, num_tasks: int, load_fn: Callable):
        self._num_tasks = num_tasks
        self._load_fn = load_fn
        self._loads = np.zeros(num_tasks)

    def __call__(self, op: Any) -> int:
        task = int(np.argmin(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op: Any) -> int:
    """The bytes of the output of `op`.  Raises ValueError for several outputs and unknown shapes."""
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    shape = output.shape
    if not shape.is_fully_defined():
        shape = TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return shape.num_elements() * output.dtype.size
