"""``tf.contrib.nn``: functions of networks beside those of ``tf.nn``."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.nn")
