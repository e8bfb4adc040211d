"""Tensors put together and taken apart along an axis: stack, unstack, concat, split."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import constant_rules, dtypes, shape_rules, shapes
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.dtypes import INDEX
from jitgraph.graph.literals import gives_array
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import brackets
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import expand_dims, plain_sizes, rank, shape, shape_n


def axis_from(axis: Any, rank: int, what: str = "axis") -> int:
    """`axis` counted from the front.  Raises ValueError if it is not in [-rank, rank)."""
    axis = int(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"{what} = {axis} not in [{-rank}, {rank})")
    return axis % rank


# -- stack ---------------------------------------------------------------------------------------------------------

def _pack_shape(c: Any) -> Any:
    merged = shape_rules.merged_inputs(c)
    if merged is None:
        return None
    axis = axis_from(c.attrs["axis"], len(merged) + 1)
    return tuple(merged[:axis]) + (len(c.shapes),) + tuple(merged[axis:])


def _lower_pack(b: Any, values: list, axis: int) -> Any:
    axis = axis_from(axis, len(values[0].shape) + 1)
    return b.concat([b.reshape(v, tuple(v.shape[:axis]) + (1,) + tuple(v.shape[axis:])) for v in values], axis)


def _constant_pack(op: Any, index: int, value_of: Any) -> Any:
    if len(op.inputs) > constant_rules.LARGEST:
        return None
    axis = op.attrs.get("axis", 0)
    merged = op.outputs[0]._shape
    shapes = None
    if merged is not None:          # all have one shape: a size that is stacked beside a number is a number
        each = list(merged)
        del each[axis]
        shapes = [tuple(each)] * len(op.inputs)
    return constant_rules.joined(op.inputs, value_of, lambda parts: np.stack(parts, axis), shapes)


def _pack_samples(rng: Any, dtype: Any) -> list:
    x, y = draw(rng, (2, 3), dtype), draw(rng, (2, 3), dtype)
    return [([[x, y]], {"axis": axis}) for axis in (0, 1, 2, -1)] + [[[x[0, 0], y[0, 0]]], [[x]]]


@op("Pack(values: N*T; axis: int = 0) -> output: T", shape=_pack_shape, lower=_lower_pack, constant=_constant_pack, symbolic=True,
    static=True, samples=_pack_samples)
def _pack(values, axis):
    """The `values`, all of one shape, side by side along a new `axis`."""
    try:
        return np.stack([np.asarray(v) for v in values], axis)
    except ValueError:
        raise invalid("Shapes of all inputs must match: values[0].shape = "
                      + " != ".join(str(list(s)) for s in dict.fromkeys(np.shape(v) for v in values))) from None


@_pack.gradient
def _(op, grad):
    return unstack(grad, num=op.attrs["N"], axis=op.attrs["axis"])


def _unpack_shape(c: Any) -> Any:
    size, num = c.shapes[0], c.attrs["num"]
    if size is None:
        return [None] * num
    axis = axis_from(c.attrs["axis"], len(size))
    if size[axis] is not None and size[axis] != num:
        raise ValueError(f"Dimension must be {num} but is {size[axis]}")
    return [tuple(size[:axis]) + tuple(size[axis + 1:])] * num


def _lower_unpack(b: Any, value: Any, num: int, axis: int) -> Any:
    axis = axis_from(axis, len(value.shape))
    sizes = tuple(1 if i == axis else d for i, d in enumerate(value.shape))
    rest = tuple(value.shape[:axis]) + tuple(value.shape[axis + 1:])
    return [b.reshape(b.slice(value, [k if i == axis else 0 for i in range(len(sizes))], sizes), rest)
            for k in range(num)]


def _constant_unpack(op: Any, index: int, value_of: Any) -> Any:
    value = value_of(op.inputs[0])
    return None if value is None else np.asarray(np.take(value, index, op.attrs["axis"]), value.dtype)


def _unpack_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3), dtype)
    return [([x], {"num": 2, "axis": 0}), ([x], {"num": 3, "axis": -1})]


@op("Unpack(value: T; num: int >= 0, axis: int = 0) -> output: num*T", shape=_unpack_shape, lower=_lower_unpack,
    constant=_constant_unpack, symbolic=True, samples=_unpack_samples)
def _unpack(value, num, axis):
    """The slices of `value` along `axis`, of which there are `num`."""
    if value.shape[axis] != num:
        raise invalid(f"Input shape axis {axis} must equal {num}, got shape {list(value.shape)}")
    return [part.copy() for part in np.moveaxis(value, axis, 0)] if value.ndim > 1 else [np.asarray(v, value.dtype)
                                                                                        for v in value]


@_unpack.gradient
def _(op, *grads):
    return stack(list(grads), axis=op.attrs["axis"])


def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """`values` (a list of tensors or values of one shape) side by side along a new `axis`.

    Raises ValueError if `axis` is out of range or the shapes differ.
    """
    if axis == 0 and not _of_arrays(values):
        try:
            return convert_to_tensor(values, name=name)     # a constant if all values are
        except (TypeError, ValueError):
            pass
    first = convert_to_tensor(values[0], name=name)._shape
    if first is not None:
        axis_limit = len(first) + 1
        if not -axis_limit <= axis < axis_limit:
            raise ValueError(f"axis = {axis} not in [{-axis_limit}, {axis_limit})")
    return _pack(values, axis=axis, name=name)


def _of_arrays(values: Any) -> bool:
    """Whether `values` begin with an array, and no tensors are among them: each then keeps its dtype."""
    if not isinstance(values, (list, tuple)) or any(map(is_tensor_like, values)):
        return False
    return bool(values) and gives_array(values[0]) and np.ndim(values[0]) > 0


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list:
    """The slices of `value` along `axis` as a list of tensors.

    Raises ValueError if their number is neither given as `num` nor known from the shape.
    """
    if num is None:
        value = convert_to_tensor(value)
        known = value._shape
        if known is not None:
            if not -len(known) <= axis < len(known):
                raise ValueError(f"axis = {axis} not in [{-len(known)}, {len(known)})")
            num = known[axis]
    if num is None:
        raise ValueError(f"Cannot infer num from shape {value.shape}")
    found = _unpack(value, num=num, axis=axis, name=name)
    return found if num else []         # of none, the builder gives the operation


# -- concat --------------------------------------------------------------------------------------------------------

def _concatenated(parts: list, axis: Any) -> Any:
    ranks = {len(s) for s in parts if s is not None}
    if not ranks:
        return None
    if len(ranks) > 1:
        raise ValueError(f"Shapes must be equal rank, but are {' and '.join(map(str, sorted(ranks)))}")
    rank = ranks.pop()
    if rank == 0:
        raise ValueError("Can't concatenate scalars (use tf.stack instead)")
    if not shape_rules.known(axis):
        return (None,) * rank
    axis = axis_from(axis.reshape(()), rank, "concat_dim")
    known = [tuple(s) if s is not None else (None,) * rank for s in parts]
    total: Any = 0
    rest: Any = (None,) * (rank - 1)
    for part in known:
        total = None if total is None or part[axis] is None else total + part[axis]
        rest = shape_rules.merge(rest, part[:axis] + part[axis + 1:])
    return rest[:axis] + (total,) + rest[axis:]


def _lower_concat(b: Any, values: list, axis: Any) -> Any:
    if axis.constant is None:
        return NotImplemented
    return b.concat(values, axis_from(axis.constant.reshape(()), len(values[0].shape)))


def _constant_concat(tensors: list, axis: Any, value_of: Any) -> Any:
    known = value_of(axis)
    if not constant_rules.is_known(known):
        return None
    shapes = [t._shape for t in tensors]
    if any(shape is not None and len(shape) == 1 for shape in shapes):      # what is stacked beside a vector is one
        shapes = [(len(t.op.inputs),) if t._shape is None and t.op.type == "Pack" else t._shape for t in tensors]
    return constant_rules.joined(tensors, value_of, lambda parts: np.concatenate(parts, int(known)), shapes)


def _concat_samples(rng: Any, dtype: Any) -> list:
    x, y = draw(rng, (2, 3), dtype), draw(rng, (2, 3), dtype)
    return [[[x, y], np.int32(0)], [[x, y[:, :1]], np.int32(-1)], [[x[:0], y, x], np.int32(0)], [[x[0], y[1]], np.int32(0)]]


@op("ConcatV2(values: N*T, axis: Tidx; N: int >= 2) -> output: T", Tidx=INDEX,
    shape=lambda c: _concatenated(c.shapes[:-1], shape_rules.scalar_constant(c, len(c.shapes) - 1, "axis")), lower=_lower_concat,
    constant=lambda op, index, value_of: _constant_concat(op.inputs[:-1], op.inputs[-1], value_of), symbolic=True, static=True,
    samples=_concat_samples)
def _concat_v2(values, axis):
    """The `values` end to end along `axis`; their other sizes are equal."""
    first, place = np.shape(values[0]), int(axis)
    if not -len(first) <= place < len(first):
        raise invalid(f"ConcatOp : Expected concatenating dimensions in the range [{-len(first)}, {len(first)}), but got {place}")
    for k, value in enumerate(values):
        other = np.shape(value)
        if len(other) != len(first):
            raise invalid(f"ConcatOp : Ranks of all input tensors should match: shape[0] = {brackets(first)} vs. shape[{k}] = "
                          f"{brackets(other)}")
        if any(a != b for d, (a, b) in enumerate(zip(first, other)) if d != place % len(first)):
            raise invalid(f"ConcatOp : Dimensions of inputs should match: shape[0] = {brackets(first)} vs. shape[{k}] = "
                          f"{brackets(other)}")
    return np.concatenate([np.asarray(v) for v in values], place)


@_concat_v2.gradient
def _(op, grad):
    return [*_concat_gradients(op.inputs[:-1], op.inputs[-1], grad), None]


@op("Concat(concat_dim: int32, values: N*T; N: int >= 2) -> output: T",
    shape=lambda c: _concatenated(c.shapes[1:], shape_rules.scalar_constant(c, 0, "concat_dim")),
    lower=lambda b, concat_dim, values: _lower_concat(b, values, concat_dim),
    constant=lambda op, index, value_of: _constant_concat(op.inputs[1:], op.inputs[0], value_of),
    symbolic=True, static=True,
    samples=lambda rng, dtype: [[axis, arrays] for arrays, axis in _concat_samples(rng, dtype)])
def _concat_v1(concat_dim, values):
    """The `values` end to end along `concat_dim`; the older form of ConcatV2."""
    return _concat_v2.opdef.value(values, concat_dim)


@_concat_v1.gradient
def _(op, grad):
    return [None, *_concat_gradients(op.inputs[1:], op.inputs[0], grad)]


def _concat_gradients(values: list, axis: Any, grad: Any) -> list:
    """Each value's part of the gradient, cut out again."""
    if len(values) == 1:
        return [grad]
    axis = raw.FloorMod(axis, rank(values[0]), name="mod")
    sizes = _shapes_of(values)
    if len(sizes) > 16:
        along = raw.Squeeze(raw.Slice(stack(sizes, axis=1), stack([axis, 0]), [1, -1]))
        return split(grad, along, axis)
    offsets = raw.ConcatOffset(axis, sizes)
    return [raw.Slice(grad, begin, part) for begin, part in zip(offsets, sizes)]


def _shapes_of(values: list) -> list:
    """The shapes of all values: constants if all are known, else one ShapeN."""
    known = []
    for value in values:
        known.append(shape(value))
        if known[-1].op.type != "Const":
            return shape_n(values)
    return known


def _check_offset_shapes(axis: int, parts: list) -> None:
    """Raises InvalidArgumentError unless `parts` are the shapes of tensors that can be concatenated along `axis`."""
    rank = len(parts[0]) if parts[0].ndim else 0
    for k, part in enumerate(parts):
        if part.ndim != 1:
            raise invalid(f"input {k} should be a vector, but got shape {list(part.shape)}")
        if len(part) != rank:
            raise invalid(f"input {k} should contain {rank} elements, but got {len(part)}")
    if not -rank <= axis < rank:
        raise invalid(f"Concat dim is out of range: {axis} vs. {rank}")
    for k, part in enumerate(parts[1:], 1):
        if any(isinstance(a, np.integer) and isinstance(b, np.integer) and a != b
               for d, (a, b) in enumerate(zip(parts[0], part)) if d != axis % rank):
            raise invalid(f"All dimensions except {axis % rank} must match. Input {k} has shape {_spaced(part)} and doesn't match "
                          f"input 0 with shape {_spaced(parts[0])}.")


def _spaced(sizes: np.ndarray) -> str:
    return f"[{' '.join(map(str, sizes))}]"


@op("ConcatOffset(concat_dim: int32, shape: N*int32; N: int >= 2) -> offset: N*int32",
    shape=lambda c: list(c.shapes[1:]), grad=NOT_DIFFERENTIABLE, symbolic=True, static=True,
    samples=lambda rng, dtype: [[np.int32(1), [ints(2, 3), ints(2, 5), ints(2, 1)]]],
    host_because="of a few sizes: it takes 0.03 of TensorFlow's time")
def _concat_offset(concat_dim, shape):
    """Where each of several tensors of the given shapes begins in their concatenation."""
    axis, start, offsets = int(concat_dim), 0, []
    _check_offset_shapes(axis, shape)
    for part in shape:
        offset = np.zeros_like(part)
        offset[axis] = start
        offsets.append(offset)
        start = start + part[axis]
    return offsets


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """`values` (a list of tensors whose other sizes are equal) end to end along `axis`."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            plain = not isinstance(axis, (list, tuple)) or not any(isinstance(one, Tensor) for one in axis)
            convert_to_tensor(axis, dtypes.int32 if plain else None, name="concat_dim").shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return _concat_v2(values, axis, name=name)


# -- split ---------------------------------------------------------------------------------------------------------

def _split_shape(c: Any) -> Any:
    axis, size, count = shape_rules.scalar_constant(c, 0, "split_dim"), c.shapes[1], c.attrs["num_split"]
    if size is None:
        return [None] * count
    if not shape_rules.known(axis):
        return [(None,) * len(size)] * count
    axis = axis_from(axis.reshape(()), len(size), "split_dim")
    part = size[axis]
    if part is not None:
        if part % count != 0:
            raise ValueError(f"Dimension size must be evenly divisible by {count} but is {part}")
        part = part // count
    return [tuple(size[:axis]) + (part,) + tuple(size[axis + 1:])] * count


def _cut(b: Any, value: Any, sizes: list, axis: int) -> list:
    parts, start = [], 0
    for size in sizes:
        parts.append(b.slice(value, [start if i == axis else 0 for i in range(len(value.shape))],
                             [size if i == axis else d for i, d in enumerate(value.shape)]))
        start = start + size
    return parts


def _lower_split(b: Any, split_dim: Any, value: Any, num_split: int) -> Any:
    if split_dim.constant is None:
        return NotImplemented
    axis = axis_from(split_dim.constant.reshape(()), len(value.shape), "split_dim")
    return _cut(b, value, [value.shape[axis] // num_split] * num_split, axis)


def _split_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 6), dtype)
    return [([np.int32(0), x], {"num_split": 2}), ([np.int32(-1), x], {"num_split": 3}), ([np.int32(1), x[:0]], {"num_split": 1})]


@op("Split(split_dim: int32, value: T; num_split: int >= 1) -> output: num_split*T", shape=_split_shape,
    lower=_lower_split, renamed={"axis": "split_dim"}, constant=constant_rules.by_value, symbolic=True,
    samples=_split_samples)
def _split(split_dim, value, num_split):
    """`value` cut along `split_dim` into `num_split` equal parts."""
    axis = int(split_dim)
    if value.shape[axis] % num_split:
        raise invalid(f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis} "
                      f"(size = {value.shape[axis]}) and num_split {num_split}")
    return np.split(value, num_split, axis)


@_split.gradient
def _(op, *grads):
    return [None, concat(list(grads), op.inputs[0])]


def _part_sizes(total: Any, sizes: list) -> list:
    """The sizes of the parts with the one that is -1 worked out; None where unknown."""
    free = [i for i, s in enumerate(sizes) if s is not None and s == -1]
    if len(free) > 1:
        raise ValueError("There can only be one -1 in the input.")
    if free:
        rest = [s for i, s in enumerate(sizes) if i not in free]
        known = total is not None and all(s is not None for s in rest)
        sizes = [total - sum(rest) if i in free and known else None if i in free else s for i, s in enumerate(sizes)]
    if any(s is not None and s < 0 for s in sizes):
        raise ValueError(f"Split sizes must be non-negative, got {sizes}")
    if total is not None and all(s is not None for s in sizes) and sum(sizes) != total:
        raise ValueError(f"can't split axis of size {total} into pieces of size "
                         f"[{','.join(map(str, sizes))}]")
    return sizes


def _split_v_shape(c: Any) -> Any:
    size, lengths, count = c.shapes[0], c.constant(1), c.attrs["num_split"]
    axis = shape_rules.scalar_constant(c, 2, "split_dim")
    if size is None:
        return [None] * count
    if not shape_rules.known(axis):
        return [(None,) * len(size)] * count
    axis = axis_from(axis.reshape(()), len(size), "split_dim")
    parts = [None] * count if lengths is None else _part_sizes(size[axis], plain_sizes(lengths))
    if len(parts) != count:
        raise ValueError(f"Length of size_splits should be equal to num_split, got {len(parts)} and {count}")
    return [tuple(size[:axis]) + (part,) + tuple(size[axis + 1:]) for part in parts]


def _lower_split_v(b: Any, value: Any, size_splits: Any, split_dim: Any, num_split: int) -> Any:
    if split_dim.constant is None or size_splits.constant is None:
        return NotImplemented
    axis = axis_from(split_dim.constant.reshape(()), len(value.shape), "split_dim")
    return _cut(b, value, _part_sizes(value.shape[axis], plain_sizes(size_splits.constant)), axis)


def _split_v_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 6), dtype)
    return [([x, np.array([1, 3]), np.int32(0)], {"num_split": 2}), ([x, np.array([2, -1, 0]), np.int32(1)], {"num_split": 3})]


@op("SplitV(value: T, size_splits: Tlen, split_dim: int32; num_split: int >= 1) -> output: num_split*T",
    Tlen=INDEX.with_default(dtypes.int64), shape=_split_v_shape, lower=_lower_split_v,
    renamed={"axis": "split_dim"}, constant=constant_rules.by_value, symbolic=True, samples=_split_v_samples)
def _split_v(value, size_splits, split_dim):
    """`value` cut along `split_dim` into parts of the sizes `size_splits`; one may be -1 (what remains)."""
    axis = int(split_dim)
    try:
        sizes = _part_sizes(value.shape[axis], plain_sizes(size_splits))
    except ValueError as error:
        raise invalid(str(error)) from None
    return np.split(value, np.cumsum(sizes)[:-1].astype(int), axis)


@_split_v.gradient
def _(op, *grads):
    return [concat(list(grads), op.inputs[2]), None, None]


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> list:
    """`value` cut along `axis`: into that many equal parts (an int), or into parts of the sizes in a list or tensor.

    `num`: the number of parts, needed if the sizes are a tensor of unknown length.  Raises ValueError if the size is
    not divisible.
    """
    sizes = convert_to_tensor(num_or_size_splits)      # TensorFlow 1.15 makes this node in either case
    if isinstance(num_or_size_splits, (int, shapes.Dimension)):
        return _split(axis, value, num_split=int(num_or_size_splits), name=name)
    if sizes._shape == ():
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument "
                         f"provided: {num_or_size_splits}")
    if num is None:
        num = sizes._shape[0] if sizes._shape else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return _split_v(value, sizes, axis, num_split=num, name=name)


def _parallel_concat_shape(c: Any) -> Any:
    whole = c.attrs["shape"]
    if whole is None:
        return None
    for value in c.shapes:
        shape_rules.merge(value, (1, *whole[1:]))
    return (shape_rules.merge_sizes(whole[0], len(c.shapes)), *whole[1:])


@op("ParallelConcat(values: N*T; shape: shape) -> output: T", shape=_parallel_concat_shape,
    lower=lambda b, values, shape: b.concat(values, 0),
    samples=lambda rng, dtype: [([[draw(rng, (1, 3), dtype), draw(rng, (1, 3), dtype)]], {"shape": (2, 3)})])
def _parallel_concat(values):
    """The `values`, each of size 1 in the first dimension, end to end; `shape` is the shape of the result."""
    return np.concatenate(values)


def parallel_stack(values: list, name: str = "parallel_stack") -> Any:
    """``stack(values)`` along axis 0, for values of fully known shape.  Raises ValueError for others."""
    with name_scope(name):
        known = convert_to_tensor(values[0])._shape
        if known is None or None in known:
            raise ValueError(f"parallel_stack needs fully known shapes, got {known}")
        return _parallel_concat([expand_dims(v, 0) for v in values], shape=(len(values), *known))
