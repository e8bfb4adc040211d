"""Whether the variables of a conditional or a loop have the same structure and dtypes each way."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jitgraph.autograph.values import Undefined, UndefinedReturnValue
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor


def check_branch(values: Sequence, branch: str) -> None:
    """Raises ValueError for a variable, or a result of the function, that a branch of an if over a tensor does not set."""
    undefined = tuple(value.symbol_name for value in values if isinstance(value, Undefined))
    if undefined:
        raise ValueError(f"The following symbols must also be initialized in the {branch} branch: {undefined}. Alternatively, "
                         "you may initialize them before the if statement.")
    if any(isinstance(value, UndefinedReturnValue) for value in values):
        raise ValueError(f"A value must also be returned from the {branch} branch. If a value is returned from one branch of a "
                         "conditional a value must be returned from all branches.")


def check_branches(one: Sequence, other: Sequence, names: Sequence[str]) -> None:
    """Raises TypeError where the branches of an if over a tensor differ in structure or dtypes."""
    for mine, theirs, name in zip(one, other, names):
        try:
            nest.assert_same_structure(mine, theirs, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(f'"{name}" does not have the same nested structure in the TRUE and FALSE branches.\n\n'
                            f"{error}") from None
        for a, b in _tensors(mine, theirs):
            if a.dtype != b.dtype:
                raise TypeError(f'"{name}" has dtype {a.dtype.name} in the TRUE branch, but dtype={b.dtype.name} in the FALSE '
                                "branch. TensorFlow control flow requires that they are the same.")


def check_loop_start(values: Sequence) -> None:
    """Raises ValueError for variables that are not set before a loop over tensors."""
    undefined = tuple(value.symbol_name for value in values if isinstance(value, Undefined))
    if undefined:
        raise ValueError(f"TensorFlow requires that the following symbols must be defined before the loop: {undefined}")
    if any(isinstance(value, UndefinedReturnValue) for value in values):
        raise ValueError("return statements are not supported within a TensorFlow loop.")


def check_turn(before: Sequence, after: Sequence, names: Sequence[Any], with_shapes: bool = True) -> None:
    """Raises TypeError or ValueError where a turn of a loop changes structure, dtype or shape of a variable."""
    for start, end, name in zip(before, after, names):
        try:
            nest.assert_same_structure(start, end, expand_composites=True)
        except (ValueError, TypeError) as error:
            raise TypeError(f'"{name}" does not have the same nested structure after one iteration.\n\n{error}') from None
        for a, b in _tensors(start, end):
            if a.dtype != b.dtype:
                raise TypeError(f'"{name}" has dtype {a.dtype.name} before the loop, but dtype {b.dtype.name} after one '
                                "iteration. TensorFlow control flow requires it stays the same.")
            if with_shapes and not _at_least(a.shape, b.shape):
                raise ValueError(f'"{name}" has shape {a.shape} before the loop, but shape {b.shape} after one iteration. '
                                 "TensorFlow control flow requires it stays the same or be more specific.")


def _tensors(one: Any, other: Any) -> list[tuple[Tensor, Tensor]]:
    pairs = zip(nest.flatten(one), nest.flatten(other))
    made = [tuple(convert_to_tensor(value) if isinstance(value, (bool, int, float, str)) else value for value in pair)
            for pair in pairs]
    return [(a, b) for a, b in made if all(hasattr(each, "dtype") and hasattr(each, "shape") for each in (a, b))]


def _at_least(general: Any, special: Any) -> bool:
    if general.dims is None:
        return True
    return general.ndims == special.ndims and all(a.value is None or a.value == b.value
                                                  for a, b in zip(general.dims, special.dims))
