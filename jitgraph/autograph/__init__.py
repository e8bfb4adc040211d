"""``tf.autograph``: Python's ifs and loops over tensors as conditionals and loops of the graph.

A function is read as a tree (``source``), its jumps become flags (``jumps``), its ifs, loops, calls and logical operators
become calls of operators (``rewriting``, which asks ``liveness`` which variables a statement hands on), and these operators
(``operators``, ``builtin_functions``) decide, by what they are given when the function runs, between Python and the graph.
"""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("autograph")
