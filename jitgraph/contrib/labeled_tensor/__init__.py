"""``tf.contrib.labeled_tensor``: tensors whose axes have names, and labels of the places along them."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.labeled_tensor")
