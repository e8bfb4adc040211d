"""``tf.contrib.nearest_neighbor``: hashes under which near points are found."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.nearest_neighbor")
