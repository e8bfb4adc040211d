"""``tf.contrib.specs``: networks written as texts, ``net = Cr(64, [3, 3]) | Mp([2, 2]) | Flat | Fm(10)``."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.specs")
