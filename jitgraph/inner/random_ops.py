"""Names of ``tensorflow.python.ops.random_ops`` that ``tf`` does not have."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.seeds import get_seed
from jitgraph.graph.tensor import Tensor


def parameterized_truncated_normal(shape: Any, means: Any = 0.0, stddevs: Any = 1.0, minvals: Any = -2.0, maxvals: Any = 2.0,
                                   dtype: Any = dtypes.float32, seed: int | None = None, name: str | None = None) -> Tensor:
    """Normal numbers of `shape` [n, ...] between `minvals` and `maxvals`, each parameter a scalar or [n]."""
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        empty = isinstance(shape, (tuple, list)) and not shape
        sizes = convert_to_tensor(shape, dtypes.int32 if empty else None, "shape")
        given = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
        parameters = [convert_to_tensor(value, dtype, name) for name, value in given.items()]
        first, second = get_seed(seed)
        return raw.ParameterizedTruncatedNormal(sizes, *parameters, seed=first, seed2=second)
