"""Cells around another: highways, projections, embeddings."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import structures as nest
from jitgraph.graph.scopes import device as device_scope
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.elementwise.bias import xw_plus_b
from jitgraph.ops.elementwise.elementary import sigmoid
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.rnn.cells import RNNCell
from jitgraph.rnn.linear import _Linear
from jitgraph.rnn.states import assert_like_rnncell
from jitgraph.variables.variable_initializers import constant_initializer, random_uniform_initializer
from jitgraph.variables.variable_scopes import get_variable, get_variable_scope


class _Around(RNNCell):
    """A cell around another, whose states are those of the other."""

    _cell: Any

    @property
    def state_size(self) -> Any:
        """That of the cell inside."""
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        """That of the cell inside."""
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """That of the cell inside."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class HighwayWrapper(_Around):
    """A cell whose inputs are carried past it: inputs * carry + outputs * transform (Srivastava and others, 2015).

    The gates are sigmoids of layers of the inputs, ``carry_w`` and ``carry_b``; transform is 1 - carry, or with
    `couple_carry_transform_gates` False a layer of its own.  `carry_bias_init`: what the bias begins with.  Raises TypeError or
    ValueError if structures or shapes of inputs and outputs differ.
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0):
        super().__init__()
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    def _gate(self, inputs: Any, name: str, start: float) -> Any:
        size = inputs.shape.with_rank(2)[1].value
        weight = get_variable(f"{name}_w", [size, size])
        bias = get_variable(f"{name}_b", [size], initializer=constant_initializer(start))
        return sigmoid(xw_plus_b(inputs, weight, bias))

    def _highway(self, inputs: Any, outputs: Any) -> Any:
        carry = self._gate(inputs, "carry", self._carry_bias_init)
        transform = 1 - carry if self._couple_carry_transform_gates else self._gate(inputs, "transform", -self._carry_bias_init)
        return inputs * carry + outputs * transform

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple:  # type: ignore[override]
        """(outputs, next state)"""
        outputs, following = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        nest.map_structure(lambda one, other: one.shape.assert_is_compatible_with(other.shape), inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), following


class CompiledWrapper(_Around):
    """The cell itself: every run is compiled, with what is stateful or without (`compile_stateful`)."""

    def __init__(self, cell: Any, compile_stateful: bool = False):
        super().__init__()
        self._cell = cell
        self._compile_stateful = compile_stateful

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple:  # type: ignore[override]
        """(outputs, next state) of the cell inside."""
        return self._cell(inputs, state, scope=scope)


class EmbeddingWrapper(_Around):
    """A cell whose inputs are ids [batch, 1], looked up in the variable ``embedding`` [embedding_classes, embedding_size].

    `initializer`: by default that of the scope, or uniform in +-sqrt(3).  Raises ValueError for sizes that are not positive.
    """

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None, reuse: Any = None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError("Both embedding_classes and embedding_size must be > 0: "
                             f"{embedding_classes}, {embedding_size}.")
        self._cell = cell
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state) of the cell inside for the embedded ids."""
        with device_scope("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                initializer = random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            embedding = get_variable("embedding", [self._embedding_classes, self._embedding_size], initializer=initializer,
                                     dtype=dtype)
            embedded = embedding_lookup(embedding, reshape(inputs, [-1]))
            return self._cell(embedded, state)


class InputProjectionWrapper(_Around):
    """A cell whose inputs go through a linear layer of `num_proj` units and an `activation` before."""

    def __init__(self, cell: Any, num_proj: int, activation: Callable | None = None, input_size: Any = None, reuse: Any = None):
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logs.warn("%s: The input_size parameter is deprecated.", self)
        assert_like_rnncell("cell", cell)
        self._cell = cell
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Any = None

    def call(self, inputs: Any, state: Any) -> tuple:
        """(outputs, next state) of the cell inside for the projected inputs."""
        if self._linear is None:
            self._linear = _Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """A cell whose outputs go through a linear layer of `output_size` units and an `activation`.

    Raises ValueError if `output_size` is not positive.
    """

    def __init__(self, cell: Any, output_size: int, activation: Callable | None = None, reuse: Any = None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._cell = cell
        self._output_size = output_size
        self._activation = activation
        self._linear: Any = None

    @property
    def output_size(self) -> Any:
        """The number of units of the layer."""
        return self._output_size

    def call(self, inputs: Any, state: Any) -> tuple:
        """(projected outputs, next state)"""
        output, following = self._cell(inputs, state)
        if self._linear is None:
            self._linear = _Linear(output, self._output_size, True)
        projected = self._linear(output)
        return self._activation(projected) if self._activation else projected, following
