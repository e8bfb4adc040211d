"""The public functions on the shape and order of tensors, gathered from the modules that declare their ops."""
from __future__ import annotations

from jitgraph.ops.fill import fill, one_hot, ones, ones_like, zeros, zeros_like
from jitgraph.ops.gather import gather, gather_nd, scatter_nd
from jitgraph.ops.identity import identity, identity_n, placeholder, placeholder_with_default, stop_gradient
from jitgraph.ops.join import concat, split, stack, unstack
from jitgraph.ops.layout import broadcast_to, reverse, reverse_sequence, tile, transpose
from jitgraph.ops.pad import pad
from jitgraph.ops.sets import boolean_mask, unique, where
from jitgraph.ops.shape import expand_dims, rank, reshape, shape, shape_n, size, squeeze
from jitgraph.ops.slicing import slice, strided_slice

__all__ = ["boolean_mask", "broadcast_to", "concat", "expand_dims", "fill", "gather", "gather_nd", "identity",
           "identity_n", "one_hot", "ones", "ones_like", "pad", "placeholder", "placeholder_with_default", "rank",
           "reshape", "reverse", "reverse_sequence", "scatter_nd", "shape", "shape_n", "size", "slice", "split", "squeeze",
           "stack", "stop_gradient", "strided_slice", "tile", "transpose", "unique", "unstack", "where", "zeros",
           "zeros_like"]
