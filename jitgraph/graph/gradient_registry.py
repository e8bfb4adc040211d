"""Which function gives the gradient of an op: declared with it, registered by a program, or overridden in a graph.

A gradient function takes (op, *gradients of its outputs) and returns the gradients of its inputs.  An attribute of it asks
for more: with `takes_none` an output that nothing flows back to has None and not zeros, with `takes_needed` it is told the
numbers of the inputs whose gradients are wanted, with `takes_gate` whether the gradients of an operation wait for each other,
with `takes_gradients` it is given ``tf.gradients``.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_registered: dict[str, Callable | None] = {}
_OF_CALLS = re.compile(r"PartitionedCall-\d+$")     # what TensorFlow called the gradient of a call in the program that wrote a file


def NOT_DIFFERENTIABLE(op: Any, *grads: Any) -> None:
    """The gradient of an op through which nothing flows: ``grad=NOT_DIFFERENTIABLE``."""


class RegisterGradient:
    """Decorator ``@tf.RegisterGradient("MyOp")``: the function is the gradient of ops of that type.

    The name may also be one that ``graph.gradient_override_map`` refers to.  Raises KeyError if it is taken.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable) -> Callable:
        _register(self._op_type, f)
        return f


def _register(op_type: str, function: Callable | None) -> None:
    if op_type in _registered:
        raise KeyError(f"Registering two gradient with name '{op_type}'! (Previous registration was "
                       f"{_registered[op_type]!r})")
    _registered[op_type] = function


def not_differentiable(op_type: str) -> None:
    """``tf.NotDifferentiable``: nothing flows back through ops of `op_type`.  Raises TypeError if it is no string."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, None)


def gradient_function(op: Any) -> Callable | None:
    """The gradient function of `op`; None if nothing flows back through it.

    An override in the op's graph counts first, then the function a program registered, then the op's declaration.
    Raises LookupError if there is none.
    """
    if not op.inputs:
        return None
    if op._gradient_function is not None:
        return op._gradient_function
    override = (op.annotations or {}).get("_gradient_op_type")
    if isinstance(override, bytes):
        override = override.decode()
    if override is not None and _OF_CALLS.match(override) and override not in _registered:
        override = None
    if override is not None:
        if override in _registered:
            return _registered[override]
        declared = _declared(override)
        if declared is not None:
            return _unless_stopped(declared)
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type}): the override "
                          f"'{override}' is not registered with tf.RegisterGradient.")
    if op.type in _registered:
        return _registered[op.type]
    declared = op.opdef.grad if op.opdef is not None else None
    if declared is None:
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type}). Register one with "
                          f"@tf.RegisterGradient(\"{op.type}\"), or wrap its input in tf.stop_gradient.")
    return _unless_stopped(declared)


def _declared(op_type: str) -> Callable | None:
    from jitgraph.graph.registry import REGISTRY

    opdef = REGISTRY.get(op_type)
    return opdef.grad if opdef else None


def _unless_stopped(function: Callable) -> Callable | None:
    return None if function is NOT_DIFFERENTIABLE else function
