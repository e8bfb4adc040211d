"""``tf.contrib.copy_graph``: variables and operations copied into another graph."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.copy_graph")
