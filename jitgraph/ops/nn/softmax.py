"""Softmax and the cross entropies."""
from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules, shapes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_taken, counted_as
from jitgraph.graph.dtypes import FLOATS, TypeSet
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import brackets
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import stop_gradient
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import exchanged, transpose
from jitgraph.ops.arrays.sequences import range
from jitgraph.ops.arrays.shape import expand_dims, rank, reshape, shape
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.precise_sum import precise_sum

_LABELS = TypeSet(dtypes.int32, dtypes.int64)


def _vectors(c: Any) -> Any:
    return shape_rules.with_rank_at_least(c.shapes[0], 1, "logits")


def _lower_softmax(b: Any, logits: Any) -> Any:
    weights = prim.exp(logits - b.reduce("max", logits, [-1], True))
    return weights * (1.0 / b.reduce("add", weights, [-1], True))


def _softmax_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, shape, dtype)] for shape in ((2, 4), (5,), (2, 1, 3), (0, 3))]


@op("Softmax(logits: T) -> softmax: T", T=FLOATS, shape=_vectors, lower=_lower_softmax, samples=_softmax_samples)
def _softmax(logits):
    """exp(logits) / sum(exp(logits)) along the last axis; as in TensorFlow, a product with the inverse of the sum."""
    weights = np.exp(logits - _max(logits))
    return weights * (weights.dtype.type(1) / precise_sum(weights, -1, keepdims=True))


def _max(x: np.ndarray) -> np.ndarray:
    return np.max(x, -1, keepdims=True, initial=-np.inf) if x.shape[-1] == 0 else np.max(x, -1, keepdims=True)


@_softmax.gradient
def _(op, grad):
    softmax = op.outputs[0]
    total = raw.Sum(raw.Mul(grad, softmax, name="mul"), -1, keep_dims=True)
    return raw.Mul(raw.Sub(grad, total, name="sub"), softmax, name="mul")


def _lower_log_softmax(b: Any, logits: Any) -> Any:
    shifted = logits - b.reduce("max", logits, [-1], True)
    return shifted - prim.log(b.reduce("add", prim.exp(shifted), [-1], True))


@op("LogSoftmax(logits: T) -> logsoftmax: T", T=FLOATS, shape=_vectors, lower=_lower_log_softmax, samples=_softmax_samples)
def _log_softmax(logits):
    """logits - log(sum(exp(logits))) along the last axis."""
    shifted = logits - _max(logits)
    return shifted - np.log(precise_sum(np.exp(shifted), -1, keepdims=True))


@_log_softmax.gradient
def _(op, grad):
    softmax = raw.Exp(op.outputs[0])
    total = raw.Sum(grad, -1, keep_dims=True)
    return raw.Sub(grad, raw.Mul(total, softmax, name="mul"), name="sub")


# -- cross entropies -----------------------------------------------------------------------------------------------

def _cross_entropy_shape(c: Any) -> Any:
    both = shape_rules.broadcast_shapes(*c.shapes)
    both = shape_rules.with_rank(both, 2, "logits and labels")
    if not c.running:           # a graph is taken to mean equal shapes, as TensorFlow's is, where they may be equal
        with suppress(ValueError):
            both = shape_rules.merge(shape_rules.with_rank(c.shapes[0], 2), c.shapes[1])
    return [(both[0],), both]


def _lower_cross_entropy(b: Any, features: Any, labels: Any) -> Any:
    shape = b.common_shape([features, labels])
    features, labels = b.broadcast(features, shape), b.broadcast(labels, shape)
    shifted = features - b.reduce("max", features, [-1], True)
    weights = prim.exp(shifted)
    total = b.reduce("add", weights, [-1], True)
    loss = b.reduce("add", labels * (prim.log(total) - shifted), [-1])
    return [loss, weights / total - labels]


def _cross_entropy_samples(rng: Any, dtype: Any) -> list:
    labels = np.abs(draw(rng, (3, 4), np.float64)) + 0.1
    labels = (labels / labels.sum(1, keepdims=True)).astype(dtype)
    return [[draw(rng, (3, 4), dtype), labels], [draw(rng, (0, 4), dtype), labels[:0]]]


@op("SoftmaxCrossEntropyWithLogits(features: T, labels: T) -> loss: T, backprop: T", T=FLOATS,
    shape=_cross_entropy_shape, lower=_lower_cross_entropy, samples=_cross_entropy_samples, gradient_of=(0,))
def _softmax_cross_entropy(features, labels):
    """loss: -sum(labels * log softmax(features)) of each row; backprop: its gradient with respect to `features`."""
    try:
        features, labels = np.broadcast_arrays(features, labels)
    except ValueError:
        raise invalid(f"logits and labels must be broadcastable: logits_size={brackets(np.shape(features))} "
                      f"labels_size={brackets(np.shape(labels))}") from None
    shifted = features - _max(features)
    weights = np.exp(shifted)
    total = precise_sum(weights, -1, keepdims=True)
    loss = precise_sum(labels * (np.log(total) - shifted), -1)
    return loss, weights / total - labels


def _by_row(column: Any, rows: Any) -> Any:
    """Each row of `rows` times the element of the vector `column`."""
    return raw.Mul(expand_dims(column, -1), rows, name="mul")


def _is_zero(grad: Any) -> bool:
    """Whether a gradient is known to be zero: most often nobody asked for it."""
    if grad is None or grad.op.type in ("Zeros", "ZerosLike"):
        return True
    value = constant_value(grad)
    return value is not None and not value.any()


def _second_order(grad: Any, grad_grad: Any, logits: Any) -> Any:
    """`grad`, and what arrived at the gradient of the loss."""
    if grad_grad.op.type == "Fill" and _is_zero(grad_grad.op.inputs[1]):       # in the gradient of a loop
        count_taken(logits)
        return grad
    softmax = _softmax(logits)
    inner = raw.Sum(raw.Mul(grad_grad, softmax), [1], keep_dims=True)
    return raw.AddV2(grad, raw.Mul(raw.Sub(grad_grad, inner), softmax))


@_softmax_cross_entropy.gradient
def _(op, grad_loss, grad_grad):
    logits, backprop = op.inputs[0], op.outputs[1]
    grad = _by_row(grad_loss, backprop)
    if not _is_zero(grad_grad):
        with counted_as(10):            # TensorFlow multiplies matrices for the sum
            grad = _second_order(grad, grad_grad, logits)
    return [grad, _by_row(grad_loss, raw.Neg(_log_softmax(logits)))]


def _sparse_cross_entropy_shape(c: Any) -> Any:
    logits = shape_rules.with_rank(c.shapes[0], 2, "logits")
    labels = shape_rules.with_rank(c.shapes[1], 1, "labels")
    rows = shape_rules.merge_sizes(logits[0], labels[0])
    return [(rows,), (rows, logits[1])]


def _lower_sparse_cross_entropy(b: Any, features: Any, labels: Any) -> Any:
    rows, classes = features.shape
    shifted = features - b.reduce("max", features, [-1], True)
    weights = prim.exp(shifted)
    total = b.reduce("add", weights, [-1], True)
    checked = b.gather(b.iota((classes,), 0, labels.dtype), labels, 0)      # the label itself, or an index error
    hit = prim.eq(b.reshape(checked, (rows, 1)), b.iota((rows, classes), 1, labels.dtype))
    loss = b.reduce("add", prim.select(hit, prim.log(total) - shifted, 0), [-1])
    return [loss, weights / total - b.cast(hit, features.dtype)]


@op("SparseSoftmaxCrossEntropyWithLogits(features: T, labels: Tlabels) -> loss: T, backprop: T", T=FLOATS,
    Tlabels=_LABELS.with_default(dtypes.int64), shape=_sparse_cross_entropy_shape,
    lower=_lower_sparse_cross_entropy, checks=True,
    samples=lambda rng, dtype: [[draw(rng, (3, 4), dtype), np.array([0, 3, 1])]], gradient_of=(0,))
def _sparse_softmax_cross_entropy(features, labels):
    """loss: -log softmax(features) at the class `labels` of each row; backprop: its gradient for `features`."""
    if features.shape[:1] != labels.shape:
        raise invalid(f"logits and labels must have the same first dimension, got logits shape {brackets(features.shape)} and "
                      f"labels shape {brackets(labels.shape)}")
    classes = features.shape[1]
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        bad = labels[(labels < 0) | (labels >= classes)][0]
        raise InvalidArgumentError(None, None, f"Received a label value of {bad} which is outside the valid range of "
                                               f"[0, {classes}).  Label values: {' '.join(map(str, labels[:32]))}")
    shifted = features - _max(features)
    weights = np.exp(shifted)
    total = precise_sum(weights, -1, keepdims=True)
    rows = np.arange(len(labels))
    backprop = weights / total
    backprop[rows, labels] -= 1
    return np.log(total[:, 0]) - shifted[rows, labels], backprop


@_sparse_softmax_cross_entropy.gradient
def _(op, grad_loss, grad_grad):
    grad = _by_row(grad_loss, raw.PreventGradient(
        op.outputs[1], message="Currently there is no way to take the second derivative of "
                               "sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction "
                               "with tf.gradients()"))
    return [grad, None]


# -- public functions ----------------------------------------------------------------------------------------------

def _along_last_axis(logits: Any, compute: Any, axis: Any, name: str | None) -> Any:
    """`compute` along `axis`, by moving that axis to the end and back."""
    logits = convert_to_tensor(logits)
    count = logits.shape.ndims
    if not isinstance(axis, Tensor) and (axis == -1 or count is not None and axis == count - 1):
        return compute(logits, name=name)
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if count is None:
        order = exchanged(rank(logits), axis)
        return transpose(compute(transpose(logits, order)), order, name=name)
    if known is not None and not -count <= known < count:
        raise InvalidArgumentError(None, None, f"Dimension ({known}) must be in the range [{-count}, {count}) where {count} "
                                               "is the number of dimensions in the input.")
    dimensions = rank(logits)
    if isinstance(axis, Tensor):
        axis = raw.Select(axis < 0, axis + dimensions, axis)
    elif axis < 0:
        axis = axis + dimensions
    last = rank(logits)
    axis = axis % count
    moved = _swapped(logits, axis, raw.Sub(last, 1))
    result = _swapped(compute(moved), axis, raw.Sub(last, 1), name)
    result.set_shape(logits._shape)
    return result


def _swapped(values: Any, axis: Any, last: Any, name: str | None = None) -> Any:
    """`values` with two axes exchanged."""
    return transpose(values, concat([range(axis), [last], range(axis + 1, last), [axis]], 0), name=name)


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """exp(logits) / sum(exp(logits)) along `axis`, by default the last."""
    axis = renamed("axis", axis, "dim", dim)
    return _along_last_axis(logits, _softmax, -1 if axis is None else axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """logits - log(sum(exp(logits))) along `axis`, by default the last."""
    axis = renamed("axis", axis, "dim", dim)
    return _along_last_axis(logits, _log_softmax, -1 if axis is None else axis, name)


def _check_named_only(name: str, sentinel: Any, labels: Any, logits: Any) -> None:
    if sentinel is not None:
        raise ValueError(f"Only call `{name}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _flattened(values: Any) -> Any:
    """All but the last axis as one."""
    count, full = rank(values), shape(values)
    last = raw.Slice(full, [raw.Sub(count, 1)], [1])
    result = reshape(values, concat([[-1], last], 0))
    known = values._shape
    if known is not None and None not in known[:-1]:
        result.set_shape([shape_rules.product(known[:-1]), known[-1]])
    return result


def softmax_cross_entropy_with_logits_v2(labels: Any, logits: Any, axis: Any = None, name: str | None = None,
                                         dim: Any = None) -> Any:
    """-sum(labels * log(softmax(logits))) along `axis` (the last): the loss for mutually exclusive classes.

    `labels` are probabilities in the shape of `logits`; gradients flow into both.  The result lacks `axis`.
    """
    axis = renamed("axis", axis, "dim", dim)
    return _cross_entropy_along(labels, logits, -1 if axis is None else axis, name)


def _is_narrow(tensor: Any) -> bool:
    """Whether a tensor's type is too narrow to add up a loss in."""
    return tensor.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16)


def _cross_entropy_along(labels: Any, logits: Any, axis: int, name: str | None) -> Any:
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        precise = cast(logits, dtypes.float32) if _is_narrow(logits) else logits
        labels = cast(labels, precise.dtype.base_dtype)
        count, known = rank(precise), logits._shape
        if axis != -1:
            precise, labels = _axis_to_end(precise, axis, count), _axis_to_end(labels, axis, count)
        size = shape(precise)
        precise, labels = _flattened(precise), _flattened(labels)
        cost, _ = _softmax_cross_entropy(precise, labels, name=scope)
        cost = reshape(cost, raw.Slice(size, [0], [raw.Sub(count, 1)]))
        if known is not None:
            cost.set_shape([d for i, d in enumerate(known) if i != axis % len(known)])
        return cast(cost, logits.dtype.base_dtype) if _is_narrow(logits) else cost


def _axis_to_end(values: Any, axis: int, count: Any) -> Any:
    order = concat([range(axis), range(axis + 1, count), [axis]], 0)
    return transpose(values, order)


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None, dim: Any = -1,
                                      name: str | None = None, axis: Any = None) -> Any:
    """As ``softmax_cross_entropy_with_logits_v2``, but no gradient flows into `labels`.  Named arguments only."""
    if axis is not None:
        dim = axis
    _check_named_only("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = stop_gradient(labels, name="labels_stop_gradient")
        return _cross_entropy_along(labels, logits, dim, scope)


def sparse_softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                             name: str | None = None) -> Any:
    """-log(softmax(logits)) at the class `labels` of each row; named arguments only.

    `labels`: int32 or int64 [...], `logits`: [..., classes]; the result has the shape of `labels`.  A label outside
    [0, classes) raises InvalidArgumentError in a run.
    """
    _check_named_only("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        precise = cast(logits, dtypes.float32) if _is_narrow(logits) else logits
        labels_size, known = shape(labels), labels._shape
        _check_sparse_labels(known, logits._shape)
        if logits._shape is not None and len(logits._shape) == 2:
            cost, _ = _sparse_softmax_cross_entropy(precise, labels, name=name)
        else:
            with control_dependencies(_sparse_labels_checks(labels, logits)):
                classes = shape(logits)[rank(logits) - 1]
                cost, _ = _sparse_softmax_cross_entropy(reshape(precise, [-1, classes]), reshape(labels, [-1]), name=name)
                cost = reshape(cost, labels_size)
                cost.set_shape(known)
        return cast(cost, logits.dtype.base_dtype) if _is_narrow(logits) else cost


def _sparse_labels_checks(labels: Tensor, logits: Tensor) -> list:
    """What compares the shapes in the run, if they are not known before."""
    from jitgraph.ops.checks.check_values import assert_equal

    if shapes.TensorShape._of(labels._shape).is_fully_defined() and shapes.TensorShape._of(logits._shape)[:-1].is_fully_defined():
        return []
    return [assert_equal(shape(labels), shape(logits)[:-1])]


def _check_sparse_labels(labels: Any, logits: Any) -> None:
    if logits is not None and len(logits) == 0:
        raise ValueError("Logits cannot be scalars - received shape ().")
    if logits is not None and labels is not None and len(labels) != len(logits) - 1:
        raise ValueError(f"Rank mismatch: Rank of labels (received {len(labels)}) should equal rank of logits minus 1 "
                         f"(received {len(logits)}).")
    if logits is not None and labels is not None and not shapes.TensorShape._of(labels).is_compatible_with(
            shapes.TensorShape._of(tuple(logits[:-1]))):
        raise ValueError(f"Shape mismatch: The shape of labels (received {labels}) should equal the shape of logits except "
                         f"for the last dimension (received {logits}).")
