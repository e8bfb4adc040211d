"""Sums, extremes and counts over axes."""
from __future__ import annotations

from jitgraph.graph import dtypes
from jitgraph.v2.calls import from_v1


@from_v1("argmax")
def argmax(input, axis=None, output_type=dtypes.int64, name=None):
    """Where along `axis`, 0 if none is given, `input` is largest."""


@from_v1("argmin")
def argmin(input, axis=None, output_type=dtypes.int64, name=None):
    """Where along `axis`, 0 if none is given, `input` is smallest."""


@from_v1("reduce_all")
def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all booleans along `axis` are True; without it all there are."""


@from_v1("reduce_any")
def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether a boolean along `axis` is True; without it any there is."""


@from_v1("reduce_logsumexp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(`input_tensor`))) along `axis`, or over all, without overflow."""


@from_v1("reduce_max")
def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """The largest element along `axis`, or of all."""


@from_v1("reduce_mean")
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """The mean along `axis`, or of all; of integers rounded towards zero."""


@from_v1("reduce_min")
def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """The smallest element along `axis`, or of all."""


@from_v1("reduce_prod")
def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """The product along `axis`, or of all."""


@from_v1("reduce_sum")
def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """The sum along `axis`, or of all."""


@from_v1("math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """How many elements along `axis`, or of all, are not zero (not the empty string)."""


@from_v1("norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """The norm of vectors or matrices along `axis`: 'euclidean', 'fro', a number, or infinity."""


@from_v1("confusion_matrix")
def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None):
    """How often each label (row) was predicted to be each class (column), or the sum of the `weights` beside them."""
