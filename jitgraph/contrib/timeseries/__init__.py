"""``tf.contrib.timeseries``: series of values read in windows, models of them, and estimators that train these."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.timeseries")
