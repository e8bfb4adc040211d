"""Statistics of pipelines, as nodes."""
from __future__ import annotations

import numpy as np

from jitgraph.data import stats_host
from jitgraph.data.declaring import TESTS, dataset_op
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.texts import as_text
from jitgraph.resources import shared


@op('StatsAggregatorHandle(; container: string = "", shared_name: string = "") -> handle: resource', shape=shape_rules.scalar,
    stateful=True, host=True, context=("state", "op"), tested_in=TESTS)
def stats_aggregator_handle(state, op):
    """What takes statistics."""
    return shared(state, op, "stats_aggregator", stats_host.Aggregator)


@op('StatsAggregatorHandleV2(; container: string = "", shared_name: string = "") -> handle: resource', shape=shape_rules.scalar,
    stateful=True, host=True, context=("state", "op"), tested_in=TESTS)
def stats_aggregator_handle_v2(state, op):
    """What takes statistics, and writes them by a writer of summaries."""
    return shared(state, op, "stats_aggregator", stats_host.Aggregator)


@op("StatsAggregatorSetSummaryWriter(stats_aggregator: resource, summary: resource)", shape=shape_rules.no_outputs, stateful=True,
    host=True, tested_in=TESTS)
def stats_aggregator_set_summary_writer(stats_aggregator, summary):
    """From now on statistics are written too."""
    stats_aggregator[()].writer = summary[()]


@op("StatsAggregatorSummary(iterator: resource) -> summary: string", shape=shape_rules.scalar, stateful=True, host=True,
    tested_in=TESTS)
def stats_aggregator_summary(iterator):
    """The statistics until now as a Summary."""
    return np.array(iterator[()].summary(), object)


@dataset_op("SetStatsAggregatorDataset(input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string; "
            "...)", stateful=True)
def set_stats_aggregator_dataset(input_dataset, stats_aggregator, tag, counter_prefix):
    """The elements; their statistics go to an aggregator."""
    return stats_host.Watched(input_dataset, stats_aggregator, as_text(tag))


@dataset_op("LatencyStatsDataset(input_dataset: variant, tag: string; ...)")
def latency_stats_dataset(input_dataset, tag):
    """The elements; how long each takes is statistics."""
    return stats_host.Timed(input_dataset, as_text(tag))


@dataset_op("BytesProducedStatsDataset(input_dataset: variant, tag: string; ...)")
def bytes_produced_stats_dataset(input_dataset, tag):
    """The elements; how many bytes each has is statistics."""
    return stats_host.Weighed(input_dataset, as_text(tag))
