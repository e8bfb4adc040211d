"""``tf.contrib.tensor_forest``: random forests that grow as examples come."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.tensor_forest")
