"""``tf.contrib.feature_column``: columns of sequences."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.feature_column")
