"""``tf.contrib.proto``: messages as tensors of their fields."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.proto")
