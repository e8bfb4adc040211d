"""Summaries named after the operations whose values they show."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import add_to_collection
from jitgraph.ops.checks.printing import Print
from jitgraph.ops.nn.functions import zero_fraction
from jitgraph.summary.summaries import histogram, image, scalar


def _name(tensor: Any, name: str | None, prefix: str | None) -> str:
    """`name`, or that of the operation, below `prefix`."""
    return "/".join([*([prefix] if prefix else []), name or tensor.op.name])


def _written(write: Any, tensor: Any, name: str, print_summary: bool) -> Any:
    """The summary; with `print_summary`, each of its runs prints the tensor too."""
    if not print_summary:
        return write(name, tensor)
    # Only the op that prints joins the collection: a run of both would write the summary twice.
    summary = Print(write(name, tensor, collections=[]), [tensor], name)
    add_to_collection(GraphKeys.SUMMARIES, summary)
    return summary


def add_histogram_summary(tensor: Any, name: str | None = None, prefix: str | None = None) -> Any:
    """A histogram of a tensor, named after its operation."""
    return histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False) -> Any:
    """A summary of images [batch, height, width, channels], named after their operation."""
    return _written(image, tensor, _name(tensor, name, prefix), print_summary)


def add_scalar_summary(tensor: Any, name: str | None = None, prefix: str | None = None, print_summary: bool = False) -> Any:
    """A summary of a scalar, named after its operation."""
    return _written(scalar, tensor, _name(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(tensor: Any, name: str | None = None, prefix: str | None = None,
                              print_summary: bool = False) -> Any:
    """A summary of the fraction of a tensor that is zero."""
    tag = f"{_name(tensor, name, prefix)}/Fraction_of_Zero_Values"
    return _written(scalar, zero_fraction(tensor), tag, print_summary)


def add_histogram_summaries(tensors: Sequence, prefix: str | None = None) -> list:
    """`add_histogram_summary` of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors: Sequence, prefix: str | None = None) -> list:
    """`add_image_summary` of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors: Sequence, prefix: str | None = None, print_summary: bool = False) -> list:
    """`add_scalar_summary` of each tensor."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors: Sequence, prefix: str | None = None) -> list:
    """`add_zero_fraction_summary` of each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
