"""``tf.distributions``: random variables whose parameters are tensors, with densities, statistics and samples.

``tf.contrib.distributions`` has more of them, and the bijectors, in ``jitgraph/contrib/distributions``.
"""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("distributions")
