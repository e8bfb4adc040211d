"""Cells over whole sequences: ``FusedRNNCell`` and what makes one of a cell, or turns it round in time."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.ops.arrays.join import stack, unstack
from jitgraph.ops.arrays.layout import reverse, reverse_sequence
from jitgraph.rnn.dynamic import dynamic_rnn
from jitgraph.rnn.static import static_rnn


class FusedRNNCell(abc.ABC):
    """A function of whole sequences.  A subclass overrides ``__call__``."""

    @abc.abstractmethod
    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
                 scope: Any = None) -> tuple:
        """(outputs, last state) for `inputs` [time, batch, depth] or a list of its steps; outputs in the same form.

        `dtype` is needed where no `initial_state` is given; `sequence_length` int [batch].
        """


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell run over the steps, by a loop if `use_dynamic_rnn`."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
                 scope: Any = None) -> tuple:
        """(outputs, last state)"""
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            outputs, state = dynamic_rnn(self._cell, stack(inputs) if is_list else inputs, sequence_length=sequence_length,
                                         initial_state=initial_state, dtype=dtype, time_major=True, scope=scope)
            return unstack(outputs) if is_list else outputs, state
        outputs, state = static_rnn(self._cell, inputs if is_list else unstack(inputs), initial_state=initial_state, dtype=dtype,
                                    sequence_length=sequence_length, scope=scope)
        return outputs if is_list else stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A FusedRNNCell that goes from the end of each sequence to its beginning."""

    def __init__(self, cell: Any):
        self._cell = cell

    def _reverse(self, values: Any, lengths: Any) -> Any:
        if isinstance(values, list):
            return list(reversed(values))
        return reverse(values, [0]) if lengths is None else reverse_sequence(values, lengths, 0, 1)

    def __call__(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None,
                 scope: Any = None) -> tuple:
        """(outputs, last state)"""
        outputs, state = self._cell(self._reverse(inputs, sequence_length), initial_state=initial_state, dtype=dtype,
                                    sequence_length=sequence_length, scope=scope)
        return self._reverse(outputs, sequence_length), state
