"""Cells around cells: with dropout, with a way past the cell, on a device."""
from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import device as device_scope
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.layers.config import function_config, function_from_config
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.elementwise.arithmetic import div
from jitgraph.ops.elementwise.elementary import floor
from jitgraph.ops.nn import functions
from jitgraph.ops.random.draws import random_uniform
from jitgraph.rnn.cells import LSTMStateTuple, RNNCell
from jitgraph.rnn.states import assert_like_rnncell
from jitgraph.tensor_arrays.tensor_array import TensorArray

_RESIDUAL_MODULE = "residule_fn_module"        # as TensorFlow spells it


class _Wrapper(RNNCell):
    """A cell around another, whose sizes and variables are those of the other."""

    _config_fields: tuple[str, ...] = ("cell",)

    def __init__(self, cell: Any, **kwargs: Any):
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """(outputs, next state) for `inputs` and `state`."""
        return self._call_wrapped_cell(inputs, state, cell_call_fn=self.cell.__call__, scope=scope)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable, **kwargs: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:      # type: ignore[override]
        """The wrapper with these arguments.  Raises ValueError unless "cell" among them is a cell itself."""
        if not isinstance(config["cell"], RNNCell):
            raise ValueError("RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in the config with a "
                             "RNNCell instance.")
        return cls(**config)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [("cell", self.cell)]

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        """That of the cell inside."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the cell inside."""
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """That of the cell inside."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)


def _numbered(function: Callable, shallow: Any, *structures: Any) -> Any:
    """`function` of a running number and the parts of `structures` that stand where `shallow` has leaves."""
    numbers_ = iter(range(len(nest.flatten(shallow))))
    return nest.map_structure_up_to(shallow, lambda *parts: function(next(numbers_), *parts), *structures)


def _keeps_memory(substate: Any) -> Any:
    """What of a state is dropped by default: all but what an LSTM remembers, and TensorArrays."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(substate, TensorArray)


def _selected(visitor: Callable, state: Any) -> Any:
    """A structure of bools above `state`: what `visitor` says of each part, as deep as it says True."""
    answer = visitor(state)
    if not nest.is_nested(state):
        if not isinstance(answer, bool):
            raise TypeError(f"dropout_state_filter_visitor returned structure: {answer} for non-structure: {state}")
        return answer
    if answer is False:
        return False
    parts = nest._parts(state)
    if answer is True:
        return nest._rebuilt(state, [_selected(visitor, part) for part in parts])
    if not nest.is_nested(answer):
        raise TypeError(f"dropout_state_filter_visitor returned a non-bool scalar: {answer} for input: {state}")
    return nest._rebuilt(state, [_selected(visitor, part) if drop else False for drop, part in zip(nest._parts(answer), parts)])


class DropoutWrapper(_Wrapper):
    """A cell whose inputs, states and outputs keep each element with a probability (a float or a float scalar).

    `variational_recurrent` drops the same elements in all steps and examples (Gal and Ghahramani, 2015); it needs `dtype`, and
    `input_size` where inputs are dropped.  `dropout_state_filter_visitor`: a function of a part of the state that says whether it
    is dropped, a bool or a structure of them; by default all but what LSTMs remember.  Raises ValueError for probabilities
    outside of [0, 1], TypeError for a visitor that is no function.
    """

    _config_fields: tuple[str, ...] = ("input_keep_prob", "output_keep_prob", "state_keep_prob", "variational_recurrent",
                                       "input_size", "seed")

    def __init__(self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
                 variational_recurrent: bool = False, input_size: Any = None, dtype: Any = None, seed: int | None = None,
                 dropout_state_filter_visitor: Callable | None = None, **kwargs: Any):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _keeps_memory
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._recurrent_input_noise: Any = None
        self._recurrent_state_noise: Any = None
        self._recurrent_output_noise: Any = None
        if variational_recurrent:
            self._draw_noise(dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with, as plain data."""
        visitor = None if self._dropout_state_filter is _keeps_memory else self._dropout_state_filter
        return super().get_config() | function_config("dropout_fn", visitor, "dropout_fn_module")

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:      # type: ignore[override]
        """The wrapper with these arguments.  Raises ValueError unless "cell" among them is a cell itself."""
        config = dict(config)
        visitor = function_from_config(config, "dropout_fn", "dropout_fn_module")
        return super().from_config(config if visitor is None else config | {"dropout_state_filter_visitor": visitor})

    def _draw_noise(self, dtype: Any) -> None:
        """Draws once what all steps drop by."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(salt: str, sizes: Any) -> Any:
            def drawn(number: int, size: Any) -> Tensor:
                shape = concat(([1], TensorShape(size).as_list()), 0)
                return random_uniform(shape, seed=self._gen_seed(salt, number), dtype=dtype)

            return _numbered(drawn, sizes, sizes)

        if not isinstance(self._input_keep_prob, numbers.Real) or self._input_keep_prob < 1.0:
            if self._input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be "
                                 "provided")
            self._recurrent_input_noise = noise("input", self._input_size)
        self._recurrent_state_noise = noise("state", self.cell.state_size)
        self._recurrent_output_noise = noise("output", self.cell.output_size)

    def _gen_seed(self, salt_prefix: str, index: int) -> int | None:
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}"
        return int(hashlib.md5(text.encode()).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropout(self, values: Any, salt: str, noise: Any, keep_prob: Any, selected: Any = None) -> Any:
        selected = values if selected is None else selected

        def dropped(number: int, drop: Any, value: Any, drawn: Any = None) -> Any:
            if drop is False:
                return value
            if drawn is None:
                return functions.dropout(value, rate=1.0 - keep_prob, seed=self._gen_seed(salt, number))
            result = div(value, keep_prob) * floor(keep_prob + drawn)
            result.set_shape(value.shape)
            return result

        return _numbered(dropped, selected, selected, values, *([noise] if self._variational_recurrent else []))

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable, **kwargs: Any) -> Any:
        drops = lambda keep_prob: not isinstance(keep_prob, float) or keep_prob < 1
        if drops(self._input_keep_prob):
            inputs = self._dropout(inputs, "input", self._recurrent_input_noise, self._input_keep_prob)
        outputs, following = cell_call_fn(inputs, state, **kwargs)
        if drops(self._state_keep_prob):
            following = self._dropout(following, "state", self._recurrent_state_noise, self._state_keep_prob,
                                      _selected(self._dropout_state_filter, following))
        if drops(self._output_keep_prob):
            outputs = self._dropout(outputs, "output", self._recurrent_output_noise, self._output_keep_prob)
        return outputs, following


def _probability(name: str, value: Any) -> Any:
    """A probability as a float if it is known now, else as a tensor.  Raises ValueError outside of [0, 1]."""
    tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {known}")
    return float(known)


class ResidualWrapper(_Wrapper):
    """A cell whose inputs are added to its outputs, or what `residual_fn` makes of (inputs, outputs).

    Raises ValueError or TypeError if, without `residual_fn`, their structures or shapes differ.
    """

    def __init__(self, cell: Any, residual_fn: Callable | None = None, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def get_config(self) -> dict[str, Any]:
        """The arguments it was made with, as plain data."""
        return super().get_config() | function_config("residual_fn", self._residual_fn, _RESIDUAL_MODULE)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:      # type: ignore[override]
        """The wrapper with these arguments.  Raises ValueError unless "cell" among them is a cell itself."""
        config = dict(config)
        return super().from_config(config | {"residual_fn": function_from_config(config, "residual_fn", _RESIDUAL_MODULE)})

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable, **kwargs: Any) -> Any:
        outputs, following = cell_call_fn(inputs, state, **kwargs)
        return (self._residual_fn or _sums)(inputs, outputs), following


def _sums(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)
    nest.map_structure(lambda one, other: one.shape.assert_is_compatible_with(other.shape), inputs, outputs)
    return nest.map_structure(lambda one, other: one + other, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """A cell whose nodes are put on a device."""

    _config_fields: tuple[str, ...] = ("device",)

    def __init__(self, cell: Any, device: Any, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """That of the cell inside, on the device."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]), device_scope(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Callable, **kwargs: Any) -> Any:
        with device_scope(self._device):
            return cell_call_fn(inputs, state, **kwargs)
