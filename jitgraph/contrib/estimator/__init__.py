"""``tf.contrib.estimator``: heads and extensions of estimators."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.estimator")
