"""``tf.contrib.framework``: default arguments for a block of code, variables by name, checks of tensors."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.framework")
