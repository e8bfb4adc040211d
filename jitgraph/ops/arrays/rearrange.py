"""Elements moved by number: roll, sort, searchsorted, tensor_scatter, repeat, unravel_index."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.dtypes import INDEX, INDICES
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.gather import check_scattered, gather, lower_scattered_sums
from jitgraph.ops.arrays.join import axis_from, concat
from jitgraph.ops.arrays.layout import broadcast_to, exchanged, transpose
from jitgraph.ops.arrays.shape import expand_dims, plain_sizes, rank, reshape, shape
from jitgraph.ops.elementwise.cast import cast

# -- roll ----------------------------------------------------------------------------------------------------------

def _shifts(shift: Any, axis: Any, rank: int) -> dict[int, Any]:
    """How far each axis is rolled; an axis may be named more than once."""
    found: dict[int, Any] = {}
    for s, a in zip(plain_sizes(shift), plain_sizes(axis)):
        a = axis_from(a, rank)
        found[a] = found.get(a, 0) + s
    return found


def _lower_roll(b: Any, x: Any, shift: Any, axis: Any) -> Any:
    if shift.constant is None or axis.constant is None:
        return NotImplemented
    for a, by in _shifts(shift.constant, axis.constant, len(x.shape)).items():
        size = x.shape[a]
        cut = -by % size if size != 0 else 0
        if cut == 0:
            continue
        pieces = []
        for begin, length in ((cut, size - cut), (0, cut)):
            pieces.append(b.slice(x, [begin if i == a else 0 for i in range(len(x.shape))],
                                  [length if i == a else d for i, d in enumerate(x.shape)]))
        x = b.concat(pieces, a)
    return x


def _roll_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (3, 4), dtype)
    return [[x, np.int32(1), np.int32(0)], [x, ints(-1, 2), ints(0, 1)], [x, ints(5, 6), ints(1, 1)],
            [x[:0], np.int32(1), np.int32(0)], [x, np.int32(0), np.int32(-1)]]


def _rolled(c: Any) -> Any:
    shift, axis = (shape_rules.with_rank_at_most(c.shapes[k], 1, what) for k, what in ((1, "shift"), (2, "axis")))
    shape_rules.merge(shift, axis)
    return shape_rules.with_rank_at_least(c.shapes[0], 1, "input")


@op("Roll(input: T, shift: Tshift, axis: Taxis) -> output: T", Tshift=INDICES, Taxis=INDICES, shape=_rolled,
    lower=_lower_roll, samples=_roll_samples)
def roll(input, shift, axis):
    """The elements moved by `shift` along `axis` (numbers or vectors); what falls off one end returns at the other."""
    shifts = _shifts(shift, axis, input.ndim)
    return np.roll(input, tuple(shifts.values()), tuple(shifts)) if shifts else input


@roll.gradient
def _(op, grad):
    return [roll(grad, raw.Neg(op.inputs[1]), op.inputs[2]), None, None]


# -- tensor_scatter ------------------------------------------------------------------------------------------------

def _scatter_samples(rng: Any, dtype: Any) -> list:
    if dtype.kind in "bO":
        return []
    x = draw(rng, (4, 3), dtype)
    return [[x, ints([1], [3]), draw(rng, (2, 3), dtype)], [x, ints([0, 1], [2, 2]), draw(rng, (2,), dtype)]]


def _lower_scattered(prim: str) -> Any:
    """By the sums of the updates of each row."""
    def lower(b: Any, tensor: Any, indices: Any, updates: Any) -> Any:
        added = lower_scattered_sums(b, indices, updates, tensor.shape)
        return NotImplemented if added is NotImplemented else b.map(prim, [tensor, added])

    return lower


def _scattered(name: str, doc: str, combine: Any, prim: str = "") -> Any:
    def value(tensor: Any, indices: Any, updates: Any) -> Any:
        check_scattered(indices, updates, tensor.shape)
        result = tensor.copy()
        combine(result, tuple(np.moveaxis(indices, -1, 0)), updates)
        return result

    value.__doc__ = doc
    value.__name__ = name
    return op(f"TensorScatter{name}(tensor: T, indices: Tindices, updates: T) -> output: T", Tindices=INDICES,
              shape=lambda c: shape_rules.scattered_nd(*c.shapes), checks=True, samples=_scatter_samples,
              **({"lower": _lower_scattered(prim)} if prim else {}))(value)


def _set(result: np.ndarray, place: tuple, updates: np.ndarray) -> None:
    result[place] = updates


tensor_scatter_update = _scattered("Update", "A copy of `tensor` with `updates` at the coordinates `indices`.", _set)
tensor_scatter_add = _scattered("Add", "A copy of `tensor` with `updates` added at the coordinates `indices`.", np.add.at,
                                "add")
tensor_scatter_sub = _scattered("Sub", "A copy of `tensor` with `updates` subtracted at the coordinates `indices`.",
                                np.subtract.at, "sub")


@tensor_scatter_update.gradient
def _(op, grad):
    indices, updates = op.inputs[1], op.inputs[2]
    count_nodes(1)              # TensorFlow makes an Identity of the gradient
    return [tensor_scatter_update(grad, indices, raw.ZerosLike(updates)), None, raw.GatherNd(grad, indices)]


@tensor_scatter_add.gradient
def _(op, grad):
    return [raw.Identity(grad), None, raw.GatherNd(grad, op.inputs[1])]


@tensor_scatter_sub.gradient
def _(op, grad):
    return [raw.Identity(grad), None, raw.Neg(raw.GatherNd(grad, op.inputs[1]))]


# -- positions -----------------------------------------------------------------------------------------------------

def _unravel_shape(c: Any) -> Any:
    indices, dims = c.shapes
    count = dims[0] if dims else None
    if indices is None:
        return None
    return (count,) if not indices else (count, shape_rules.elements(indices))


def _unravel_index_samples(rng: Any, dtype: Any) -> list:
    return [[np.array([22, 41, 37], dtype), np.array([7, 6], dtype)], [np.array(5, dtype), np.array([2, 3], dtype)]]


@op("UnravelIndex(indices: Tidx, dims: Tidx) -> output: Tidx", Tidx=INDEX, shape=_unravel_shape, checks=True,
    samples=_unravel_index_samples)
def unravel_index(indices, dims):
    """The coordinates, one row per dimension, of positions in a flattened tensor of shape `dims`."""
    total = int(np.prod(dims))
    if indices.size and (indices.min() < 0 or indices.max() >= total):
        from jitgraph.graph.errors import InvalidArgumentError

        raise InvalidArgumentError(None, None, f"index is out of bound as with dims: {dims.tolist()}")
    return np.array(np.unravel_index(indices, tuple(dims)), indices.dtype).reshape(len(dims), *indices.shape)


def _bound(side: Any) -> Any:
    def value(sorted_inputs: Any, values: Any, out_type: Any) -> Any:
        rows = [np.searchsorted(row, wanted, side) for row, wanted in zip(sorted_inputs, values)]
        return np.array(rows, out_type.as_numpy_dtype).reshape(values.shape)

    return value


_lower_value, _upper_value = _bound("left"), _bound("right")


def _lower_bound_samples(rng: Any, dtype: Any) -> list:
    if dtype.kind not in "fiu":
        return []
    rows = np.sort(draw(rng, (2, 5), dtype), -1)
    return [[rows, draw(rng, (2, 3), dtype)], [rows, rows[:, ::2].copy()]]


@op("LowerBound(sorted_inputs: T, values: T; out_type: type = int32) -> output: out_type",
    out_type=INDEX.with_default(dtypes.int32), shape=shape_rules.same_as(1), samples=_lower_bound_samples)
def _lower_bound(sorted_inputs, values, out_type):
    """For each row, where `values` would go in the sorted row: before equal elements."""
    return _lower_value(sorted_inputs, values, out_type)


@op("UpperBound(sorted_inputs: T, values: T; out_type: type = int32) -> output: out_type",
    out_type=INDEX.with_default(dtypes.int32), shape=shape_rules.same_as(1), samples=_lower_bound_samples)
def _upper_bound(sorted_inputs, values, out_type):
    """For each row, where `values` would go in the sorted row: after equal elements."""
    return _upper_value(sorted_inputs, values, out_type)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = dtypes.int32,
                 name: str | None = None) -> Any:
    """Where `values` [..., m] would go in the sorted rows `sorted_sequence` [..., n], before ("left") or after equals.

    Raises ValueError for another `side`.
    """
    with name_scope(name, "searchsorted", [sorted_sequence, values]):
        values = convert_to_tensor(values)
        sequence = convert_to_tensor(sorted_sequence)
        if side not in ("left", "right"):
            raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
        find = _lower_bound if side == "left" else _upper_bound
        rows, wanted = reshape(sequence, [-1, shape(sequence)[-1]]), reshape(values, [-1, shape(values)[-1]])
        return reshape(find(rows, wanted, out_type=out_type), shape(values))


# -- sorting -------------------------------------------------------------------------------------------------------

def _to_last(values: Any, axis: int) -> tuple[Any, Any]:
    """`values` with `axis` at the end, and the permutation that did it (None if it was there)."""
    if values._shape is not None and values._shape and not -len(values._shape) <= axis < len(values._shape):
        raise ValueError(f"axis {axis} is out of bounds of a tensor of rank {len(values._shape)}")
    if axis == -1 or values._shape is not None and axis == len(values._shape) - 1:
        return values, None
    if values._shape is not None:
        count = len(values._shape)
        order = [*range(count)]
        order[axis], order[-1] = order[-1], order[axis]
        permutation = constant(order, dtypes.int32)
    else:
        permutation = exchanged(rank(values), axis)
    return transpose(values, permutation), permutation


def _sorted(values: Any, axis: int, direction: str, positions: bool) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    values, order = _to_last(values, axis)
    rising = direction == "ASCENDING"
    if order is None or values._shape is not None:
        count_nodes(2)          # TensorFlow keeps the axis and the rank
    count = shape(values)[-1]
    top = raw.TopKV2(raw.Neg(values) if rising else values, count)
    result = top.indices if positions else raw.Neg(top.values) if rising else top.values
    return result if order is None else transpose(result, order)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """`values` (1-D or higher) sorted along `axis`, "ASCENDING" or "DESCENDING".  Raises ValueError for others."""
    with name_scope(name, "sort"):
        return _sorted(convert_to_tensor(values), axis, direction, False)


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Any:
    """The positions (int32) that sort `values` along `axis`; equal elements keep their order."""
    with name_scope(name, "argsort"):
        return _sorted(convert_to_tensor(values), axis, direction, True)


# -- repeat --------------------------------------------------------------------------------------------------------

def _with_axis(data: Any, axis: int) -> tuple[Any, int]:
    """`data`, a scalar as a vector of one, and the number of `axis` from the front.  Raises ValueError if it is not there."""
    if data._shape is None:
        if axis < 0:
            raise ValueError("axis may only be negative if the rank of the input is known")
        sizes = shape(data)
        is_scalar = cast(raw.Equal(raw.Size(sizes), 0), dtypes.int32)
        return reshape(data, concat([raw.Fill(expand_dims(is_scalar, 0), 1), sizes], 0)), axis
    data = reshape(data, [1]) if data._shape == () else data
    count = len(data._shape)
    if not -count <= axis < count:
        raise ValueError(f"axis={axis} out of bounds: expected {-count}<=axis<{count}")
    return data, axis % count


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Each element of `input` along `axis` (None: of the flattened tensor) repeated `repeats` (a number or vector) times."""
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="input")
        if axis is None:
            data, axis = reshape(data, [-1]), 0
        data, axis = _with_axis(data, axis)
        counts = convert_to_tensor(repeats, name="repeats", preferred_dtype=dtypes.int32)
        if not counts.dtype.is_integer:
            raise TypeError(f"repeats must be an integer tensor; dtype={counts.dtype!r}")
        counts = cast(counts, dtypes.int32)
        if counts._shape in ((), (1,)):
            counts = reshape(counts, [])
            full = shape(data)
            wide = expand_dims(data, axis + 1)
            wide = broadcast_to(wide, concat([full[:axis + 1], [counts], full[axis + 1:]], 0))
            return reshape(wide, concat([full[:axis], [full[axis] * counts], full[axis + 1:]], 0))
        if counts._shape in (None, (None,)):    # one number, or one for each
            counts = broadcast_to(counts, shape(data)[axis:axis + 1])
        ends = raw.Cumsum(counts, 0)
        total = raw.Sum(counts, [0])
        positions = raw.UpperBound(expand_dims(ends, 0), expand_dims(raw.Range(0, total, 1), 0))
        return gather(data, reshape(positions, [-1]), axis=axis)

