"""``tf.feature_column``: how features of examples, by name, become the dense rows or the weighted sums of a model."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("feature_column")
