"""Checks of ranks, shapes and dtypes: ``tf.assert_rank``, ``tf.assert_type``, ``tf.debugging.assert_shapes`` ...

What the static shapes and dtypes tell is checked while the graph is built (ValueError, TypeError); the rest becomes an
operation that raises InvalidArgumentError when it runs.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.control.order_ops import group, no_op, with_dependencies
from jitgraph.graph import composite, dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.assertion import Assert

# -- dtypes --------------------------------------------------------------------------------------------------------

def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Raises TypeError, naming the tensor, unless its dtype is `tf_type`; an operation that does nothing otherwise."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = composite.convert_to_tensor_or_sparse_tensor(tensor, name="tensor")
        wanted = as_dtype(tf_type)
        if tensor.dtype.base_dtype != wanted.base_dtype:
            raise TypeError(f"{message or ''}  {_name(tensor)} must be of type {wanted}")
        return no_op("statically_determined_correct_type")


def _name(tensor: Any) -> str:
    return getattr(tensor, "name", None) or str(tensor)


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Raises TypeError unless `x` is of an integer dtype; an operation that does nothing otherwise."""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(f'{message or ""}  Expected "x" to be integer type.  Found: {x.name} of dtype {x.dtype}')
        return no_op("statically_determined_was_integer")


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a Tensor with a float, complex, integer or quantized dtype."""
    return isinstance(tensor, Tensor) and (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex
                                           or tensor.dtype.is_quantized)


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """The dtype that all `tensors` have, `dtype` if given, float32 if neither is.

    Raises ValueError if they differ, or if it is no floating-point dtype.
    """
    found = None if dtype is None else as_dtype(dtype).base_dtype
    reference = ""
    for tensor in tensors or ():
        if tensor is None:
            continue
        own = tensor.dtype.base_dtype
        if found is None:
            found, reference = own, f" as {_name(tensor)}"
        elif own != found:
            raise ValueError(f"{_name(tensor)}, type={own}, must be of the same type ({found}){reference}.")
    found = found or dtypes.float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found}.")
    return found


def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError unless `values` is a proper iterable: a list, say, but no tensor, array or string."""
    improper = (Tensor, composite.SparseTensor, np.ndarray, bytes, str)
    if isinstance(values, improper):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


# -- ranks ---------------------------------------------------------------------------------------------------------

def _static_rank(rank: Tensor) -> int | None:
    """The value of a rank if it is known.  Raises ValueError if it is no scalar."""
    value = static_value(rank)
    if rank._shape not in ((), None) or value is not None and value.ndim:
        raise ValueError("Rank must be a scalar.")
    return None if value is None else int(value)


def _check_rank(x: Any, ranks: list, words: str, static: Callable, dynamic: Callable, data: Any, summarize: Any,
                message: Any) -> Operation:
    """Compares the rank of `x` with `ranks`, at once if everything is known."""
    x = composite.convert_to_tensor_or_sparse_tensor(x, name="x")
    ranks = [convert_to_tensor(rank, name="rank") for rank in ranks]
    message = message or ""
    if data is None:
        listed = shape_of(x)
        data = [message, f"Tensor {_name(x)} must have rank {words}".rstrip(), *ranks, "Received shape: ", listed]
    for rank in ranks:
        assert_type(rank, dtypes.int32)
    known = [_static_rank(rank) for rank in ranks]
    shape = x.shape
    if shape.ndims is not None and None not in known:
        if not static(shape.ndims, known):
            shown = known[0] if len(known) == 1 else f"({', '.join(map(str, known))})"
            raise ValueError(f"{message}.  Tensor {_name(x)} must have rank {words}{' ' if words else ''}{shown}.  "
                             f"Received rank {shape.ndims}, shape {shape}")
        return no_op("static_checks_determined_all_ok")
    condition = dynamic(rank_of(x), ranks)
    unknown = [assert_rank(rank, 0) for rank, value in zip(ranks, known) if value is None]
    if unknown:
        condition = with_dependencies(unknown, condition)
    return Assert(condition, data, summarize=summarize)


def assert_rank(x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                name: str | None = None) -> Operation:
    """An operation that fails unless `x` has `rank` dimensions.

    Raises ValueError at once if the static shape says otherwise, or if `rank` is no scalar; TypeError if it is no int32.
    `data`, `summarize`: what the error shows, see ``tf.Assert``; `message`: text before it.
    """
    with name_scope(name, "assert_rank", [x, rank, *(data or [])]):
        return _check_rank(x, [rank], "", lambda found, known: found == known[0],
                           lambda found, ranks: raw.Equal(found, ranks[0]), data, summarize, message)


def assert_rank_at_least(x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                         name: str | None = None) -> Operation:
    """An operation that fails unless `x` has `rank` dimensions or more; see ``assert_rank``."""
    with name_scope(name, "assert_rank_at_least", [x, rank, *(data or [])]):
        return _check_rank(x, [rank], "at least", lambda found, known: found >= known[0],
                           lambda found, ranks: raw.GreaterEqual(found, ranks[0]), data, summarize, message)


def assert_rank_in(x: Any, ranks: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                   name: str | None = None) -> Operation:
    """An operation that fails unless the number of dimensions of `x` is one of `ranks`; see ``assert_rank``."""
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or [])]):
        return _check_rank(x, list(ranks), "in", lambda found, known: found in known, _is_one_of, data, summarize,
                           message)


def _is_one_of(found: Tensor, ranks: list) -> Tensor:
    condition: Any = None
    for rank in ranks:
        equal = raw.Equal(rank, found)
        condition = equal if condition is None else raw.LogicalOr(condition, equal)
    return condition


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """`tensor` as a Tensor.  Raises ValueError unless its static shape is that of a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        shape = tensor.shape
        if shape.ndims != 0:
            raise ValueError(f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: {shape}.")
        return tensor


# -- shapes --------------------------------------------------------------------------------------------------------

def assert_shapes(shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
                  name: str | None = None) -> Operation:
    """An operation that fails unless all tensors have the shapes that are stated for them.

    `shapes`: a dictionary or a list of pairs from tensors to tuples, whose entries are sizes, None (any size), or
    symbols such as "N" that mean the same size wherever they stand; an ellipsis as the first is any number of sizes.
    A string has a symbol or a digit for each size, "." for any, "*" for the ellipsis.  A scalar is a vector of one element.
    Raises ValueError at once where static shapes say otherwise, and for what states no shape.

        tf.debugging.assert_shapes([(x, ("N", "Q")), (weights, ("N",)), (scale, ())])
    """
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    with name_scope(name, "assert_shapes", [pairs, data]):
        text = message or ""
        converted = [(composite.convert_to_tensor_or_sparse_tensor(x), stated) for x, stated in pairs]
        tensors = [(x, _stated(x, stated, text)) for x, stated in converted]
        checks = [check for x, stated in tensors for check in _rank_check(x, stated, data, summarize, text)]
        sizes: dict[Any, tuple[Any, str]] = {}
        for x, stated in tensors:
            for position, size in stated.sizes():
                if size is None:
                    continue
                actual, known = _size(x, position)
                if isinstance(size, int):
                    wanted, source = size, "Specified explicitly"
                elif size in sizes:
                    wanted, source = sizes[size]
                else:
                    sizes[size] = (known if known is not None else actual,
                                   f"Specified by tensor {_name(x)} dimension {position}")
                    continue
                if known is not None and isinstance(wanted, int):
                    if known != wanted:
                        raise ValueError(f"{text}.  {source}.  Tensor {_name(x)} dimension {position} must have size "
                                         f"{wanted}.  Received size {known}, shape {x.shape}")
                    continue
                shown = data if data is not None else [text, source, f"Tensor {_name(x)} dimension", position,
                                                       "must have size", wanted, "Received shape: ", shape_of(x)]
                checks.append(Assert(raw.Equal(actual, wanted), shown, summarize=summarize))
        return group(*checks)


class _stated:
    """The sizes stated for one tensor; an ellipsis or "*" as the first of them leaves any number of outer ones open."""

    def __init__(self, x: Any, stated: Any, message: str):
        if not (hasattr(stated, "__iter__") or hasattr(stated, "__getitem__")):
            raise ValueError(f"{message}.  Tensor {_name(x)}.  Specified shape must be an iterable.  An iterable has the attribute "
                             f"`__iter__` or `__getitem__`.  Received specified shape: {stated}")
        sizes: list[Any] = list(stated)
        if isinstance(stated, str):
            sizes = [int(part) if part.isdigit() else part for part in stated]
        self.open = bool(sizes) and _is_open(sizes[0])
        rest = sizes[1:] if self.open else sizes
        for index, size in enumerate(rest, self.open):
            if _is_open(size):
                raise ValueError(f"{message}.  Tensor {_name(x)} specified shape index {index}.  Symbol `...` or `*` for a "
                                 "variable number of unspecified dimensions is only allowed as the first entry")
        self.rest = [None if size in (None, ".", "?", -1) else size for size in rest]

    def sizes(self) -> list[tuple[int, Any]]:
        """(position, size); positions count from the end after an ellipsis.  No sizes at all are one of 1."""
        if not self.rest and not self.open:
            return [(0, 1)]
        start = -len(self.rest) if self.open else 0
        return [(start + k, size) for k, size in enumerate(self.rest)]


def _is_open(size: Any) -> bool:
    return size is Ellipsis or isinstance(size, str) and size == "*"


def _rank_check(x: Any, stated: Any, data: Any, summarize: Any, message: str) -> list[Operation]:
    """The check of the number of sizes.  A scalar is as good as a vector of one element."""
    rank = len(stated.rest)
    if stated.open:
        return [] if rank < 2 else [assert_rank_at_least(x, rank, data=data, summarize=summarize, message=message)]
    if rank < 2:
        return [assert_rank_in(x, [0, 1], data=data, summarize=summarize, message=message)]
    return [assert_rank(x, rank, data=data, summarize=summarize, message=message)]


def _size(x: Any, position: int) -> tuple[Tensor, int | None]:
    """The size of a dimension of `x` as a tensor, and as a number if it is known; that of a scalar is 1."""
    shape = x.shape
    if shape.ndims is None:
        sizes = shape_of(x)
        is_scalar = raw.Cast(raw.Equal(raw.Size(sizes), 0), DstT=dtypes.int32)
        return raw.ConcatV2([sizes, raw.Fill(raw.ExpandDims(is_scalar, 0), 1)], 0)[position], None
    known = shape.as_list() or [1]
    in_range = -len(known) <= position < len(known)
    return shape_of(x)[position] if shape.ndims else convert_to_tensor(1), known[position] if in_range else None
