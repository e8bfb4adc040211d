"""``tf.contrib.slim``: layers, losses, metrics and scopes of arguments under one name, training, and nets."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.slim")
