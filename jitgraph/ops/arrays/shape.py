"""The shape of a value, and the same elements in another shape."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import constant_rules, shape_rules
from jitgraph.graph.composite import SparseTensor, SparseTensorValue, is_sparse
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import INDEX, as_dtype, int32
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant


def sizes_array(sizes: Any, dtype: Any) -> np.ndarray:
    """Sizes as a vector of `dtype`; as an object array if some are symbolic (while a plan is made)."""
    sizes = list(sizes)
    if all(isinstance(size, (int, np.integer)) for size in sizes):
        return np.array(sizes, as_dtype(dtype).as_numpy_dtype)
    vector = np.empty(len(sizes), object)
    vector[:] = sizes
    return vector


def size_scalar(size: Any, dtype: Any) -> np.ndarray:
    """One size as a scalar array, see ``sizes_array``."""
    return sizes_array([size], dtype).reshape(())


def _rank_vector(c: Any) -> Any:
    return (None if c.shapes[0] is None else len(c.shapes[0]),)


def _constant_shape(op: Any, index: int, value_of: Any) -> Any:
    shape = constant_rules.shape_of(op.inputs[index], value_of)
    return None if shape is None else constant_rules.sizes(list(shape), op.attrs["out_type"])


@op("Shape(input: T; out_type: type = int32) -> output: out_type", out_type=INDEX, shape=_rank_vector,
    lower=lambda b, x, out_type: b.const(sizes_array(x.shape, out_type), out_type), grad=NOT_DIFFERENTIABLE,
    constant=_constant_shape, static=True, of_shape=list)
def _shape(input, out_type):
    """The shape of the input as a vector."""
    return sizes_array(input.shape, out_type)


@op("ShapeN(input: N*T; out_type: type = int32) -> output: N*out_type", out_type=INDEX, grad=NOT_DIFFERENTIABLE,
    shape=lambda c: [(None if s is None else len(s),) for s in c.shapes],
    lower=lambda b, xs, out_type: [b.const(sizes_array(x.shape, out_type), out_type) for x in xs], constant=_constant_shape,
    of_shape=list,
    samples=lambda rng, dtype: [[[draw(rng, (2, 3), dtype), draw(rng, (), dtype)]]])
def shape_n(input, out_type):
    """The shapes of all inputs, one vector each."""
    return [sizes_array(x.shape, out_type) for x in input]


def _constant_size(op: Any, index: int, value_of: Any) -> Any:
    count = TensorShape._of(constant_rules.shape_of(op.inputs[0], value_of)).num_elements()
    return None if count is None else np.array(count, op.attrs["out_type"].as_numpy_dtype)


@op("Size(input: T; out_type: type = int32) -> output: out_type", out_type=INDEX, shape=shape_rules.scalar,
    lower=lambda b, x, out_type: b.const(size_scalar(shape_rules.product(x.shape), out_type), out_type),
    grad=NOT_DIFFERENTIABLE, constant=_constant_size, static=True, of_shape=shape_rules.product)
def _size(input, out_type):
    """The number of elements of the input."""
    return size_scalar(shape_rules.product(input.shape), out_type)


def _constant_rank(op: Any, index: int, value_of: Any) -> Any:
    shape = op.inputs[0]._shape
    return None if shape is None else np.array(len(shape), np.int32)


@op("Rank(input: T) -> output: int32", shape=shape_rules.scalar, grad=NOT_DIFFERENTIABLE,
    lower=lambda b, x: b.const(len(x.shape), int32), constant=_constant_rank, static=True, of_shape=len)
def _rank(input):
    """The number of dimensions of the input."""
    return np.array(len(input.shape), np.int32)


def reshaped(shape: Any, wanted: Any) -> Any:
    """The shape after a reshape of `shape` to `wanted`, of whose sizes one may be -1.

    Raises ValueError if the numbers of elements differ.
    """
    wanted, count = list(wanted), shape_rules.elements(shape)
    free = [i for i, d in enumerate(wanted) if d == -1]
    if len(free) > 1:
        raise ValueError(f"Only one input size may be -1, not both {free[0]} and {free[1]}")
    for i, d in enumerate(wanted):
        if d < -1:
            raise ValueError(f"Size {i} must be non-negative, not {d}")
    if free:
        # an empty tensor's sizes of 0 stand for each other: [0, 4] becomes [-1, 0] as [4, 0], and need not divide
        empty = any(d == 0 for d in wanted)
        rest = shape_rules.product([d for d in wanted if d != -1 and d != 0])
        number = shape_rules.product([d for d in shape if not (empty and d == 0)])
        if not (empty and any(d == 0 for d in shape)) and number // rest * rest != number:
            raise ValueError(f"Input to reshape is a tensor with {number} values, but the requested shape requires a "
                             f"multiple of {rest}")
        wanted[free[0]] = number // rest
    if shape_rules.product(wanted) != count:
        raise ValueError(f"Input to reshape is a tensor with {count} values, but the requested shape has "
                         f"{shape_rules.product(wanted)}")
    return tuple(wanted)


def plain_sizes(value: Any) -> list:
    """The elements of a vector of sizes as Python ints, symbolic sizes or None."""
    sizes = np.asarray(value).ravel()
    if sizes.dtype != object:
        return sizes.tolist()
    return [v.item() if isinstance(v, np.generic) else v for v in sizes]


def stated_sizes(shape: np.ndarray) -> list[int]:
    """The sizes that a vector states in a run.  Raises InvalidArgumentError for a negative one."""
    sizes = [int(d) for d in shape]
    if any(d < 0 for d in sizes):
        raise invalid(f"Dimension {min(sizes)} must be >= 0")
    return sizes


def _reshape_shape(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[1], 1, "the shape")
    wanted = shape_rules.shape_from(c, 1, free=True)
    if wanted is None or c.shapes[0] is None:
        return wanted
    return _stated_reshape(c.shapes[0], wanted)


def _stated_reshape(shape: Any, wanted: Any) -> Any:
    """The shape after a reshape to `wanted`, of which one unknown size follows from the others.

    Raises ValueError if the numbers of elements cannot be the same.
    """
    unknown_in, unknown_out = [[i for i, d in enumerate(s) if d is None] for s in (shape, wanted)]
    if shape_rules.elements(shape) == 0:        # whatever the unknown sizes are
        unknown_in = []
    if len(unknown_in) > 1 or len(unknown_out) > 1:
        return wanted
    count, known = [shape_rules.product([d for d in s if d is not None]) for s in (shape, wanted)]
    if not unknown_in and not unknown_out:
        if count != known:
            raise ValueError(f"Cannot reshape a tensor with {count} elements to shape {shape_rules.brackets(wanted)} "
                             f"({known} elements)")
        return wanted
    if not unknown_in and known != 0:
        return _with_size(wanted, unknown_out[0], _quotient(count, known))
    if not unknown_out and count != 0:
        _quotient(known, count)
    elif unknown_in and unknown_out and count == known:     # the two unknown sizes are one
        return _with_size(wanted, unknown_out[0], shape[unknown_in[0]])
    return wanted


def _quotient(count: Any, divisor: Any) -> Any:
    if count // divisor * divisor != count:
        raise ValueError(f"Dimension size must be evenly divisible by {divisor} but is {count}")
    return count // divisor


def _with_size(shape: Any, axis: int, size: Any) -> tuple:
    return (*shape[:axis], size, *shape[axis + 1:])


def _lower_reshape(b: Any, x: Any, shape: Any) -> Any:
    if shape.constant is None:
        return NotImplemented
    return b.reshape(x, reshaped(x.shape, plain_sizes(shape.constant)))


def _reshape_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 6), dtype)
    return [[x, ints(3, 4)], [x, ints(-1)], [x, ints(2, -1, 1)], [x[0, 0], ints(1, 1)], [x[:0], ints(0, 3)],
            [x[:1, :1], ints()]]


@op("Reshape(tensor: T, shape: Tshape) -> output: T", Tshape=INDEX, shape=_reshape_shape, lower=_lower_reshape, distinct="kept",
    constant=constant_rules.view(lambda value, others: value.reshape(tuple(others[0]))), symbolic=True,
    samples=_reshape_samples)
def reshape(tensor, shape):
    """The elements of `tensor`, in row-major order, in the shape `shape`; one size may be -1 (what remains)."""
    try:
        if shape.ndim != 1:
            raise ValueError(f"sizes input must be 1-D, not {shape_rules.brackets(shape.shape)}")
        return tensor.reshape(reshaped(tensor.shape, plain_sizes(shape)))
    except ValueError as error:
        raise invalid(str(error)) from None


@reshape.gradient
def _(op, grad):
    return [reshape(convert_to_tensor(grad), shape(op.inputs[0])), None]


def _expanded(shape: Any, axis: Any) -> Any:
    if np.size(axis) != 1:
        raise ValueError(f"'dim' input must be a tensor with a single value, got {axis.tolist()}")
    axis = int(np.ravel(axis)[0])
    if not -len(shape) - 1 <= axis <= len(shape):
        raise ValueError(f"dim {axis} not in the interval [{-len(shape) - 1}, {len(shape)}].")
    axis = axis + len(shape) + 1 if axis < 0 else axis
    return shape[:axis] + (1,) + shape[axis:]


def _expand_dims_shape(c: Any) -> Any:
    shape, axis = c.shapes[0], c.constant(1)
    if shape is None:
        return None
    if not shape_rules.known(axis):
        return (None,) * (len(shape) + 1)
    return _expanded(tuple(shape), axis)


def _lower_expand_dims(b: Any, x: Any, dim: Any) -> Any:
    if dim.constant is None:
        return NotImplemented
    return b.reshape(x, _expanded(tuple(x.shape), dim.constant))


def _expand_dims_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3), dtype)
    return [[x, np.int32(0)], [x, np.int32(-1)], [x, np.int32(1)], [x[0, 0], np.int32(0)], [x[:0], np.int32(2)]]


@op("ExpandDims(input: T, dim: Tdim) -> output: T", Tdim=INDEX, shape=_expand_dims_shape, lower=_lower_expand_dims,
    renamed={"axis": "dim"}, constant=constant_rules.view(lambda value, others: np.expand_dims(value, int(others[0]))),
    symbolic=True, samples=_expand_dims_samples)
def _expand_dims(input, dim):
    """The input with a dimension of size 1 inserted at position `dim` (negative: from the end, -1 appends)."""
    try:
        return input.reshape(_expanded(tuple(input.shape), dim))
    except ValueError as error:
        raise invalid(str(error)) from None


@_expand_dims.gradient
def _(op, grad):
    return [reshape(grad, shape(op.inputs[0])), None]


def squeezed(shape: Any, axes: Any) -> Any:
    """`shape` without the sizes 1 (at `axes` only, if any are given); None if that is not known."""
    if shape is None:
        return None
    rank = len(shape)
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(f"Tried to squeeze dim index {axis} for tensor with {rank} dimensions")
    gone = {axis % rank for axis in axes}
    for axis in gone:
        if shape[axis] is not None and shape[axis] != 1:
            raise ValueError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {shape[axis]}")
    if gone:
        return tuple([d for i, d in enumerate(shape) if i not in gone])
    if any(d is None for d in shape):
        return None
    return tuple([d for d in shape if d != 1])


def _constant_squeeze(op: Any, index: int, value_of: Any) -> Any:
    value = value_of(op.inputs[0])
    try:
        return None if value is None else np.squeeze(value, tuple(op.attrs["squeeze_dims"]) or None)
    except ValueError:
        return None


def _squeeze_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (1, 3, 1), dtype)
    return [[x], ([x], {"squeeze_dims": [0]}), ([x], {"squeeze_dims": [-1]}), [x[:, :1]], [x[:, :0]]]


@op("Squeeze(input: T; squeeze_dims: list(int) = []) -> output: T",
    shape=lambda c: squeezed(c.shapes[0], c.attrs["squeeze_dims"]),
    lower=lambda b, x, squeeze_dims: b.reshape(x, squeezed(tuple(x.shape), squeeze_dims)),
    renamed={"axis": "squeeze_dims"}, constant=_constant_squeeze, symbolic=True, samples=_squeeze_samples)
def _squeeze(input, squeeze_dims):
    """The input without its dimensions of size 1, or only without those in `squeeze_dims`."""
    try:
        return input.reshape(squeezed(tuple(input.shape), squeeze_dims))
    except ValueError as error:
        raise invalid(str(error)) from None


@_squeeze.gradient
def _(op, grad):
    return reshape(grad, shape(op.inputs[0]))


# -- public functions ----------------------------------------------------------------------------------------------

def shape(input: Any, name: str | None = None, out_type: Any = int32) -> Any:
    """The shape of `input` (a tensor or SparseTensor) as a vector of `out_type`; a constant if it is known now."""
    return shape_internal(input, name, out_type=out_type)


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = int32) -> Any:
    """As ``shape``; no constant unless `optimize`."""
    with name_scope(name, "Shape", [input]) as scope:
        if is_sparse(input):
            return raw.Cast(SparseTensor.from_value(input).dense_shape, DstT=as_dtype(out_type), name="Cast")
        input = convert_to_tensor(input)
        known = input._shape
        if optimize and known is not None and None not in known:
            return constant(list(known), out_type, name=scope)
        return _shape(input, out_type=as_dtype(out_type), name=scope)


def size(input: Any, name: str | None = None, out_type: Any = int32) -> Any:
    """The number of elements of `input` as a scalar of `out_type`; a constant if it is known now."""
    return size_internal(input, name, out_type=out_type)


def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = int32) -> Any:
    """As ``size``; no constant unless `optimize`."""
    with name_scope(name, "Size", [input]) as scope:
        if is_sparse(input):
            dense_shape = raw.Cast(SparseTensor.from_value(input).dense_shape, DstT=as_dtype(out_type), name="Cast")
            return raw.Prod(dense_shape, 0, name=scope)
        input = convert_to_tensor(input)
        count = shape_rules.elements(input._shape)
        if optimize and count is not None:
            return constant(count, out_type, name=scope)
        return _size(input, out_type=as_dtype(out_type), name=scope)


def rank(input: Any, name: str | None = None) -> Any:
    """The number of dimensions of `input` as an int32 scalar; a constant if it is known now."""
    return rank_internal(input, name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Any:
    """As ``rank``; no constant unless `optimize`."""
    with name_scope(name, "Rank", [input]) as scope:
        if isinstance(input, (SparseTensor, SparseTensorValue)):
            return _size(SparseTensor.from_value(input).dense_shape, out_type=int32, name=scope)
        input = convert_to_tensor(input)
        if optimize and input._shape is not None:
            return constant(len(input._shape), int32, name=scope)
        return _rank(input, name=scope)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """`input` with a dimension of size 1 inserted at `axis`, which may be negative (-1 appends)."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _expand_dims(input, axis, name=name)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """`input` without its dimensions of size 1; with `axis` (an int or list) only without those."""
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if np.isscalar(axis):
        axis = [axis]
    return _squeeze(input, squeeze_dims=[] if axis is None else axis, name=name)


def all_axes(x: Any) -> Any:
    """Every axis of x: a constant for a tensor of known rank, else (for a variable, too, as in TensorFlow) a Range."""
    if isinstance(x, Tensor) and x._shape is not None:
        return constant(np.arange(len(x._shape), dtype=np.int32), int32)
    return raw.Range(0, rank(x), 1, name="range")
