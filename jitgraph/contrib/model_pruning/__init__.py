"""``tf.contrib.model_pruning``: layers whose small weights are masked while they are trained."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.model_pruning")
