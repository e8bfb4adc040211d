"""``tf.xla``: functions that are to be compiled, which sessions compile in any case."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.structures import flatten, is_sequence, pack_sequence_as
from jitgraph.ops.arrays.identity import identity


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
