"""Sums of products by an equation of indices: ``tf.einsum`` in transposes and matrix products, and the op Einsum."""
from __future__ import annotations

import re
import string
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.op import NUMBERS, op
from jitgraph.samples import draw

# -- equations ---------------------------------------------------------------------------------------------------------

def parse(equation: str, ranks: list) -> tuple[list[str], str]:
    """The labels of each input and of the output, an ellipsis replaced by letters that are not used.

    Raises ValueError for text that is no equation, a wrong number of inputs, or an ellipsis that does not fit.
    """
    equation = equation.replace(" ", "")
    match = re.match(r"^([a-zA-Z,.]*)(->[a-zA-Z.]*)?$", equation)
    if not match or not equation:
        raise ValueError(f"Indices have incorrect format: {equation}")
    inputs = match.group(1).split(",")
    output = match.group(2)[2:] if match.group(2) else None
    if len(ranks) != len(inputs):
        raise ValueError(f'Got {len(ranks)} arguments for equation "{equation}", expecting {len(inputs)}')
    hidden = ""
    if "..." in equation:
        inputs, hidden = _without_ellipsis(inputs, ranks)
        output = None if output is None else output.replace("...", hidden)
    if any("." in labels for labels in [*inputs, output or ""]):
        raise ValueError('period "." found outside of ellipsis')
    if output is None:
        every = "".join(inputs)
        output = hidden + "".join(sorted(a for a in set(every) - set(hidden) if every.count(a) == 1))
    return inputs, output


def _without_ellipsis(inputs: list[str], ranks: list) -> tuple[list[str], str]:
    unused = "".join(c for c in string.ascii_letters if c not in "".join(inputs))
    longest, found = "", []
    for labels, rank in zip(inputs, ranks):
        if "..." in labels:
            if labels.count("...") > 1:
                raise ValueError("Unable to resolve ellipsis. Excess number found.")
            if rank is None:
                raise ValueError("Unable to statically infer ellipsis axes.")
            count = rank - len(labels) + 3
            if count < 0:
                raise ValueError("Ellipses lengths do not match.")
            if len(unused) < count:
                raise ValueError("Unable to resolve ellipsis, too many distinct labels.")
            letters = unused[len(unused) - count:]
            labels = labels.replace("...", letters)
            longest = max(longest, letters, key=len)
        found.append(labels)
    return found, longest


# -- tf.einsum ---------------------------------------------------------------------------------------------------------

def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The sum of products that `equation` states, ``einsum("ij,jk->ik", a, b)`` for the matrix product.

    Indices that are missing on the right of ``->`` are summed; without ``->`` those that occur once are kept, in
    alphabetical order.  An index may occur once in each input; ``...`` stands for dimensions without names.  Raises
    ValueError for equations that are not such, TypeError for keywords other than `name`.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    with name_scope(name, "einsum", [equation, inputs]):
        tensors = [convert_to_tensor(x) for x in inputs]
        labels, output = parse(equation, [None if x._shape is None else len(x._shape) for x in tensors])
        for part in labels:
            if len(set(part)) < len(part):
                if len(labels) == 1 and len(part) == 2 and "->" not in equation:
                    from jitgraph.ops.products import trace

                    return trace(tensors[0])
                raise ValueError(f"Subscript not supported: an axis appears more than once: {part}")
        for x, part in zip(tensors, labels):
            if x._shape is not None and len(x._shape) != len(part):
                raise ValueError(f"Tensor {x.name} of rank {len(x._shape)} does not match the {len(part)} indices "
                                 f"'{part}' of the einsum equation {equation}")
        if not set(output) <= set("".join(labels)) or len(set(output)) < len(output):
            raise ValueError(f"Invalid equation: {equation}")
        total, found = tensors[0], labels[0]
        for i in range(1, len(tensors)):
            kept = set(output).union(*labels[i + 1:])
            total, found = _contract(total, found, tensors[i], labels[i], kept)
        result = _arranged(_summed(total, found, set(output)), [a for a in found if a in output], output)
        if result is tensors[0]:
            return inputs[0] if is_tensor_like(inputs[0]) else result       # a variable stays one, as in TensorFlow
        stated = {a: d for x, part in zip(tensors, labels) if x._shape for a, d in zip(part, x._shape) if d is not None}
        result.set_shape([stated.get(a) for a in output])
        return result


def _summed(x: Tensor, labels: Any, kept: set) -> Tensor:
    """x summed over the indices that are not kept."""
    axes = [i for i, a in enumerate(labels) if a not in kept]
    if not axes:
        return x
    from jitgraph.ops.reduce import reduce_sum

    return reduce_sum(x, axes)


def _arranged(x: Tensor, labels: Any, wanted: Any) -> Tensor:
    """x with its dimensions in the order of `wanted`."""
    if list(labels) == list(wanted):
        return x
    return raw.Transpose(x, np.array([list(labels).index(a) for a in wanted], np.int32))


def _contract(x: Tensor, of_x: str, y: Tensor, of_y: str, kept: set) -> tuple[Tensor, str]:
    """The product of two tensors, summed over the shared indices that are not kept, and the indices it has."""
    shared = [a for a in of_x if a in of_y]
    x, of_x = _summed(x, of_x, kept | set(shared)), "".join(a for a in of_x if a in kept or a in shared)
    y, of_y = _summed(y, of_y, kept | set(shared)), "".join(a for a in of_y if a in kept or a in shared)
    batch = "".join(a for a in shared if a in kept)
    summed = "".join(a for a in shared if a not in kept)
    rows = "".join(a for a in of_x if a not in shared)
    columns = "".join(a for a in of_y if a not in shared)
    sizes = _sizes(x, of_x)
    sizes.update((a, size) for a, size in _sizes(y, of_y).items() if callable(sizes.get(a)) or a not in sizes)
    left = _arranged(x, of_x, batch + rows + summed)
    right = _arranged(y, of_y, batch + summed + columns)
    of_left, of_right = [*batch, *rows, *summed], [*batch, *summed, *columns]
    if not summed:
        left = _regrouped(left, of_left, [*batch, *rows, *([""] * len(columns))], sizes) if columns else left
        right = _regrouped(right, of_right, [*batch, *([""] * len(rows)), *columns], sizes) if rows and batch else right
        return raw.Mul(left, right), batch + rows + columns
    left = _regrouped(left, of_left, [*batch, rows, summed], sizes)
    right = _regrouped(right, of_right, [*batch, summed, columns], sizes)
    product = raw.BatchMatMulV2(left, right) if batch else raw.MatMul(left, right)
    return _regrouped(product, [*batch, rows, columns], [*batch, *rows, *columns], sizes), batch + rows + columns


def _sizes(x: Tensor, labels: str) -> dict[str, Any]:
    """The size of each index: a number where it is known, else a scalar tensor (made when it is needed)."""
    known = x._shape or (None,) * len(labels)
    dynamic: list = []

    def at_run_time(i: int) -> Any:
        if not dynamic:
            dynamic.append(raw.Shape(x))
        return dynamic[0][i]

    return {a: (lambda i=i: at_run_time(i)) if known[i] is None else known[i] for i, a in enumerate(labels)}


def _regrouped(x: Tensor, groups: list, wanted_groups: list, sizes: dict[str, Any]) -> Tensor:
    """x, each dimension of which holds a group of indices, with other groups; an empty group is a dimension of size 1."""
    if groups == wanted_groups:
        return x
    wanted: list = []
    for group in wanted_groups:
        parts = [sizes[a]() if callable(sizes[a]) else sizes[a] for a in group]
        total = int(np.prod([p for p in parts if not isinstance(p, Tensor)], dtype=np.int64))
        for part in parts:
            if isinstance(part, Tensor):
                total = part if isinstance(total, int) and total == 1 else part * total
        wanted.append(total)
    if any(isinstance(size, Tensor) for size in wanted):
        known = [None if isinstance(size, Tensor) else size for size in wanted]
        found = raw.Reshape(x, raw.Pack([convert_to_tensor(size, dtypes.int32) for size in wanted]))
        found.set_shape(known)
        return found
    return raw.Reshape(x, np.array(wanted, np.int32))


# -- the op ------------------------------------------------------------------------------------------------------------

def _shape(c: Any) -> Any:
    if any(shape is None for shape in c.shapes):
        return None
    inputs, output = parse(c.attrs["equation"], [len(shape) for shape in c.shapes])
    sizes: dict[str, Any] = {}
    for labels, shape in zip(inputs, c.shapes):
        if len(labels) != len(shape):
            raise ValueError(f"Expected {len(labels)} dimensions for '{labels}', got {len(shape)}")
        for a, size in zip(labels, shape):
            sizes[a] = size if a not in sizes else shape_rules.broadcast_sizes(sizes[a], size)
    return tuple(sizes[a] for a in output)


def _samples(rng, dtype):
    x, y = draw(rng, (2, 3), dtype, -1, 1), draw(rng, (3, 2), dtype, -1, 1)
    return [([[x, y]], {"equation": "ij,jk->ik"}), ([[x]], {"equation": "ij->ji"}), ([[x, x]], {"equation": "ij,ij->i"}),
            ([[x, y]], {"equation": "ij,kl->iljk"}), ([[x[:, :2]]], {"equation": "ii->i"}),
            ([[x[None], y]], {"equation": "...ij,jk->...ik"}), ([[x]], {"equation": "ij->"})]


@op("Einsum(inputs: N*T; equation: string) -> output: T", T=NUMBERS, shape=_shape, samples=_samples)
def _einsum(inputs, equation):
    """The sum of products that an equation of indices states."""
    equation = equation.decode() if isinstance(equation, bytes) else equation
    kind = inputs[0].dtype
    wide = [x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x for x in inputs]
    return np.asarray(np.einsum(equation, *wide, optimize=len(inputs) > 2), kind)


@_einsum.gradient
def _(op, grad):
    """For each input the Einsum of the gradient and the other inputs, with what was summed or repeated put back."""
    equation = op.get_attr("equation")
    equation = equation.decode() if isinstance(equation, bytes) else equation
    if any(x._shape is None for x in op.inputs):
        raise NotImplementedError("The gradient of Einsum needs inputs of known rank.")
    labels, output = parse(equation, [len(x._shape) for x in op.inputs])
    return [_input_gradient(i, labels, output, op.inputs, grad) for i in range(len(labels))]


def _input_gradient(which: int, labels: list[str], output: str, inputs: list, grad: Tensor) -> Tensor:
    from jitgraph.ops.complex_numbers import conj

    x, own = inputs[which], labels[which]
    others = [(labels[i], conj(inputs[i])) for i in range(len(labels)) if i != which]
    here = "".join(dict.fromkeys(own))
    reached = [a for a in here if a in output or any(a in part for part, _ in others)]
    terms = ",".join([output, *(part for part, _ in others)])
    found = raw.Einsum([grad, *(tensor for _, tensor in others)], equation=f"{terms}->{''.join(reached)}")
    shape = raw.Shape(x)
    sizes = {a: shape[own.index(a)] for a in here}
    if len(reached) < len(here):                # summed within the input alone: the same gradient all along
        place = [slice(None) if a in reached else None for a in here]
        found = raw.BroadcastTo(found[tuple(place)], raw.Pack([sizes[a] for a in here]))
    if len(here) < len(own):                    # a diagonal: zeros elsewhere
        for position in range(len(own) - 1, -1, -1):
            if own.index(own[position]) != position:
                found = _on_diagonal(found, here.index(own[position]), position, sizes[own[position]])
                here = here[:position] + "-" + here[position:]
    return _unbroadcast(found, x)


def _on_diagonal(x: Tensor, first: int, second: int, size: Tensor) -> Tensor:
    """x with a new dimension `second` beside `first`, zero where the two differ."""
    from jitgraph.ops.matrix_parts import eye

    rank = len(x._shape) + 1
    mask = raw.Reshape(eye(size, dtype=x.dtype.base_dtype), raw.Pack([size if i in (first, second) else 1
                                                                     for i in range(rank)]))
    return raw.ExpandDims(x, second) * mask


def _unbroadcast(found: Tensor, x: Tensor) -> Tensor:
    """Summed over the dimensions that the input had with size 1 and its partners did not."""
    if found._shape == x._shape and None not in x._shape:
        return found
    from jitgraph.ops.broadcasting import Unbroadcast

    return Unbroadcast(x, found).to_x(found)
