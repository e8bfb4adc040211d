"""``tf.nn``: losses on logits, normalisation, dropout, written in other ops."""
from __future__ import annotations

import numbers
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.counting import counted_as
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.arrays.identity import identity, stop_gradient
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import shape, size, squeeze
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.reductions import count_nonzero, reduce_mean, reduce_sum


def _same_shapes(first: Any, second: Any, what: str) -> None:
    try:
        first.shape.merge_with(second.shape)
    except ValueError:
        raise ValueError(f"{what} must have the same shape ({first.shape} vs {second.shape})") from None


def sigmoid_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None, logits: Any = None,
                                      name: str | None = None) -> Any:
    """-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits)), element by element, without overflow.

    Named arguments only.  Raises ValueError if the shapes differ.
    """
    if _sentinel is not None:
        raise ValueError("Only call `sigmoid_cross_entropy_with_logits` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shapes(logits, labels, "logits and labels")
        # max(x, 0) - x * z + log(1 + exp(-abs(x))), in a form whose gradient at 0 is right
        zeros = zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        clipped = where(positive, logits, zeros)
        minus_abs = where(positive, -logits, logits)
        return raw.Add(clipped - logits * labels, raw.Log1p(raw.Exp(minus_abs)), name=scope)


def weighted_cross_entropy_with_logits(labels: Any = None, logits: Any = None, pos_weight: Any = None,
                                       name: str | None = None, targets: Any = None) -> Any:
    """As ``sigmoid_cross_entropy_with_logits``, the first term times `pos_weight`."""
    labels = renamed("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shapes(logits, labels, "logits and labels")
        weight = 1 + (pos_weight - 1) * labels
        linear = (1 - labels) * logits
        tail = raw.Log1p(raw.Exp(-abs(logits))) + raw.Relu(-logits)
        return raw.Add(linear, weight * tail, name=scope)


def log_poisson_loss(targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None) -> Any:
    """exp(log_input) - log_input * targets; with `compute_full_loss`, plus Stirling's approximation of log(targets!)."""
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        _same_shapes(targets, log_input, "log_input and targets")
        result = raw.Exp(log_input) - log_input * targets
        if compute_full_loss:
            half, two_pi = constant(0.5, targets.dtype), constant(6.283185307179586, targets.dtype)
            stirling = targets * raw.Log(targets) - targets + half * raw.Log(two_pi * targets)
            none, one = zeros_like(targets), ones_like(targets)
            small = raw.LogicalAnd(targets >= none, targets <= one)
            result += where(small, none, stirling)
        return result


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Any:
    """x / sqrt(max(sum(x ** 2), epsilon)) with the sum along `axis` (by default, over everything)."""
    axis = renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        squares = reduce_sum(raw.Square(x), axis, keepdims=True)
        return raw.Mul(x, raw.Rsqrt(raw.Maximum(squares, epsilon)), name=scope)


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """The fraction of elements of `value` that are zero, a float32 scalar."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        count = size(value, out_type=dtypes.int64)
        with counted_as(20 if value.shape.ndims is not None else 26):       # TensorFlow counts in int32 where that suffices
            nonzero = count_nonzero(value, dtype=dtypes.int64)
        with name_scope("counts_to_fraction"):
            zeros = cast(count - nonzero, dtypes.float32)
            fraction = zeros / cast(count, dtypes.float32)
        return identity(fraction, name="fraction")


# -- dropout -------------------------------------------------------------------------------------------------------

def dropout(x: Any, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None, name: str | None = None,
            rate: Any = None) -> Any:
    """`x` with each element set to 0 with probability `rate`, the others scaled by 1 / (1 - rate).

    `keep_prob` is the older way to say 1 - rate.  `noise_shape` broadcasts to that of `x`: dimensions of size 1 are kept
    or dropped as a whole.  Raises ValueError if `x` is not floating point, or the rate is not in [0, 1).
    """
    try:
        kept = 1.0 - keep_prob if keep_prob is not None else None
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = renamed("rate", rate, "keep_prob", kept)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]):
        return _dropped(convert_to_tensor(x, name="x"), rate, noise_shape, seed)


def _dropped(x: Any, rate: Any, noise_shape: Any, seed: int | None) -> Any:
    if not x.dtype.is_floating:
        raise ValueError("x has to be a floating point tensor since it's going to be scaled. Got a "
                         f"{x.dtype} tensor instead.")
    if isinstance(rate, numbers.Real):
        if not 0 <= float(rate) < 1:
            raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}")
        if rate == 0:
            return x
    rate = convert_to_tensor(rate, x.dtype.base_dtype, name="rate")
    rate.shape.assert_has_rank(0)
    if constant_value(rate) == 0:
        return x
    uniform = random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype.base_dtype)
    scale = 1 / (1 - rate)
    kept = uniform >= rate
    result = x * scale * cast(kept, x.dtype.base_dtype)
    result.set_shape(x.shape)
    return result


def _noise_shape(x: Any, noise_shape: Any) -> Any:
    """The given shape, with unknown sizes filled in from `x`; the shape of `x` if there is none."""
    if noise_shape is None:
        return shape(x)
    try:
        given = TensorShape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    known = x._shape
    if known is not None and given.ndims is not None and len(known) == given.ndims:
        return TensorShape([own if own is not None else other for own, other in zip(given.as_list(), known)])
    return noise_shape


# -- moments and batch normalisation -------------------------------------------------------------------------------

def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool | None = None,
            keepdims: bool | None = None) -> tuple:
    """(mean, variance) of `x` over `axes`; the variance is not corrected for bias.  `shift` is not used."""
    keep_dims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    with name_scope(name, "moments", [x, axes]):
        y = x if is_tensor_like(x) else convert_to_tensor(x)        # a resource variable is read twice, as by TensorFlow
        half = y.dtype.base_dtype is dtypes.float16
        y = cast(y, dtypes.float32) if half else y
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        variance = reduce_mean(raw.SquaredDifference(y, stop_gradient(mean)), axes, keepdims=True, name="variance")
        if not keep_dims:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if half:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def sufficient_statistics(x: Any, axes: Any, shift: Any = None, keep_dims: bool | None = None, name: str | None = None,
                          keepdims: bool | None = None) -> tuple:
    """(count, sum, sum of squares, shift) of `x - shift` over `axes`, from which ``normalize_moments`` gives moments."""
    keep_dims = renamed("keepdims", keepdims, "keep_dims", keep_dims) or False
    axes = list(dict.fromkeys(axes))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        known = x._shape
        if known is not None and all(known[axis] is not None for axis in axes):
            count = 1
            for axis in axes:
                count *= known[axis]
            counts = constant(count, x.dtype.base_dtype, name="count")
        else:
            sizes = raw.GatherV2(shape(x), axes, 0)
            counts = raw.Prod(cast(sizes, x.dtype.base_dtype), [0], name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            total, squares = x - shift, raw.SquaredDifference(x, shift)
        else:
            total, squares = x, raw.Square(x)
        return (counts, reduce_sum(total, axes, keepdims=keep_dims, name="mean_ss"),
                reduce_sum(squares, axes, keepdims=keep_dims, name="var_ss"), shift)


def normalize_moments(counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None) -> tuple:
    """(mean, variance) from what ``sufficient_statistics`` gives."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = raw.Reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = raw.Mul(mean_ss, divisor, name="shifted_mean")
            mean = raw.Add(shifted, shift, name="mean")
        else:
            shifted = mean = raw.Mul(mean_ss, divisor, name="mean")
        return mean, raw.Sub(raw.Mul(variance_ss, divisor), raw.Square(shifted), name="variance")


def weighted_moments(x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: bool | None = None,
                     keepdims: bool | None = None) -> tuple:
    """(mean, variance) of `x` over `axes`, each element counted `frequency_weights` times (broadcasting)."""
    keep_dims = renamed("keepdims", keepdims, "keep_dims", keep_dims) or False
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype.base_dtype is dtypes.float16
        if half:
            x = cast(x, dtypes.float32)
        weights = cast(weights, x.dtype.base_dtype)
        total = reduce_sum(weights * x, axes, keepdims=True, name="weighted_input_sum")
        # weights that broadcast count once for each element they stand for
        number = reduce_sum(weights + zeros_like(x), axes, keepdims=True, name="sum_of_weights")
        divisor = raw.Reciprocal(number, name="inv_weight_sum")
        mean = raw.Mul(total, divisor)
        distance = reduce_sum(raw.Mul(weights, raw.SquaredDifference(x, mean)), axes, keepdims=True)
        variance = raw.Mul(distance, divisor)
        if not keep_dims:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        return (cast(mean, dtypes.float16), cast(variance, dtypes.float16)) if half else (mean, variance)


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float,
                        name: str | None = None) -> Any:
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset (Ioffe and Szegedy, 2015).

    `offset` and `scale` may be None.
    """
    with name_scope(name, "batchnorm", [v for v in (x, mean, variance, scale, offset) if v is not None]):
        inverse = raw.Rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse = inverse * scale
        x = convert_to_tensor(x)
        scaled = x * cast(inverse, x.dtype.base_dtype)      # first: contrib.quantize finds nodes by their names
        rest = offset - mean * inverse if offset is not None else -mean * inverse
        return scaled + cast(rest, x.dtype.base_dtype)
