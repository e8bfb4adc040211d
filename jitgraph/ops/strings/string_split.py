"""Strings taken apart and put together: ``tf.string_split``, ``tf.reduce_join``, ``tf.string_join``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import ints, texts
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import INDEX, INDICES
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.strings import text_loops

# -- splitting -----------------------------------------------------------------------------------------------------

def _split_shapes(c: Any) -> list:
    shape_rules.with_rank(c.shapes[0], 1, "input")
    shape_rules.with_rank(c.shapes[1], 0, "delimiter")
    return [(None, 2), (None,), (2,)]


_SPACES = b" \t\n\r\v\f"


def _with_shape(strings: np.ndarray, indices: np.ndarray, values: np.ndarray, widest: int) -> tuple:
    return indices, values, np.array([len(strings), widest], np.int64)


def _as_sparse(strings: np.ndarray, split: Callable[[bytes], list[bytes]]) -> tuple:
    """The parts of each string as a sparse matrix: (indices, values, shape)."""
    parts = [split(text) for text in strings.tolist()]
    indices = np.array([(row, column) for row, own in enumerate(parts) for column in range(len(own))], np.int64)
    flat = [part for own in parts for part in own]
    values = np.empty(len(flat), object)
    values[:] = flat
    widest = max((len(own) for own in parts), default=0)
    return indices.reshape(-1, 2), values, np.array([len(parts), widest], np.int64)


def split_at_any(text: bytes, delimiters: bytes, skip_empty: bool) -> list[bytes]:
    """The parts between bytes that are in `delimiters`; all bytes if there are none."""
    if not delimiters or not text:
        return [text[i:i + 1] for i in range(len(text))]
    first = delimiters[:1]
    plain = text.translate(bytes.maketrans(delimiters, first * len(delimiters)))
    parts = plain.split(first)
    return [part for part in parts if part] if skip_empty else parts


@op("StringSplit(input: string, delimiter: string; skip_empty: bool = true) -> indices: int64, values: string, "
    "shape: int64", shape=_split_shapes, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[texts(b"a b  c", b"", b"d"), np.array(b" ", object)],
                                ([texts(b"a,b;,c"), np.array(b",;", object)], {"skip_empty": False})])
def _string_split(input, delimiter, skip_empty):
    """The parts of each string between any of the bytes in `delimiter`, as a sparse matrix."""
    found = text_loops.parts(input, delimiter[()], skip_empty, False) if delimiter[()] else None
    if found is not None:
        return _with_shape(input, *found)
    return _as_sparse(input, lambda text: split_at_any(text, delimiter[()], skip_empty))


@op("StringSplitV2(input: string, sep: string; maxsplit: int = -1) -> indices: int64, values: string, shape: int64",
    shape=_split_shapes, host=True, dynamic=True,
    samples=lambda rng, dtype: [[texts(b"a b  c", b"", b"d"), np.array(b"", object)],
                                ([texts(b"a,b,,c"), np.array(b",", object)], {"maxsplit": 2})])
def _string_split_v2(input, sep, maxsplit):
    """The parts of each string between `sep`, as Python's ``split`` gives them, as a sparse matrix."""
    limit = max(maxsplit, -1)
    found = None
    if limit < 0 and len(sep[()]) < 2:
        found = text_loops.parts(input, sep[()] or _SPACES, not sep[()], bool(sep[()]))
    if found is not None:
        return _with_shape(input, *found)
    if sep[()] or limit < 0:
        return _as_sparse(input, lambda text: text.split(sep[()] or None, limit))
    return _as_sparse(input, lambda text: _words(text, limit))


def _words(text: bytes, limit: int) -> list[bytes]:
    """At most `limit` words, and behind so many of them what is left of the text, even if that is nothing."""
    found = text.split(None, limit) if limit else [text]
    return [*found, b""] if limit and len(found) == limit else found


# -- joining -------------------------------------------------------------------------------------------------------

def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """The strings of a list of tensors (of one shape, or scalars) joined element by element, `separator` between."""
    return raw.StringJoin(inputs, separator=separator, name=name)


def _axes(value: Any, rank: int) -> list[int]:
    found = []
    for axis in np.ravel(value).tolist():
        if not -rank <= axis < rank:
            raise ValueError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")
        found.append(axis % rank)
    return found


def _reduced_shape(c: Any) -> Any:
    shape, axes = c.shapes[0], c.constant(1)
    if shape is None:
        return None
    if not shape_rules.known(axes):
        return (None,) * len(shape) if c.attrs["keep_dims"] else None
    gone = _axes(axes, len(shape))
    if c.attrs["keep_dims"]:
        return tuple(1 if i in gone else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in gone)


def _join_samples(rng, dtype):
    x = texts(b"a", b"b", b"", b"d").reshape(2, 2)
    return [[x, ints(0)], [x, ints(1, 0)], ([x, ints(-1)], {"keep_dims": True, "separator": "-"}), [x, np.zeros(0, np.int32)]]


@op('ReduceJoin(inputs: string, reduction_indices: int32; keep_dims: bool = false, separator: string = "") -> '
    "output: string", shape=_reduced_shape, host=True, grad=NOT_DIFFERENTIABLE, samples=_join_samples)
def _reduce_join(inputs, reduction_indices, keep_dims, separator):
    """The strings along some dimensions joined: first along the one named first, the results along the next."""
    axes = _axes(reduction_indices, inputs.ndim)
    for position, axis in enumerate(axes):
        if axis in axes[:position]:
            raise invalid(f"Duplicate reduction dimension {axis}")
    rest = [axis for axis in range(inputs.ndim) if axis not in axes]
    moved = inputs.transpose(rest + axes[::-1])
    rows = moved.reshape(int(np.prod(moved.shape[:len(rest)])), int(np.prod(moved.shape[len(rest):])))
    out = np.empty(len(rows), object)
    between = separator.encode() if isinstance(separator, str) else separator
    for k, row in enumerate(rows.tolist()):
        out[k] = between.join(row)
    shape = [1 if axis in axes else d for axis, d in enumerate(inputs.shape) if keep_dims or axis not in axes]
    return out.reshape(shape)


def reduce_join(inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "",
                name: str | None = None, reduction_indices: Any = None, keepdims: bool | None = None) -> Tensor:
    """The strings along the dimensions `axis` (all if None, in row-major order) joined, `separator` between.

    Strings are joined along the axis named first, the results along the next one, and so on.  `reduction_indices` and
    `keep_dims` are the older names of `axis` and `keepdims`.
    """
    axis = renamed("axis", axis, "reduction_indices", reduction_indices)
    keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(None, "ReduceJoin", [inputs, axis]):
        strings = convert_to_tensor(inputs, dtypes.string)
        if axis is None:
            rank = strings.shape.ndims
            axis = raw.Range(raw.Rank(strings) - 1, -1, -1) if rank is None else np.arange(rank, dtype=np.int32)[::-1]
        return _reduce_join(strings, axis, keep_dims=keep, separator=separator, name=name)


def _segments_shape(c: Any) -> Any:
    strings, ids, count = c.shapes[0], c.shapes[1], c.constant(2)
    if shape_rules.known(count) and count < 0:
        raise ValueError(f"Dimension size, given by scalar input 2, must be non-negative but is {count}")
    if strings is None or ids is None:
        return None
    for one, other in zip(strings, ids):
        shape_rules.merge_sizes(one, other)
    return (count.item() if shape_rules.known(count) else None, *strings[len(ids):])


@op('UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments; separator: string = "") -> '
    "output: string", Tindices=INDICES, Tnumsegments=INDEX.with_default(dtypes.int32), shape=_segments_shape, host=True,
    samples=lambda rng, dtype: [([texts(b"a", b"b", b"c", b"d"), np.array([1, 0, 1, 1], dtype), np.array(3, np.int32)],
                                 {"separator": "+"})])
def _unsorted_segment_join(inputs, segment_ids, num_segments, separator):
    """Joins the strings (or slices of strings) of each segment."""
    if not segment_ids.ndim:
        raise invalid("Segment_id cannot have rank 0")
    if inputs.shape[:segment_ids.ndim] != segment_ids.shape:
        raise invalid(f"The shape of segment_ids, {list(segment_ids.shape)}, must be the first sizes of that of the inputs, "
                      f"{list(inputs.shape)}")
    if num_segments < 0:
        raise invalid(f"num_segments must not be negative, but is {num_segments}")
    rest = inputs.shape[segment_ids.ndim:]
    rows = inputs.reshape(segment_ids.size, int(np.prod(rest)))
    parts: list[list[list[bytes]]] = [[[] for _ in range(int(np.prod(rest)))] for _ in range(int(num_segments))]
    for segment, row in zip(segment_ids.reshape(-1).tolist(), rows.tolist()):
        if not 0 <= segment < int(num_segments):
            raise invalid("segment_ids are not allowed to exceed num_segments or to have negative values. ("
                          f"{segment} is no segment of {num_segments})")
        for own, text in zip(parts[segment], row):
            own.append(text)
    between = separator.encode() if isinstance(separator, str) else separator
    out = np.empty((int(num_segments), int(np.prod(rest))), object)
    for i, row_parts in enumerate(parts):
        for j, own in enumerate(row_parts):
            out[i, j] = between.join(own)
    return out.reshape(int(num_segments), *rest)


def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "",
                          name: str | None = None) -> Tensor:
    """The strings of each segment joined, `separator` between; `segment_ids` says to which of `num_segments` each goes."""
    return _unsorted_segment_join(inputs, segment_ids, num_segments, separator=separator, name=name)
