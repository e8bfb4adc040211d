"""Grids of coordinates, and masks of sequences: meshgrid, sequence_mask."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.shape import expand_dims, reshape, size
from jitgraph.ops.reduce.reductions import reduce_max


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None) -> Any:
    """mask[..., j] = j < lengths[...], of width `maxlen` (by default the largest length), as `dtype`.

    Raises ValueError if `maxlen` is no scalar.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            longest = reduce_max(lengths)
            maxlen = raw.Maximum(constant(0, longest.dtype), longest)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen._shape:
            raise ValueError("maxlen must be scalar for sequence_mask")
        kind = maxlen.dtype.base_dtype
        row = raw.Range(constant(0, kind), maxlen, constant(1, kind))
        mask = row < raw.Cast(expand_dims(lengths, -1), DstT=kind)
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        return mask if wanted in (None, dtypes.bool_) else raw.Cast(mask, DstT=wanted)


def meshgrid(*args: Any, **kwargs: Any) -> list:
    """For vectors x, y, ...: one grid each, ``x[j]`` and ``y[i]`` at [i, j] (``indexing="ij"``: x[i] and y[j]).

    Raises ValueError for other values of `indexing`, TypeError for other keywords.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        ones_before = (1,) * count
        columns = [reshape(stack(x), (*ones_before[:i], -1, *ones_before[i + 1:])) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        if indexing == "xy" and count > 1:
            columns[0] = reshape(columns[0], (1, -1) + (1,) * (count - 2))
            columns[1] = reshape(columns[1], (-1, 1) + (1,) * (count - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        full = ones(sizes, dtype)
        return [column * full for column in columns]
