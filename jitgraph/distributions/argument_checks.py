"""What ``validate_args`` checks of parameters and values when the graph runs, and logits beside probabilities."""
from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.control.order_ops import no_op, with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_rank_at_least
from jitgraph.ops.checks.check_values import (
    assert_equal,
    assert_greater_equal,
    assert_less_equal,
    assert_near,
    assert_non_negative,
    assert_positive,
)
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import log, log1p, sigmoid
from jitgraph.ops.elementwise.special import lgamma
from jitgraph.ops.nn.softmax import softmax
from jitgraph.ops.reduce.reductions import reduce_sum

_INTEGER_OF_FLOAT = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}


def checked_if(validate_args: bool, checks: Callable[[], list], value: Any) -> Any:
    """`value`, after the assertions that `checks` makes if they are asked for."""
    return with_dependencies(checks(), value) if validate_args else value


def positive_if(validate_args: bool, *parameters: Any) -> Any:
    """A block whose nodes wait until parameters are found positive, if that is to be checked."""
    return control_dependencies([assert_positive(parameter) for parameter in parameters] if validate_args else [])


def assert_integer_form(x: Any, data: Any = None, summarize: Any = None, message: str | None = None, int_dtype: Any = None,
                        name: str = "assert_integer_form") -> Any:
    """An operation that raises InvalidArgumentError if `x` is not what it is as an integer.  Raises TypeError for other dtypes."""
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return no_op()
        message = message or f"{x} has non-integer components"
        if int_dtype is None:
            int_dtype = _INTEGER_OF_FLOAT.get(x.dtype.base_dtype)
            if int_dtype is None:
                raise TypeError(f"Unrecognized type {x.dtype.name}")
        return assert_equal(x, cast(cast(x, int_dtype), x.dtype), data=data, summarize=summarize, message=message, name=name)


def nonnegative_integers(x: Any, name: str = "embed_check_nonnegative_integer_form") -> Tensor:
    """`x`, checked to hold whole numbers of at least 0."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        checks = [assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            checks.append(assert_integer_form(x, message=f"'{x}' cannot contain fractional components."))
        return with_dependencies(checks, x)


def _largest_integer(dtype: Any) -> int:
    """The largest integer that a dtype holds together with all smaller ones."""
    if dtype.is_floating:
        return int(2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1))
    if dtype.is_integer:
        return int(np.iinfo(dtype.as_numpy_dtype).max)
    if dtype.base_dtype == dtypes.bool_:
        return 1
    raise TypeError(f"Unrecognized dtype: {dtype.name}")


def _smallest_integer(dtype: Any) -> int:
    return 0 if dtype.base_dtype in (dtypes.bool_, dtypes.uint8, dtypes.uint16) else -_largest_integer(dtype)


def _is_whole(dtype: Any) -> bool:
    return dtype.is_integer or dtype.base_dtype == dtypes.bool_


def integers_that_fit(x: Any, target_dtype: Any, assert_nonnegative: bool = True,
                      name: str = "embed_check_casting_closed") -> Tensor:
    """`x`, checked to stay what it is when cast to `target_dtype`.  Raises TypeError unless one of the two holds integers."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if not _is_whole(x.dtype) and not x.dtype.is_floating:
            raise TypeError(f"{x.dtype.name}.dtype must be floating- or integer-type.")
        if not _is_whole(target_dtype) and not target_dtype.is_floating:
            raise TypeError(f"target_dtype ({target_dtype.name}) must be floating- or integer-type.")
        if not _is_whole(x.dtype) and not _is_whole(target_dtype):
            raise TypeError(f"At least one of {x}.dtype ({x.dtype.name}) and target_dtype ({target_dtype.name}) "
                            "must be integer-type.")
        checks = [assert_non_negative(x, message="Elements must be non-negative.")] if assert_nonnegative else []
        if x.dtype.is_floating:
            checks.append(assert_integer_form(x, int_dtype=target_dtype,
                                              message=f"Elements must be {target_dtype.name}-equivalent."))
        else:
            largest, smallest = _largest_integer(target_dtype), _smallest_integer(target_dtype)
            if _largest_integer(x.dtype) > largest:
                checks.append(assert_less_equal(x, largest, message=f"Elements cannot exceed {largest}."))
            if not assert_nonnegative and _smallest_integer(x.dtype) < smallest:
                checks.append(assert_greater_equal(x, smallest, message=f"Elements cannot be smaller than {smallest}."))
        return with_dependencies(checks, x) if checks else x


def classes_that_fit(categorical_param: Any, name: str = "embed_check_categorical_event_shape") -> Tensor:
    """The parameter of classes, checked to have from 2 of them to as many as its dtype can count.

    Raises ValueError or TypeError where the graph shows that already.
    """
    with name_scope(name, values=[categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        dtype = x.dtype.base_dtype
        if not dtype.is_floating:
            raise TypeError(f"Unable to validate size of unrecognized dtype ({dtype.name}).")
        most = _largest_integer(dtype)
        try:
            shape = x.get_shape().with_rank_at_least(1)
        except ValueError:
            raise ValueError("A categorical-distribution parameter must have at least 1 dimension.") from None
        classes = dimension_value(shape[-1])
        if classes is not None:
            if classes < 2:
                raise ValueError("A categorical-distribution parameter must have at least 2 events.")
            if classes > most:
                raise ValueError(f"Number of classes exceeds `dtype` precision, i.e., {dtype.name} implies shape ({classes}) "
                                 f"cannot exceed {most}.")
            return x
        classes = shape_of(x, name="x_shape")[-1]
        return with_dependencies([
            assert_rank_at_least(x, 1, message="A categorical-distribution parameter must have at least 1 dimension."),
            assert_greater_equal(shape_of(x)[-1], 2,
                                 message="A categorical-distribution parameter must have at least 2 events."),
            assert_less_equal(classes, most, message="Number of classes exceeds `dtype` precision, i.e., "
                                                     f"{dtype.name} dtype cannot exceed {most} shape."),
        ], x)


def get_logits_and_probs(logits: Any = None, probs: Any = None, multidimensional: bool = False, validate_args: bool = False,
                         name: str = "get_logits_and_probs", dtype: Any = None) -> tuple[Tensor, Tensor]:
    """(logits, probabilities), of which one is given; of classes along the last dimension if `multidimensional`.

    Raises ValueError if both or none are given, TypeError if they are no floats.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if multidimensional:
                if validate_args:
                    logits = classes_that_fit(logits)
                return logits, softmax(logits, name="probs")
            return logits, sigmoid(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs", dtype=dtype)
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            probs = _checked_probabilities(probs, multidimensional)
        with name_scope("logits"):
            if multidimensional:
                return log(probs), probs
            return log(probs) - log1p(-1.0 * probs), probs


def _checked_probabilities(probs: Tensor, multidimensional: bool) -> Tensor:
    with name_scope("validate_probs"):
        one = constant(1.0, probs.dtype)
        checks = [assert_non_negative(probs)]
        if multidimensional:
            probs = classes_that_fit(probs)
            checks.append(assert_near(reduce_sum(probs, -1), one, message="probs does not sum to 1."))
        else:
            checks.append(assert_less_equal(probs, one, message="probs has components greater than 1."))
        return with_dependencies(checks, probs)


def gen_new_seed(seed: Any, salt: str) -> int | None:
    """Another seed made of `seed`, the same each time; None of None."""
    return None if seed is None else int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Tensor:
    """The logarithm of the number of orders of `n` things of which ``counts[..., k]`` are alike."""
    with name_scope(name, values=[n, counts]):
        n, counts = convert_to_tensor(n, name="n"), convert_to_tensor(counts, name="counts")
        orders = lgamma(n + 1)
        return orders - reduce_sum(lgamma(counts + 1), axis=[-1])
