"""``tf.contrib.layers``: functions that make the variables of a layer as model variables and call it once."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.layers")
