"""``tf.contrib.grid_rnn``: cells that recur along several dimensions at once."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.grid_rnn")
