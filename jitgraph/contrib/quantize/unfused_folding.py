"""Folds batch normalizations that are made of single operations into the weights of the layers before them, by their names."""
from __future__ import annotations

import re
from typing import Any

from jitgraph.contrib.quantize.corrections import BatchNorm, corrections
from jitgraph.contrib.quantize.fused_folding import convolved
from jitgraph.contrib.quantize.rewiring import BatchNormGroups, GetEndpointActivationOp, InputToOps, RerouteTensor
from jitgraph.graph.scopes import device
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.space import batch_to_space_nd
from jitgraph.ops.elementwise.arithmetic import add, multiply
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.variables.variable_scopes import get_variable_scope

_INNER = "BatchNorm/batchnorm_1/"


def fold_unfused(graph: Any, is_training: bool, freeze_delay: int | None) -> None:
    """Folds those that are there.  Raises ValueError where an activation or an addition does not read one as it should."""
    readers = InputToOps(graph)
    for context in BatchNormGroups(graph):
        scales = readers.ConsumerOperations(graph.get_operation_by_name(f"{context}{_INNER}Rsqrt"))
        scaled = sum(op.type == "Mul" for op in scales) == 1
        shift = graph.get_operation_by_name(f"{context}{_INNER}add_1")
        if not shift.outputs[0].consumers():
            continue
        folded = _folded(graph, context, scaled, freeze_delay, is_training, shift)
        reader = GetEndpointActivationOp(graph, context)
        if not reader:
            outer = re.search(r"^(.*)/([^/]+)", context)
            reader = graph.get_operation_by_name(f"{outer.group(1)}/AddV2" if outer and outer.group(1) else "AddV2")
        if RerouteTensor(folded, shift.outputs[0], can_modify=[reader]) != 1:
            raise ValueError(f"Unexpected inputs to op: {reader.name}")


def _tensor(graph: Any, ending: str, scope: str) -> Any:
    """The tensor with this ending of its name whose name scopes are most like those of `scope`."""
    parts = set(scope.split("/"))
    likeness = {op.name: len(set(op.name.split("/")) & parts) for op in graph.get_operations() if op.name.endswith(ending)}
    likeness = {name: count for name, count in likeness.items() if count or not scope}
    return graph.get_tensor_by_name(f"{max(likeness, key=lambda name: likeness[name])}:0") if likeness else None


def _parameters(graph: Any, context: str, scaled: bool) -> BatchNorm:
    def found(ending: str) -> Any:
        return _tensor(graph, f"BatchNorm/{ending}", context)

    resource = get_variable_scope().use_resource
    read = "/Read/ReadVariableOp" if resource else "/read"
    moving_mean = found(f"moving_mean{read}")
    gamma = found("gamma/Read/ReadVariableOp" if resource else "gamma") if scaled else ones(moving_mean.shape)
    return BatchNorm(gamma=gamma, mean=found("moments/Squeeze"), variance=found("moments/Squeeze_1"), moving_mean=moving_mean,
                     moving_variance=found(f"moving_variance{read}"), epsilon=found("batchnorm_1/add/y"),
                     mean_decay=found("AssignMovingAvg/decay"), variance_decay=found("AssignMovingAvg_1/decay"))


def _folded(graph: Any, context: str, scaled: bool, freeze_delay: int | None, is_training: bool, shift: Any) -> Any:
    """What takes the place of the output of the operation `shift`."""
    multiplied = graph.get_operation_by_name(f"{context}{_INNER}{'mul_1' if scaled else 'mul'}")
    layer, batches = multiplied.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, batches = layer.inputs[0].op, layer
    weights, factor = layer.inputs[1], multiplied.inputs[1]
    norm = _parameters(graph, context, scaled)
    scale = back = offset = None
    if is_training:
        scale, back, offset = corrections(context, norm, freeze_delay)
    if layer.type == "DepthwiseConv2dNative":
        shape = weights.get_shape().as_list()[2:]
        factor = graph.get_operation_by_name(f"{context}{_INNER}{'mul' if scaled else 'Rsqrt'}").outputs[0]
        factor = reshape(factor, shape, f"{context}scale_reshape")
        if scale is not None:
            scale = reshape(scale, shape, f"{context}correction_reshape")
    elif layer.type not in ("Conv2D", "MatMul"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    if scale is not None:
        with device(multiplied.device):
            weights = multiply(scale, weights, f"{context}correction_mult")
    product = multiply(weights, factor, name=f"{context}mul_fold")
    _check_shapes("mul_fold", weights, product)
    outputs = first = _again(layer, product)
    if batches is not None:
        outputs = batch_to_space_nd(outputs, batches.inputs[1], batches.inputs[2], name=f"{batches.name}_Fold")
    if offset is not None:
        with device(first.op.device):
            outputs = multiply(back, outputs, f"{context}post_conv_mul")
            outputs = add(outputs, offset, f"{context}correction_add")
    total = add(outputs, shift.inputs[1], name=f"{context}add_fold")
    _check_shapes("add_fold", outputs, total)
    return total


def _again(layer: Any, weights: Any) -> Any:
    inputs, name = layer.inputs[0], f"{layer.name}_Fold"
    left, right = inputs.get_shape(), weights.get_shape()
    if layer.type == "MatMul":
        fits = len(left) == len(right) == 2 and left[1].is_compatible_with(right[0])
    else:
        fits = len(left) == len(right) == 4 and left[3].is_compatible_with(right[2])
    if not fits:
        raise ValueError(f"Incompatible shapes for op {layer.name} inputs: {left} and {right}")
    if layer.type == "MatMul":
        return matmul(inputs, weights, transpose_a=layer.get_attr("transpose_a"), transpose_b=layer.get_attr("transpose_b"),
                      name=name)
    return convolved(layer, inputs, weights, name)


def _check_shapes(name: str, before: Any, after: Any) -> None:
    if not before.get_shape().is_compatible_with(after.get_shape()):
        raise ValueError(f"{name} should not change tensor shape: input {before.get_shape()}, output {after.get_shape()}")
