"""Activation functions and their gradients."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import FLOATS, REALS, elementwise
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shape_rules import merged_inputs

SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717


@elementwise("Relu(features: T) -> activations: T", T=REALS, reference=lambda x: np.maximum(x, 0))
def relu(features):
    """max(features, 0)."""
    return prim.max(features, 0)


@relu.gradient
def _(op, grad):
    return raw.ReluGrad(grad, op.outputs[0])


def _gradient_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, shape, dtype), draw(rng, shape, dtype)] for shape in ((2, 3), (), (0, 3), (1, 1))]


@elementwise("ReluGrad(gradients: T, features: T) -> backprops: T", shape=merged_inputs, T=REALS, samples=_gradient_samples)
def relu_grad(gradients, features, T):
    """The gradient of Relu: `gradients` where `features` (its input or output) are positive, else 0 times them."""
    return gradients * prim.cast(features > 0, T)


@relu_grad.gradient
@gradient_of_nodes(4)
def _(op, grad):
    features = op.inputs[1]
    return [raw.ReluGrad(grad, features), raw.ZerosLike(features)]


@elementwise("Relu6(features: T) -> activations: T", T=REALS)
def _relu6(features):
    """min(max(features, 0), 6)."""
    return prim.min(prim.max(features, 0), 6)


@_relu6.gradient
def _(op, grad):
    return raw.Relu6Grad(grad, op.outputs[0])


@elementwise("Relu6Grad(gradients: T, features: T) -> backprops: T", shape=merged_inputs, T=REALS, samples=_gradient_samples)
def relu6_grad(gradients, features, T):
    """The gradient of Relu6: `gradients` where 0 < `features` < 6, else 0 times them."""
    return gradients * prim.cast(prim.logical_and(features > 0, features < 6), T)


@relu6_grad.gradient
@gradient_of_nodes(4)
def _(op, grad):
    features = op.inputs[1]
    return [raw.Relu6Grad(grad, features), raw.ZerosLike(features)]


@elementwise("LeakyRelu(features: T; alpha: float = 0.2) -> activations: T",
             T=FLOATS.with_default(dtypes.float32))
def _leaky_relu(features, alpha):
    """features where positive, alpha * features elsewhere."""
    return prim.select(features > 0, features, features * alpha)


@_leaky_relu.gradient
def _(op, grad):
    return raw.LeakyReluGrad(grad, op.inputs[0], alpha=op.attrs["alpha"])


@elementwise("LeakyReluGrad(gradients: T, features: T; alpha: float = 0.2) -> backprops: T", shape=merged_inputs,
             T=FLOATS.with_default(dtypes.float32), samples=_gradient_samples)
def leaky_relu_grad(gradients, features, alpha):
    """The gradient of LeakyRelu at `features`."""
    return prim.select(features > 0, gradients, gradients * alpha)


@leaky_relu_grad.gradient
@gradient_of_nodes(4)
def _(op, grad):
    features = op.inputs[1]
    return [raw.LeakyReluGrad(grad, features, alpha=op.attrs["alpha"]), raw.ZerosLike(features)]


@elementwise("Elu(features: T) -> activations: T", T=FLOATS)
def elu(features):
    """features where not negative, exp(features) - 1 elsewhere."""
    return prim.select(features < 0, prim.expm1(features), features)


@elu.gradient
def _(op, grad):
    return raw.EluGrad(grad, op.outputs[0])


@elementwise("EluGrad(gradients: T, outputs: T) -> backprops: T", shape=merged_inputs, T=FLOATS, samples=_gradient_samples)
def elu_grad(gradients, outputs):
    """The gradient of Elu, given its `outputs`."""
    return prim.select(outputs < 0, (outputs + 1) * gradients, gradients)


@elu_grad.gradient
@gradient_of_nodes(6)
def _(op, grad):
    gradients, elu_x = op.inputs
    zeros = raw.ZerosLike(elu_x)
    return [raw.EluGrad(grad, elu_x), raw.Select(raw.Less(elu_x, zeros), raw.Mul(grad, gradients), zeros)]


@elementwise("Selu(features: T) -> activations: T", T=FLOATS)
def selu(features):
    """scale * elu with scale and alpha for which activations keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    return prim.select(features < 0, prim.expm1(features) * (SELU_SCALE * SELU_ALPHA), features * SELU_SCALE)


@selu.gradient
def _(op, grad):
    return raw.SeluGrad(grad, op.outputs[0])


@elementwise("SeluGrad(gradients: T, outputs: T) -> backprops: T", shape=merged_inputs, T=FLOATS, samples=_gradient_samples)
def selu_grad(gradients, outputs):
    """The gradient of Selu, given its `outputs`."""
    return prim.select(outputs < 0, gradients * (outputs + SELU_SCALE * SELU_ALPHA), gradients * SELU_SCALE)


@selu_grad.gradient
@gradient_of_nodes(6)
def _(op, grad):
    gradients, selu_x = op.inputs
    zeros = raw.ZerosLike(selu_x)
    return [raw.SeluGrad(grad, selu_x), raw.Select(raw.Less(selu_x, zeros), raw.Mul(grad, gradients), zeros)]


@elementwise("Softplus(features: T) -> activations: T", T=FLOATS, reference=lambda x: np.logaddexp(0, x))
def softplus(features):
    """log(1 + exp(features)), without overflow."""
    return prim.max(features, 0) + prim.log1p(prim.exp(-prim.abs(features)))


@softplus.gradient
def _(op, grad):
    return raw.Mul(grad, raw.Sigmoid(op.inputs[0]), name="mul")


@elementwise("SoftplusGrad(gradients: T, features: T) -> backprops: T", shape=merged_inputs, T=FLOATS, samples=_gradient_samples)
def softplus_grad(gradients, features):
    """The gradient of Softplus at `features`."""
    return gradients / (prim.exp(-features) + 1)


@softplus_grad.gradient
def _(op, grad):
    dy, x = op.inputs
    ddy = raw.SoftplusGrad(grad, x)
    d2x = raw.RealDiv(raw.Mul(grad, dy), raw.Exp(-x) + 2.0 + raw.Exp(x))
    return [ddy, d2x]


@elementwise("Softsign(features: T) -> activations: T", T=FLOATS)
def softsign(features):
    """features / (1 + abs(features))."""
    return features / (prim.abs(features) + 1)


@softsign.gradient
def _(op, grad):
    return raw.SoftsignGrad(grad, op.inputs[0])


@elementwise("SoftsignGrad(gradients: T, features: T) -> backprops: T", shape=merged_inputs, T=FLOATS, samples=_gradient_samples)
def softsign_grad(gradients, features):
    """The gradient of Softsign at `features`."""
    below = prim.abs(features) + 1
    return gradients / (below * below)


# -- public functions ----------------------------------------------------------------------------------------------

def relu6(features: Any, name: str | None = None) -> Any:
    """min(max(features, 0), 6) element by element."""
    with name_scope(name, "Relu6", [features]) as scope:
        return _relu6(convert_to_tensor(features, name="features"), name=scope)


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """`features` where positive, ``alpha * features`` elsewhere; integers become float32."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = raw.Cast(features, DstT="float32", name="ToFloat")
        if isinstance(alpha, np.ndarray):
            alpha = alpha.item()
        return _leaky_relu(features, alpha=alpha, name=scope)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Any:
    """The positive and the negated negative part of `features` end to end along `axis` (Shang et al., 2016)."""
    from jitgraph.ops.arrays.join import concat

    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return relu(concat([features, -features], axis, name=scope))


def swish(features: Any) -> Any:
    """features * sigmoid(features) (Ramachandran et al., 2017)."""
    features = convert_to_tensor(features, name="features")
    value = features * raw.Sigmoid(features)
    raw.Identity(value)                 # TensorFlow's is a function with a gradient of its own: its nodes, and its gradient's
    activation, _ = raw.IdentityN([value, features])
    activation.op._gradient_function = _gradient_of_swish
    return activation


def _gradient_of_swish(op: Any, grad: Any, unused: Any) -> list:
    features = op.inputs[1]
    sigmoid = raw.Sigmoid(features)
    return [None, grad * (sigmoid * (1.0 + features * (1.0 - sigmoid)))]
