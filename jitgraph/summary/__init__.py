"""``tf.summary``: nodes that describe values, and the event files in which TensorBoard finds them."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("summary")
