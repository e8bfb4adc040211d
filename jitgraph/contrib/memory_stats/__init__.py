"""``tf.contrib.memory_stats``: how much memory of a device is in use."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.memory_stats")
