"""``tf.contrib.recurrent``: recurrent networks whose steps are functions."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.recurrent")
