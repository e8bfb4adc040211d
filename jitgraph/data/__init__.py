"""``tf.data``: pipelines of elements, from files or memory to the graph.

``dataset.py`` and ``iterators.py`` have the classes of ``tf.data``; ``*_ops.py`` the ops, ``*_host.py`` what the host does
when they run.  A dataset is a tensor of dtype variant, which holds a `Source` of ``source_host.py``.
"""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("data")
