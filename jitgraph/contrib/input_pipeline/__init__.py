"""``tf.contrib.input_pipeline``: the elements of a list of strings in turn."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.input_pipeline")
