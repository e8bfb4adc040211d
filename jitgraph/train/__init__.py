"""``tf.train``: optimizers, schedules, moving averages and what else training needs."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("train")
