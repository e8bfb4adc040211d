"""``tf.contrib.checkpoint``: objects that ``tf.train.Checkpoint`` saves, and what such checkpoints hold."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.checkpoint")
