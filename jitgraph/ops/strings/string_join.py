"""Strings of several tensors joined element by element, as the names of checkpoint files are made."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import texts
from jitgraph.graph import shape_rules


def _joined(c: Any) -> Any:
    """Scalars go with anything; the other shapes must be the same."""
    known = None
    for shape in c.shapes:
        if shape is None:
            return None
        if shape:
            known = shape if known is None else shape_rules.merge(known, shape)
    return known or ()


@op('StringJoin(inputs: N*string; N: int >= 1, separator: string = "") -> output: string', shape=_joined, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([[texts(b"a", b"b"), np.array(b"-", object), texts(b"c", b"")]], {"separator": ", "})])
def string_join(inputs, separator):
    """The strings of several tensors, joined element by element."""
    between = separator.encode() if isinstance(separator, str) else separator
    arrays = np.broadcast_arrays(*[np.asarray(x, object) for x in inputs])
    result = np.empty(arrays[0].size, object)
    result[:] = list(map(between.join, zip(*(array.reshape(-1).tolist() for array in arrays))))
    return result.reshape(arrays[0].shape)
