"""``tf.estimator``: models as functions, trained, evaluated, asked and exported by one object."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("estimator")
