"""Elements in another order, repeated or padded: transpose, reverse, tile, broadcast_to, pad."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import constant_rules, dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import BOOL, COMPLEX, FLOATS, INDEX, SIGNED_INTS, STRING, TypeSet
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays import sequences
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.shape import plain_sizes, reshape, shape, size, stated_sizes

_REVERSED = FLOATS + SIGNED_INTS + TypeSet(dtypes.uint8, dtypes.uint16) + COMPLEX + BOOL + STRING
_SMALL = TypeSet(dtypes.int32, dtypes.int64)


# -- transpose -----------------------------------------------------------------------------------------------------

def _permutation(perm: Any, rank: int) -> list[int]:
    """Raises ValueError unless `perm` has `rank` of the numbers 0 to rank - 1; whether each is there, a run sees."""
    order = [int(p) for p in np.ravel(perm)]
    if len(order) != rank:
        raise ValueError(f"Dimension must be {rank} but is {len(order)}: perm needs one number per dimension")
    for p in order:
        if not 0 <= p < rank:
            raise ValueError(f"perm dim {p} is out of range of input rank {rank}")
    return order


def _permutation_of_run(perm: Any, rank: int) -> list[int]:
    """The same in the words of a run."""
    order = [int(p) for p in np.ravel(perm)]
    if len(order) != rank:
        raise invalid(f"transpose expects a vector of size {rank}. But input(1) is a vector of size {len(order)}")
    outside = [p for p in order if not 0 <= p < rank]
    if outside:
        raise invalid(f"{outside[0]} is out of range [0 .. {rank})")
    missing = [p for p in range(rank) if p not in order]
    if missing:
        raise invalid(f"{missing[0]} is missing from {{{','.join(map(str, order))}}}.")
    return order


def _transposed(c: Any) -> Any:
    value, perm = c.shapes[0], c.constant(1)
    if value is not None or c.running:
        shape_rules.with_rank(c.shapes[1], 1, "perm")
    if not shape_rules.known(perm):
        length = c.shapes[1][0] if c.shapes[1] else None
        count = length if value is None else len(value)
        return None if count is None else (None,) * count
    if value is None:
        for p in np.ravel(perm):            # whether they are a permutation is seen in the run
            if p >= perm.size:
                raise ValueError(f"perm dim {p} is out of range of input rank {perm.size}")
        return (None,) * perm.size
    return tuple([value[p] for p in _permutation(perm, len(value))])


def _lower_transpose(b: Any, x: Any, perm: Any) -> Any:
    if perm.constant is None:
        return NotImplemented
    return b.transpose(x, _permutation_of_run(perm.constant, len(x.shape)))


def _transpose_value(x: Any, perm: Any) -> Any:
    return x.transpose(_permutation_of_run(perm, x.ndim))


def _transpose_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3, 4), dtype)
    return [[x, ints(2, 0, 1)], [x, ints(0, 2, 1)], [x[0, 0, 0], ints()], [x[:, :0], ints(1, 0, 2)]]


@op("Transpose(x: T, perm: Tperm) -> y: T", Tperm=INDEX, shape=_transposed, lower=_lower_transpose,
    constant=constant_rules.by_value, symbolic=True, samples=_transpose_samples)
def _transpose(x, perm):
    """Dimension i of the result is dimension perm[i] of `x`."""
    return _transpose_value(x, perm)


@_transpose.gradient
def _(op, grad):
    return [transpose(grad, raw.InvertPermutation(op.inputs[1])), None]


def _lower_conjugate(b: Any, x: Any, perm: Any) -> Any:
    from jitgraph.declare import prim

    y = _lower_transpose(b, x, perm)
    return y if y is NotImplemented or not x.dtype.is_complex else prim.conj(y)  # type: ignore[attr-defined]


@op("ConjugateTranspose(x: T, perm: Tperm) -> y: T", Tperm=INDEX, shape=_transposed, lower=_lower_conjugate,
    samples=_transpose_samples)
def _conjugate_transpose(x, perm):
    """The complex conjugate of ``transpose(x, perm)``."""
    y = _transpose_value(x, perm)
    return np.conj(y) if y.dtype.kind == "c" else y


@_conjugate_transpose.gradient
def _(op, grad):
    return [_conjugate_transpose(grad, raw.InvertPermutation(op.inputs[1])), None]


@op("InvertPermutation(x: T) -> y: T", T=INDEX, shape=lambda c: shape_rules.with_rank(c.shapes[0], 1, "x"),
    grad=NOT_DIFFERENTIABLE, checks=True, constant=constant_rules.by_value,
    samples=lambda rng, dtype: [[np.array([2, 0, 1], dtype)]],
    host_because="of the order of a few axes: 4 elements take 0.10 of TensorFlow's time, 100,000 1.2 to 1.4")
def invert_permutation(x):
    """The permutation y with y[x[i]] = i."""
    order = np.ravel(x)
    places = np.full(len(order), -1, x.dtype)
    if not len(order) or order.view(f"u{order.itemsize}").max() < len(order):      # as unsigned, negative ones are too large
        places[order] = np.arange(len(order), dtype=order.dtype)
    if len(order) and places.min() < 0:
        raise invalid(f"{order.tolist()} is not a permutation of 0 to {len(order) - 1}")
    return places


def transpose(a: Any, perm: Any = None, name: str | None = "transpose", conjugate: bool = False) -> Any:
    """Dimension i of the result is dimension perm[i] of `a`; by default, the dimensions in reverse order.

    `conjugate` takes the complex conjugate as well.
    """
    with name_scope(name, "transpose", [a]) as scope:
        build = _conjugate_transpose if conjugate and a.dtype.is_complex else _transpose
        if perm is not None:
            return build(a, perm, name=scope)
        a = convert_to_tensor(a, name="a")
        known = a._shape
        if not known:
            count = raw.Rank(a)
            return build(a, raw.Sub(raw.Sub(count, 1, name="sub"), raw.Range(0, count, 1), name="sub"), name=scope)
        return build(a, np.arange(len(known) - 1, -1, -1), name=scope)


def exchanged(count: Any, axis: Any) -> Any:
    """The order of `count` dimensions, known in the run, with `axis` (negative: from the end) and the last one exchanged."""
    last, position = count - 1, raw.Range(0, count, 1)
    axis = raw.SelectV2(axis < convert_to_tensor(0), axis + count, axis)
    return raw.SelectV2(raw.Equal(position, axis), last, raw.SelectV2(raw.Equal(position, last), axis, position))


# -- reverse -------------------------------------------------------------------------------------------------------

def _axes(axis: Any, rank: int) -> list[int]:
    axes: list[int] = []
    for i, a in enumerate(np.ravel(axis).tolist()):
        if not -rank <= a < rank:
            raise ValueError(f"'axis'[{i}] = {a} is out of valid range [{-rank}, {rank - 1}]")
        if a % rank in axes:
            raise ValueError(f"axis {a % rank} specified more than once.")
        axes.append(a % rank)
    return axes


def _reversed(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[1], 1, "axis")
    axis = c.constant(1)
    if c.shapes[0] is not None and shape_rules.known(axis):
        _axes(axis, len(c.shapes[0]))
    return c.shapes[0]


def _lower_reverse(b: Any, tensor: Any, axis: Any) -> Any:
    return NotImplemented if axis.constant is None else b.reverse(tensor, _axes(axis.constant, len(tensor.shape)))


def _reverse_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3), dtype)
    return [[x, ints(0)], [x, ints(0, -1)], [x, ints()], [x[:0], ints(1)]]


@op("ReverseV2(tensor: T, axis: Tidx) -> output: T", T=_REVERSED, Tidx=INDEX, shape=_reversed, lower=_lower_reverse,
    constant=constant_rules.by_value, symbolic=True, samples=_reverse_samples)
def reverse_v2(tensor, axis):
    """The tensor with the order of the elements along each of `axis` reversed."""
    try:
        return np.flip(tensor, _axes(axis, tensor.ndim))
    except ValueError as error:
        raise invalid(str(error)) from None


@reverse_v2.gradient
def _(op, grad):
    return [reverse_v2(grad, op.inputs[1]), None]


@op("Reverse(tensor: T, dims: bool) -> output: T", T=_REVERSED - dtypes.bfloat16, shape=shape_rules.same_as_input,
    samples=lambda rng, dtype: [[draw(rng, (2, 3), dtype), np.array([True, False])]])
def _reverse_v1(tensor, dims):
    """The tensor reversed along the dimensions where `dims` is true; the older form of ReverseV2."""
    return np.flip(tensor, np.flatnonzero(dims))


@_reverse_v1.gradient
def _(op, grad):
    return [_reverse_v1(grad, op.inputs[1]), None]


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """`tensor` with the order of the elements along each of `axis` (a list or vector) reversed."""
    return reverse_v2(tensor, axis, name=name)


def _sequences_shape(c: Any) -> Any:
    """The input's shape, whose batch dimension is as long as seq_lengths."""
    value, batch = c.shapes[0], c.attrs["batch_dim"]
    lengths = shape_rules.with_rank(c.shapes[1], 1, "seq_lengths")
    if value is None:
        return value
    for name in ("seq_dim", "batch_dim"):
        if c.attrs[name] >= len(value):
            raise ValueError(f"{name} must be < input rank: {c.attrs[name]} vs. {len(value)}")
    if batch < -len(value):
        return value
    batch %= len(value)
    return (*value[:batch], shape_rules.merge_sizes(value[batch], lengths[0]), *value[batch + 1:])


def _lower_reverse_sequence(b: Any, input: Any, seq_lengths: Any, seq_dim: int, batch_dim: int) -> Any:
    """Rows of the input, by their places: `batch_dim` and `seq_dim` are its first two dimensions."""
    steps, batch = seq_dim % max(input.rank, 1), batch_dim % max(input.rank, 1)
    if {steps, batch} != {0, 1} or seq_lengths.shape != (input.shape[batch],) or any(d == 0 for d in input.shape):
        return NotImplemented
    sizes = input.shape[:2]
    lengths = b.reshape(b.cast(seq_lengths, dtypes.int64), [1 if axis == steps else d for axis, d in enumerate(sizes)])
    step, limit = b.iota(sizes, steps, dtypes.int64), b.const(input.shape[steps], dtypes.int64)
    read = b.map("select", [b.map("lt", [step, lengths]), b.map("sub", [b.map("sub", [lengths, 1]), step]), step])
    place = [read if axis == steps else b.iota(sizes, batch, dtypes.int64) for axis in (0, 1)]
    row = b.map("add", [b.map("mul", [place[0], b.const(sizes[1], dtypes.int64)]), place[1]])
    wrong = b.map("logical_or", [b.map("gt", [lengths, limit]), b.map("lt", [lengths, 0])])
    row = b.map("select", [wrong, b.const(-1, dtypes.int64), row])              # an index error, which the operation words
    rows = b.reshape(input, (sizes[0] * sizes[1], *input.shape[2:]))
    return b.reshape(b.gather(rows, b.reshape(row, (sizes[0] * sizes[1],))), input.shape)


@op("ReverseSequence(input: T, seq_lengths: Tlen; seq_dim: int, batch_dim: int = 0) -> output: T",
    Tlen=_SMALL.with_default(dtypes.int64), shape=_sequences_shape, checks=True, lower=_lower_reverse_sequence,
    samples=lambda rng, dtype: [([draw(rng, (2, 4), dtype), np.array([3, 1])], {"seq_dim": 1, "batch_dim": 0})])
def _reverse_sequence(input, seq_lengths, seq_dim, batch_dim):
    """For each slice i along `batch_dim`, the first seq_lengths[i] elements along `seq_dim` reversed."""
    output = input.copy()
    rows = np.moveaxis(output, (batch_dim, seq_dim), (0, 1))
    if seq_lengths.shape != rows.shape[:1] or (seq_lengths > rows.shape[1]).any() or (seq_lengths < 0).any():
        raise invalid(f"seq_lengths {seq_lengths.tolist()} must give one length up to {rows.shape[1]} for each of "
                      f"{rows.shape[0]} sequences")
    for row, length in zip(rows, seq_lengths):
        row[:length] = row[:length][::-1].copy()
    return output


@_reverse_sequence.gradient
def _(op, grad):
    return [_reverse_sequence(grad, op.inputs[1], seq_dim=op.attrs["seq_dim"], batch_dim=op.attrs["batch_dim"]), None]


def reverse_sequence(input: Any, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None,
                     name: str | None = None, seq_dim: int | None = None, batch_dim: int | None = None) -> Any:
    """For each slice i along `batch_axis` (0), the first seq_lengths[i] elements along `seq_axis` reversed."""
    from jitgraph.declare.renamed_arguments import renamed

    seq_axis = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    return _reverse_sequence(input, seq_lengths, seq_dim=seq_axis, batch_dim=batch_axis or 0, name=name)


# -- tile, broadcast -----------------------------------------------------------------------------------------------

def _tiled(c: Any) -> Any:
    value, multiples = c.shapes[0], c.constant(1)
    length, = shape_rules.with_rank(c.shapes[1], 1, "multiples")
    if multiples is None and length is None:
        return None if value is None else (None,) * len(value)
    counts = (None,) * length if multiples is None else plain_sizes(multiples)
    value = (None,) * len(counts) if value is None else value
    if len(counts) != len(value):
        raise ValueError(f"Expected multiples argument to be a vector of length {len(value)} but got length {len(counts)}")
    if any(m is not None and m < 0 for m in counts):
        raise ValueError(f"Expected multiples >= 0, but got {counts}")
    return tuple([times(d, m) for d, m in zip(value, counts)])


def times(size: Any, count: Any) -> Any:
    """size * count, of which either may be None; none of what is unknown is none."""
    if size is None or count is None:
        return 0 if size == 0 or count == 0 else None
    return size * count


def _lower_tile(b: Any, x: Any, multiples: Any) -> Any:
    if multiples.constant is None:
        return NotImplemented
    counts = plain_sizes(multiples.constant)
    if all(d == 1 for d, m in zip(x.shape, counts) if m != 1):
        return b.broadcast(x, [m if d == 1 else d for d, m in zip(x.shape, counts)])
    pairs = [k for d, m in zip(x.shape, counts) for k in (m, d)]
    spread = b.broadcast(b.reshape(x, [k for d in x.shape for k in (1, d)]), pairs)
    return b.reshape(spread, [d * m for d, m in zip(x.shape, counts)])


def _tile_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3), dtype)
    return [[x, ints(1, 2)], [x, ints(3, 1)], [x[:1], ints(4, 2)], [x, ints(0, 1)], [x[0, 0], ints()]]


@op("Tile(input: T, multiples: Tmultiples) -> output: T", Tmultiples=INDEX, shape=_tiled, lower=_lower_tile,
    constant=constant_rules.by_value, symbolic=True, samples=_tile_samples)
def tile(input, multiples):
    """The input repeated multiples[i] times along each dimension i."""
    if len(multiples) != input.ndim:
        raise invalid(f"Expected multiples argument to be a vector of length {input.ndim} but got length "
                      f"{len(multiples)}")
    return np.tile(input, [int(m) for m in multiples])


@tile.gradient
def _(op, grad):
    """The copies are split apart, (multiple, size) for each dimension, and added up."""
    full = shape(op.inputs[0], out_type=op.inputs[1].dtype.base_dtype)
    pairs = reshape(transpose(stack([op.inputs[1], full]), [1, 0]), [-1])
    axes = sequences.range(0, size(pairs), 2)
    grad = convert_to_tensor(grad)
    result = raw.Sum(reshape(grad, pairs), axes)
    result.set_shape(op.inputs[0].shape)
    return [result, None]


def _broadcast_to_shape(c: Any) -> Any:
    wanted = shape_rules.shape_from(c, 1)
    if wanted is None or c.shapes[0] is None:
        return wanted
    if len(c.shapes[0]) > len(wanted):
        raise ValueError(f"Input of rank {len(c.shapes[0])} cannot broadcast to a shape of rank {len(wanted)}")
    for d, w in zip(reversed(c.shapes[0]), reversed(wanted)):
        if d is not None and w is not None and d != 1 and d != w:
            raise ValueError(f"Dimensions must be equal, but are {d} and {w}")
    return wanted


def _lower_broadcast_to(b: Any, x: Any, shape: Any) -> Any:
    return NotImplemented if shape.constant is None else b.broadcast(x, plain_sizes(shape.constant))


def _broadcast_to_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 1), dtype)
    return [[x, ints(2, 3)], [x, ints(4, 2, 3)], [x[0, 0], ints(2, 2)], [x[:0], ints(0, 3)]]


@op("BroadcastTo(input: T, shape: Tidx) -> output: T", Tidx=INDEX, shape=_broadcast_to_shape, lower=_lower_broadcast_to,
    symbolic=True, samples=_broadcast_to_samples)
def broadcast_to(input, shape):
    """The input stretched to `shape` by the rules of broadcasting."""
    sizes = stated_sizes(shape)
    try:
        return np.broadcast_to(input, sizes).copy()
    except ValueError:
        raise invalid(f"Incompatible shapes: {list(input.shape)} vs. {sizes}") from None


@broadcast_to.gradient
def _(op, grad):
    value, wanted = op.inputs
    full = shape(value, out_type=wanted.dtype.base_dtype)
    axes = raw.BroadcastGradientArgs(wanted, full).r1
    return [reshape(raw.Sum(grad, axes, keep_dims=True), full), None]


def _longest(c: Any) -> Any:
    first, second = (shape_rules.with_rank(s, 1)[0] for s in c.shapes)
    return (None if first is None or second is None else second if second > first else first,)


def _broadcast_args_samples(rng: Any, dtype: Any) -> list:
    return [[np.array([2, 1], dtype), np.array([3], dtype)], [np.array([], dtype), np.array([4, 1], dtype)]]


@op("BroadcastArgs(s0: T, s1: T) -> r0: T", T=INDEX, shape=_longest, constant=constant_rules.by_value, symbolic=True,
    samples=_broadcast_args_samples)
def broadcast_args(s0, s1):
    """The shape that two shapes broadcast to."""
    try:
        return np.array(np.broadcast_shapes(tuple(s0), tuple(s1)), s0.dtype)
    except ValueError:
        raise invalid(f"Incompatible shapes: {s0.tolist()} vs. {s1.tolist()}") from None


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape, as a vector, that tensors of two shapes (vectors) broadcast to."""
    return broadcast_args(shape_x, shape_y)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> Any:
    """The TensorShape that two TensorShapes broadcast to.  Raises ValueError if they do not."""
    from jitgraph.graph.shapes import TensorShape, raw_shape

    return TensorShape._of(shape_rules.broadcast_shapes(raw_shape(shape_x), raw_shape(shape_y)))
