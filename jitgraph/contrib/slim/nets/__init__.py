"""``tf.contrib.slim.nets``: image classifiers whose variables have the names of published checkpoints."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.slim.nets")
