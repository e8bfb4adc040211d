"""``tf.contrib.legacy_seq2seq``: models and losses of sequences unrolled step by step."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.legacy_seq2seq")
