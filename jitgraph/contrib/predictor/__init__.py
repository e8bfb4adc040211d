"""``tf.contrib.predictor``: models that answer at once, from estimators and SavedModels."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.predictor")
