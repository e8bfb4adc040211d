"""``SeedStream``: as many different seeds as are needed, of one."""
from __future__ import annotations

import hashlib
from typing import Any


class SeedStream:
    """A function without arguments that gives another int each time, the same ones for the same `seed` and `salt`; None for None.

    Of another SeedStream it takes the seed that this began with.
    """

    def __init__(self, seed: Any, salt: Any):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        self._counter += 1
        if self._seed is None:
            return None
        return int(hashlib.sha512(str((self._seed, self._counter, self._salt)).encode()).hexdigest(), 16)

    @property
    def original_seed(self) -> Any:
        """The seed it began with."""
        return self._seed

    @property
    def salt(self) -> Any:
        """What tells its seeds from those of another stream."""
        return self._salt
