"""``tf.metrics``: measures of predictions that add up from run to run, in local variables."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("metrics")
