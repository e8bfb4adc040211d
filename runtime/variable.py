"""A variable's buffer in the memory of the host."""
from __future__ import annotations

from typing import Any

import numpy as np


class Variable:
    """One variable's buffer.  `array` is None until its shape is known; `initialized` becomes true at the first write.

    Kernels of the host find it by its address, and their frame counts the `version` up after a run.  All else asks `value` before
    it reads, and says `written` after it has written: the newest value may be on a device (`cuda.variable`).
    """

    __slots__ = ("name", "array", "address", "initialized", "version")

    def __init__(self, name: str):
        self.name = name
        self.array: np.ndarray | None = None
        self.address = 0
        self.initialized = False
        self.version = 0        # of the value: another one after every write

    def value(self) -> np.ndarray | None:
        """The buffer, with the present value in it."""
        return self.array

    def there(self) -> Any:
        """The present value in its buffer where one has it, the host's or a device's."""
        return self.value()

    def written(self) -> None:
        """Says that the present value is in the buffer now, and may be another one than before."""
        self.version += 1
