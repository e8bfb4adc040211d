"""``tf.contrib.text``: pairs of tokens near each other."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.text")
