"""Tensors of one value: fill, zeros, ones, one_hot, eye's kin."""
from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import constant_rules, dtypes, shape_rules, shapes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import BOOL, INDEX, NUMBERS, TypeSet, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.shape import all_axes, plain_sizes, reshape, shape_internal, stated_sizes
from jitgraph.tensor_arrays.host_values import boxed

_LARGEST_CONSTANT = 1000        # elements; TensorFlow writes fewer than this into the graph, more become a Fill


def _fill_shape(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[0], 1, "dims")
    shape_rules.with_rank(c.shapes[1], 0, "value")
    stated = c.constant(0)
    if not c.running and stated is not None and any(d is not None and d < 0 for d in stated):
        raise ValueError("Fill dimensions must be >= 0")
    return shape_rules.shape_from(c, 0)


def _lower_fill(b: Any, dims: Any, value: Any) -> Any:
    return NotImplemented if dims.constant is None else b.broadcast(value, plain_sizes(dims.constant))


def _constant_fill(op: Any, index: int, value_of: Any) -> Any:
    dims, value = (value_of(t) for t in op.inputs)
    if not constant_rules.is_known(dims) or value is None or np.prod(dims, dtype=np.int64) > constant_rules.LARGEST:
        return None
    return np.full(tuple(dims), value.item() if value.dtype == object else value)


def _symbolic_fill(dims: Any, value: Any) -> np.ndarray:
    if dims.dtype == object:
        raise ValueError("a size that has no number yet")
    return np.full(plain_sizes(dims), value[()], object)


@op("Fill(dims: index_type, value: T; index_type: type = int32) -> output: T", index_type=INDEX, shape=_fill_shape,
    lower=_lower_fill, constant=_constant_fill, symbolic=_symbolic_fill, static=True,
    samples=lambda rng, dtype: [[dims, draw(rng, (), dtype)] for dims in (ints(2, 3), ints(), ints(0, 2))])
def _fill(dims, value):
    """A tensor of shape `dims`, every element `value`."""
    return np.full(stated_sizes(dims), value, np.asarray(value).dtype)


@_fill.gradient
def _(op, grad):
    total = raw.Sum(grad, all_axes(grad))
    total.set_shape(())
    return [None, total]


def _filled_like(number: int) -> Any:
    return lambda b, x: b.broadcast(b.const(number, x.dtype), x.shape)


def _zero_of(dtype: np.dtype) -> Any:
    return b"" if dtype == object else 0


@op("ZerosLike(x: T) -> y: T", shape=shape_rules.same_as_input, lower=_filled_like(0), grad=NOT_DIFFERENTIABLE,
    constant=constant_rules.by_value, symbolic=lambda x: np.zeros(x.shape, object))    # of sizes, not of strings
def _zeros_like(x):
    """Zeros in the shape of `x`."""
    if x.dtype == object and not x.ndim and hasattr(x[()], "zeros"):    # a variant, see jitgraph.tensor_arrays.host_values
        return boxed(x[()].zeros())
    return np.full(x.shape, _zero_of(x.dtype), x.dtype)


@op("OnesLike(x: T) -> y: T", T=NUMBERS + BOOL, shape=shape_rules.same_as_input, lower=_filled_like(1),
    grad=NOT_DIFFERENTIABLE, constant=constant_rules.by_value, symbolic=True)
def _ones_like(x):
    """Ones in the shape of `x`."""
    return np.ones(x.shape, x.dtype)


def _one_hot_shape(c: Any) -> Any:
    indices, depth, axis = c.shapes[0], shape_rules.scalar_constant(c, 1, "depth"), c.attrs["axis"]
    if axis < -1:
        raise ValueError("axis must be >= -1")
    size = plain_sizes(depth)[0] if shape_rules.known(depth) else None
    if size is not None and size < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {size}")
    if indices is None:
        return None
    if not axis <= len(indices):
        raise ValueError(f"Expected axis to be -1 or in [0, {len(indices)}], got {axis}")
    axis = len(indices) if axis == -1 else axis
    return tuple(indices[:axis]) + (size,) + tuple(indices[axis:])


def _lower_one_hot(b: Any, indices: Any, depth: Any, on_value: Any, off_value: Any, axis: int) -> Any:
    if depth.constant is None:
        return NotImplemented
    axis = len(indices.shape) if axis == -1 else axis
    full = tuple(indices.shape[:axis]) + (plain_sizes(depth.constant)[0],) + tuple(indices.shape[axis:])
    spread = b.reshape(indices, tuple(indices.shape[:axis]) + (1,) + tuple(indices.shape[axis:]))
    return prim.select(prim.eq(spread, b.iota(full, axis, indices.dtype)), on_value, off_value)


def _one_hot_samples(rng: Any, dtype: Any) -> list:
    on, off = draw(rng, (), dtype), draw(rng, (), dtype)
    return [([np.array([0, 2, -1, 7], np.int64), np.int32(3), on, off], {"axis": axis}) for axis in (-1, 0)] + \
           [[np.array([[1], [0]], np.int64), np.int32(2), on, off], [np.int64(1), np.int32(3), on, off]]


@op("OneHot(indices: TI, depth: int32, on_value: T, off_value: T; axis: int = -1) -> output: T",
    TI=TypeSet(dtypes.uint8, dtypes.int32, dtypes.int64, default=dtypes.int64), shape=_one_hot_shape,
    lower=_lower_one_hot, grad=NOT_DIFFERENTIABLE, samples=_one_hot_samples)
def _one_hot(indices, depth, on_value, off_value, axis):
    """`on_value` where the position along the new `axis` of size `depth` is the index, `off_value` elsewhere."""
    axis = indices.ndim if axis == -1 else axis
    if depth < 0:
        raise invalid(f"depth must be non-negative, got: {depth}")
    positions = np.arange(int(depth)).reshape([-1] + [1] * (indices.ndim - axis))
    return np.where(np.expand_dims(indices, axis) == positions, on_value, off_value).astype(on_value.dtype)


@op("Empty(shape: int32; dtype: type, init: bool = false) -> output: dtype", shape=shape_rules.from_value(0), stateful=True,
    samples=lambda rng, dtype: [([np.array(shape, np.int32)], {"dtype": dtypes.float32, "init": True}) for shape in ((2, 3), ())])
def empty(shape, dtype):
    """A tensor of any values (zeros, here) with the sizes `shape`."""
    return np.full(stated_sizes(shape), b"" if dtype is dtypes.string else 0, dtype.as_numpy_dtype)


# -- public functions ----------------------------------------------------------------------------------------------

def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """A tensor of shape `dims` (a vector of int32 or int64), every element the scalar `value`."""
    return _fill(dims, value, name=name)


def _is_small(size: Any) -> bool:
    """Whether a shape given as a list has few elements.

    A tensor in the list cannot tell; TensorFlow then leaves the nodes of the question in the graph, and so does this,
    because default seeds of random ops count nodes.
    """
    if isinstance(size, (list, tuple)) and any(isinstance(d, Tensor) for d in size):
        operator.lt(functools.reduce(operator.mul, size), _LARGEST_CONSTANT)
        raise TypeError("the number of elements is known in a run only")
    known = shapes.raw_shape(size)
    if known is None or None in known:
        raise ValueError("not fully known")
    return not isinstance(size, (int, np.integer)) and shape_rules.product(known) < _LARGEST_CONSTANT


def _uniform(value: Any, size: Any, dtype: Any, default_name: str, name: str | None) -> Any:
    """A constant if the shape is known and small, else a Fill."""
    with name_scope(name, default_name, [size]) as scope:
        if not isinstance(size, Tensor):
            try:
                if _is_small(size):
                    return constant(value, dtype, shapes.raw_shape(size), name=scope)
                size = convert_to_tensor(shapes.TensorShape(size))
            except (TypeError, ValueError):
                size = convert_to_tensor(size, dtypes.int32)
        if not size._shape:
            size = reshape(size, [-1])
        return fill(size, constant(value, dtype), name=scope)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of zeros (False, empty strings) of `shape`, a list, TensorShape, or integer tensor."""
    dtype = as_dtype(dtype).base_dtype
    zero: Any = {"bool": False, "string": ""}.get(dtype.name, 0)
    return _uniform(zero, shape, dtype, "zeros", name)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Any:
    """A tensor of ones (True) of `shape`, a list, TensorShape, or integer tensor."""
    dtype = as_dtype(dtype).base_dtype
    return _uniform(True if dtype.is_bool else 1, shape, dtype, "ones", name)


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Zeros in the shape of `tensor`, of its dtype or of `dtype`.  A constant if the shape is known now."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        base = tensor.dtype.base_dtype
        if optimize and tensor.shape.is_fully_defined() and base is not dtypes.variant:
            return zeros(tensor.shape, dtype or base, name=scope)      # programs pass False where `optimize` stands
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        if wanted is not None and wanted is not base and wanted is not dtypes.variant:
            return zeros(shape_internal(tensor, optimize=optimize), wanted, name=scope)
        return _zeros_like(tensor, name=scope)


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Ones in the shape of `tensor`, of its dtype or of `dtype`.  A constant if the shape is known now."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        wanted = tensor.dtype.base_dtype if dtype is None else dtype
        result = ones(shape_internal(tensor, optimize=optimize), wanted, name=scope)
        result.set_shape(tensor.shape)
        return result


def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: Any = None, dtype: Any = None,
            name: str | None = None) -> Any:
    """`on_value` (1) at the positions `indices` along a new axis of size `depth`, `off_value` (0) elsewhere.

    The new axis is the last, or `axis`.  The dtype is that of the values, else `dtype`, else float32.  Raises TypeError
    if `on_value`, `off_value` and `dtype` do not agree.
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value, axis, dtype]) as scope:
        on_given, off_given = on_value is not None, off_value is not None
        wanted = None if dtype is None else as_dtype(dtype).base_dtype
        on_dtype = convert_to_tensor(on_value).dtype.base_dtype if on_given else None
        off_dtype = convert_to_tensor(off_value).dtype.base_dtype if off_given else None
        if on_given or off_given:
            if wanted is not None:
                if on_given and on_dtype is not wanted:
                    raise TypeError(f"dtype {on_dtype} of on_value does not match dtype parameter {wanted}")
                if off_given and off_dtype is not wanted:
                    raise TypeError(f"dtype {off_dtype} of off_value does not match dtype parameter {wanted}")
            wanted = on_dtype if on_given else off_dtype
        elif wanted is None:
            wanted = dtypes.float32
        if not on_given:
            on_value, on_dtype = convert_to_tensor(1, wanted, name="on_value"), wanted
        if not off_given:
            off_value, off_dtype = convert_to_tensor(0, wanted, name="off_value"), wanted
        if on_dtype is not off_dtype:
            raise TypeError(f"dtype {on_dtype} of on_value does not match dtype {off_dtype} of off_value")
        return _one_hot(indices, depth, on_value, off_value, axis=-1 if axis is None else axis, name=scope)
