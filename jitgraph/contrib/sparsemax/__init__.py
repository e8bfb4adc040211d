"""``tf.contrib.sparsemax``: a softmax that has zeros."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.sparsemax")
