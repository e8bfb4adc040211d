"""``tf.contrib.meta_graph_transform``: a MetaGraphDef whose graph is rewritten by named transforms."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.meta_graph_transform")
