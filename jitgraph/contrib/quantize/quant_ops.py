"""Rounding to the numbers that an integer can stand for, in a range that is fixed or learned."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.elementwise.arithmetic import maximum, minimum
from jitgraph.ops.quantize.fake_quantization import (
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_per_channel,
)
from jitgraph.ops.reduce.reductions import reduce_max, reduce_min
from jitgraph.train.moving_averages import assign_moving_average
from jitgraph.variables.assignments import assign
from jitgraph.variables.synchronization import VariableAggregation
from jitgraph.variables.variable_initializers import constant_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def FixedQuantize(inputs: Any, init_min: float = -6.0, init_max: float = 6.0, scope: Any = None) -> Any:
    """`inputs` rounded to 8 bits in the range from `init_min` to `init_max`."""
    with name_scope(scope, "FixedQuantize", values=[inputs]):
        return fake_quant_with_min_max_args(inputs, min=init_min, max=init_max)


def _variable(name: str, shape: list, value: float, collection: Any) -> Any:
    collections = [*([collection] if collection else []), GraphKeys.GLOBAL_VARIABLES]
    return get_variable(name, shape=shape, initializer=constant_initializer(value), collections=collections, trainable=False,
                        aggregation=VariableAggregation.MEAN)


def _range(inputs: Any, per_channel: bool, num_bits: int, narrow_range: bool, symmetric: bool) -> tuple:
    """(least, greatest) of a batch or of its channels, with zero between them or in the middle"""
    if per_channel and len(inputs.get_shape()) == 1:
        least = greatest = inputs
    else:
        axes = list(range(len(inputs.get_shape()) - 1)) if per_channel else None
        least, greatest = reduce_min(inputs, axis=axes, name="BatchMin"), reduce_max(inputs, axis=axes, name="BatchMax")
    if not symmetric:
        return minimum(least, 0.0), maximum(greatest, 0.0)
    ratio = -1 if narrow_range else -((1 << num_bits) - 2) / (1 << num_bits)
    return minimum(least, greatest / ratio), maximum(greatest, least * ratio)


def _quantized(inputs: Any, update: Callable, per_channel: bool, init_min: float, init_max: float, vars_collection: Any,
               name_prefix: str, reuse: Any, is_training: bool, num_bits: int, narrow_range: bool, symmetric: bool) -> Any:
    with variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        shape = inputs.get_shape()
        if per_channel:
            assert len(shape) in (1, 2, 4), f"Expected 1D, 2D or 4D input, was: {shape} in  scope: {name_prefix}"
        sizes = [shape[-1]] if per_channel else []
        ends = [_variable("min", sizes, init_min, vars_collection), _variable("max", sizes, init_max, vars_collection)]
        if is_training:
            found = _range(inputs, per_channel, num_bits, narrow_range, symmetric)
            ends = [update(variable, end, name) for variable, end, name in zip(ends, found, ("Min", "Max"))]
        rounded = fake_quant_with_min_max_vars_per_channel if per_channel else fake_quant_with_min_max_vars
        return rounded(inputs, *ends, num_bits=num_bits, narrow_range=narrow_range)


def LastValueQuantize(inputs: Any, per_channel: bool = False, init_min: float = -6.0, init_max: float = 6.0,
                      vars_collection: Any = None, name_prefix: str = "LastValueQuant", reuse: Any = None, is_training: bool = True,
                      num_bits: int = 8, narrow_range: bool = False, symmetric: bool = False) -> Any:
    """`inputs` rounded to `num_bits` in the range that the last batch had.

    The variables ``min`` and ``max``, in a variable scope `name_prefix`, are scalars or, with `per_channel`, vectors [channels] for
    inputs of rank 1, 2 or 4; without `is_training` they stay as they are.  `narrow_range`: one number less, so that as many are
    below zero as above; `symmetric`: zero is in the middle.
    """
    def update(variable: Any, value: Any, end: str) -> Any:
        return assign(variable, value, name=f"Assign{end}Last")

    return _quantized(inputs, update, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training, num_bits,
                      narrow_range, symmetric)


def MovingAvgQuantize(inputs: Any, per_channel: bool = False, init_min: float = -6.0, init_max: float = 6.0,
                      ema_decay: float = 0.999, vars_collection: Any = GraphKeys.MOVING_AVERAGE_VARIABLES,
                      name_prefix: str = "MovingAvgQuantize", reuse: Any = None, is_training: bool = True, num_bits: int = 8,
                      narrow_range: bool = False, symmetric: bool = False) -> Any:
    """`inputs` rounded to `num_bits` in a range whose ends are moving averages, of decay `ema_decay`, of those of the batches.

    The other arguments are those of ``LastValueQuantize``.
    """
    def update(variable: Any, value: Any, end: str) -> Any:
        return assign_moving_average(variable, value, ema_decay, name=f"Assign{end}Ema")

    return _quantized(inputs, update, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training, num_bits,
                      narrow_range, symmetric)
