"""``tf.contrib.opt``: optimizers beside those of ``tf.train``."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.opt")
