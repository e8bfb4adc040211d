"""``tf.contrib.libsvm``: labels and features from lines of LIBSVM's format."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.libsvm")
