"""``tf.contrib.tfprof``: what became ``tf.profiler``."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.tfprof")
