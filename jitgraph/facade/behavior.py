"""Switches between the behaviours of TensorFlow 1 and 2: there is nothing to switch."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.structures import flatten, is_sequence, pack_sequence_as
from jitgraph.ops.arrays.identity import identity


def executing_eagerly() -> bool:
    """False: everything is a graph."""
    return False


def disable_eager_execution() -> None:
    """Nothing to do: everything is a graph."""


def disable_v2_behavior() -> None:
    """Nothing to do: this is the interface of TensorFlow 1."""


def disable_v2_tensorshape() -> None:
    """Nothing to do: ``x.shape[0]`` is a Dimension."""


_chosen = {"control_flow_v2": False}


def enable_control_flow_v2() -> None:
    """Keeps that functional control flow is wanted: ``tf.cond`` and ``tf.while_loop`` are functional inside anyway."""
    _chosen["control_flow_v2"] = True


def disable_control_flow_v2() -> None:
    """Takes ``enable_control_flow_v2`` back; nothing else changes."""
    _chosen["control_flow_v2"] = False


def control_flow_v2_enabled() -> bool:
    """Whether ``enable_control_flow_v2`` was called."""
    return _chosen["control_flow_v2"]


def disable_tensor_equality() -> None:
    """Nothing to do: ``a == b`` compares identity."""


def xla_compile(computation: Callable, inputs: Any = None) -> Any:
    """``tf.xla.experimental.compile``: the tensors that `computation` makes of `inputs`; sessions compile them in any case.

    Raises TypeError if `inputs` is no list.
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a list")
    outputs = computation(*[convert_to_tensor(one) for one in inputs or ()])
    flat = flatten(outputs)
    made = [identity(one, name=f"output_{index}") for index, one in enumerate(flat) if not isinstance(one, Operation)]
    operations = [one for one in flat if isinstance(one, Operation)]
    if not made:
        return group(*operations)
    with control_dependencies(operations):
        return pack_sequence_as(outputs, made) if is_sequence(outputs) and not operations else made


@contextlib.contextmanager
def jit_scope(compile_ops: Any = True, separate_compiled_gradients: bool = False) -> Iterator[None]:
    """A block of operations to compile by XLA; sessions compile all."""
    yield


def my_fact() -> Any:
    """``tf.user_ops.my_fact``: the string "0! == 1"."""
    return raw.Fact()
