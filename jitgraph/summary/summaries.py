"""``tf.summary.scalar`` and its kin: nodes that describe values for TensorBoard.

Each gives a string scalar, a serialized ``Summary``, and joins the collection that ``merge_all`` gathers.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jitgraph.app import logs
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.summary import summary_ops

_ILLEGAL = re.compile(r"[^-/\w\.]")


def clean_tag(name: str | None) -> str | None:
    """`name` as names of nodes may be spelt; the log says so if that is not as it was."""
    if name is None:
        return None
    clean = _ILLEGAL.sub("_", name).lstrip("/")
    if clean != name:
        logs.info("Summary name %s is illegal; using %s instead.", name, clean)
    return clean


@contextmanager
def summary_scope(name: str | None, family: str | None = None, default_name: str | None = None,
                  values: Any = None) -> Iterator[tuple[str, str]]:
    """A name scope for a summary: gives its tag and the name of its node, both unique in the graph.

    A family comes before the name, and once more before the tag, so that TensorBoard groups by it.
    """
    name, family = clean_tag(name), clean_tag(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def _collected(summary: Tensor, collections: Any, default: tuple = (GraphKeys.SUMMARIES,)) -> Tensor:
    for key in default if collections is None else collections:
        get_default_graph().add_to_collection(key, summary)
    return summary


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of one number: a string scalar.

    Args:
      name: the tag, with the scopes around; it names the node.
      tensor: a scalar of a real dtype; it is written as float32.
      collections: where it is put, ["summaries"] if None.
      family: a prefix of the tag, by which TensorBoard groups.
    A run raises InvalidArgumentError unless the tensor has one element and no dimensions.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        return _collected(summary_ops.scalar_summary(tags=tag, values=tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of the distribution of `values`, of a real dtype and any shape: a string scalar.

    For the other arguments see ``scalar``.  A run raises InvalidArgumentError for values that are not finite.
    """
    with summary_scope(name, family, values=[values]) as (tag, scope):
        return _collected(summary_ops.histogram_summary(tag=tag, values=values, name=scope), collections)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None) -> Tensor:
    """A summary of the first `max_outputs` pictures of `tensor`: a string scalar.

    `tensor`: [batch, height, width, channels] with 1 (gray), 3 (RGB) or 4 (RGBA) channels.  uint8 is taken as it stands;
    floats are scaled: if all are positive, so that the largest becomes 255, else so that zero becomes 128.  Pixels that
    are not finite become red.  The tags are ``name/image``, or ``name/image/0`` and so on if there may be several.  For
    the other arguments see ``scalar``.  A run raises InvalidArgumentError for other shapes.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        return _collected(summary_ops.image_summary(tag=tag, tensor=tensor, max_images=max_outputs, name=scope), collections)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int = 3, collections: Any = None,
          family: str | None = None) -> Tensor:
    """A summary of the first `max_outputs` sounds of `tensor`: a string scalar.

    `tensor`: float32 in [-1, 1], [batch, samples] or [batch, samples, channels]; `sample_rate`: a float32 scalar, in
    Hertz.  Tags are numbered as those of ``image``; for the other arguments see ``scalar``.  A run raises
    InvalidArgumentError for other shapes and rates that are not positive.
    """
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        made = summary_ops.audio_summary_v2(tag=tag, tensor=tensor, sample_rate=rate, max_outputs=max_outputs, name=scope)
        return _collected(made, collections)


def tensor_summary(name: str, tensor: Any, summary_description: str | None = None, collections: Any = None,
                   summary_metadata: Any = None, family: str | None = None, display_name: str | None = None) -> Tensor:
    """A summary that holds a whole tensor, of any dtype and shape: a string scalar.

    `summary_metadata`: a SummaryMetadata, which says what plugin of TensorBoard shows it; `summary_description` and
    `display_name` are put into it.  For the other arguments see ``scalar``.
    """
    from jitgraph.protobuf.messages import SummaryMetadata

    metadata = SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, values=[tensor]) as (tag, scope):
        made = summary_ops.tensor_summary_v2(tensor=tensor, tag=tag, name=scope,
                                             serialized_summary_metadata=metadata.SerializeToString())
        return _collected(made, collections)


def text(name: str, tensor: Any, collections: Any = None) -> Tensor:
    """A summary of strings, which TensorBoard shows as Markdown: a string scalar.

    `tensor`: strings of any shape; a matrix becomes a table.  Raises ValueError for another dtype.
    """
    from jitgraph.protobuf.messages import SummaryMetadata

    tensor = convert_to_tensor(tensor)
    if tensor.dtype.base_dtype is not dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype!r}: write "
                         "tf.as_string(tensor)")
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Tensor:
    """One summary of the values of several: a string scalar.

    `inputs`: a list of string tensors with serialized summaries; `collections`: where it is put, none if None.  Raises
    ValueError for an empty list, TypeError for what is none; a run raises InvalidArgumentError if a tag comes twice.
    """
    if isinstance(inputs, (str, bytes, Tensor)):
        raise TypeError(f"Expected list for 'inputs' argument to 'merge_summary' Op, not {inputs!r}: write [summary]")
    inputs = list(inputs)
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        return _collected(summary_ops.merge_summary(inputs=inputs, name=name), collections, ())


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """One summary of all in the collection `key`, None if there are none.

    `scope`: a regular expression; only those whose name matches it from the start.
    """
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def: Any) -> Any:
    """The SummaryDescription of a NodeDef of type TensorSummary.  Raises ValueError for another type."""
    from google.protobuf import json_format

    from jitgraph.protobuf.messages import SummaryDescription

    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}: only nodes of type TensorSummary have one")
    return json_format.Parse(node_def.attr["description"].s.decode() or "{}", SummaryDescription())
