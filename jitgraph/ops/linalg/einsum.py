"""Sums of products by an equation of indices: ``tf.einsum`` in transposes and matrix products, and the op Einsum."""
from __future__ import annotations

import functools
import operator
import re
import string
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import NUMBERS, op
from jitgraph.declare.samples import draw
from jitgraph.graph import shape_rules
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as sizes_of
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.reductions import reduce_sum

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


# -- tf.einsum: node by node as TensorFlow 1.15 builds it, for names, default seeds and gradients ------------------------

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
        given = [x if is_tensor_like(x) else convert_to_tensor(x) for x in inputs]
        labels, output = parse(equation, [x.shape.ndims for x in given])
        if labels == [output] and given[0].shape.ndims in (None, len(set(output))):
            return given[0]                     # a variable stays one, as in TensorFlow
        tensors = [convert_to_tensor(x) for x in given]
        for part in labels:
            if len(set(part)) < len(part):
                if len(labels) == 1 and len(part) == 2 and "->" not in equation:
                    from jitgraph.ops.linalg.products import trace

                    return trace(tensors[0])
                raise ValueError(f"Subscript not supported: an axis appears more than once: {part}")
        for x, part in zip(tensors, labels):
            if x._shape is not None and len(x._shape) != len(part):
                raise ValueError(f"Tensor {x.name} of rank {len(x._shape)} does not match the {len(part)} indices "
                                 f"'{part}' of the einsum equation {equation}")
        if not set(output) <= set("".join(labels)) or len(set(output)) < len(output):
            raise ValueError(f"Invalid equation: {equation}")
        if any(sum(a in part for part in labels) > 2 for a in "".join(labels) if a not in output):
            result = _multiplied_out(tensors, labels, output)
        else:
            total, found = tensors[0], labels[0]
            for x, part in zip(tensors[1:], labels[1:]):
                total, found = _contract(total, found, x, part, output)
            result = _arranged(_summed(total, found, output), [a for a in found if a in output], output)
        # a size of 1 is broadcast to what another tensor turns out to have there
        stated = {a: d for x, part in zip(tensors, labels) if x._shape for a, d in zip(part, x._shape) if d not in (None, 1)}
        result.set_shape([stated.get(a) for a in output])
        return result


def _summed(x: Tensor, labels: Any, kept: Any) -> Tensor:
    """x summed over the indices that are not kept."""
    axes = [i for i, a in enumerate(labels) if a not in kept]
    if not axes:
        return x
    return reduce_sum(x, axes)


def _arranged(x: Tensor, labels: Any, wanted: Any) -> Tensor:
    """x with its dimensions in the order of `wanted`."""
    if list(labels) == list(wanted):
        return x
    return transpose(x, [list(labels).index(a) for a in wanted])


def _contract(x: Tensor, of_x: str, y: Tensor, of_y: str, output: str) -> tuple[Tensor, str]:
    """The product of two tensors, summed over the indices that they share and `output` lacks, and the indices it has."""
    shared = sorted(set(of_x) & set(of_y))
    batch, summed = [a for a in shared if a in output], [a for a in shared if a not in output]
    rows, columns = sorted(set(of_x) - set(shared)), sorted(set(of_y) - set(shared))
    left = _arranged(x, of_x, [*batch, *rows, *summed])
    right = _arranged(y, of_y, [*batch, *summed, *columns])
    found = "".join([*batch, *rows, *columns])
    if not summed:
        for _ in columns:
            left = expand_dims(left, -1)
        for _ in rows:
            right = expand_dims(right, len(batch))
        return multiply(left, right), found
    rows_end, columns_begin = len(batch + rows), len(batch + summed)
    left_sizes = _sizes(left, len(of_x))
    rows_count, depth = _product(left_sizes[len(batch):rows_end]), _product(left_sizes[rows_end:])
    left = _reshaped(left, [*left_sizes[:len(batch)], rows_count, depth])
    right_sizes = _sizes(right, len(of_y))
    columns_count = _product(right_sizes[columns_begin:])
    right = _reshaped(right, [*right_sizes[:len(batch)], depth, columns_count])
    return _reshaped(matmul(left, right), [*left_sizes[:rows_end], *right_sizes[columns_begin:]]), found


def _multiplied_out(tensors: list, parts: list[str], output: str) -> Tensor:
    """The sum of the products of all elements: for an index that is summed over more than two tensors."""
    order = [*sorted(set("".join(parts)) - set(output)), *output]
    own = [sorted(part, key=order.index) for part in parts]
    tensors = [_arranged(x, part, wanted) for x, part, wanted in zip(tensors, parts, own)]
    spread = [reshape(x, _spread_sizes(x, labels, order)) for x, labels in zip(tensors, own)]
    product: Any = functools.reduce(operator.mul, spread, 1)
    return _summed(product, order, output)


def _spread_sizes(x: Tensor, labels: list, order: list) -> list:
    """The shape in which each index has its place among all of them, and those that x lacks are dimensions of size 1."""
    known = _known_sizes(x, len(labels))
    sizes = dict(zip(labels, _sizes(x, len(labels)) if known.count(None) > 1 else [-1 if d is None else d for d in known]))
    return [sizes.get(a, 1) for a in order]


def _known_sizes(x: Tensor, rank: int) -> list:
    return [None] * rank if x._shape is None else list(x._shape)


def _sizes(x: Tensor, rank: int) -> list:
    """The size of each dimension: a number where it is known, else a scalar tensor."""
    sizes = _known_sizes(x, rank)
    if None in sizes:
        dynamic = sizes_of(x)
        sizes = [dynamic[i] if d is None else d for i, d in enumerate(sizes)]
    return sizes


def _product(sizes: list) -> Any:
    return functools.reduce(operator.mul, sizes, 1)


def _reshaped(x: Tensor, sizes: list) -> Tensor:
    """x with these sizes, if it has others."""
    return x if x._shape is not None and list(x._shape) == sizes else reshape(x, sizes)


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
    equation = as_text(equation)
    kind = inputs[0].dtype
    wide = [x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x for x in inputs]
    return np.asarray(np.einsum(equation, *wide, optimize=len(inputs) > 2), kind)


@_einsum.gradient
def _(op, grad):
    """For each input the Einsum of the gradient and the other inputs, with what was summed or repeated put back."""
    equation = op.get_attr("equation")
    equation = as_text(equation)
    if any(x._shape is None for x in op.inputs):
        raise NotImplementedError("The gradient of Einsum needs inputs of known rank.")
    labels, output = parse(equation, [len(x._shape) for x in op.inputs])
    return [_input_gradient(i, labels, output, op.inputs, grad) for i in range(len(labels))]


def _input_gradient(which: int, labels: list[str], output: str, inputs: list, grad: Tensor) -> Tensor:
    from jitgraph.ops.elementwise.complex_numbers import conj

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
    from jitgraph.ops.arrays.matrix_parts import eye

    rank = len(x._shape) + 1
    mask = raw.Reshape(eye(size, dtype=x.dtype.base_dtype), raw.Pack([size if i in (first, second) else 1
                                                                     for i in range(rank)]))
    return raw.ExpandDims(x, second) * mask


def _unbroadcast(found: Tensor, x: Tensor) -> Tensor:
    """Summed over the dimensions that the input had with size 1 and its partners did not."""
    if found._shape == x._shape and None not in x._shape:
        return found
    from jitgraph.ops.elementwise.broadcasting import Unbroadcast

    return Unbroadcast(x, found).to_x(found)
