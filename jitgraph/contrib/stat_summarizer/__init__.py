"""``tf.contrib.stat_summarizer``: tables of what the nodes of several runs took."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.stat_summarizer")
