"""``tf.contrib.distributions``: more distributions than ``tf.distributions`` has, and the bijectors that transform them."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.distributions")
