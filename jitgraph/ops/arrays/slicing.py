"""Parts of a tensor: slice, strided_slice (``x[...]``), and their gradients."""
from __future__ import annotations

import builtins
import functools
from typing import Any, NamedTuple

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints, results
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.operators import assign_slice
from jitgraph.ops.arrays.fill import ones_like
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.shape import plain_sizes, rank, reshape, shape

newaxis = None
_BOUNDS = TypeSet(dtypes.int32, dtypes.int64)
_MASKS = ("begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, "
          "shrink_axis_mask: int = 0")


# -- slice ---------------------------------------------------------------------------------------------------------

def _slice_sizes(size: Any, begin: list, sizes: list) -> list:
    """The sizes of a slice of a tensor of shape `size`; -1 means all that remain.  Raises ValueError out of range."""
    result = []
    for axis, (d, b, s) in enumerate(zip(size, begin, sizes)):
        if s is not None and s == -1:
            s = None if d is None or b is None else d - b
        elif s is not None and s < 0:
            raise ValueError(f"Expected size[{axis}] in [-1, {d}], but got {s}")
        if b is not None and (b < 0 or d is not None and not b <= d):
            raise ValueError(f"Expected begin[{axis}] in [0, {d}], but got {b}")
        if None not in (d, b, s) and not (s >= 0 and b + s <= d):
            raise ValueError(f"Expected size[{axis}] in [0, {d - b}], but got {s}")
        result.append(s)
    return result


def _slice_shape(c: Any) -> Any:
    size, begin, sizes = c.shapes[0], c.constant(1), c.constant(2)
    for k, what in ((1, "begin"), (2, "size")):
        shape_rules.with_rank(c.shapes[k], 1, what)
    if size is None:
        length = next((s[0] for s in c.shapes[1:3] if s is not None and s[0] is not None), None)
        if length is None:
            return None
        size = (None,) * length
    unknown = [None] * len(size)
    begin = unknown if begin is None else plain_sizes(begin)
    sizes = unknown if sizes is None else plain_sizes(sizes)
    if not len(begin) == len(sizes) == len(size):
        raise ValueError(f"begin and size must have {len(size)} elements, one per dimension, but have {len(begin)} and "
                         f"{len(sizes)}")
    return tuple(_slice_sizes(size, begin, sizes))


def _lower_slice(b: Any, x: Any, begin: Any, size: Any) -> Any:
    if size.constant is None or begin.constant is None and not b.on_device:
        return NotImplemented
    if begin.constant is None:
        return _lower_window(b, x, begin, plain_sizes(size.constant))
    start = plain_sizes(begin.constant)
    return b.slice(x, start, _slice_sizes(x.shape, start, plain_sizes(size.constant)))


def _lower_window(b: Any, x: Any, begin: Any, counts: list) -> Any:
    """A part of known size that begins where only the run tells: on a device a gather along each dimension."""
    if len(counts) != len(x.shape) or any(isinstance(count, int) and count < 1 for count in counts):
        return NotImplemented           # a kernel of no elements would look at no index
    for axis, count in enumerate(counts):
        first = b.cast(b.reshape(b.slice(begin, [axis], [1]), ()), dtypes.int64)
        x = b.gather(x, b.map("add", [b.iota((count,), 0, dtypes.int64), first]), axis)
    return x


def _slice_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 6), dtype)
    return [[x, ints(1, 2), ints(2, 3)], [x, ints(0, 1), ints(-1, -1)], [x, ints(4, 0), ints(0, 6)]]


@op("Slice(input: T, begin: Index, size: Index) -> output: T", Index=_BOUNDS, shape=_slice_shape, lower=_lower_slice,
    constant=constant_rules.by_value, symbolic=True, keeps=(0,), samples=_slice_samples)
def _slice(input, begin, size):
    """The part of `input` that starts at `begin` and has the shape `size` (-1: up to the end)."""
    start = plain_sizes(begin)
    try:
        sizes = _slice_sizes(input.shape, start, plain_sizes(size))
    except ValueError as error:
        raise invalid(str(error)) from None
    return input[tuple([np.s_[b:b + s] for b, s in zip(start, sizes)] + [Ellipsis])]


@_slice.gradient
def _(op, grad):
    """Zeros around the part that was taken: the gradient padded to the shape of the input."""
    value, begin = op.inputs[0], op.inputs[1]
    dimensions = rank(value)
    taken = shape(op.outputs[0], out_type=begin.dtype.base_dtype)
    column = stack([dimensions, 1])
    before = reshape(begin, column)
    after = reshape(shape(value, out_type=begin.dtype.base_dtype) - taken - begin, column)
    return [raw.Pad(grad, concat([before, after], 1)), None, None]


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """The part of `input_` that starts at `begin` and has the shape `size`; -1 in `size` means up to the end."""
    return _slice(input_, begin, size, name=name)


# -- strided slice -------------------------------------------------------------------------------------------------

class Cut(NamedTuple):
    """What a StridedSlice takes of one dimension of its input: `size` elements from `begin`, `stride` apart."""

    begin: Any
    size: Any
    stride: Any


def _entries(length: int, rank: int, ellipsis_mask: int, new_axis_mask: int) -> list:
    """Which dimension of the input each bound belongs to: a list of (bound or None, dimension or None).

    A bound of None is a dimension taken whole; a dimension of None is a new one.
    """
    bits = [1 << i for i in range(length)]
    used = sum(1 for bit in bits if not ellipsis_mask & bit and not new_axis_mask & bit)
    if used > rank:
        raise ValueError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    entries: list = []
    dimension, open_ellipsis = 0, False
    for i, bit in enumerate(bits):
        if ellipsis_mask & bit:
            if open_ellipsis:
                raise ValueError("Multiple ellipses in slice spec not allowed")
            open_ellipsis = True
            entries.extend((None, dimension + k) for k in range(rank - used))
            dimension += rank - used
        elif new_axis_mask & bit:
            entries.append((i, None))
        else:
            entries.append((i, dimension))
            dimension += 1
    entries.extend((None, k) for k in range(dimension, rank))
    return entries


def _bounded(value: Any, size: Any, low: Any, high: Any) -> Any:
    value = value + size if value < 0 else value
    return low if value < low else high if value > high else value


def _cut(d: Any, begin: Any, end: Any, stride: Any) -> Cut:
    """What ``begin:end:stride`` (None: open) takes of a dimension of size `d`, as Python's slices do."""
    if stride > 0:
        first = 0 if begin is None else _bounded(begin, d, 0, d)
        last = d if end is None else _bounded(end, d, 0, d)
        length = last - first
    else:
        first = d - 1 if begin is None else _bounded(begin, d, -1, d - 1)
        last = -1 if end is None else _bounded(end, d, -1, d - 1)
        length = first - last
    step = abs(stride)
    count = length if step == 1 else (length + step - 1) // step
    return Cut(first, count if length > 0 else 0, stride)


def resolve(size: Any, bounds: list, masks: dict) -> tuple[list, tuple]:
    """The cuts (one per dimension of `size`; None where unknown) and the shape of a StridedSlice.

    `bounds`: begin, end and strides, lists whose elements may be None (unknown).  Raises ValueError for an index out of
    range.
    """
    begin, end, strides = bounds
    strides = [None if stride is None else int(stride) for stride in strides]       # a number, also where the run tells it
    cuts: list = []
    result: list = []
    for i, dimension in _entries(len(begin), len(size), masks["ellipsis_mask"], masks["new_axis_mask"]):
        if dimension is None:
            result.append(1)
            continue
        d = size[dimension]
        if i is None:
            cuts.append(Cut(0, d, 1))
            result.append(d)
            continue
        bit = 1 << i
        if masks["shrink_axis_mask"] & bit:
            cuts.append(_single(d, begin[i], strides[i], dimension))
            continue
        if strides[i] is not None and strides[i] == 0:
            raise ValueError(f"strides[{i}] must be non-zero")
        open_begin, open_end = masks["begin_mask"] & bit, masks["end_mask"] & bit
        cut = None
        if d is not None and strides[i] is not None and (open_begin or begin[i] is not None) \
                and (open_end or end[i] is not None):
            cut = _cut(d, None if open_begin else begin[i], None if open_end else end[i], strides[i])
        cuts.append(cut)
        result.append(None if cut is None else cut.size)
    return cuts, tuple(result)


def _single(d: Any, index: Any, stride: Any, dimension: int) -> Any:
    if stride is not None and stride <= 0:
        raise ValueError("only stride 1 allowed on non-range indexing.")
    if d is None or index is None:
        return None
    if not (-d <= index and index < d):
        raise ValueError(f"slice index {index} of dimension {dimension} out of bounds")
    return Cut(index + d if index < 0 else index, 1, 1)


def _masks(attrs: dict) -> dict:
    return {name: attrs[name] for name in ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                           "shrink_axis_mask")}


def _strided_slice_shape(c: Any, size: Any = None, first: int = 1) -> Any:
    size = c.shapes[0] if size is None else size
    values = [c.constant(i) for i in range(first, first + 3)]
    bounds: list[Any] = [None if value is None else plain_sizes(value) for value in values]
    if None in bounds:
        length = next((s[0] for s in c.shapes[first:first + 3] if s is not None and s[0] is not None), None)
        if length is None:
            return None
        bounds = [[None] * length if b is None else b for b in bounds]
    if size is None:
        return None
    if not len(bounds[0]) == len(bounds[1]) == len(bounds[2]):
        raise ValueError("Expected begin, end, and strides to be 1D equal size tensors, but got lengths "
                         + ", ".join(str(len(b)) for b in bounds))
    return resolve(size, bounds, c.attrs)[1]


def _lower_strided_slice(b: Any, x: Any, begin: Any, end: Any, strides: Any, **masks: int) -> Any:
    if any(v.constant is None for v in (begin, end, strides)):
        return _lower_single(b, x, begin, strides, masks) if b.on_device else NotImplemented
    cuts, result = resolve(x.shape, [plain_sizes(v.constant) for v in (begin, end, strides)], masks)
    part = b.slice(x, [cut.begin for cut in cuts], [cut.size for cut in cuts], [cut.stride for cut in cuts])
    return b.reshape(part, result)


def _lower_single(b: Any, x: Any, begin: Any, strides: Any, masks: dict[str, int]) -> Any:
    """x[:, i]: one index, which only the run tells, of all of the other dimensions; on the host a slice is a view."""
    if strides.constant is None or not isinstance(begin.shape[0], int) or any(step != 1 for step in strides.constant.tolist()):
        return NotImplemented
    count, whole = begin.shape[0], masks["begin_mask"] & masks["end_mask"]
    entries = list(_entries(count, len(x.shape), masks["ellipsis_mask"], masks["new_axis_mask"]))
    single = [(i, d) for i, d in entries if i is not None and d is not None and masks["shrink_axis_mask"] >> i & 1]
    if len(single) != 1 or any(size == 0 for size in x.shape):      # a kernel of no elements would look at no index
        return NotImplemented
    if not all(d is None or i is None or (i, d) in single or whole >> i & 1 for i, d in entries):
        return NotImplemented
    (i, axis), = single
    index = b.cast(b.reshape(b.slice(begin, [i], [1]), ()), dtypes.int64)
    from_end = b.map("add", [index, b.size(np.array(x.shape[axis], object), dtypes.int64)])
    index = b.map("select", [b.map("lt", [index, 0]), from_end, index])
    unknown: list[Any] = [None] * count
    return b.reshape(b.gather(x, index, axis), resolve(x.shape, [unknown, unknown, strides.constant.tolist()], masks)[1])


def _strided_slice_value(input: Any, begin: Any, end: Any, strides: Any, masks: dict) -> Any:
    try:
        cuts, result = resolve(input.shape, [plain_sizes(v) for v in (begin, end, strides)], masks)
    except ValueError as error:
        raise invalid(str(error)) from None
    return input[_index_of(cuts)].reshape(result)


def _index_of(cuts: list) -> tuple:
    """The NumPy index that takes these cuts and keeps every dimension."""
    index: list = []
    for begin, size, stride in cuts:
        end = begin + size * stride
        index.append(np.s_[begin:None if end < 0 else end:stride] if size != 0 else np.s_[0:0])
    return (*index, Ellipsis)


def _constant_strided_slice(op: Any, index: int, value_of: Any) -> Any:
    value = value_of(op.inputs[0])
    bounds = [value_of(t) for t in op.inputs[1:4]]
    if value is None or not all(constant_rules.is_known(b) for b in bounds):
        return None
    try:
        return np.asarray(value[numpy_index(bounds, op.attrs)], value.dtype)
    except IndexError:
        return None             # the shape rule or the run reports it


def numpy_index(bounds: list, attrs: dict[str, Any]) -> tuple:
    """The NumPy index that begin, end, strides and the masks of a StridedSlice mean."""
    index: list = []
    for i, (begin, end, stride) in enumerate(zip(*bounds)):
        bit = 1 << i
        if attrs["ellipsis_mask"] & bit:
            index.append(Ellipsis)
        elif attrs["new_axis_mask"] & bit:
            index.append(np.newaxis)
        elif attrs["shrink_axis_mask"] & bit:
            index.append(int(begin))
        else:
            index.append(builtins.slice(None if attrs["begin_mask"] & bit else int(begin),
                                        None if attrs["end_mask"] & bit else int(end), int(stride)))
    return tuple(index)


def _strided_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 6), dtype)
    begin, end, step = ints(1, 0), ints(3, 6), ints(1, 2)
    return [([x, begin, end, step], {}), ([x, begin, end, step], {"begin_mask": 1, "end_mask": 2}),
            ([x, begin, end, step], {"shrink_axis_mask": 1}), ([x, ints(3, 5), ints(0, 0), ints(-1, -2)], {}),
            ([x, ints(0, 1), ints(0, 2), ints(1, 1)], {"ellipsis_mask": 1}),
            ([x, ints(0, 1), ints(0, 2), ints(1, 1)], {"new_axis_mask": 1}),
            ([x[:0], ints(0), ints(2), ints(1)], {})]


@op(f"StridedSlice(input: T, begin: Index, end: Index, strides: Index; {_MASKS}) -> output: T", Index=_BOUNDS,
    shape=_strided_slice_shape, lower=_lower_strided_slice, constant=_constant_strided_slice, symbolic=True, keeps=(0,),
    samples=_strided_samples)
def strided_slice_by_masks(input, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask):
    """``input[begin:end:strides]`` with Python's rules.

    Bit i of the masks says of position i: begin_mask, end_mask: open; ellipsis_mask: ``...``; new_axis_mask: a new
    dimension; shrink_axis_mask: a single index, whose dimension goes away.
    """
    return _strided_slice_value(input, begin, end, strides, dict(
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask))


@strided_slice_by_masks.gradient
def _(op, grad):
    value, begin, end, strides = op.inputs
    size = shape(value, out_type=begin.dtype.base_dtype)
    return [_strided_slice_grad(size, begin, end, strides, grad, **_masks(op.attrs)), None, None, None]


def _lower_strided_slice_grad(b: Any, size: Any, begin: Any, end: Any, strides: Any, dy: Any, **masks: int) -> Any:
    """Zeros around and, for strides over 1, between the elements of dy."""
    if any(v.constant is None for v in (size, begin, end, strides)):
        return NotImplemented
    full = plain_sizes(size.constant)
    cuts, _ = resolve(full, [plain_sizes(v.constant) for v in (begin, end, strides)], masks)
    part = b.reshape(dy, [cut.size for cut in cuts])
    backwards = [axis for axis, cut in enumerate(cuts) if cut.stride < 0]
    part = b.reverse(part, backwards) if backwards else part
    before = []
    for axis, cut in enumerate(cuts):
        step = abs(cut.stride)
        before.append(cut.begin if cut.stride > 0 or cut.size == 0 else cut.begin + (cut.size - 1) * cut.stride)
        if step > 1 and cut.size > 1:
            part = _spread(b, part, axis, step)
    after = [d - s - p for d, s, p in zip(full, before, part.shape)]
    return b.pad(part, before, after, 0)


def _spread(b: Any, x: Any, axis: int, step: Any) -> Any:
    """The elements of x `step` apart along `axis`, zeros between them."""
    rank, count = len(x.shape), x.shape[axis]
    column = b.reshape(x, (*x.shape[:axis + 1], 1, *x.shape[axis + 1:]))
    padded = b.pad(column, [0] * (rank + 1), [step - 1 if i == axis + 1 else 0 for i in range(rank + 1)], 0)
    flat = b.reshape(padded, (*x.shape[:axis], count * step, *x.shape[axis + 1:]))
    length = (count - 1) * step + 1
    return b.slice(flat, [0] * rank, [length if i == axis else d for i, d in enumerate(flat.shape)])


def _strided_slice_grad_samples(rng: Any, dtype: Any) -> list:
    found = []
    for (x, *bounds), attrs in _strided_samples(rng, dtype):
        sliced, = results(strided_slice_by_masks, [x, *bounds], attrs)
        found.append(([ints(*x.shape), *bounds, draw(rng, np.shape(sliced), dtype)], attrs))
    return found


@op(f"StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T; {_MASKS}) -> output: T",
    Index=_BOUNDS, shape=shape_rules.from_value(0), lower=_lower_strided_slice_grad, samples=_strided_slice_grad_samples)
def _strided_slice_grad(shape, begin, end, strides, dy, begin_mask, end_mask, ellipsis_mask, new_axis_mask,
                        shrink_axis_mask):
    """The gradient of StridedSlice: `dy` in its place in zeros of `shape`."""
    full = plain_sizes(shape)
    cuts, _ = resolve(full, [plain_sizes(v) for v in (begin, end, strides)], dict(
        begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask))
    result = np.full(full, b"" if dy.dtype == object else 0, dy.dtype)
    result[_index_of(cuts)] = dy.reshape([cut.size for cut in cuts])
    return result


@_strided_slice_grad.gradient
def _(op, grad):
    begin, end, strides = op.inputs[1:4]
    return [None, None, None, None, strided_slice_by_masks(grad, begin, end, strides, **_masks(op.attrs))]


def strided_slice(input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
                  ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
                  name: str | None = None) -> Any:
    """``input_[begin:end:strides]``; bit i of each mask concerns position i, see ``tf.Tensor.__getitem__``.

    With `var` (a variable whose value `input_` is), the result has a method ``assign``.
    """
    if strides is None:
        strides = ones_like(begin)
    masks = dict(begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
                 shrink_axis_mask=shrink_axis_mask)
    result = strided_slice_by_masks(input_, begin, end, strides, name=name, **masks)
    result.assign = functools.partial(assign_slice, var, masks, result)
    return result


