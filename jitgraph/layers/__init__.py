"""``tf.layers``: layers that make their variables in variable scopes, and the functions that call them once."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("layers")
