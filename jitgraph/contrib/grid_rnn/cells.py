"""Cells that recur along several dimensions at once (Kalchbrenner et al., 2015)."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jitgraph.app.logs import warn
from jitgraph.contrib.layers.dense import fully_connected
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.activation import relu
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell, RNNCell
from jitgraph.variables.variable_initializers import xavier_initializer
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope, variable_scope


class GridRNNCell(RNNCell):
    """A cell of each of `num_dims` dimensions, which all see the outputs of all dimensions.

    `input_dims` take the inputs, `output_dims` give the outputs, `priority_dims` come last and see what the others gave, and
    `non_recurrent_dims` are layers of `non_recurrent_fn` (relu by default) in the place of cells: a dimension or a list each.
    `tied` cells share their variables.  `cell_fn(num_units)` makes the cells, LSTMs by default.  States and outputs are tuples
    with an item for each dimension, unless `state_is_tuple` or `output_is_tuple` asks for them joined.  Raises ValueError for
    dimensions that are not there, TypeError for a `cell_fn` whose cells are none.
    """

    def __init__(self, num_units: int, num_dims: int = 1, input_dims: Any = None, output_dims: Any = None,
                 priority_dims: Any = None, non_recurrent_dims: Any = None, tied: bool = False, cell_fn: Callable | None = None,
                 non_recurrent_fn: Callable | None = None, state_is_tuple: bool = True, output_is_tuple: bool = True):
        for given, word in ((state_is_tuple, "state"), (output_is_tuple, "output")):
            if not given:
                warn("%s: Using a concatenated %s is slower and will soon be deprecated.  Use %s_is_tuple=True.", self, word, word)
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._num_units, self._num_dims, self._tied = num_units, num_dims, tied
        self._inputs, self._outputs, self._priority, plain = (
            _dimensions(given, num_dims) for given in (input_dims, output_dims, priority_dims, non_recurrent_dims))
        self._recurrents = [place for place in range(num_dims) if place not in plain]
        self._activation = non_recurrent_fn or relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        make = partial(LSTMCell, state_is_tuple=state_is_tuple) if cell_fn is None else cell_fn
        self._cells = [make(num_units)] * num_dims if tied else [make(num_units) for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")

    @property
    def output_size(self) -> Any:
        """The size of the output of each output dimension, or their sum."""
        size = self._cells[0].output_size
        return (size,) * len(self._outputs) if self._output_is_tuple else size * len(self._outputs)

    @property
    def state_size(self) -> Any:
        """The size of the state of each recurrent dimension, or their sum."""
        count = len(self._recurrents)
        return (self._cells[0].state_size,) * count if self._state_is_tuple else self._joined_size() * count

    def _joined_size(self) -> Any:
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple:
        """(outputs, next state) as ``output_size`` and ``state_size`` say.  Raises ValueError for another number of states."""
        memories, hidden = self._separated(state)
        outputs: list = [None] * self._num_dims
        states: list = [None] * self._num_dims
        with variable_scope(scope or type(self).__name__):
            self._take(inputs, memories, hidden)
            others = [place for place in range(self._num_dims) if place not in self._priority]
            self._propagate(others, memories, hidden, outputs, states, first=True)
            self._propagate(self._priority, memories, hidden, outputs, states, first=False)
            found: Any = tuple(outputs[place] for place in self._outputs)
            if not self._output_is_tuple:
                found = concat(found, 1) if found else zeros([0, 0], inputs.dtype)
            following: Any = tuple(states[place] for place in self._recurrents)
            if not self._state_is_tuple:
                parts = [part for place in self._recurrents for part in states[place]]
                following = concat(parts, 1) if parts else zeros([0, 0], inputs.dtype)
        return found, following

    def _has_memory(self) -> bool:
        return self._joined_size() > self._num_units

    def _separated(self, state: Any) -> tuple:
        """(memory or None, hidden state) of each dimension, as two lists."""
        memories: list = [None] * self._num_dims
        hidden: list = [None] * self._num_dims
        if self._state_is_tuple and len(state) != len(self._recurrents):
            raise ValueError(f"Expected state as a tuple of {len(self._recurrents)} element")
        units, size = self._num_units, self._joined_size()
        for index, place in enumerate(self._recurrents):
            if self._state_is_tuple:
                memories[place], hidden[place] = state[index] if self._has_memory() else (None, state[index])
                continue
            start = index * size
            if self._has_memory():
                memories[place] = slice_of(state, [0, start], [-1, units])
                hidden[place] = slice_of(state, [0, start + units], [-1, size - units])
            else:
                hidden[place] = slice_of(state, [0, start], [-1, units])
        return memories, hidden

    def _take(self, inputs: Any, memories: list, hidden: list) -> None:
        """Puts projections of the inputs in the place of the states of the input dimensions."""
        if inputs is None or not self._inputs or not inputs.shape.with_rank(2)[1].value:
            return
        parts = split(value=inputs, num_or_size_splits=len(self._inputs), axis=1)
        shape = [parts[0].shape.with_rank(2)[1].value, self._num_units]
        for part, place in zip(parts, self._inputs):
            hidden[place] = matmul(part, get_variable(f"project_m_{place}", shape, dtype=inputs.dtype))
            if self._has_memory():
                memories[place] = matmul(part, get_variable(f"project_c_{place}", shape, dtype=inputs.dtype))

    def _propagate(self, places: list, memories: list, hidden: list, outputs: list, states: list, first: bool) -> None:
        if not places:
            return
        if self._num_dims > 1:
            seen = concat([old if new is None else new for old, new in zip(hidden[:-1], outputs[:-1])], 1)
        else:
            seen = zeros([hidden[0].get_shape().as_list()[0], 0], hidden[0].dtype)
        last = hidden[-1] if outputs[-1] is None else outputs[-1]
        for place in places:
            recurs = place in self._recurrents
            kind = "recurrent" if recurs else "non_recurrent"
            with variable_scope(kind if self._tied else f"{kind}/cell_{place}"):
                if self._tied and not (first and place == places[0]):
                    get_variable_scope().reuse_variables()
                if recurs:
                    memory = memories[place]
                    outputs[place], states[place] = self._cells[place](seen, last if memory is None else (memory, last))
                else:
                    outputs[place] = self._layer(concat([seen, last], 1) if self._num_dims > 1 else last)

    def _layer(self, values: Any) -> Any:
        scope = get_variable_scope()
        return fully_connected(values, num_outputs=self._num_units, activation_fn=self._activation,
                               weights_initializer=scope.initializer or xavier_initializer(),
                               weights_regularizer=scope.regularizer)


def _dimensions(given: Any, num_dims: int) -> list:
    listed = [] if given is None else given if isinstance(given, (list, tuple)) else [given]
    places = sorted(set(listed))
    if any(place < 0 or place >= num_dims for place in places):
        raise ValueError(f"Invalid dims: {places}. Must be in [0, {num_dims})")
    return places


class _FirstIsAll(GridRNNCell):
    """A grid whose first dimension takes the inputs, gives the outputs, comes last and is the one that may not recur."""

    def __init__(self, num_units: int, num_dims: int, cell_fn: Callable, tied: bool = False,
                 non_recurrent_fn: Callable | None = None, state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, num_dims=num_dims, input_dims=0, output_dims=0, priority_dims=0, tied=tied,
                         non_recurrent_dims=None if non_recurrent_fn is None else 0, cell_fn=cell_fn,
                         non_recurrent_fn=non_recurrent_fn, state_is_tuple=state_is_tuple, output_is_tuple=output_is_tuple)


class Grid1BasicRNNCell(_FirstIsAll):
    """One dimension of ``BasicRNNCell``."""

    def __init__(self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 1, BasicRNNCell, state_is_tuple=state_is_tuple, output_is_tuple=output_is_tuple)


class Grid2BasicRNNCell(_FirstIsAll):
    """Two dimensions of ``BasicRNNCell``, the first with `non_recurrent_fn` a layer of it."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Callable | None = None,
                 state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 2, BasicRNNCell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid1BasicLSTMCell(_FirstIsAll):
    """One dimension of ``BasicLSTMCell``."""

    def __init__(self, num_units: int, forget_bias: float = 1, state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 1, partial(BasicLSTMCell, forget_bias=forget_bias), state_is_tuple=state_is_tuple,
                         output_is_tuple=output_is_tuple)


class Grid2BasicLSTMCell(_FirstIsAll):
    """Two dimensions of ``BasicLSTMCell``, the first with `non_recurrent_fn` a layer of it."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Callable | None = None, forget_bias: float = 1,
                 state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 2, partial(BasicLSTMCell, forget_bias=forget_bias), tied, non_recurrent_fn, state_is_tuple,
                         output_is_tuple)


class Grid1LSTMCell(_FirstIsAll):
    """One dimension of ``LSTMCell``."""

    def __init__(self, num_units: int, use_peepholes: bool = False, forget_bias: float = 1.0, state_is_tuple: bool = True,
                 output_is_tuple: bool = True):
        super().__init__(num_units, 1, partial(LSTMCell, forget_bias=forget_bias, use_peepholes=use_peepholes),
                         state_is_tuple=state_is_tuple, output_is_tuple=output_is_tuple)


class Grid2LSTMCell(_FirstIsAll):
    """Two dimensions of ``LSTMCell``, the first with `non_recurrent_fn` a layer of it."""

    _dims = 2

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Callable | None = None,
                 use_peepholes: bool = False, forget_bias: float = 1.0, state_is_tuple: bool = True,
                 output_is_tuple: bool = True):
        super().__init__(num_units, self._dims, partial(LSTMCell, forget_bias=forget_bias, use_peepholes=use_peepholes), tied,
                         non_recurrent_fn, state_is_tuple, output_is_tuple)


class Grid3LSTMCell(Grid2LSTMCell):
    """Three dimensions of ``LSTMCell``, the first with `non_recurrent_fn` a layer of it."""

    _dims = 3


class Grid2GRUCell(_FirstIsAll):
    """Two dimensions of ``GRUCell``, the first with `non_recurrent_fn` a layer of it."""

    def __init__(self, num_units: int, tied: bool = False, non_recurrent_fn: Callable | None = None,
                 state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 2, GRUCell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)
