"""``MultiRNNCell``: cells one above the other."""
from __future__ import annotations

from typing import Any

from jitgraph.app.logs import warn
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import name_scope
from jitgraph.layers.base import Layer
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.rnn.cells import RNNCell
from jitgraph.variables.variable_scopes import variable_scope


class MultiRNNCell(RNNCell):
    """Cells of which each gets the outputs of the one before, in scopes ``cell_0``, ``cell_1`` ...

    The state is the tuple of their states, or these side by side with ``state_is_tuple=False``.  Raises ValueError without
    cells, and TypeError if they come in no sequence.
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            warn("At least two cells provided to MultiRNNCell are the same object and will share weights.")
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: "
                             f"{[cell.state_size for cell in cells]}")

    @property
    def state_size(self) -> Any:
        """The sizes of the states of the cells, or their sum."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """That of the last cell."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The zero states of the cells."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [(f"cell-{number}", cell) for number, cell in enumerate(self._cells) if isinstance(cell, Layer)]

    def _of_cells(self, kind: str) -> list:
        return [weight for cell in self._cells if isinstance(cell, Layer) for weight in getattr(cell, kind)]

    @property
    def trainable_weights(self) -> list:
        """The variables of the cells that are trained."""
        return self._of_cells("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list:
        """The variables of the cells that are not trained."""
        fixed = self._of_cells("non_trainable_weights")
        return fixed if self.trainable else self._of_cells("trainable_weights") + fixed

    def call(self, inputs: Any, state: Any) -> Any:
        """(outputs of the last cell, next state)."""
        states, position = [], 0
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    if not nest.is_nested(state):
                        raise ValueError(f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}")
                    own = state[number]
                else:
                    own = slice_of(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, following = cell(inputs, own)
                states.append(following)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)
