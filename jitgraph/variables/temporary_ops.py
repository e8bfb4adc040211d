"""References besides variables: those that pass one on, and variables that last for one run."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.errors import InvalidArgumentError, NotFoundError
from jitgraph.graph.texts import as_text

_TESTED = "tests/variables/test_temporary.py: "


def _the_one_input(node: Any) -> int:
    return 0


@op("RefIdentity(input: &T) -> output: &T", shape=shape_rules.same_as_input, stateful=True, state="read",
    selects=_the_one_input, tested_in=f"{_TESTED}a variable that others write through it")
def ref_identity(input):
    """The same reference."""
    return input


@ref_identity.gradient
def _(op, grad):
    return grad


@op("DebugGradientRefIdentity(input: &T) -> output: &T", shape=shape_rules.same_as_input, stateful=True, state="read",
    selects=_the_one_input, tested_in=f"{_TESTED}a variable that others write through it")
def debug_gradient_ref_identity(input):
    """The same reference, where a debugger looks at gradients."""
    return input


def _selected_shape(c: Any) -> Any:
    """The shape of all variables if it is known and one."""
    shape_rules.with_rank(c.shapes[0], 0, "index")
    first = c.shapes[1]
    return first if first is not None and None not in first and all(shape == first for shape in c.shapes[1:]) else None


def _selected_input(node: Any) -> int | None:
    index = constant_value(node.inputs[0])
    if index is None:
        return None
    last = len(node.inputs) - 1
    return min(int(index), last - 1) + 1 if index >= 0 else 1           # one out of range fails when the node is run


@op("RefSelect(index: int32, inputs: N*&T; N: int >= 1) -> output: &T", shape=_selected_shape, stateful=True, state="read",
    host=True, grad=None, selects=_selected_input, tested_in=f"{_TESTED}a variable that others write through it")
def ref_select(index, inputs):
    """The reference number `index`.  A run raises InvalidArgumentError if there is none, FailedPreconditionError if one of all the
    variables has no value.  A run that writes through it is the reference's where `index` is no constant."""
    if np.ndim(index):
        raise InvalidArgumentError(None, None, f"Index must be a scalar, but it has shape {list(np.shape(index))}")
    if not 0 <= index < len(inputs):
        raise InvalidArgumentError(None, None, f"Index must be in the range [0, {len(inputs)}) but got {int(index)}")
    return np.array(inputs[int(index)])


@op('TemporaryVariable(; shape: shape, dtype: type, var_name: string = "") -> ref: &dtype', shape=shape_rules.from_attr("shape"),
    stateful=True, state="read", variable="reference", tested_in=f"{_TESTED}a variable")
def temporary_variable(shape):
    """A variable for one run: an Assign gives it a value, ``DestroyTemporaryVariable`` takes it."""
    raise NotImplementedError("the session holds the value of a variable")


def _source_of(ref: object) -> object:
    """The TemporaryVariable at the beginning of a chain of references."""
    node = ref.op                                                           # type: ignore[attr-defined]
    while node.inputs and node.inputs[0].dtype._is_ref_dtype:
        node = node.inputs[0].op
    return node


@op("DestroyTemporaryVariable(ref: &T; var_name: string) -> value: T", shape=shape_rules.same_as_input, stateful=True, state="read",
    context=("op",), host=True, tested_in=f"{_TESTED}a variable")
def destroy_temporary_variable(ref, var_name, op):
    """The last value of the temporary variable `var_name`.  A run raises NotFoundError if it is of another name."""
    name = as_text(var_name)
    source = _source_of(op.inputs[0])
    given = source.attrs.get("var_name") or source.name
    if source.type != "TemporaryVariable" or (as_text(given)) != name:
        raise NotFoundError(None, None, f"Resource {name} of the type TemporaryVariable does not exist.")
    return np.array(ref)
