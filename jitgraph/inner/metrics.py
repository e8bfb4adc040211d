"""Private names of ``tensorflow.python.ops.metrics_impl``, from which programs build metrics of their own."""
from __future__ import annotations

from jitgraph.losses.ranks import remove_squeezable_dimensions as _remove_squeezable_dimensions
from jitgraph.metrics.means import streaming_confusion_matrix as _streaming_confusion_matrix
from jitgraph.metrics.streaming import metric_variable

__all__ = ["_remove_squeezable_dimensions", "_streaming_confusion_matrix", "metric_variable"]
