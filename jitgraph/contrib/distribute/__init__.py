"""``tf.contrib.distribute``: the strategies of ``tf.distribute`` with their older arguments."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.distribute")
