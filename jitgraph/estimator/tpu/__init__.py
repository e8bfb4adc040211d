"""``tf.estimator.tpu``: the estimator that has TPUs elsewhere, for programs that say ``use_tpu=False``."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("estimator.tpu")
