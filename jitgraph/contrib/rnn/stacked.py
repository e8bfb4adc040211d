"""Layers of cells that run forward and backward, each layer over the outputs of the one below."""
from __future__ import annotations

from typing import Any

from jitgraph.ops.arrays.join import concat
from jitgraph.rnn.dynamic import bidirectional_dynamic_rnn
from jitgraph.rnn.static import static_bidirectional_rnn
from jitgraph.variables.variable_scopes import variable_scope


def _check(cells_fw: Any, cells_bw: Any, initial_states_fw: Any, initial_states_bw: Any) -> None:
    for cells, kind in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {kind} cell for BidirectionalRNN.")
    for cells, kind in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not isinstance(cells, list):
            raise ValueError(f"cells_{kind} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, kind in ((initial_states_fw, "fw"), (initial_states_bw, "bw")):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"initial_states_{kind} must be a list of state tensors (one per layer).")


def stack_bidirectional_rnn(cells_fw: list, cells_bw: list, inputs: list, initial_states_fw: list | None = None,
                            initial_states_bw: list | None = None, dtype: Any = None, sequence_length: Any = None,
                            scope: Any = None) -> tuple:
    """(outputs of the last layer, last states forward, backward, a tuple of each layer's) by ``tf.nn.static_bidirectional_rnn``.

    `inputs`: a list of [batch, depth]; cells and states: a list with one for each layer.  Raises ValueError if they are none.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    found = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for k, (forward, backward) in enumerate(zip(cells_fw, cells_bw)):
            with variable_scope(f"cell_{k}") as layer:
                inputs, *states = static_bidirectional_rnn(
                    forward, backward, inputs, initial_state_fw=initial_states_fw[k] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[k] if initial_states_bw else None, sequence_length=sequence_length,
                    dtype=dtype, scope=layer)
            found.append(states)
    return inputs, *map(tuple, zip(*found))


def stack_bidirectional_dynamic_rnn(cells_fw: list, cells_bw: list, inputs: Any, initial_states_fw: list | None = None,
                                    initial_states_bw: list | None = None, dtype: Any = None, sequence_length: Any = None,
                                    parallel_iterations: int | None = None, time_major: bool = False, scope: Any = None,
                                    swap_memory: bool = False) -> tuple:
    """(outputs of the last layer, last states forward, backward, a tuple of each layer's) by ``tf.nn.bidirectional_dynamic_rnn``.

    `inputs` [batch, time, depth], time first with `time_major`; the outputs of both directions stand side by side.  Raises
    ValueError if cells or states are no lists with one for each layer.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    found = []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for k, (forward, backward) in enumerate(zip(cells_fw, cells_bw)):
            with variable_scope(f"cell_{k}"):
                outputs, states = bidirectional_dynamic_rnn(
                    forward, backward, inputs, initial_state_fw=initial_states_fw[k] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[k] if initial_states_bw else None, sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations, dtype=dtype, swap_memory=swap_memory, time_major=time_major)
                inputs = concat(outputs, 2)
            found.append(states)
    return inputs, *map(tuple, zip(*found))
