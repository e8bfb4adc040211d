"""``tf.contrib.decision_trees``: messages of trees."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.decision_trees")
