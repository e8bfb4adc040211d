"""``tf.contrib.losses``: losses by the older order of arguments, predictions before labels."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.losses")
