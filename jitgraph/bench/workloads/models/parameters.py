"""The values that a network's parameters begin with: the same for every framework."""

from __future__ import annotations

from typing import Any

import numpy as np


class Parameters:
    """Draws parameters in the order in which a network asks for them."""

    def __init__(self) -> None:
        self._generator = np.random.default_rng(0)

    def normal(self, shape: tuple[int, ...], scale: float | None = None) -> Any:
        """A float32 array of this standard deviation; sqrt(2 / fan in), after He et al. 2015, unless it is given."""
        deviation = (2 / np.prod(shape[:-1])) ** 0.5 if scale is None else scale
        return self._generator.standard_normal(shape, dtype=np.float32) * np.float32(deviation)
