"""``tf.saved_model``: models in folders, with their graph, variables, assets and signatures."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("saved_model")
