"""Summaries that TensorBoard shows: numbers, distributions, pictures, sounds and texts, written by ``summary.write``."""
from __future__ import annotations

import functools
from typing import Any

from jitgraph.control.conditionals import cond
from jitgraph.functions.higher_order import map_fn
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import one_hot
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import tile, transpose
from jitgraph.ops.arrays.sequences import linspace
from jitgraph.ops.arrays.shape import reshape, size
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_shapes import assert_rank, assert_scalar, assert_type
from jitgraph.ops.checks.check_values import assert_non_negative
from jitgraph.ops.elementwise.arithmetic import minimum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.elementary import floor
from jitgraph.ops.image.image_codecs import encode_png
from jitgraph.ops.image.image_dtype import convert_image_dtype
from jitgraph.ops.reduce.reductions import reduce_max, reduce_min, reduce_sum
from jitgraph.ops.signal.audio import encode_wav
from jitgraph.ops.strings.strings import as_string
from jitgraph.protobuf.messages import SummaryMetadata
from jitgraph.v2.summary_writing import summary_scope, write

_BUCKETS = 30
_WAV = b"\x10\x0b"              # the AudioPluginData that says so


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> SummaryMetadata:
    made = SummaryMetadata()
    made.plugin_data.plugin_name, made.plugin_data.content = plugin, content
    if description is not None:
        made.summary_description = description
    return made


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes a number, a real scalar, when it is run: a bool scalar, whether it was to be recorded.

    `name`: the tag, with the scopes around; `step`: int64, by default that of ``summary.experimental.set_step``.
    """
    with summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        assert_scalar(data)
        return write(tag, cast(data, dtypes.float32), step, _metadata("scalars", description))


def histogram(name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None) -> Any:
    """Writes how many of the real values of `data` fall into each of `buckets` (30) equal ranges; see ``scalar``."""
    with summary_scope(name, "histogram_summary", [data, buckets, step]) as (tag, _):
        return write(tag, _counts(data, _BUCKETS if buckets is None else buckets), step, _metadata("histograms", description))


def image(name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None) -> Any:
    """Writes pictures [batch, height, width, 1 to 4], floats from 0 to 1 or uint8, the first `max_outputs`; see ``scalar``."""
    with summary_scope(name, "image_summary", [data, max_outputs, step]) as (tag, _):
        assert_rank(data, 4)
        assert_non_negative(max_outputs)
        images = convert_image_dtype(data, dtypes.uint8, saturate=True)
        encoded = _encoded(encode_png, images[:max_outputs], "encode_each_image")
        sizes = shape_of(images)
        sides = stack([as_string(sizes[2], name="width"), as_string(sizes[1], name="height")], name="dimensions")
        return write(tag, concat([sides, encoded], 0), step, _metadata("images", description))


def audio(name: str, data: Any, sample_rate: Any, step: Any = None, max_outputs: Any = 3, encoding: str | None = None,
          description: str | None = None) -> Any:
    """Writes sounds, float32 [batch, samples, channels] from -1 to 1, the first `max_outputs`, as "wav"; see ``scalar``.

    Raises ValueError for another encoding.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    with summary_scope(name, "audio_summary", [data, sample_rate, max_outputs, step]) as (tag, _):
        assert_rank(data, 3)
        assert_non_negative(max_outputs)
        sounds = data[:max_outputs]
        encoded = _encoded(functools.partial(encode_wav, sample_rate=sample_rate), sounds, "encode_each_audio")
        labels = tile([""], shape_of(sounds)[:1])
        return write(tag, transpose(stack([encoded, labels])), step, _metadata("audio", description, _WAV))


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes strings of any shape; see ``scalar``.  Raises TypeError for other tensors."""
    with summary_scope(name, "text_summary", [data, step]) as (tag, _):
        assert_type(data, dtypes.string)
        return write(tag, data, step, _metadata("text", description))


def _encoded(encode: Any, values: Any, name: str) -> Any:
    strings = map_fn(encode, values, dtype=dtypes.string, name=name)
    return cond(shape_of(strings)[0] > 0, lambda: strings, lambda: constant([], dtypes.string))


def _counts(data: Any, buckets: Any) -> Any:
    """[buckets, 3] of float64: where each begins, where it ends, how many values are in it; one bucket if all are equal."""
    with name_scope("buckets"):
        assert_scalar(buckets)
        assert_type(buckets, dtypes.int32)
        data = cast(reshape(data, [-1]), dtypes.float64)

        def of_range(low: Any, high: Any) -> Any:
            width = (high - low) / cast(buckets, dtypes.float64)
            places = minimum(cast(floor((data - low) / width), dtypes.int32), buckets - 1)
            counts = cast(reduce_sum(one_hot(places, buckets), axis=0), dtypes.float64)
            edges = concat([linspace(low, high, buckets + 1)[:-1], [high]], 0)
            return transpose(stack([edges[:-1], edges[1:], counts]))

        def of_one(value: Any) -> Any:
            return stack([[value - 0.5, value + 0.5, cast(size(data), dtypes.float64)]])

        def of_some() -> Any:
            low, high = reduce_min(data), reduce_max(data)
            return cond(equal(high - low, 0), lambda: of_one(low), lambda: of_range(low, high))

        return cond(equal(size(data), 0), lambda: constant([], dtypes.float64, (0, 3)), of_some)
