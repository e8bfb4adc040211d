"""``tf.contrib.mixed_precision``: losses multiplied before gradients are taken, so that these do not vanish in float16."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.mixed_precision")
