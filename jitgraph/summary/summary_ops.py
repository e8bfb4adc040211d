"""Summaries as nodes: each gives a serialized ``Summary``.  The functions of ``tf`` over them are in ``summaries``."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes, shape_rules, shapes
from jitgraph.graph.dtypes import REALS, TypeSet
from jitgraph.summary import histogram_host, media_host

# float32 stands first: where nothing else decides, it is the default
NUMBERS = TypeSet(*REALS, default=dtypes.float32)
PIXELS = TypeSet(dtypes.uint8, dtypes.float32, dtypes.float16, dtypes.float64, default=dtypes.float32)
_TESTS = "tests/summary: what a Summary holds, byte by byte"
BAD_COLOR = "bad_color: tensor = uint8[255, 0, 0, 255]"


def serialized(summary: Any) -> np.ndarray:
    """A message as the value of a string scalar."""
    array = np.empty((), object)
    array[()] = summary.SerializeToString()
    return array


def text(value: Any) -> str:
    """The tag in an element of a string tensor."""
    return bytes(value).decode("utf-8", "replace")


def scalar_values(tags: np.ndarray, values: np.ndarray) -> Any:
    """The Summary of numbers, one for each tag.  Raises InvalidArgumentError unless the shapes are the same."""
    from jitgraph.protobuf.messages import Summary

    if tags.shape != values.shape:
        single = f" (tag '{text(tags.item())}')" if tags.size == 1 else ""
        raise invalid(f"tags and values not the same shape: {shapes.brackets(tags.shape)} != "
                      f"{shapes.brackets(values.shape)}{single}")
    with np.errstate(over="ignore"):
        numbers = np.ravel(values).astype(np.float32)
    return Summary(value=[Summary.Value(tag=text(tag), simple_value=number) for tag, number in zip(np.ravel(tags), numbers)])


def histogram_values(tag: np.ndarray, values: np.ndarray) -> Any:
    """The Summary of the histogram of `values`."""
    from jitgraph.protobuf.messages import Summary

    name = text(tag[()])
    return Summary(value=[Summary.Value(tag=name, histo=histogram_host.histogram_of(values, name))])


def tensor_proto(tensor: np.ndarray) -> Any:
    """The TensorProto of a summary: numbers by their bytes even where there is one alone, strings one by one."""
    from jitgraph.graph.protos.tensor_proto import shape_to_proto
    from jitgraph.protobuf.messages import TensorProto

    dtype = dtypes.as_dtype(tensor.dtype)
    found = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape_to_proto(tensor.shape))
    if dtype is dtypes.string:
        found.string_val.extend(bytes(value) for value in np.ravel(tensor))
    else:
        found.tensor_content = np.ascontiguousarray(tensor).tobytes()
    return found


def merged(parts: Iterable[bytes]) -> Any:
    """One Summary of all values.  Raises InvalidArgumentError for what is no Summary and for a tag that comes twice."""
    from google.protobuf.message import DecodeError

    from jitgraph.protobuf.messages import Summary

    summary, seen = Summary(), set()
    for part in parts:
        try:
            values = Summary.FromString(bytes(part)).value
        except DecodeError:
            raise invalid("Could not parse one of the summary inputs: they are the results of tf.summary.scalar and its "
                          "kin") from None
        for value in values:
            if value.tag in seen:
                raise invalid(f"Duplicate tag {value.tag} found in summary inputs")
            seen.add(value.tag)
            summary.value.append(value)
    return summary


@op("ScalarSummary(tags: string, values: T) -> summary: string", T=TypeSet(*REALS), shape=shape_rules.scalar, host=True,
    grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTS)
def scalar_summary(tags, values):
    """Numbers by tag."""
    return serialized(scalar_values(tags, values))


@op("HistogramSummary(tag: string, values: T) -> summary: string", T=NUMBERS, shape=shape_rules.scalar, host=True,
    grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTS)
def histogram_summary(tag, values):
    """How values are distributed."""
    return serialized(histogram_values(tag, values))


@op(f"ImageSummary(tag: string, tensor: T; max_images: int >= 1 = 3, {BAD_COLOR}) -> summary: string", T=PIXELS,
    shape=shape_rules.scalar, host=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTS)
def image_summary(tag, tensor, max_images, bad_color):
    """Pictures, as PNG files."""
    return serialized(media_host.image_summary(text(tag[()]), tensor, max_images, bad_color))


@op("AudioSummary(tag: string, tensor: float32; sample_rate: float, max_outputs: int >= 1 = 3) -> summary: string",
    shape=shape_rules.scalar, host=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTS)
def audio_summary(tag, tensor, sample_rate, max_outputs):
    """Sounds, as WAV files, with a rate that is known when the graph is built."""
    return serialized(media_host.audio_summary(text(tag[()]), tensor, sample_rate, max_outputs))


@op("AudioSummaryV2(tag: string, tensor: float32, sample_rate: float32; max_outputs: int >= 1 = 3) -> summary: string",
    shape=shape_rules.scalar, host=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTS)
def audio_summary_v2(tag, tensor, sample_rate, max_outputs):
    """Sounds, as WAV files."""
    return serialized(media_host.audio_summary(text(tag[()]), tensor, float(sample_rate), max_outputs))


@op("MergeSummary(inputs: N*string) -> summary: string", shape=shape_rules.scalar, host=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTS)
def merge_summary(inputs):
    """The values of several summaries in one."""
    return serialized(merged(part for array in inputs for part in np.ravel(array)))


@op('TensorSummary(tensor: T; description: string = "", labels: list(string) = [], display_name: string = "") -> '
    "summary: string", shape=shape_rules.scalar, host=True, grad=NOT_DIFFERENTIABLE, context=("op",),
    tested_in=_TESTS)
def tensor_summary(tensor, op):
    """A whole tensor, under the name of the node."""
    from jitgraph.protobuf.messages import Summary

    return serialized(Summary(value=[Summary.Value(node_name=op.name, tensor=tensor_proto(tensor))]))


@op("TensorSummaryV2(tag: string, tensor: T, serialized_summary_metadata: string) -> summary: string",
    shape=shape_rules.scalar, host=True, grad=NOT_DIFFERENTIABLE,
    tested_in=_TESTS)
def tensor_summary_v2(tag, tensor, serialized_summary_metadata):
    """A whole tensor, and what is to be known of it."""
    from jitgraph.protobuf.messages import Summary

    value = Summary.Value(tag=text(tag[()]), tensor=tensor_proto(tensor))
    value.metadata.ParseFromString(bytes(serialized_summary_metadata[()]))
    return serialized(Summary(value=[value]))
