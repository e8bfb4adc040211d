"""``tf.contrib.seq2seq``: losses of sequences."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.seq2seq")
