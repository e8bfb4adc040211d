"""``tf.contrib.periodic_resample``: elements of a tensor in another shape, sampled periodically."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.periodic_resample")
