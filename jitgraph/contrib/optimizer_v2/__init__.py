"""``tf.contrib.optimizer_v2``: the optimizers of ``tf.train``, with the arguments that TensorFlow 2's were to have."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.optimizer_v2")
