"""References besides variables: those that pass one on, and variables that last for one run."""
from __future__ import annotations

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.errors import NotFoundError
from jitgraph.graph.texts import as_text

_TESTED = "tests/variables/test_temporary.py: "


@op("RefIdentity(input: &T) -> output: &T", shape=shape_rules.same_as_input, stateful=True, state="read",
    tested_in=f"{_TESTED}a variable that others write through it")
def ref_identity(input):
    """The same reference."""
    return input


@ref_identity.gradient
def _(op, grad):
    return grad


@op("DebugGradientRefIdentity(input: &T) -> output: &T", shape=shape_rules.same_as_input, stateful=True, state="read",
    tested_in=f"{_TESTED}a variable that others write through it")
def debug_gradient_ref_identity(input):
    """The same reference, where a debugger looks at gradients."""
    return input


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
