"""``tf.contrib.testing``: what tests ask of summaries and of their files."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.testing")
