"""What programs import of `tensorflow.python.ops.cond_v2` and `while_v2`: control flow as nodes that call functions."""
from __future__ import annotations

from jitgraph.control.conditionals import functional_cond as cond_v2
from jitgraph.control.while_loops import functional_while_loop as while_loop

__all__ = ["cond_v2", "while_loop"]
