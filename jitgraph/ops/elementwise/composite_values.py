"""Functions of one tensor that also take a SparseTensor or IndexedSlices, and then act on the values."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.composite import IndexedSlices, SparseTensor
from jitgraph.ops.elementwise import arithmetic, elementary, special


def _on_values(function: Any) -> Any:
    def extended(x: Any, name: str | None = None) -> Any:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, function(x.values, name=name), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(function(x.values, name=name), x.indices, x.dense_shape)
        return function(x, name=name)

    extended.__name__ = extended.__qualname__ = function.__name__
    extended.__doc__ = f"{function.__doc__}  A SparseTensor or IndexedSlices gives the same with changed values."
    return extended


negative = _on_values(arithmetic.negative)
sign = _on_values(arithmetic.sign)
square = _on_values(arithmetic.square)
sqrt = _on_values(elementary.sqrt)
tanh = _on_values(elementary.tanh)
erf = _on_values(special.erf)
bessel_i0e = _on_values(special.bessel_i0e)
bessel_i1e = _on_values(special.bessel_i1e)
