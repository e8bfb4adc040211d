"""Summaries of what a graph's collections hold: scalars as they are, everything else as a histogram."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import get_collection
from jitgraph.ops.elementwise.cast import cast, to_float
from jitgraph.ops.elementwise.compare import greater, less
from jitgraph.ops.reduce.reductions import reduce_mean
from jitgraph.summary.summaries import histogram, scalar


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A summary named `tag`, by default as the operation with "_summary" after it; None for strings and bools."""
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool_):
        return None
    write = scalar if tensor.get_shape().ndims == 0 else histogram
    return write(tag or f"{tensor.op.name}_summary", tensor)


def summarize_activation(op: Any) -> Any:
    """A histogram of a tensor; of what Relu, Softplus and Relu6 give, also the fraction that is cut off."""
    def fraction(comparison: Callable, bound: float, name: str) -> None:
        beyond = to_float(comparison(op.op.inputs[0], cast(bound, op.op.inputs[0].dtype)))
        scalar(f"{op.op.name}/{name}", reduce_mean(beyond))

    if op.op.type in ("Relu", "Softplus", "Relu6"):
        fraction(less, 0.0, "zeros")
    if op.op.type == "Relu6":
        fraction(greater, 6.0, "sixes")
    return histogram(f"{op.op.name}/activation", op)


def summarize_tensors(tensors: Any, summarizer: Callable = summarize_tensor) -> list:
    """What `summarizer` gives for each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection: str, name_filter: str | None = None, summarizer: Callable = summarize_tensor) -> list:
    """Summaries of the tensors of a collection whose names match `name_filter` at their beginning."""
    tensors = [tensor for tensor in get_collection(collection)
               if name_filter is None or re.match(name_filter, tensor.op.name)]
    return summarize_tensors(tensors, summarizer)


summarize_variables = functools.partial(summarize_collection, GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, GraphKeys.BIASES)


def summarize_activations(name_filter: str | None = None, summarizer: Callable = summarize_activation) -> list:
    """Summaries of the collection "activations"."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
