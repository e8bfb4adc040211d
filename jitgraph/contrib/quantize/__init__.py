"""``tf.contrib.quantize``: graphs rewritten so that training sees the rounding of integers of 8 bits."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.quantize")
