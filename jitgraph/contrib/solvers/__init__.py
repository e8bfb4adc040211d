"""``tf.contrib.solvers``: iterative solvers of linear equations: conjugate gradients, Lanczos's bidiagonals."""
from __future__ import annotations

from jitgraph.facade.namespaces import namespace_getattr

__getattr__ = namespace_getattr("contrib.solvers")
