"""The memory of a device as nodes: what is in use now, at most so far, and in all."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules


def _declare(name: str, meaning: str, bytes_of: Callable[[Any], float]) -> Any:
    def value(state):
        machine = state.machine
        if machine is None:
            raise invalid(f"No OpKernel was registered to support Op '{name}' on the CPU: it tells the memory of a GPU")
        return np.int64(sum(bytes_of(device) for device in machine.devices))

    value.__doc__ = f"{meaning} of the session's GPUs.  A run raises InvalidArgumentError on a CPU."
    return op(f"{name}() -> out: int64", shape=shape_rules.scalar, stateful=True, host=True, context=("state",), grad=None,
              tested_in="tests/contrib/memory_stats: a device")(value)


_bytes_in_use = _declare("BytesInUse", "The bytes in use", lambda device: device.in_use())
_bytes_limit = _declare("BytesLimit", "The bytes that may be taken", lambda device: min(device.limit, device.properties.memory))
_max_bytes_in_use = _declare("MaxBytesInUse", "The most bytes that were in use", lambda device: device.most_used)


def BytesInUse() -> Any:
    """The bytes of a GPU that are in use.  A run raises InvalidArgumentError on a CPU."""
    return _bytes_in_use()


def BytesLimit() -> Any:
    """The bytes of a GPU that may be taken.  A run raises InvalidArgumentError on a CPU."""
    return _bytes_limit()


def MaxBytesInUse() -> Any:
    """The most bytes of a GPU that were in use so far.  A run raises InvalidArgumentError on a CPU."""
    return _max_bytes_in_use()
