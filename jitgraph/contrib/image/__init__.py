"""``tf.contrib.image``: transforms, warps and components of images."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.image")
