"""``tf.contrib.crf``: linear chains of conditional random fields."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.crf")
