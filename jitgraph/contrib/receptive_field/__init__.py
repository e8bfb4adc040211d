"""``tf.contrib.receptive_field``: the pixels that a feature of a network of convolutions sees."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.receptive_field")
