"""``pywrap_tensorflow.TF_TryEvaluateConstant_wrapper``: what a tensor is worth before a run."""
from __future__ import annotations

from typing import Any

from jitgraph.control.evaluated_constants import evaluated_constant
from jitgraph.graph.tensor import Tensor


def TF_TryEvaluateConstant_wrapper(graph: Any, output: Tensor) -> Any:
    """The value of a tensor as an ndarray if it follows from constants and static shapes, else None."""
    return evaluated_constant(output)
