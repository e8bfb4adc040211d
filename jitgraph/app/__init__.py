"""``tf.app``, and what else a program uses beside graphs: ``tf.flags``, ``tf.logging``, the timeline of a run."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("app")
