"""Residual layers that can be run backwards (Gomez et al., 2017): gradients need the outputs alone."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.autodiff.custom_gradient import custom_gradient
from jitgraph.autodiff.gradients import gradients
from jitgraph.control.order_ops import tuple_ as tuple_of
from jitgraph.layers.base import Layer
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.variables.variable_scopes import get_variable_scope, variable_scope

Pair = tuple[Any, Any]
_PLACE = re.compile(r".*revlayer_([0-9]*)/([fg])/")


def _in_scope(function: Callable, scope: str) -> Callable:
    """`function` of a tensor and maybe side inputs, whose variables are resource variables in a scope."""
    def scoped(x: Any, side_inputs: list) -> Any:
        with variable_scope(scope, use_resource=True):
            return function(x, side_inputs) if side_inputs else function(x)

    return scoped


class RevBlock(Layer):
    """Layers (x1, x2) -> (y1, y2) with y1 = x1 + f(x2) and y2 = x2 + g(y1), from which x2 and x1 can be computed again.

    Args:
      f, g: functions of a tensor, and of the list of side inputs if there are any, that keep its shape and dtype; or a list of
        such functions, one a layer.
      num_layers: how many layers.
      f_side_input, g_side_input: tensors that f and g take too.
      use_efficient_backprop: whether gradients compute the layers' inputs from their outputs, instead of keeping them.
      name: the scope of the variables, which are made when the block is first called.
    Raises AssertionError for lists of another length.
    """

    def __init__(self, f: Any, g: Any, num_layers: int = 1, f_side_input: Any = None, g_side_input: Any = None,
                 use_efficient_backprop: bool = True, name: str = "revblock", **kwargs: Any):
        super().__init__(name=name, **kwargs)
        given: dict[str, list] = {}
        for letter, functions in (("f", f), ("g", g)):
            assert not isinstance(functions, list) or len(functions) == num_layers
            functions = functions if isinstance(functions, list) else [functions] * num_layers
            given[letter] = [_in_scope(one, f"revlayer_{k}/{letter}") for k, one in enumerate(functions)]
        self.f, self.g = given["f"], given["g"]
        self.num_layers = num_layers
        self.f_side_input, self.g_side_input = f_side_input or [], g_side_input or []
        self._use_efficient_backprop = use_efficient_backprop

    def build(self, input_shape: Any) -> None:
        logs.warn("RevBlock constructs its variables on first call, not on build.")
        self.built = True

    def call(self, inputs: Any, forward: bool = True) -> Any:       # type: ignore[override]
        scope = get_variable_scope()
        before = len(scope.global_variables())
        outputs = self._forward(*inputs) if forward else self._backward(*inputs)
        trained = scope.trainable_variables()
        for variable in scope.global_variables()[before:]:
            there = any(variable is one for one in trained)
            (self._trainable_weights if there else self._non_trainable_weights).append(variable)
        return outputs

    def forward(self, x1: Any, x2: Any) -> Pair:
        """The outputs of the last layer."""
        return self.apply([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Pair:
        """The inputs of the first layer that gave these outputs."""
        return self.apply([y1, y2], forward=False)

    def _forward(self, x1: Any, x2: Any) -> Pair:
        if not self._use_efficient_backprop:
            return self._layers(x1, x2, self.f_side_input, self.g_side_input)
        count = len(self.f_side_input)

        @custom_gradient
        def computed(x1: Any, x2: Any, *sides: Any) -> tuple:
            ys = self._layers(x1, x2, list(sides[:count]), list(sides[count:]))

            def gradient(*grads: Any, variables: Any = ()) -> tuple:
                return self._gradients(ys, grads, list(variables), list(sides[:count]), list(sides[count:]))

            return ys, gradient

        return computed(x1, x2, *self.f_side_input, *self.g_side_input)

    def _layers(self, x1: Any, x2: Any, f_side: list, g_side: list) -> Pair:
        for f, g in zip(self.f, self.g):
            x1 = x1 + f(x2, f_side)
            x2 = x2 + g(x1, g_side)
            if self._use_efficient_backprop:
                x1, x2 = tuple_of([x1, x2])
        return x1, x2

    def _backward(self, y1: Any, y2: Any) -> Pair:
        for f, g in reversed(list(zip(self.f, self.g))):
            y2 = y2 - g(y1, self.g_side_input)
            y1 = y1 - f(y2, self.f_side_input)
        return y1, y2

    def _gradients(self, ys: Pair, grads: Any, variables: list, f_side: list, g_side: list) -> Any:
        """(gradients of the inputs and side inputs, gradients of the variables), from the last layer to the first."""
        own: dict[tuple[int, str], list[int]] = {}
        for number, variable in enumerate(variables):
            layer, letter = _PLACE.match(variable.name).groups()        # type: ignore[union-attr]
            own.setdefault((int(layer), letter), []).append(number)
        of_variables: list = [None] * len(variables)
        of_sides: list[list] = [[] for _ in f_side + g_side]
        with variable_scope(self.scope_name, reuse=True):
            for layer in reversed(range(self.num_layers)):
                numbers = [own.get((layer, letter), []) for letter in "fg"]
                mine = [[variables[number] for number in some] for some in numbers]
                ys, grads, of_mine, of_side = _layer_gradients(ys, grads, self.f[layer], self.g[layer], mine, f_side, g_side)
                for number, grad in zip(numbers[0] + numbers[1], of_mine):
                    of_variables[number] = grad
                for found, grad in zip(of_sides, of_side):
                    found += [] if grad is None else [grad]
        of_inputs = [*grads, *(add_n(found) if found else None for found in of_sides)]
        return (of_inputs, of_variables) if variables else of_inputs


def _layer_gradients(ys: Pair, grads: Pair, f: Callable, g: Callable, variables: list[list], f_side: list,
                     g_side: list) -> tuple[Pair, Pair, list, list]:
    """(x1, x2), their gradients, those of f's and g's variables, and those of f's and g's side inputs."""
    f_variables, g_variables = variables
    y1, y2 = (stop_gradient(y) for y in ys)
    grad_y1, grad_y2 = grads
    g_side, f_side = ([stop_gradient(one) for one in side] for side in (g_side, f_side))
    g_value = g(y1, g_side)
    x2 = stop_gradient(y2 - g_value)
    f_value = f(x2, f_side)
    x1 = y1 - f_value
    of_y1, *of_g = gradients(g_value, [y1, *g_variables, *g_side], grad_y2)
    grad_x1 = grad_y1 + of_y1
    of_x2, *of_f = gradients(f_value, [x2, *f_variables, *f_side], grad_x1)
    # none is there before all are, so that a layer's values are gone before those of the layer below are computed
    x1, x2, grad_x1, grad_x2, *rest = tuple_of([x1, x2, grad_x1, of_x2 + grad_y2, *of_f, *of_g])
    of_f, of_g = rest[:len(of_f)], rest[len(of_f):]
    f_count, g_count = len(f_variables), len(g_variables)
    return (x1, x2), (grad_x1, grad_x2), of_f[:f_count] + of_g[:g_count], of_f[f_count:] + of_g[g_count:]


def rev_block(x1: Any, x2: Any, f: Any, g: Any, num_layers: int = 1, f_side_input: Any = None, g_side_input: Any = None,
              is_training: bool = True) -> Pair:
    """What a ``RevBlock`` makes of `x1` and `x2`; `is_training` is its ``use_efficient_backprop``, the rest as there."""
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, is_training, _reuse=get_variable_scope().reuse)
    return block.forward(x1, x2)
