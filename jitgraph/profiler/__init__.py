"""``tf.profiler``: parameters, arithmetic and times of a graph, by name scopes or types of operations."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("profiler")
