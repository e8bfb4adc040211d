"""Statistics of pipelines: ``StatsAggregator`` and the transformations that give it numbers."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor


class StatsAggregator:
    """What takes the statistics of pipelines: it is the ``experimental_stats.aggregator`` of a dataset's options.

    It takes what ``latency_stats`` and ``bytes_produced_stats`` measure; TensorFlow's numbers of its own threads and buffers are
    not measured.  A dataset that has one cannot have a one-shot iterator.
    """

    def __init__(self) -> None:
        self._resource = raw.StatsAggregatorHandle()

    def get_summary(self) -> Tensor:
        """A scalar string: the statistics until now as a serialized Summary of histograms, sorted by name."""
        return raw.StatsAggregatorSummary(self._resource)


def set_stats_aggregator(stats_aggregator: StatsAggregator, prefix: str = "", counter_prefix: str = "") -> Callable:
    """A transformation whose statistics go to `stats_aggregator`, under names that begin with `prefix` and "::"."""

    def apply(dataset: Any) -> Any:
        texts = [convert_to_tensor(text, dtypes.string) for text in (prefix, counter_prefix)]
        return dataset._unary("SetStatsAggregatorDataset", stats_aggregator._resource, *texts)

    return apply


def _tag(tag: Any) -> Any:
    """A tag as a tensor.  Raises ValueError if it is no scalar."""
    tag = convert_to_tensor(tag, dtypes.string)
    tag.shape.assert_has_rank(0)
    return tag


def latency_stats(tag: str) -> Callable:
    """The elements; the microseconds that each takes go into the histogram `tag` of the aggregator."""
    return lambda dataset: dataset._unary("LatencyStatsDataset", _tag(tag))


def bytes_produced_stats(tag: str) -> Callable:
    """The elements; the bytes that each has go into the histogram `tag` of the aggregator."""
    return lambda dataset: dataset._unary("BytesProducedStatsDataset", _tag(tag))
