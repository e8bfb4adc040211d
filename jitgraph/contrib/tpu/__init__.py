"""``tf.contrib.tpu``: what programs for TPUs need when they run on a CPU."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.tpu")
