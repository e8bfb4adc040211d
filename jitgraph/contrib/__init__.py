"""``tf.contrib``: a room for each of its packages, and for those that other rooms answer the public names alone."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib")
