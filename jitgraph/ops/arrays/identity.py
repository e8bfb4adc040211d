"""Values that pass through, and values from outside: identities, placeholders."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import constant_rules, shape_rules, shapes
from jitgraph.graph.dtypes import as_dtype


@op("Identity(input: T) -> output: T", shape=shape_rules.same_as_input, lower=lambda b, x: x, constant=constant_rules.through,
    symbolic=True, forwards=True)
def identity(input):
    """The input itself."""
    return input


@identity.gradient
def _(op, grad):
    return grad


@op("IdentityN(input: [T]; T: list(type) >= 1) -> output: [T]", shape=shape_rules.all_outputs_like(), lower=lambda b, xs: list(xs),
    constant=constant_rules.through,
    samples=lambda rng, dtype: [[[draw(rng, (2, 3), np.float64), draw(rng, (), np.int32)]]])
def identity_n(input):
    """All inputs themselves; none is ready before all are."""
    return list(input)


@identity_n.gradient
def _(op, *grads):
    return list(grads)


@op("Snapshot(input: T) -> output: T", shape=shape_rules.same_as_input, lower=lambda b, x: x, constant=constant_rules.through)
def snapshot(input):
    """The input itself."""
    return input


@snapshot.gradient
def _(op, grad):
    return grad


@op("StopGradient(input: T) -> output: T", shape=shape_rules.same_as_input, lower=lambda b, x: x,
    grad=NOT_DIFFERENTIABLE, constant=constant_rules.through, symbolic=True, forwards=True)
def stop_gradient(input):
    """The input itself, through which no gradient flows back."""
    return input


@op('PreventGradient(input: T; message: string = "") -> output: T', shape=shape_rules.same_as_input,
    lower=lambda b, x, message: x, forwards=True)
def prevent_gradient(input):
    """The input itself; asking for a gradient through it is an error."""
    return input


@prevent_gradient.gradient
def _(op, grad):
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message')!r}")


def _passed(op: Any, index: int, value_of: Any) -> Any:
    """In the graph of a function, the value that the caller passes."""
    source = getattr(op.graph, "sources", {}).get(op.outputs[index])
    return None if source is None else value_of(source)


@op("Placeholder(; dtype: type, shape: shape = None) -> output: dtype", shape=shape_rules.from_attr("shape"),
    host=True, constant=_passed, placeholder=True, tested_in="tests/runtime/test_feed.py: a feed")
def _placeholder(shape):
    """A value that the caller feeds; running it without a feed is an error."""
    from jitgraph.graph.errors import InvalidArgumentError

    raise InvalidArgumentError(None, None, "You must feed a value for placeholder tensor; give it in feed_dict")


@op("PlaceholderV2(; dtype: type, shape: shape) -> output: dtype", shape=shape_rules.from_attr("shape"),
    host=True, placeholder=True, tested_in="tests/runtime/test_feed.py: a feed")
def _placeholder_v2(shape):
    """A value that the caller feeds, as older graph files name it."""
    return _placeholder.opdef.value(shape)


def _stated_shape(c: Any) -> Any:
    shape_rules.merge(c.shapes[0], c.attrs["shape"])
    return c.attrs["shape"]


@op("PlaceholderWithDefault(input: dtype; shape: shape) -> output: dtype", shape=_stated_shape,
    lower=lambda b, x, shape: x, placeholder=True, forwards=True,
    samples=lambda rng, dtype: [([draw(rng, shape, dtype)], {"shape": shape}) for shape in ((2, 3), ())])
def _placeholder_with_default(input):
    """The input, unless the caller feeds another value."""
    return input


@_placeholder_with_default.gradient
def _(op, grad):
    return grad


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor whose value is given with each run (``feed_dict``).

    `dtype`: its type; `shape`: a full or partial shape, None if anything may be fed.  Evaluating it without a feed
    raises InvalidArgumentError.
    """
    return _placeholder(dtype=as_dtype(dtype), shape=shapes.raw_shape(shape), name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor with the value `input` unless another one is fed; `shape` may be less specific than that of `input`."""
    return _placeholder_with_default(input, shape=shapes.raw_shape(shape), name=name)


def _ensured(c: Any) -> Any:
    return shape_rules.merge(c.shapes[0], c.attrs["shape"])


@op("EnsureShape(input: T; shape: shape) -> output: T", shape=_ensured, lower=lambda b, x, shape: x,
    constant=constant_rules.through,
    samples=lambda rng, dtype: [([draw(rng, (2, 3), dtype)], {"shape": (None, 3)})])
def _ensure_shape(input, shape):
    """The input, checked to have a shape that `shape` allows."""
    actual = np.shape(input)
    if shape is not None and (len(shape) != len(actual)
                              or any(w is not None and w != a for w, a in zip(shape, actual))):
        from jitgraph.graph.errors import InvalidArgumentError

        wanted = shapes.display(shape)
        raise InvalidArgumentError(None, None, f"Shape of tensor {list(actual)} is not compatible with expected shape "
                                               f"{wanted}.")
    return input


@_ensure_shape.gradient
def _(op, grad):
    return grad


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """`x`, its static shape refined by `shape`; a run raises InvalidArgumentError if the value does not fit."""
    return _ensure_shape(x, shape=shapes.raw_shape(shape), name=name)


@op("GuaranteeConst(input: T) -> output: T", shape=shape_rules.same_as_input, lower=lambda b, x: x)
def guarantee_const(input):
    """The input itself, which the caller promises not to change."""
    return input


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, variable, SparseTensor or IndexedSlices, or says so itself by ``is_tensor_like``."""
    from jitgraph.graph.composite import IndexedSlices, SparseTensor
    from jitgraph.graph.convert import is_tensor_like

    return is_tensor_like(x) or isinstance(x, (IndexedSlices, SparseTensor)) or bool(getattr(x, "is_tensor_like", False))


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A SparseTensor whose parts are fed: give a SparseTensorValue, or (indices, values, shape), in ``feed_dict``.

    `shape`: a list or a tensor, None if any shape may be fed; of a list with None in it, only the rank is known.
    """
    from jitgraph.graph.composite import SparseTensor
    from jitgraph.graph.convert import convert_to_tensor
    from jitgraph.graph.dtypes import int64

    def part(suffix: str) -> str | None:
        return None if name is None else f"{name}/{suffix}"

    sizes = shape if shape is None or hasattr(shape, "op") else shapes.raw_shape(shape)
    rank = None
    if sizes is None or not hasattr(shape, "op") and None in sizes:
        rank = None if sizes is None else len(sizes)
        dense_shape = placeholder(int64, [rank], part("shape"))
    else:
        dense_shape = convert_to_tensor(sizes if hasattr(shape, "op") else list(sizes), int64, part("shape"))
        rank = dense_shape._shape[0]
    values = placeholder(dtype, [None], part("values"))
    indices = placeholder(int64, [None, rank], part("indices"))
    return SparseTensor(indices, values, dense_shape)
