"""The time of day."""
from __future__ import annotations

import time

import numpy as np

from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules


# `stateful`: another value at each run
@op("Timestamp() -> ts: float64", shape=shape_rules.scalar, stateful=True, host=True, grad=NOT_DIFFERENTIABLE,
    tested_in="tests/facade/calls.py: a clock")
def timestamp():
    """The time in seconds since 1970."""
    return np.array(time.time())
