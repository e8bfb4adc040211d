"""Random numbers."""
from __future__ import annotations

from jitgraph.graph import dtypes
from jitgraph.v2.calls import from_v1


@from_v1("random.poisson")
def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Poisson numbers of rate `lam`: `shape` of them for each rate, of shape `shape` + lam.shape."""
