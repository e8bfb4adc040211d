"""``tf.contrib.staging``: elements kept from one run to the next."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.staging")
