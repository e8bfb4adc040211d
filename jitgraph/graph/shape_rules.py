"""Shape rules for op declarations: ``@op(..., shape=shape_rules.same_as_input)``.

A rule takes a context c and returns the shape of the output (a tuple of sizes, or None for unknown rank), or a list
with one shape per output.  ``c.shapes[i]`` is the shape of input i (list inputs flattened), ``c.attrs`` the
attributes, ``c.constant(i)`` the value of input i as an ndarray if it is known (an object array with None where an
element is not), else None.

The same rules run in two places.  While a graph is built sizes are ints or None (unknown).  When a plan is made
they are symbolic objects that know arithmetic and comparison; so a rule tests ``is None`` for unknown and otherwise
uses plain arithmetic.  Errors are ValueErrors in a few words; op name, shapes and the user's line are added outside.
"""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph.shapes import brackets

Shape = Any     # tuple of sizes, or None


def scalar(c: Any) -> Shape:
    """The output is a scalar."""
    return ()


def unknown(c: Any) -> Shape:
    """Nothing is known."""
    return None


def no_outputs(c: Any) -> list:
    """The op has no outputs."""
    return []


def same_as_input(c: Any, index: int = 0) -> Shape:
    """The shape of the first input (or input `index`)."""
    return c.shapes[index]


def same_as(index: int) -> Callable[[Any], Shape]:
    """A rule: the shape of input `index`."""
    return lambda c: c.shapes[index]


def from_attr(name: str) -> Callable[[Any], Shape]:
    """A rule: the shape that attribute `name` states."""
    return lambda c: c.attrs[name]


def merged_inputs(c: Any) -> Shape:
    """All inputs have one shape (``AddN``, ``Select`` of equal shapes): what is known of it together."""
    return functools.reduce(merge, c.shapes)


def with_rank(shape: Shape, rank: int, what: str = "input") -> tuple:
    """`shape`, checked to have `rank` dimensions; unknown sizes if the rank is unknown."""
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise ValueError(f"Shape must be rank {rank} but is rank {len(shape)} for {what}")
    return shape


def scalar_constant(c: Any, index: int, what: str) -> Any:
    """``c.constant(index)`` of an input that must be a scalar."""
    with_rank(c.shapes[index], 0, what)
    return c.constant(index)


def with_rank_at_least(shape: Shape, rank: int, what: str = "input") -> Shape:
    """`shape`, checked to have at least `rank` dimensions if that is known."""
    if shape is not None and len(shape) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(shape)} for {what}")
    return shape


def with_rank_at_most(shape: Shape, rank: int, what: str = "input") -> Shape:
    """`shape`, checked to have at most `rank` dimensions if that is known."""
    if shape is not None and len(shape) > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {len(shape)} for {what}")
    return shape


def merge_sizes(a: Any, b: Any) -> Any:
    """The size that two descriptions of one dimension give together."""
    if a is None:
        return b
    if b is None or a is b:
        return a
    if a == b:
        return a
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")


def smaller_size(a: Any, b: Any) -> Any:
    """The smaller of two sizes: 0 if one is, whatever the other."""
    if a is None or b is None:
        return 0 if 0 in (a, b) else None
    return a if a < b else b


def merge(a: Shape, b: Shape) -> Shape:
    """What two descriptions of one shape say together.  Raises ValueError if they contradict each other."""
    if a is None:
        return b
    if b is None or a is b:
        return a
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    merged = []
    for i, (x, y) in enumerate(zip(a, b)):
        if x is not None and y is not None and x is not y and x != y:
            raise ValueError(f"Dimension {i} in both shapes must be equal, but are {x} and {y}. Shapes are "
                             f"{brackets(a)} and {brackets(b)}.")
        merged.append(y if x is None else x)
    return tuple(merged)


def elements(shape: Shape) -> Any:
    """The number of elements, None if it is not known: 0 as soon as one size is."""
    if shape is None or any(d is None for d in shape):
        return 0 if shape is not None and any(d is not None and d == 0 for d in shape) else None
    return product(shape)


def product(sizes: Any) -> Any:
    """The product of known sizes (1 for none)."""
    return functools.reduce(operator.mul, sizes, 1)


def flops_of_products(op: Any, unknown: int) -> float:
    """The arithmetic of a product or a convolution, roughly, with `unknown` for each size that is not known: 0 without ranks."""
    result, factors = op.outputs[0]._shape, op.inputs[1]._shape
    if not result or not factors:
        return 0.0
    elements = math.prod(unknown if d is None else d for d in result)
    return 2.0 * float(elements) * float(math.prod(d or unknown for d in factors[:-1]))


def flops_of_input_gradient(op: Any, unknown: int) -> float:
    """The same of what gives a convolution's gradient for its input: as much as forward."""
    return _flops_of_windows(op.inputs[2]._shape, op.inputs[1]._shape, unknown)


def flops_of_filter_gradient(op: Any, unknown: int) -> float:
    """The same of what gives a convolution's gradient for its filter."""
    return _flops_of_windows(op.inputs[2]._shape, op.outputs[0]._shape, unknown)


def flops_of_depthwise(op: Any, unknown: int) -> float:
    """The same of a depthwise convolution, each result of which has terms of one channel."""
    filters = op.inputs[1]._shape
    return _flops_of_windows(op.outputs[0]._shape, filters and filters[:3], unknown)


def _flops_of_windows(result: Any, filters: Any, unknown: int) -> float:
    """A multiplication and an addition for each element of the result and of a filter, whose last dimension is the result's."""
    if not result or not filters:
        return 0.0
    return 2.0 * float(math.prod(d or unknown for d in (*result, *filters[:-1])))


def broadcast_sizes(a: Any, b: Any) -> Any:
    """The size of a dimension under broadcasting."""
    if a is b:
        return a
    if a is None or b is None:
        # an unknown size beside n > 1 must be 1 or n; beside 1 it stays unknown, and beside 0, where TensorFlow says no more
        known = b if a is None else a
        return known if known is not None and known > 1 else None
    if a == b:
        return a
    if a == 1:
        return b
    if b == 1:
        return a
    raise ValueError(f"Dimensions must be equal, but are {a} and {b}")


def broadcast_shapes(a: Shape, b: Shape) -> Shape:
    """The shape of ``a op b``.  Raises ValueError if the shapes do not broadcast."""
    if a is None or b is None:
        return None
    if a is b:
        return a
    if len(a) < len(b):
        a, b = b, a
    lead = len(a) - len(b)
    if not b:
        return a
    return a[:lead] + tuple([broadcast_sizes(x, y) for x, y in zip(a[lead:], b)])


def broadcast(c: Any) -> Shape:
    """All inputs broadcast together (elementwise ops).  The same for every output."""
    shapes = c.shapes
    if len(shapes) == 1:
        return shapes[0]
    result = broadcast_shapes(shapes[0], shapes[1]) if shapes else ()
    for shape in shapes[2:]:
        result = broadcast_shapes(result, shape)
    return result


def known(value: Any) -> bool:
    """Whether a constant (as of ``c.constant``) is there and known in full."""
    return value is not None and not (value.dtype == object and any(v is None for v in value.ravel()))


def is_column(places: Any) -> bool:
    """Whether a constant is there and known to be the places of a sparse matrix of one column in which no row is empty."""
    return known(places) and places.ndim == 2 and np.array_equal(places, np.outer(np.arange(len(places)), [1, 0]))


def crosses_columns(attrs: Any, shapes: Any, constant: Any) -> bool:
    """Whether a SparseCross crosses columns that have one feature in each row, as its result then has.

    `attrs`, `shapes`: its attributes and the shapes of its inputs; `constant` gives what is known of the input of a number.
    """
    count = attrs["N"]
    dense = shapes[2 * count + len(attrs["sparse_types"]):]
    return all(shape is not None and tuple(shape[1:]) == (1,) for shape in dense) \
        and all(is_column(constant(k)) for k in range(count))


def axis_in(axis: Any, rank: int) -> int:
    """`axis` counted from the front.  Raises ValueError if it is not in [-rank, rank)."""
    axis = int(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"Invalid reduction dimension {axis}: the input has {rank} dimensions, so axes are in "
                         f"[{-rank}, {rank})")
    return axis % rank if rank else 0


def reduced(c: Any) -> Shape:
    """Reduction of input 0 over the axes in input 1; attribute ``keep_dims`` keeps them with size 1."""
    if not c.running:               # kernels take axes of any rank
        with_rank_at_most(c.shapes[1], 1, "the axes")
    return reduce_shape(c.shapes[0], c.constant(1), c.attrs["keep_dims"], c.shapes[1])


def reduce_shape(shape: Shape, axes: Any, keep_dims: bool, axes_shape: Shape = None) -> Shape:
    """`shape` reduced over `axes` (an ndarray of any rank up to 1, or None if not known)."""
    if shape is None:
        return None
    rank = len(shape)
    if not known(axes):
        if keep_dims:
            return (None,) * rank
        if axes_shape == () and rank:        # one axis, we do not know which
            return (None,) * (rank - 1)
        return None
    gone = {axis_in(axis, rank) for axis in np.ravel(axes)}
    if keep_dims:
        return tuple([1 if i in gone else d for i, d in enumerate(shape)])
    return tuple([d for i, d in enumerate(shape) if i not in gone])


def one_axis_removed(c: Any) -> Shape:
    """Input 0 without the axis in input 1 (``ArgMax``)."""
    shape, axis = c.shapes[0], scalar_constant(c, 1, "dimension")
    if shape is None:
        return None
    if not known(axis):
        return (None,) * (len(shape) - 1)
    gone = axis_in(axis, len(shape))
    return shape[:gone] + shape[gone + 1:]


def shape_from(c: Any, index: int, free: bool = False) -> Shape:
    """The shape that input `index` states by its value (``Fill``, ``RandomUniform``): as much as is known of it.

    -1 in a graph is a size that only the run knows.  In a run it is as wrong as any other negative size, unless it stands
    for a `free` one (``Reshape``).
    """
    length = with_rank(c.shapes[index], 1, "the shape")[0]
    value = c.constant(index)
    if value is None:
        op = c.inputs[index].op
        if length is None and op.type == "Pack" and op.attrs["axis"] == 0:
            length = len(op.inputs)         # each can only be a size, whatever is known of its own shape
        return None if length is None else (None,) * length
    sizes = [size.item() if isinstance(size, np.integer) else size for size in np.ravel(value)]
    if free or not c.running:
        sizes = [None if size is None or size == -1 else size for size in sizes]
    for size in sizes:
        if size is not None and size < 0:
            raise ValueError(f"Dimension {size} must be >= 0")
    return tuple(sizes)


def scattered_nd(output: Shape, indices: Shape, updates: Shape) -> Shape:
    """The shape `output` of what is scattered into, of which `indices` has the coordinates of the `updates`.

    Raises ValueError if updates.shape is not indices.shape[:-1] + output[indices.shape[-1]:], or if there are indices or
    updates for an output of no elements.
    """
    if elements(output) == 0 and any(_some(shape) for shape in (indices, updates)):
        raise ValueError("Indices and updates specified for empty output shape")
    if not indices or updates is None:
        return output
    outer = len(indices) - 1
    merge(tuple(indices[:-1]), tuple(updates[:outer]))
    if output is not None and isinstance(indices[-1], int):
        merge(tuple(output[indices[-1]:]), tuple(updates[outer:]))
    return output


def _some(shape: Shape) -> bool:
    """Whether it is known that there are elements."""
    count = elements(shape)
    return isinstance(count, int) and count > 0


def from_value(index: int) -> Callable[[Any], Shape]:
    """A rule: the shape that the value of input `index` states."""
    return lambda c: shape_from(c, index)


def all_outputs_like(index: int = 0) -> Callable[[Any], list]:
    """A rule for ops whose output i has the shape of input ``index + i`` (``IdentityN``)."""
    return lambda c: list(c.shapes[index:])
