"""``tf.contrib.constrained_optimization``: training where other functions are to stay at or below zero."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.constrained_optimization")
