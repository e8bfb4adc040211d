"""Python numbers from what programs give in their place."""
from __future__ import annotations

from typing import Any

import numpy as np


def number_of(value: Any) -> Any:
    """The element of an array that has one, whatever its shape, as NumPy 2.3 and older took it for a number; others as they are."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value
