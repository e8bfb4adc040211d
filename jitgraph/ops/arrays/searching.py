"""Values looked for: where, boolean_mask, unique, setdiff1d."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import INDEX, NUMBERS
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.distinct_loop import distinct_numbers
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape, shape, squeeze
from jitgraph.ops.arrays.true_loop import true_elements

_OUT = INDEX.with_default(dtypes.int32)
_CACHED = 1 << 12        # elements of which a hash table stays in the nearest cache
_TABLE = 1 << 22         # entries of the table of `first_seen`: bytes of memory beside bytes of input


# -- where ---------------------------------------------------------------------------------------------------------

@op("Where(input: T) -> index: int64", T=(NUMBERS + dtypes.bool_).with_default(dtypes.bool_),
    shape=lambda c: (None, None if c.shapes[0] is None else len(c.shapes[0])), dynamic=True,
    renamed={"condition": "input"}, constant=constant_rules.by_value,
    host_because="how many there are comes with the run: a loop of its own; 10,000 elements take 0.12 of "
                 "TensorFlow's time, 1,000,000 0.08")
def _where(input):
    """The coordinates of the elements that are not zero (true), one row each, in row-major order."""
    found = true_elements(input)
    return np.argwhere(input).astype(np.int64, copy=False) if found is None else found


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """The coordinates of the elements that are true (not zero), or element by element `x` where true and `y` where false.

    `condition` has the shape of `x` and `y`, or is a vector that picks rows.  Raises ValueError if only one of `x` and
    `y` is given.
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            return _where(convert_to_tensor(condition, preferred_dtype=dtypes.bool_, name="condition"), name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.Select(condition, x, y, name=name)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """As ``where``, but condition, `x` and `y` broadcast together."""
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            return _where(convert_to_tensor(condition, preferred_dtype=dtypes.bool_, name="condition"), name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.SelectV2(condition, x, y, name=name)


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Any:
    """The elements (or slices, if `mask` has fewer dimensions) of `tensor` where `mask` is true.

    The shape of `mask` is that of the dimensions of `tensor` from `axis` (0) on.  Raises ValueError if it is not, or
    if `mask` is a scalar or of unknown rank.
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        known, full = mask._shape, tensor._shape
        if known is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.  E.g. "
                             "shape=[None] is ok, but shape=None is not.")
        if not known:
            raise ValueError("mask cannot be scalar.")
        axis = 0 if axis is None else axis
        end = axis + len(known)
        if full is not None:
            if end > len(full):
                raise ValueError(f"Shapes {full} and {known} are incompatible")
            tensor.shape[axis:end].assert_is_compatible_with(mask.shape)
        leading = raw.Prod(shape(tensor)[axis:end], [0])
        tensor = reshape(tensor, concat([shape(tensor)[:axis], [leading], shape(tensor)[end:]], 0))
        if full is not None:
            count = shape_rules.elements(full[axis:end])
            tensor.set_shape([*full[:axis], count, *full[end:]])
        indices = squeeze(where(reshape(mask, [-1])), axis=[1])
        return gather(tensor, indices, axis=axis)


# -- unique --------------------------------------------------------------------------------------------------------

def first_seen(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct elements of a vector in the order of their first occurrence, and each element's place among them.  Raises
    ValueError for what is no vector."""
    if values.ndim != 1:
        raise ValueError("unique expects a 1D vector.")
    if values.dtype == object:
        places: dict = {}
        index = np.array([places.setdefault(v, len(places)) for v in values.tolist()], np.int64)
        distinct = np.empty(len(places), object)
        distinct[:] = list(places)
        return distinct, index
    found = distinct_numbers(values) if values.size <= _CACHED or values.dtype.kind == "f" else None
    if found is None and values.dtype.kind in "iu" and values.size:
        found = _by_table(values) or distinct_numbers(values)
    if found is not None:
        return found
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True, equal_nan=False)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return values[first[order]], rank[np.ravel(inverse)]


def _by_table(values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The same for integers that lie close together, by a table instead of sorting; None for others.

    The table is not initialised: only what was written is read, so its size hardly matters.
    """
    low, high = int(values.min()), int(values.max())
    if high - low >= max(2 * values.size, min(64 * values.size, _TABLE)) + 1024:
        return None
    shifted = (values - values.dtype.type(low)).astype(np.intp)
    places = np.arange(values.size, dtype=np.int32 if values.size < 1 << 31 else np.int64)
    table = np.empty(high - low + 1, places.dtype)
    table[shifted[::-1]] = places[::-1]         # of equal indices the last one written stays
    first = np.flatnonzero(table[shifted] == places)
    table[shifted[first]] = places[:len(first)]
    return values[first], table[shifted]


def _unique_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (6,), dtype, 0, 2)], [draw(rng, (0,), dtype)]]


@op("Unique(x: T; out_idx: type = int32) -> y: T, idx: out_idx", out_idx=_OUT, dynamic=True, distinct="made",
    shape=lambda c: [(None,), shape_rules.with_rank(c.shapes[0], 1, "x")], samples=_unique_samples,
    host_because="how many there are comes with the run: a hash table of its own; 10,000 elements take 0.36 of TensorFlow's time")
def _unique(x, out_idx):
    """y: the distinct elements of the vector `x` in the order of their first occurrence; x[i] = y[idx[i]]."""
    distinct, index = first_seen(x)
    return distinct, index.astype(out_idx.as_numpy_dtype)


@op("UniqueWithCounts(x: T; out_idx: type = int32) -> y: T, idx: out_idx, count: out_idx", out_idx=_OUT,
    shape=lambda c: [(None,), shape_rules.with_rank(c.shapes[0], 1, "x"), (None,)], dynamic=True, samples=_unique_samples)
def _unique_with_counts(x, out_idx):
    """As Unique; count[j] is how often y[j] occurs."""
    distinct, index = first_seen(x)
    kind = out_idx.as_numpy_dtype
    return distinct, index.astype(kind), np.bincount(index).astype(kind)


def _unique_rows(x: np.ndarray, axis: Any) -> tuple:
    axes = np.ravel(axis)
    along = int(axes[0]) if axes.size else 0
    if not axes.size or x.ndim == 1:
        return first_seen(x)
    moved = np.moveaxis(x, along, 0)
    places: dict = {}
    index = np.array([places.setdefault(row.tobytes(), len(places)) for row in np.ascontiguousarray(moved)], np.int64)
    _, first = np.unique(index, return_index=True)
    return np.moveaxis(moved[first], 0, along), index


def _unique_v2_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (6,), dtype, 0, 2), np.array([0])]]


@op("UniqueV2(x: T, axis: Taxis; out_idx: type = int32) -> y: T, idx: out_idx", out_idx=_OUT,
    Taxis=INDEX.with_default(dtypes.int64), dynamic=True,
    shape=lambda c: [None if c.shapes[0] is None else (None,) * len(c.shapes[0]), (None,)], samples=_unique_v2_samples)
def _unique_v2(x, axis, out_idx):
    """As Unique, for the slices of `x` along `axis` (a vector of at most one element)."""
    distinct, index = _unique_rows(x, axis)
    return distinct, index.astype(out_idx.as_numpy_dtype)


@op("UniqueWithCountsV2(x: T, axis: Taxis; out_idx: type = int32) -> y: T, idx: out_idx, count: out_idx", out_idx=_OUT,
    Taxis=INDEX.with_default(dtypes.int64), dynamic=True,
    shape=lambda c: [None if c.shapes[0] is None else (None,) * len(c.shapes[0]), (None,), (None,)],
    samples=_unique_v2_samples)
def _unique_with_counts_v2(x, axis, out_idx):
    """As UniqueWithCounts, for the slices of `x` along `axis` (a vector of at most one element)."""
    distinct, index = _unique_rows(x, axis)
    kind = out_idx.as_numpy_dtype
    return distinct, index.astype(kind), np.bincount(index).astype(kind)


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """(y, idx): the distinct elements of the vector `x` in the order of their first occurrence, and x[i] = y[idx[i]]."""
    return _unique(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """(y, idx, count): as ``unique``, and how often each element of y occurs."""
    return _unique_with_counts(x, out_idx=out_idx, name=name)


def _left(c: Any) -> list:
    shape_rules.with_rank(c.shapes[0], 1, "x")
    shape_rules.with_rank(c.shapes[1], 1, "y")
    return [(None,), (None,)]


@op("ListDiff(x: T, y: T; out_idx: type = int32) -> out: T, idx: out_idx", out_idx=_OUT, dynamic=True,
    shape=_left, constant=constant_rules.by_value,
    samples=lambda rng, dtype: [[draw(rng, (6,), dtype, 0, 3), draw(rng, (2,), dtype, 0, 3)]],
    host_because="how many there are comes with the run: 10,000 and 5,000 elements take 0.12 of TensorFlow's time")
def _list_diff(x, y, out_idx):
    """The elements of the vector `x` that are not in `y`, duplicates and order kept, and their positions."""
    if x.ndim != 1 or y.ndim != 1:
        raise invalid(f"x and y should be vectors, got shapes {list(x.shape)} and {list(y.shape)}")
    if x.dtype.kind in "iufb":
        left = ~np.isin(x, y)
    else:                       # strings, and dtypes that NumPy does not sort
        taken = set(y.tolist())
        left = np.array([v not in taken for v in x.tolist()], bool)
    index = np.flatnonzero(left).astype(out_idx.as_numpy_dtype)
    return x[index], index


def setdiff1d(x: Any, y: Any, index_dtype: Any = dtypes.int32, name: str | None = None) -> Any:
    """(out, idx): the elements of the vector `x` that are not in `y`, duplicates and order kept, and their positions."""
    return _list_diff(x, y, out_idx=index_dtype, name=name)
