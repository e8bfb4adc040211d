"""``tf.xla``: functions that are to be compiled, which sessions compile in any case."""
from __future__ import annotations

import contextlib
import inspect
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


def check_function_argument_count(func: Callable, input_arity: int, infeed_queue: Any) -> str | None:
    """How many arguments a function takes, if `input_arity` is not such a number, else None."""
    parameters = inspect.signature(func).parameters.values()
    given = input_arity + (infeed_queue.number_of_tuple_elements if infeed_queue is not None else 0)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed, takes_all = sum(p.default is p.empty for p in positional), any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if given >= needed and (takes_all or given <= len(positional)):
        return None
    if needed == len(positional) and not takes_all:
        return f"exactly {needed} argument{'s' * (needed != 1)}"
    count, word = (needed, "at least") if given < needed else (len(positional), "at most")
    return f"{word} {count} argument{'s' * (count != 1)}"


def estimator_model_fn(target_model_fn: Callable | None = None) -> Callable:
    """A model function as it is: the compiler compiles all graphs.  Without one, a decorator."""
    return (lambda function: function) if target_model_fn is None else target_model_fn
