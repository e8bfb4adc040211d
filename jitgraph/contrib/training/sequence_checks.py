"""Shapes of sequences that a run checks before they are cut into segments."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.shape import size
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.compare import equal, logical_and, not_equal
from jitgraph.ops.reduce.reductions import reduce_all
from jitgraph.ops.strings.string_split import string_join
from jitgraph.ops.strings.strings import as_string


class SequenceInputs:
    """One example: its length, its key, sequences {name: tensor [time, ...]} and context {name: tensor}.

    Raises TypeError for what is no dict, and for names that are no strings; ValueError for names with a colon, and without
    sequences.
    """

    def __init__(self, length: Any, key: Any, sequences: Any, context: Any):
        self.length = convert_to_tensor(length, name="length")
        self.key = convert_to_tensor(key, name="key")
        for what, given in (("sequences", sequences), ("context", context)):
            if not isinstance(given, dict):
                raise TypeError(f"{what} must be a dict")
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        check_names(sequences, "sequence key")
        check_names(context, "context key")
        self.sequences = {name: convert_to_tensor(value, name=f"sequence_{name}") for name, value in sequences.items()}
        self.context = {name: convert_to_tensor(value, name=f"context_{name}") for name, value in context.items()}


def check_names(names: Any, what: str) -> None:
    """Raises TypeError for names that are no strings, ValueError for those with a colon."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be {'a ' if what == 'state name' else ''}string: {name}")
        if ":" in name:
            raise ValueError(f"{what} may not have a colon: '{name}'")


def check_defined(what: str, tensors: dict[str, Any], but_first: bool = False) -> None:
    """Raises ValueError for tensors whose shape is not fully known, its first dimension left aside if `but_first`."""
    for name, value in tensors.items():
        if not value.get_shape()[int(but_first):].is_fully_defined():
            note = "(ignoring first dimension)" if but_first else ""
            raise ValueError(f"Shape for {what} {name} is not fully defined {note}: {value.get_shape()}")


def multiple_of(value: Tensor, factor: Any) -> Tensor:
    """`value` after a check that it is a multiple of `factor` and not 0."""
    fits = logical_and(equal(value % factor, 0), not_equal(value, 0))
    said = string_join([f"Tensor {value.name} should be a multiple of: ", as_string(factor), ", but saw value: ", as_string(value),
                        ". Consider setting pad=True."])
    with control_dependencies([Assert(fits, [said])]):
        return identity(value, name="multiple_of_checked")


def of_rank(value: Tensor, rank: Any) -> Tensor:
    """`value` after a check of its rank, a number or an int32 tensor.  Raises ValueError if it is known to differ."""
    said = string_join([f"Rank of tensor {value.name} should be: ", as_string(rank), ", shape received:"])
    with control_dependencies([Assert(equal(rank, rank_of(value)), [said, shape_of(value)])]):
        checked = identity(value, name="rank_checked")
    known = constant_value(rank) if isinstance(rank, Tensor) else rank
    if known is not None:
        try:
            checked.set_shape(checked.get_shape().with_rank(int(known)))
        except ValueError as error:
            raise ValueError(f"Rank check failed for {value.name}: {error}") from None
    return checked


def of_shape(value: Tensor, shape: Tensor) -> Tensor:
    """`value` after a check that its shape is the int32 tensor `shape`.  Raises ValueError if it is known to differ."""
    known = constant_value(shape)
    wanted: Any = shape if known is None else [int(d) for d in known]
    value = of_rank(value, size(wanted) if known is None else len(wanted))
    said = string_join([f"Shape of tensor {value.name} should be: ", as_string(wanted), ", shape received: ",
                        as_string(shape_of(value))])
    with control_dependencies([Assert(reduce_all(equal(wanted, shape_of(value))), [said])]):
        checked = identity(value, name="shape_checked")
    if known is not None:
        try:
            checked.set_shape(checked.get_shape().merge_with(wanted))
        except ValueError as error:
            raise ValueError(f"Shape check failed for {value.name}: {error}") from None
    return checked


def of_sizes(value: Tensor, sizes: list[Any], label: str) -> Tensor:
    """`value` after a check of its first sizes, numbers or int32 tensors.  Raises ValueError if they are known to differ."""
    shape = value.get_shape()
    if shape.ndims is not None:
        if shape.ndims < len(sizes):
            raise ValueError(f"{label}: rank of input is not greater than max(dimensions): {shape.ndims} vs. {len(sizes) - 1}")
        wanted = [known if isinstance(wish, Tensor) else wish for known, wish in zip(shape.as_list(), sizes)]
        try:
            value.set_shape(shape.merge_with(wanted + shape.as_list()[len(sizes):]))
        except ValueError as error:
            raise ValueError(f"Dimensions check failed for {label}: {error}") from None
    checks = []
    for axis, wish in enumerate(sizes):
        said = string_join([f"Dimension {axis} of tensor labeled {label} should be: ", as_string(wish), ", shape received: ",
                            as_string(shape_of(value))])
        checks.append(Assert(equal(wish, shape_of(value)[axis]), [said]))
    with control_dependencies(checks):
        return identity(value, name=f"dims_checked_{label}")
