"""``tf.contrib.graph_editor``: operations and tensors of a graph found, rerouted and copied."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.graph_editor")
