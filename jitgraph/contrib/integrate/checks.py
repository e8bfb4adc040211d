"""What integration asks of its arguments."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.reduce.reductions import reduce_all


def check_input_types(y0: Any, t: Any, dt: Any = None) -> None:
    """Raises TypeError unless all are floating; `y0` may be complex."""
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    for name, value in (("t", t), ("dt", dt)):
        if value is not None and not value.dtype.is_floating:
            raise TypeError(f"`{name}` must have a floating point dtype")


def increasing(t: Any) -> Any:
    """A context in which nodes wait for the check that `t` increases."""
    return control_dependencies([Assert(reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])])
