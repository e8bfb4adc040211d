"""``tf.contrib.rnn``: cells and wrappers beside those of ``tf.nn.rnn_cell``."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.rnn")
