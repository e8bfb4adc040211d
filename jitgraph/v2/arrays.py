"""Shapes and layouts of tensors."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.ops.arrays.space import batch_to_space_nd, space_to_batch_nd
from jitgraph.v2.calls import from_v1


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """`input` [batch, ...] with its batch taken apart into blocks of `block_shape` along the next axes, `crops` cut off.

    `block_shape`: integers [m], or one integer, which stands for two axes; `crops`: [m, 2].
    """
    if isinstance(block_shape, int):
        block_shape = np.array([block_shape, block_shape], np.int64)
    return batch_to_space_nd(input, block_shape, crops, name)


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Blocks of `block_shape` [m] along the axes after the first moved to the batch, after `paddings` [m, 2] of zeros."""
    return space_to_batch_nd(input, block_shape, paddings, name)


@from_v1("nn.depth_to_space")
def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """Channels moved to blocks of `block_size` x `block_size` pixels."""


@from_v1("nn.space_to_depth")
def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Blocks of `block_size` x `block_size` pixels moved to channels."""


@from_v1("boolean_mask")
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """The elements or slices of `tensor`, from `axis` on, for which `mask` is True."""


@from_v1("expand_dims")
def expand_dims(input, axis, name=None):
    """`input` with an axis of size 1 at `axis`."""


@from_v1("gather")
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """Slices of `params` at `indices` along `axis`, which is `batch_dims` if it is not given."""


@from_v1("gather_nd")
def gather_nd(params, indices, batch_dims=0, name=None):
    """Elements or slices of `params`, each at the place that the last axis of `indices` says."""


@from_v1("ones_like", {"input": "tensor"})
def ones_like(input, dtype=None, name=None):
    """Ones of the shape of `input`, and of its dtype unless one is given."""


@from_v1("zeros_like", {"input": "tensor"})
def zeros_like(input, dtype=None, name=None):
    """Zeros of the shape of `input`, and of its dtype unless one is given."""


@from_v1("pad")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """`tensor` with `paddings` [rank, 2] before and after each axis: CONSTANT, REFLECT or SYMMETRIC."""


@from_v1("reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """`input` with the first `seq_lengths` elements along `seq_axis` reversed, for each index of `batch_axis`."""


@from_v1("shape")
def shape(input, out_type=dtypes.int32, name=None):
    """The shape of `input`, a vector of `out_type`."""


@from_v1("size")
def size(input, out_type=dtypes.int32, name=None):
    """How many elements `input` has, a scalar of `out_type`."""


@from_v1("squeeze")
def squeeze(input, axis=None, name=None):
    """`input` without the axes of size 1 that are given, all of them if none is."""


@from_v1("transpose")
def transpose(a, perm=None, conjugate=False, name="transpose"):
    """`a` with its axes in the order `perm`, reversed if none is given; its conjugate if wanted."""
