"""``tf.contrib.deprecated``: the summaries of TensorFlow 0, whose tags are what programs say."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.deprecated")
