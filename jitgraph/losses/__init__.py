"""``tf.losses``: losses with weights, their sum over a batch, and the collection that they join."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("losses")
