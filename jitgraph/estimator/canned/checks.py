"""What heads demand of labels, weights, logits and loss functions."""
from __future__ import annotations

from typing import Any

from jitgraph.estimator.arguments import argument_names, taken
from jitgraph.feature_column.numeric import NumericColumn, numeric_column
from jitgraph.feature_column.transformations import FeatureTransformationCache
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.losses.losses import Reduction
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.checks.check_shapes import assert_rank_at_least
from jitgraph.ops.checks.check_values import assert_equal, assert_greater, assert_less_equal, assert_non_negative
from jitgraph.ops.elementwise.cast import to_float
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import reduce_all, reduce_any

_NO_LABELS = ("You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your data contain your "
              "label feature. Check that your input_fn properly parses and returns labels.")


def check_given(labels: Any) -> None:
    """Raises ValueError if there are no labels."""
    if labels is None:
        raise ValueError(_NO_LABELS)


def checked_labels(labels: Any, logits: Any, dimension: int) -> Any:
    """Labels [..., dimension] for logits [..., n]; a last size of 1 is added where it is missing.

    Raises ValueError for no labels, sparse ones, and another last size; other sizes are checked when it runs.
    """
    check_given(labels)
    with name_scope(None, "labels", [labels, logits]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., DN, "
                             f"{dimension}], e.g. [batch_size, {dimension}]. Suggested Fix (1): Check the label feature in your "
                             f"data. Each example must contain {dimension} value(s). If not, your choice of label was probably "
                             "incorrect. Suggested Fix (2): In your input_fn, use tf.sparse_tensor_to_dense() to turn labels into "
                             "a Tensor.")
        if labels.shape.ndims is not None and logits.shape.ndims is not None and labels.shape.ndims == logits.shape.ndims - 1:
            labels = expand_dims(labels, -1)
        labels_shape, logits_shape = shape_of(labels), shape_of(logits)
        message = (f"labels shape must be [D0, D1, ... DN, {dimension}]. Suggested Fix: check your n_classes argument to the "
                   "estimator and/or the shape of your label.")
        with control_dependencies([assert_rank_at_least(labels, 2, message=message)]):
            last = None if labels.shape.ndims is None else labels.shape[-1].value
            if last is not None and last != dimension:
                raise ValueError(f"Mismatched label shape. Expected labels dimension={dimension}.  Received {last}. Suggested Fix:"
                                 "If your classifier expects one-hot encoding label,check your n_classes argument to the "
                                 "estimator and/or the shape of your label. Otherwise, check the shape of your label.")
            wanted = concat([logits_shape[:-1], [dimension]], axis=0)
            check = assert_equal(wanted, labels_shape, message=message,
                                 data=["expected_labels_shape: ", wanted, "labels_shape: ", labels_shape])
            with control_dependencies([check]):
                return identity(labels, name=scope)


def weights_of(features: Any, weight_column: Any, logits: Any, per_logit: bool = False) -> Any:
    """The weights [..., 1] of examples in a feature, 1 without a column; with `per_logit` also [..., n].

    Raises TypeError for what is neither a key nor a numeric column; sizes are checked when it runs.
    """
    last = ", [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]" if per_logit else " or [D0, D1, ... DN, 1]"
    message = f"weights shape must be [D0, D1, ... DN]{last}"
    with name_scope(None, "weights", values=[*features.values(), logits]) as scope:
        if weight_column is None:
            return 1.0
        if isinstance(weight_column, str):
            weight_column = numeric_column(weight_column, shape=(1,))
        if not isinstance(weight_column, NumericColumn):
            raise TypeError(f"Weight column must be either a string or _NumericColumn. Given type: {type(weight_column)}.")
        weights = weight_column.get_dense_tensor(FeatureTransformationCache(features), None)
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
        weights = to_float(weights, name="weights")
        weights_shape = shape_of(weights, name="weights_shape")
        logits_shape = shape_of(logits, name="logits_shape")
        shown = ["logits_shape: ", logits_shape, "weights_shape: ", weights_shape]
        if weights.shape.ndims is not None and logits.shape.ndims is not None and weights.shape.ndims == logits.shape.ndims - 1:
            check = assert_equal(logits_shape[:-1], weights_shape, message=message, data=shown)
            with control_dependencies([check]):
                return expand_dims(weights, -1, name=scope)
        wanted = concat([logits_shape[:-1], [1]], axis=0)
        if per_logit:
            holds = reduce_any([reduce_all(equal(logits_shape, weights_shape)), reduce_all(equal(wanted, weights_shape))])
            check = Assert(holds, [message, *shown])
        else:
            check = assert_equal(wanted, weights_shape, message=message, data=shown)
        with control_dependencies([check]):
            return identity(weights, name=scope)


def checked_logits(logits: Any, dimension: Any) -> Any:
    """Logits [..., dimension] as float32.  Raises ValueError for another last size; else it is checked when it runs."""
    message = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with name_scope(None, "logits", [logits]) as scope:
        logits = to_float(logits)
        logits_shape = shape_of(logits)
        with control_dependencies([assert_rank_at_least(logits, 2, data=[logits_shape], message=message)]):
            static = logits.shape
            if static.ndims is not None and static[-1].value is not None:
                if isinstance(dimension, int) and static[-1].value != dimension:
                    raise ValueError(f"{message}, got {static}.")
                return logits
            check = assert_equal(dimension, logits_shape[-1], data=[logits_shape], message=message)
            with control_dependencies([check]):
                return identity(logits, name=scope)


def in_range(labels: Any, n_classes: Any, message: str | None = None) -> Any:
    """`labels`, after a check when it runs that they are from 0 to `n_classes` - 1."""
    with name_scope(None, "assert_range", [labels]):
        below = assert_less_equal(labels, convert_to_tensor(n_classes - 1, labels.dtype),
                                  message=message or "Labels must <= n_classes - 1")
        above = assert_non_negative(labels, message=message or "Labels must >= 0")
        with control_dependencies([below, above]):
            return identity(labels)


def checked_number(n_classes: Any) -> Any:
    """A number of classes, or a tensor of it.  Raises ValueError if it is not above 2."""
    if isinstance(n_classes, int) and n_classes <= 2:
        raise ValueError(f"n_classes must be > 2: {n_classes}.")
    assert_greater(convert_to_tensor(n_classes), 2, message="n_classes must be greater than 2")
    return n_classes


def check_loss_function(loss_fn: Any, *more: str) -> None:
    """Raises ValueError unless a loss function takes labels and logits, and nothing but them and features."""
    names = argument_names(loss_fn)
    for required in ("labels", "logits"):
        if required not in names:
            raise ValueError(f"loss_fn must contain argument: {required}. Given arguments: {names}")
    others = list(set(names) - {"labels", "logits", "features", *more})
    if others:
        raise ValueError(f"loss_fn has unexpected args: {others}")


def check_reduction(reduction: Any) -> None:
    """Raises ValueError unless `reduction` gives a scalar."""
    if reduction not in Reduction.all() or reduction == Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {reduction}")


def check_vocabulary(vocabulary: Any, kind: type = ValueError, article: str = "a ") -> None:
    """Raises an error of `kind` if a vocabulary is no list or tuple."""
    if vocabulary is not None and not isinstance(vocabulary, (list, tuple)):
        raise kind(f"label_vocabulary should be a list or {article}tuple. Given type: {type(vocabulary)}")


def checked_thresholds(thresholds: Any) -> tuple:
    """Thresholds as a tuple.  Raises ValueError if any is not between 0 and 1."""
    found = tuple(thresholds) if thresholds else ()
    if any(not 0 < threshold < 1 for threshold in found):
        raise ValueError(f"thresholds not in (0, 1): {(found,)}.")
    return found


def called_loss(loss_fn: Any, labels: Any, logits: Any, features: Any, dimension: int = 1) -> Any:
    """What a loss function of the user gives, after a check when it runs that it is [..., dimension]."""
    with name_scope(None, "call_loss_fn", values=[labels, logits, *features.values()]):
        loss = loss_fn(labels=labels, logits=logits, **taken(loss_fn, features=features))
        logits_shape = shape_of(logits, name="logits_shape")
        wanted = concat([logits_shape[:-1], [dimension]], axis=0, name="expected_loss_shape")
        loss_shape = shape_of(loss, name="loss_shape")
        check = Assert(reduce_all(equal(loss_shape, wanted)),
                       [f"loss_fn must return Tensor of shape [D0, D1, ... DN, {dimension}]. ", "logits_shape: ", logits_shape,
                        "loss_shape: ", loss_shape], name="check_loss_shape")
        with control_dependencies([check]):
            return identity(loss)


def is_integer_or_string(dtype: Any, vocabulary: Any) -> None:
    """Raises ValueError unless labels are integers, or strings where there is a vocabulary."""
    if vocabulary is None and not dtype.is_integer:
        raise ValueError(f"Labels dtype should be integer. Instead got {dtype}.")
    if vocabulary is not None and dtype.base_dtype != dtypes.string:
        raise ValueError(f"Labels dtype should be string if there is a vocabulary. Instead got {dtype}")
