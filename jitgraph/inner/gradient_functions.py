"""``tensorflow.python.ops.nn_grad`` and its like: the gradient functions of TensorFlow's ops, by their names there.

Programs that explain networks give an op a gradient of their own, and call ``nn_grad._ReluGrad(op, grad)`` where they want
the usual one.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jitgraph.autodiff.gradients import gradients
from jitgraph.graph.gradient_registry import NOT_DIFFERENTIABLE
from jitgraph.graph.registry import REGISTRY

_NAME = re.compile(r"_(?P<type>\w+?)Grad(?P<version>V\d)?$")
_OTHERWISE = {"_IdGrad": "Identity", "_IdNGrad": "IdentityN", "_RefIdGrad": "RefIdentity", "_BatchMatMul": "BatchMatMul",
              "_BatchMatMulV2": "BatchMatMulV2", "_TopKGrad": "TopKV2", "_MaxPoolGradWithArgmax": "MaxPoolWithArgmax",
              "_Conv3DBackpropInputGrad": "Conv3DBackpropInputV2", "_Conv3DBackpropFilterGrad": "Conv3DBackpropFilterV2"}


def __getattr__(name: str) -> Callable:
    op_type = _OTHERWISE.get(name)
    if op_type is None:
        found = _NAME.match(name)
        op_type = found["type"] + (found["version"] or "") if found else ""
    declared = REGISTRY[op_type].grad if op_type in REGISTRY else None
    if declared is None or declared is NOT_DIFFERENTIABLE:
        raise AttributeError(f"no gradient function {name} of TensorFlow's is here")
    return _as_tensorflow_calls(name, op_type, declared)


def _as_tensorflow_calls(name: str, op_type: str, declared: Callable) -> Callable:
    """A function (op, *gradients of its outputs) that asks for nothing more."""
    def gradient(op: Any, *grads: Any) -> Any:
        more: dict[str, Any] = {}
        if getattr(declared, "takes_needed", False):
            more["needed"] = set(range(len(op.inputs)))
        if getattr(declared, "takes_gate", False):
            more["gate"] = False
        if getattr(declared, "takes_gradients", False):
            more["gradients"] = gradients
        return declared(op, *grads, **more)

    gradient.__name__ = name
    gradient.__doc__ = f"The gradients of the inputs of an operation of type {op_type}, from those of its outputs."
    return gradient
