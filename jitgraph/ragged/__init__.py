"""``tf.ragged``: tensors whose rows differ in length."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("ragged")

from jitgraph.ragged import methods  # noqa: F401  (whichever module is asked for first, ragged tensors are whole)
