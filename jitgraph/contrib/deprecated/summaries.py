"""Summaries whose tags are tensors that programs give, not the names of nodes."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import float32
from jitgraph.graph.scopes import add_to_collections, get_collection, name_scope


def _collected(summary: Any, collections: Any) -> Any:
    add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary


def scalar_summary(tags: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """A serialized Summary of a number for each of `tags`, of the shape of `values`."""
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        return _collected(raw.ScalarSummary(tags, values, name=scope), collections)


def histogram_summary(tag: Any, values: Any, collections: Any = None, name: str | None = None) -> Any:
    """A serialized Summary of how `values`, of any shape, are distributed."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        return _collected(raw.HistogramSummary(tag, values, name=scope), collections)


def image_summary(tag: Any, tensor: Any, max_images: int = 3, collections: Any = None, name: str | None = None) -> Any:
    """A serialized Summary of the first images [n, height, width, 1, 3 or 4]."""
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        return _collected(raw.ImageSummary(tag, tensor, max_images=max_images, name=scope), collections)


def audio_summary(tag: Any, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None,
                  name: str | None = None) -> Any:
    """A serialized Summary of the first sounds [n, frames] or [n, frames, channels], of `sample_rate` frames a second."""
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtype=float32, name="sample_rate")
        return _collected(raw.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope), collections)


def merge_summary(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """The values of several serialized Summaries in one."""
    with name_scope(name, "MergeSummary", inputs):
        return _collected(raw.MergeSummary(inputs, name=name), [] if collections is None else collections)


def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Any:
    """All summaries of a collection in one; None if there are none."""
    summaries = get_collection(key)
    return merge_summary(summaries) if summaries else None
