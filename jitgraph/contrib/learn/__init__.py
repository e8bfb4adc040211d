"""``tf.contrib.learn``: the estimators that came before ``tf.estimator``, their monitors, experiments and text processing."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.learn")
