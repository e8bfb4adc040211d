"""``tf.contrib.session_bundle``: the exports that servers read before there were SavedModels."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.session_bundle")
