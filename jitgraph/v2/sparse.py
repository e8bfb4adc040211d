"""Sparse tensors."""
from __future__ import annotations

from typing import Any

from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.ops.sparse.sparse_functions import reduced
from jitgraph.v2.calls import from_v1


@from_v1("sparse.add")
def add(a, b, threshold=0):
    """`a` + `b`, of which one at least is sparse; sums of a magnitude below `threshold` are left out if both are."""


@from_v1("sparse.concat")
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors one after the other along `axis`; `expand_nonconcat_dims` lets their other sizes differ."""


def reduce_max(sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False,
               name: str | None = None) -> Any:
    """The largest of the elements that `sp_input` holds along `axis`, or of all: dense, or a SparseTensor if wanted."""
    return _reduced("SparseReduceMax", sp_input, axis, keepdims, output_is_sparse, name)


def reduce_sum(sp_input: Any, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False,
               name: str | None = None) -> Any:
    """The sum of the elements of `sp_input` along `axis`, or of all: dense, or a SparseTensor if wanted."""
    return _reduced("SparseReduceSum", sp_input, axis, keepdims, output_is_sparse, name)


def _reduced(kind: str, sp_input: Any, axis: Any, keepdims: bool | None, output_is_sparse: bool, name: str | None) -> Any:
    if output_is_sparse:
        return SparseTensor(*reduced(f"{kind}Sparse", sp_input, axis, keepdims, name))
    return reduced(kind, sp_input, axis, keepdims, name)


@from_v1("sparse.segment_mean")
def segment_mean(data, indices, segment_ids, num_segments=None, name=None):
    """The mean of the rows `indices` of `data` for each number in the sorted `segment_ids`."""


@from_v1("sparse.segment_sqrt_n")
def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None):
    """The sum of the rows `indices` of `data` over the root of their number, for each of `segment_ids`."""


@from_v1("sparse.segment_sum")
def segment_sum(data, indices, segment_ids, num_segments=None, name=None):
    """The sum of the rows `indices` of `data` for each number in the sorted `segment_ids`."""


@from_v1("sparse.split")
def split(sp_input=None, num_split=None, axis=None, name=None):
    """`sp_input` cut into `num_split` sparse tensors along `axis`."""


@from_v1("io.serialize_sparse")
def serialize_sparse(sp_input, out_type=dtypes.string, name=None):
    """A sparse tensor as three strings, or variants: its indices, values and shape."""


@from_v1("io.serialize_many_sparse")
def serialize_many_sparse(sp_input, out_type=dtypes.string, name=None):
    """The slices of a sparse tensor along its first axis, each as three strings, or variants."""
