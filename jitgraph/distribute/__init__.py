"""``tf.distribute``: strategies that put replicas of a model on devices; here there is one device, and one replica."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("distribute")
