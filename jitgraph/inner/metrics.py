"""Private names of ``tensorflow.python.ops.metrics_impl``, from which programs build metrics of their own."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.tensor import Tensor
from jitgraph.metrics.at_k import average_precision_at_top_k as _streaming_sparse_average_precision_at_top_k
from jitgraph.metrics.means import streaming_confusion_matrix as _streaming_confusion_matrix
from jitgraph.metrics.streaming import collected, metric_variable
from jitgraph.metrics.streaming import squeezed as _remove_squeezable_dimensions
from jitgraph.metrics.thresholds import COUNTS, checked_counts
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.elementwise.arithmetic import div_no_nan

__all__ = ["_aggregate_variable", "_confusion_matrix_at_thresholds", "_remove_squeezable_dimensions", "_safe_scalar_div",
           "_streaming_confusion_matrix", "_streaming_sparse_average_precision_at_top_k", "metric_variable"]


def _aggregate_variable(v: Any, collections: Any) -> Tensor:
    """The value of a variable, which joins `collections` if there are any."""
    return collected(collections, identity(v))


def _confusion_matrix_at_thresholds(labels: Any, predictions: Any, thresholds: list, weights: Any = None,
                                    includes: Any = None) -> tuple:
    """({kind: variable}, {kind: update}) of the counts at each of `thresholds`; `includes`: of which of "tp", "fn", "tn", "fp".

    Raises ValueError for another kind.
    """
    kinds = tuple(COUNTS) if includes is None else tuple(includes)
    for kind in kinds:
        if kind not in COUNTS:
            raise ValueError(f"Invalid key: {kind}.")
    return checked_counts(labels, predictions, thresholds, weights, kinds)


def _safe_scalar_div(numerator: Tensor, denominator: Tensor, name: str | None) -> Tensor:
    """`numerator` / `denominator`, and 0 where that is 0.  Raises ValueError for ranks above 1."""
    numerator.shape.with_rank_at_most(1)
    denominator.shape.with_rank_at_most(1)
    return div_no_nan(numerator, denominator, name=name)
