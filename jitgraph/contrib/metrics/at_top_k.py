"""Precision and recall of the best classes, where these are given or asked of ``tf.nn.in_top_k``."""
from __future__ import annotations

from typing import Any

from jitgraph.contrib.metrics.reordered import streaming_mean
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.metrics import at_k
from jitgraph.ops.arrays.top_k import in_top_k
from jitgraph.ops.elementwise.cast import cast


def streaming_recall_at_k(predictions: Any, labels: Any, k: int, weights: Any = None, metrics_collections: Any = None,
                          updates_collections: Any = None, name: str | None = None) -> tuple:
    """(how often the label is among the `k` best classes, the operation that adds more); `labels` int [batch]."""
    found = cast(in_top_k(predictions, labels, k), dtypes.float32)
    return streaming_mean(found, weights, metrics_collections, updates_collections, name or at_k.at_k_name("recall", k))


def streaming_sparse_precision_at_top_k(top_k_predictions: Any, labels: Any, class_id: int | None = None, weights: Any = None,
                                        metrics_collections: Any = None, updates_collections: Any = None,
                                        name: str | None = None) -> tuple:
    """``tf.metrics.precision_at_top_k`` of the classes `top_k_predictions`."""
    with name_scope(name, at_k.at_k_name("precision", class_id=class_id), (top_k_predictions, labels, weights)) as scope:
        return at_k.precision_at_top_k(labels=labels, predictions_idx=top_k_predictions, class_id=class_id, weights=weights,
                                       metrics_collections=metrics_collections, updates_collections=updates_collections,
                                       name=scope)


def sparse_recall_at_top_k(labels: Any, top_k_predictions: Any, class_id: int | None = None, weights: Any = None,
                           metrics_collections: Any = None, updates_collections: Any = None, name: str | None = None) -> tuple:
    """``tf.metrics.recall_at_top_k`` of the classes `top_k_predictions`."""
    with name_scope(name, at_k.at_k_name("recall", class_id=class_id), (top_k_predictions, labels, weights)) as scope:
        return at_k.recall_at_top_k(labels=labels, predictions_idx=top_k_predictions, class_id=class_id, weights=weights,
                                    metrics_collections=metrics_collections, updates_collections=updates_collections, name=scope)
