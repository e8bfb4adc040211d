"""``tf.contrib.integrate``: ordinary differential equations."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.integrate")
