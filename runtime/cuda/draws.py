"""Random numbers that a run reserves on the host for what it does on a device."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from jitgraph.runtime.state import Stream


class Draws(NamedTuple):
    """Those of a stream, which each run reserves anew: `made` does, `held` is where they are copied from."""

    stream: Stream
    made: Callable[[], np.ndarray]
    held: np.ndarray | None = None
