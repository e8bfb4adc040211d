"""``tf.contrib.eager``, as far as it has a meaning in graphs."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.eager")
