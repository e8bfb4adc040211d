"""``tf.contrib.kernel_methods``: features whose products are those of a kernel."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.kernel_methods")
