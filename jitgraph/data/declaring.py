"""How the ops of datasets are declared: what a body gives for host values becomes the value of a variant tensor."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.data.simple_host import Same
from jitgraph.data.source_host import Function, Recipe, kept
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.signature import parse
from jitgraph.resources import handle

_SCALARS = frozenset("batch_size buffer_size count drop_remainder filename index num_shards seed seed2 shift size start stop "
                     "step stride".split())
TESTS = "tests/data: elements, one after the other"
SHAPED = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1"
_CAPTURED = ("arguments", "_args")          # how the inputs are named that functions have captured


def dataset_op(signature: str, stateful: bool = False, output: str = "handle",
               shape: Callable = shape_rules.scalar, **type_sets: Any) -> Callable[[Callable], Any]:
    """Declares an op that gives a dataset.

    The body takes the inputs (datasets as `Source`, scalars as Python values, other tensors as arrays of its own, the
    tensors that functions have captured left out) and gives a `Source`.  Attributes that are functions come as `Function`.
    Types and shapes of the elements need no mention in the signature, where it ends in "...".  `shape`: a rule that checks the
    inputs too; `type_sets`: what the attributes of the signature may be.
    """
    signature = signature.replace("...", SHAPED)

    if shape is shape_rules.scalar:
        shape = _of_scalars(f"{signature} -> {output}: variant", type_sets)

    def declare(body: Callable) -> Any:
        parameters = list(inspect.signature(body).parameters)

        def value(*inputs, op, **attrs):
            values = {arg.name: [held(array) for array in part] if arg.name.endswith(_CAPTURED) else _plain(part)
                      for part, arg in zip(inputs, op.opdef.inputs)}
            functions = _functions(op, values)
            given = [part for name, part in values.items() if not name.endswith(_CAPTURED)]
            named = {name: op.attrs[name] for name in parameters if name in op.opdef.attrs}
            source = body(*given, **{**named, **{name: functions[name] for name in functions if name in parameters}})
            if source.recipe is not None:
                source = Same(source)       # a step that changes no elements is one all the same
            source.recipe = Recipe(op, values)
            return handle(source)

        functools.update_wrapper(value, body)
        vars(value)["__signature__"] = inspect.Signature()      # attributes come by the node
        return op(f"{signature} -> {output}: variant", shape=shape, host=True, context=("op",), stateful=stateful,
                  hands_on=True, tested_in=TESTS, **type_sets)(value)

    return declare


def _of_scalars(signature: str, type_sets: dict) -> Callable:
    """The shape rule of a dataset that is made by numbers."""
    inputs = parse(signature, type_sets).inputs
    lists = [k for k, arg in enumerate(inputs) if arg.is_list]
    checked = [(k if not lists or k < lists[0] else k - len(inputs), arg.name)      # those after a list are counted from the end
               for k, arg in enumerate(inputs) if arg.name in _SCALARS and (not lists or not lists[0] < k < lists[-1])]

    def rule(c: Any) -> tuple:
        for k, name in checked:
            shape_rules.with_rank(c.shapes[k], 0, f"{name!r} of '{c.op_type}'")
        return ()

    return rule if checked else shape_rules.scalar


def _functions(node: Any, values: dict[str, Any]) -> dict[str, Function]:
    """{attribute: function} with what each has captured: the input that is named after it, or the only one."""
    lists = {name: part for name, part in values.items() if name.endswith(_CAPTURED)}
    found = {}
    for name in node.opdef.functions:
        of_its_own = [part for key, part in lists.items() if key.startswith(name)]
        captured = of_its_own[0] if of_its_own else next(iter(lists.values())) if len(lists) == 1 else []
        found[name] = Function(node.attrs[name], captured)
    return found


def held(array: Any) -> Any:
    """An array that outlives the call; what stands for a thing of the host stays that thing."""
    return array if isinstance(array, np.ndarray) and array.dtype == object and not array.ndim else kept(array)


def as_arrays(parts: Any) -> list[np.ndarray]:
    """Inputs as arrays; scalars of the host, such as strings, stand in arrays of objects, which have no longest string."""
    found = []
    for part in parts:
        array = part if isinstance(part, np.ndarray) else np.empty((), object)
        if array is not part:
            array[()] = part
        found.append(array)
    return found


def _plain(part: Any) -> Any:
    """An input as a body takes it."""
    if isinstance(part, (list, tuple)):
        return [_plain_or_array(one) for one in part]
    found = _plain_or_array(part)
    return found.item() if isinstance(found, np.ndarray) and not found.ndim else found


def _plain_or_array(array: Any) -> Any:
    value = array[()] if isinstance(array, np.ndarray) and array.dtype == object and not array.ndim else array
    return kept(value) if isinstance(value, np.ndarray) else value
