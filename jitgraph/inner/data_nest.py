"""``tensorflow.python.data.util.nest``: structures as datasets have them, in which a list is a leaf."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.data.structure import assert_same, flatten, flatten_up_to, is_nested, pack

is_sequence = is_nested


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raises ValueError if two structures differ in their parts, TypeError if in their types."""
    assert_same(nest1, nest2)


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """A structure like `structure` with other leaves.  Raises ValueError for another number of them."""
    leaves = list(flat_sequence)
    if not is_nested(structure) and len(leaves) != 1:
        raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(leaves)} > 1")
    if len(leaves) != len(flatten(structure)):
        raise ValueError(f"Could not pack sequence. Structure had {len(flatten(structure))} elements, but flat_sequence had "
                         f"{len(leaves)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    return pack(structure, leaves)


def map_structure(func: Callable, *structure: Any, check_types: bool = True) -> Any:
    """`func` of the corresponding leaves, in the structure of the first."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same(structure[0], other)
    return pack(structure[0], [func(*leaves) for leaves in zip(*map(flatten, structure))])


def map_structure_up_to(shallow_tree: Any, func: Callable, *inputs: Any) -> Any:
    """`func` of the corresponding parts of `inputs`, as deep as `shallow_tree` goes, in its structure."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    flat = [flatten_up_to(shallow_tree, one) for one in inputs]
    return pack(shallow_tree, [func(*parts) for parts in zip(*flat)])
