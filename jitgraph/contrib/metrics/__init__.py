"""``tf.contrib.metrics``: metrics that add up over batches, by the older order of arguments and beyond ``tf.metrics``."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.metrics")
