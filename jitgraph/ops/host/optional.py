"""Optionals: what a branch of TensorFlow 1.15's functional conditionals hands to its gradient, or nothing."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import shape_rules
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.tensor_arrays.host_values import boxed, unboxed

# `context`: the value is one of the host, which is never folded into the graph
_HOST: dict[str, Any] = {"host": True, "context": ("op",)}


@op("OptionalNone() -> optional: variant", shape=shape_rules.scalar, grad=NOT_DIFFERENTIABLE, **_HOST,
    tested_in="tests/ops/test_older_ops.py: a value of the host")
def optional_none(op):
    """An optional without values."""
    return boxed(None)


@op("OptionalFromValue(components: [Toutput_types]; Toutput_types: list(type) >= 1) -> optional: variant",
    shape=shape_rules.scalar, **_HOST, tested_in="tests/ops/test_older_ops.py: a value of the host")
def optional_from_value(components, op):
    """An optional with these values."""
    # the memory of the arguments is used again after the call
    return boxed(tuple(np.array(component) for component in components))


@optional_from_value.gradient
def _(op, grad):
    return list(raw.OptionalGetValue(grad, output_types=op.attrs["Toutput_types"],
                                     output_shapes=[t._shape for t in op.inputs]))


@op("OptionalHasValue(optional: variant) -> has_value: bool", shape=shape_rules.scalar, **_HOST,
    tested_in="tests/ops/test_older_ops.py: a value of the host")
def optional_has_value(optional, op):
    """Whether there are values."""
    return np.array(unboxed(optional) is not None)


@op("OptionalGetValue(optional: variant; output_types: list(type) >= 1, output_shapes: list(shape) >= 1) "
    "-> components: [output_types]", shape=lambda c: list(c.attrs["output_shapes"]), **_HOST,
    tested_in="tests/ops/test_older_ops.py: a value of the host")
def optional_get_value(optional, op):
    """The values.  Raises InvalidArgumentError if there are none."""
    values = unboxed(optional)
    if values is None:
        raise InvalidArgumentError(None, None, "The given optional does not have a value.")
    return list(values)


@optional_get_value.gradient
def _(op, *grads):
    return raw.OptionalFromValue(list(grads))
