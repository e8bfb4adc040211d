"""Quantiles of features as nodes; what they are is in ``quantiles``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.estimator.boosted_trees import quantiles
from jitgraph.graph import errors, shape_rules
from jitgraph.resources import shared

_TESTS = "tests/estimator/test_beside_tensorflow.py: boosted trees"
_STATE: dict[str, Any] = {"stateful": True, "host": True, "tested_in": _TESTS}
_PREFIX = "BoostedTreesQuantileStreamResource"
_HANDLE = "quantile_stream_resource_handle: resource"


@op(f'{_PREFIX}HandleOp(; container: string = "", shared_name: string = "") -> resource: resource', shape=shape_rules.scalar,
    context=("state", "op"), **_STATE)
def boosted_trees_quantile_stream_resource_handle_op(state, op):
    """A handle of streams of numbers, of which quantiles are wanted."""
    return shared(state, op, "quantile_streams", quantiles.QuantileStreams)


def _of(handle: np.ndarray) -> quantiles.QuantileStreams:
    found: Any = handle[()]
    if not found.is_initialized:
        raise errors.FailedPreconditionError(None, None, "The quantile streams were not created: run their initializer first")
    return found


@op(f"BoostedTreesCreateQuantileStreamResource({_HANDLE}, epsilon: float32, num_streams: int64; max_elements: int = 1099511627776)",
    shape=shape_rules.no_outputs, **_STATE)
def boosted_trees_create_quantile_stream_resource(quantile_stream_resource_handle, epsilon, num_streams, max_elements):
    """Begins `num_streams` streams, if they have not begun."""
    found = quantile_stream_resource_handle[()]
    with found.lock:
        found.begin(float(epsilon), int(num_streams), max_elements)


@op(f"Is{_PREFIX}Initialized({_HANDLE}) -> is_initialized: bool", shape=shape_rules.scalar, **_STATE)
def is_boosted_trees_quantile_stream_resource_initialized(quantile_stream_resource_handle):
    """Whether streams were created."""
    return np.array(quantile_stream_resource_handle[()].is_initialized)


@op("BoostedTreesMakeQuantileSummaries(float_values: num_features*float32, example_weights: float32, epsilon: float32; "
    "num_features: int >= 0) -> summaries: num_features*float32", shape=lambda c: [(None, 4)] * c.attrs["num_features"],
    host=True, dynamic=True, tested_in=_TESTS)
def boosted_trees_make_quantile_summaries(float_values, example_weights, epsilon):
    """A summary (value, weight, smallest rank, largest rank) of each feature."""
    found = []
    for values in float_values:
        weights = example_weights if example_weights.size > 1 else np.repeat(example_weights, values.size)
        stream = quantiles.Stream(float(epsilon), values.size + 1)
        stream.add_values(values.ravel(), weights.ravel())
        found.append(stream.finish())
    return found


@op(f"{_PREFIX}AddSummaries({_HANDLE}, summaries: num_features*float32; num_features: int >= 0)", shape=shape_rules.no_outputs,
    **_STATE)
def boosted_trees_quantile_stream_resource_add_summaries(quantile_stream_resource_handle, summaries):
    """Takes a summary of each feature in."""
    found = _of(quantile_stream_resource_handle)
    with found.lock:
        found.add([np.array(summary) for summary in summaries])


@op(f"{_PREFIX}Flush({_HANDLE}, num_buckets: int64; generate_quantiles: bool = false)", shape=shape_rules.no_outputs, **_STATE)
def boosted_trees_quantile_stream_resource_flush(quantile_stream_resource_handle, num_buckets, generate_quantiles):
    """Makes boundaries of the streams, which begin anew."""
    found = _of(quantile_stream_resource_handle)
    with found.lock:
        found.flush(int(num_buckets), generate_quantiles)


@op(f"{_PREFIX}GetBucketBoundaries({_HANDLE}; num_features: int >= 0) -> bucket_boundaries: num_features*float32",
    shape=lambda c: [(None,)] * c.attrs["num_features"], dynamic=True, **_STATE)
def boosted_trees_quantile_stream_resource_get_bucket_boundaries(quantile_stream_resource_handle, num_features):
    """The boundaries of each feature; none before the first flush."""
    found = _of(quantile_stream_resource_handle)
    with found.lock:
        return list(found.boundaries[:num_features])


@op(f"{_PREFIX}Deserialize({_HANDLE}, bucket_boundaries: num_streams*float32; num_streams: int >= 1)",
    shape=shape_rules.no_outputs, **_STATE)
def boosted_trees_quantile_stream_resource_deserialize(quantile_stream_resource_handle, bucket_boundaries):
    """Takes boundaries over."""
    found = _of(quantile_stream_resource_handle)
    with found.lock:
        found.boundaries = [np.array(one) for one in bucket_boundaries]


@op("BoostedTreesBucketize(float_values: num_features*float32, bucket_boundaries: num_features*float32; num_features: int >= 0) "
    "-> buckets: num_features*int32", shape=lambda c: list(c.shapes[:c.attrs["num_features"]]), host=True, tested_in=_TESTS)
def boosted_trees_bucketize(float_values, bucket_boundaries):
    """The bucket of each number: the first boundary that is not below it, or the last one; 0 without boundaries."""
    return [np.minimum(np.searchsorted(boundaries, values), max(len(boundaries) - 1, 0)).astype(np.int32)
            for values, boundaries in zip(float_values, bucket_boundaries)]


@op(f"BoostedTreesFlushQuantileSummaries({_HANDLE}; num_features: int >= 0) -> summaries: num_features*float32",
    shape=lambda c: [(None, 4)] * c.attrs["num_features"], dynamic=True, **_STATE)
def boosted_trees_flush_quantile_summaries(quantile_stream_resource_handle, num_features):
    """The summaries of the streams, which begin anew."""
    found = _of(quantile_stream_resource_handle)
    with found.lock:
        return found.take_summaries()[:num_features]
