"""``tf.contrib.all_reduce``: sums of tensors of several devices."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.all_reduce")
