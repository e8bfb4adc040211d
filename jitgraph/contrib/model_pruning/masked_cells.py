"""Cells of long short-term memory with masked weights."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.contrib.model_pruning import masks
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.rnn.cells import BasicLSTMCell, LSTMCell
from jitgraph.variables.variable_initializers import ones_initializer, zeros_initializer


class _Masked:
    """Multiplies the kernel of a cell by a mask."""

    add_variable: Callable
    dtype: Any
    built: bool
    _num_units: int

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables of the cell, then ``mask`` and ``threshold``."""
        super().build(inputs_shape)     # type: ignore[misc]
        self.built = False
        weights: Any = self._kernel     # type: ignore[has-type]
        shape = [TensorShape(inputs_shape)[1].value + self._num_units, 4 * self._num_units]
        mask = self.add_variable(name="mask", shape=shape, initializer=ones_initializer(), trainable=False, dtype=self.dtype)
        threshold = self.add_variable(name="threshold", shape=[], initializer=zeros_initializer(), trainable=False,
                                      dtype=self.dtype)
        self._kernel = multiply(mask, weights, masks.MASKED_WEIGHT_NAME)    # what each step multiplies by
        if not any(one is mask for one in masks.get_masks()):
            masks.collect(mask, threshold, self._kernel, weights)
        self.built = True


class MaskedBasicLSTMCell(_Masked, BasicLSTMCell):
    """``tf.nn.rnn_cell.BasicLSTMCell`` with a masked kernel."""

    def __init__(self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: Any = None, name: str | None = None):
        super().__init__(num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple, activation=activation, reuse=reuse,
                         name=name)


class MaskedLSTMCell(_Masked, LSTMCell):
    """``tf.nn.rnn_cell.LSTMCell`` with a masked kernel; a projection must be of the size of the cell."""

    def __init__(self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: float | None = None, num_unit_shards: int | None = None,
                 num_proj_shards: int | None = None, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: Any = None):
        super().__init__(num_units, use_peepholes=use_peepholes, cell_clip=cell_clip, initializer=initializer, num_proj=num_proj,
                         proj_clip=proj_clip, num_unit_shards=num_unit_shards, num_proj_shards=num_proj_shards,
                         forget_bias=forget_bias, state_is_tuple=state_is_tuple, activation=activation, reuse=reuse)
