"""``tf.contrib.reduce_slice_ops``: sums, products, largest and smallest elements of slices that may overlap."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.reduce_slice_ops")
