"""``tf.contrib.linear_optimizer``: linear models trained by stochastic dual coordinate ascent."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.linear_optimizer")
