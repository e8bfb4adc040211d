"""What stands `dilation_rate` apart, by an op that knows no such gaps: the input is taken apart into batches of neighbors."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph.convert import convert_to_tensor


def with_space_to_batch(input: Any, dilation_rate: Any, padding: str, op: Callable, filter_shape: Any = None,
                        spatial_dims: Any = None, data_format: str | None = None) -> Any:
    """``op(input, number of dimensions of space, padding)`` with elements `dilation_rate` apart, by way of ``space_to_batch``.

    Raises ValueError for other paddings than "SAME" (which needs `filter_shape`) and "VALID".
    """
    from jitgraph.ops.arrays.space import required_space_to_batch_paddings

    rates = np.array(dilation_rate, np.int32).reshape(-1)
    count = len(rates)
    if (rates < 1).any():
        raise ValueError("dilation_rate must be positive")
    if spatial_dims is None:
        first = 2 if data_format is not None and data_format.startswith("NC") else 1
        spatial_dims = range(first, first + count)
    if list(spatial_dims) != sorted(set(spatial_dims)) or min(spatial_dims) < 1:
        raise ValueError("spatial_dims must be a monotonically increasing sequence of positive integers")
    if (rates == 1).all():
        return op(input, count, padding)
    input = convert_to_tensor(input)
    base = [[0, 0]] * count
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("filter_shape must be specified for SAME padding")
        extra = (np.array(filter_shape[:count], np.int32) - 1) * rates
        base = [[int(e) // 2, int(e) - int(e) // 2] for e in extra]
    elif padding != "VALID":
        raise ValueError(f"Invalid padding method {padding!r}")
    last = max(spatial_dims)
    blocks, paddings_at = [1] * last, [[0, 0]] * last
    for position, dimension in enumerate(spatial_dims):
        blocks[dimension - 1], paddings_at[dimension - 1] = int(rates[position]), base[position]
    known = input._shape
    sizes = raw.Slice(raw.Shape(input), [1], [last]) if known is None or None in known[1:last + 1] else list(known[1:last + 1])
    paddings, crops = required_space_to_batch_paddings(sizes, blocks, paddings_at)
    result = op(raw.SpaceToBatchND(input, blocks, paddings), count, "VALID")
    return raw.BatchToSpaceND(result, blocks, crops)
