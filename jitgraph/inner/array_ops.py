"""Names of ``tensorflow.python.ops.array_ops`` that ``tf`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import ones_like, zeros_like
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size

split_v = raw.SplitV
gather_v2 = raw.GatherV2
prevent_gradient = raw.PreventGradient


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """``tf.shape``; with `optimize`, a constant where the shape is known."""
    return _asked(shape_of, raw.Shape, input, name, optimize, out_type)


def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """``tf.size``; with `optimize`, a constant where the shape is known."""
    return _asked(size, raw.Size, input, name, optimize, out_type)


def _asked(public: Any, op: Any, input: Any, name: str | None, optimize: bool, out_type: Any) -> Tensor:
    return public(input, name, out_type) if optimize else op(convert_to_tensor(input), out_type=out_type, name=name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """``tf.rank``; with `optimize`, a constant where the rank is known."""
    return rank_of(input, name) if optimize else raw.Rank(convert_to_tensor(input), name=name)


def zeros_like_impl(tensor: Any, dtype: Any, name: str | None, optimize: bool = True) -> Tensor:
    """``tf.zeros_like``."""
    return zeros_like(tensor, dtype, name, optimize)


def ones_like_impl(tensor: Any, dtype: Any, name: str | None, optimize: bool = True) -> Tensor:
    """``tf.ones_like``."""
    return ones_like(tensor, dtype, name, optimize)


def _slice_helper(tensor: Any, slice_spec: Any, var: Any = None) -> Tensor:
    """``tensor[slice_spec]``."""
    return tensor[slice_spec]
