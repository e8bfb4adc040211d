"""``tf.einsum``: sums of products in the index notation, by way of transposes and matrix products."""
from __future__ import annotations

import re
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.matmul import matmul
from jitgraph.ops.reduce import reduce_sum

_EQUATION = re.compile(r"((?:[a-zA-Z]|\.\.\.)*(?:,(?:[a-zA-Z]|\.\.\.)*)*)(?:->((?:[a-zA-Z]|\.\.\.)*))?$")


def _labels(text: str, rank: int | None, equation: str) -> list[str]:
    """One label for each dimension; the dimensions of "..." are labelled ".0", ".1" ... counted from the last."""
    before, dots, behind = text.partition("...")
    named = len(before) + len(behind)
    if "..." in behind:
        raise ValueError(f"{equation!r}: an ellipsis can appear once in {text!r}")
    if not dots:
        if rank is not None and rank != named:
            raise ValueError(f"{equation!r}: {text!r} names {named} dimensions, but the tensor has {rank}")
        found = list(text)
    else:
        if rank is None:
            raise ValueError(f"{equation!r}: the rank of a tensor that \"...\" stands in must be known")
        if rank < named:
            raise ValueError(f"{equation!r}: {text!r} names {named} dimensions, but the tensor has {rank}")
        found = [*before, *(f".{i}" for i in reversed(range(rank - named))), *behind]
    if len(set(found)) < len(found):
        raise ValueError(f"Subscript not supported: an axis appears more than once: {text}")
    return found


def _parsed(equation: str, tensors: list[Tensor]) -> tuple[list[list[str]], list[str]]:
    """The labels of each input, and those of the result."""
    text = equation.replace(" ", "")
    match = _EQUATION.match(text)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    parts = match.group(1).split(",")
    if len(parts) != len(tensors):
        raise ValueError(f"Got {len(tensors)} arguments for equation \"{equation}\", expecting {len(parts)}")
    labels = [_labels(part, None if t._shape is None else len(t._shape), equation) for part, t in zip(parts, tensors)]
    every = [label for one in labels for label in one]
    dots = sorted({label for label in every if label[0] == "."}, key=lambda label: -int(label[1:]))
    if match.group(2) is None:
        output = dots + sorted(label for label in set(every) if every.count(label) == 1 and label[0] != ".")
    else:
        before, found, behind = match.group(2).partition("...")
        output = [*before, *(dots if found else []), *behind]
    for label in output:
        if label not in every:
            raise ValueError(f"Unknown output subscript {label!r} in {equation!r}: it is in no input")
    return labels, output


class _Sizes:
    """The size of each label: an int where it is known, else a scalar tensor."""

    def __init__(self, tensors: list[Tensor], labels: list[list[str]]):
        self._found: dict[str, Any] = {}
        for tensor, names in zip(tensors, labels):
            static = tensor._shape or (None,) * len(names)
            for axis, (name, size) in enumerate(zip(names, static)):
                known = self._found.get(name)
                if size is None:
                    self._found.setdefault(name, (tensor, axis))
                elif isinstance(known, int) and known != size and name[0] != ".":
                    raise ValueError(f"Dimensions of label {name!r} differ: {known} and {size}")
                elif not isinstance(known, int) or known == 1:
                    self._found[name] = size

    def shape(self, groups: list[list[str]]) -> Any:
        """The argument of a Reshape that gives one dimension for each group of labels."""
        sizes = [self._product(group) for group in groups]
        if sum(size is None for size in sizes) <= 1 and 0 not in sizes:
            return np.array([-1 if size is None else size for size in sizes], np.int32)
        return raw.Pack([self._dynamic(group) if size is None else np.int32(size) for group, size in zip(groups, sizes)])

    def _product(self, group: list[str]) -> int | None:
        sizes = [self._found[name] for name in group]
        return int(np.prod(sizes, dtype=np.int64)) if all(isinstance(size, int) for size in sizes) else None

    def _dynamic(self, group: list[str]) -> Tensor:
        total: Any = 1
        for name in group:
            size = self._found[name]
            total = total * (size if isinstance(size, int) else raw.Shape(size[0])[size[1]])
        return convert_to_tensor(total, dtypes.int32)


def _summed(x: Tensor, labels: list[str], keep: set[str]) -> tuple[Tensor, list[str]]:
    """x summed over the labels that nothing else needs."""
    gone = [axis for axis, label in enumerate(labels) if label not in keep]
    return (reduce_sum(x, gone) if gone else x), [label for label in labels if label in keep]


def _ordered(x: Tensor, labels: list[str], wanted: list[str]) -> Tensor:
    order = [labels.index(label) for label in wanted]
    return x if order == list(range(len(order))) else raw.Transpose(x, np.array(order, np.int32))


def _grouped(x: Tensor, groups: list[list[str]], sizes: _Sizes) -> Tensor:
    """x, whose dimensions are in the order of `groups`, with one dimension for each group."""
    return x if all(len(group) == 1 for group in groups) else raw.Reshape(x, sizes.shape(groups))


def _product(x: Tensor, of_x: list[str], y: Tensor, of_y: list[str], keep: set[str],
             sizes: _Sizes) -> tuple[Tensor, list[str]]:
    """The product of two tensors, summed over the labels outside of `keep`, and the labels of the result."""
    x, of_x = _summed(x, of_x, keep | set(of_y))
    y, of_y = _summed(y, of_y, keep | set(of_x))
    shared = [label for label in of_x if label in of_y]
    batch = [label for label in shared if label in keep]
    contracted = [label for label in shared if label not in keep]
    left = [label for label in of_x if label not in shared]
    right = [label for label in of_y if label not in shared]
    x = _ordered(x, of_x, batch + left + contracted)
    y = _ordered(y, of_y, batch + contracted + right)
    single = [[label] for label in batch]
    product = matmul(_grouped(x, [*single, left, contracted], sizes), _grouped(y, [*single, contracted, right], sizes))
    if len(left) != 1 or len(right) != 1:
        product = raw.Reshape(product, sizes.shape([[label] for label in batch + left + right]))
    return product, batch + left + right


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sums of products in the index notation: ``einsum("ij,jk->ik", a, b)`` is the matrix product.

    A letter names a dimension; letters that the output lacks are summed over; ``...`` stands for further dimensions,
    which broadcast.  Without ``->`` the output has the letters that occur once, in alphabetical order.  Raises ValueError
    for an equation that does not fit the inputs, or a letter that occurs twice in one input.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    with name_scope(name, "einsum", [equation, *inputs]):
        tensors = [convert_to_tensor(value, name="input") for value in inputs]
        labels, output = _parsed(equation, tensors)
        sizes = _Sizes(tensors, labels)
        x, of_x = tensors[0], labels[0]
        for index in range(1, len(tensors)):
            later = {label for one in labels[index + 1:] for label in one}
            x, of_x = _product(x, of_x, tensors[index], labels[index], later | set(output), sizes)
        x, of_x = _summed(x, of_x, set(output))
        return _ordered(x, of_x, output)
