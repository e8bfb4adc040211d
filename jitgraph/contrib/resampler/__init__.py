"""``tf.contrib.resampler``: images read at any points."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.resampler")
