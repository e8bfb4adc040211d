"""``tf.contrib.factorization``: clusters, mixtures of Gaussians, and factors of matrices."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.factorization")
