"""What cells say of their sizes, by the attributes ``_num_units`` and ``_num_proj``."""
from __future__ import annotations

import collections
from typing import Any


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: ``c``, what it remembers, and ``h``, its output."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The dtype of both.  Raises TypeError if they differ."""
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError(f"Inconsistent internal state: {c.dtype} vs {h.dtype}")
        return c.dtype


class SizedByUnits:
    """A cell whose state and outputs have a number for each unit."""

    _num_units: Any

    @property
    def state_size(self) -> Any:
        """The number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """The number of units."""
        return self._num_units


class SizedByMemory:
    """A cell that remembers a number for each unit, and whose outputs are projected if there is a ``_num_proj``.

    The state is an LSTMStateTuple, or both side by side where ``_state_is_tuple`` is False.
    """

    _num_units: Any
    _num_proj: Any = None
    _state_is_tuple = True

    @property
    def state_size(self) -> Any:
        """(units, outputs), or their sum."""
        sizes = self._num_units, self.output_size
        return LSTMStateTuple(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The number of outputs: `num_proj`, or that of units."""
        return self._num_proj or self._num_units
