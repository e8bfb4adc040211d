"""``tf.nest``: structures of tensors (lists, tuples, named tuples, dicts, views of these) taken apart and put together again.

Everything else is a leaf.  Dicts are walked in the order of their sorted keys.  With `expand_composites`, SparseTensors
and IndexedSlices are structures too, of the tensors they are made of.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, MappingView, Sequence
from typing import Any

from jitgraph.graph.composite import CompositeTensor, IndexedSlices, SparseTensor


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure rather than a leaf: a sequence, a mapping or a view of one, such as ``dict.values()``."""
    if isinstance(seq, (list, tuple, dict)):
        return True
    return isinstance(seq, (Sequence, Mapping, MappingView)) and not isinstance(seq, (str, bytes, bytearray))


def is_composite(value: Any) -> bool:
    return isinstance(value, (SparseTensor, IndexedSlices, CompositeTensor))


def _parts(structure: Any) -> list:
    """The members of a structure, one level deep."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    if isinstance(structure, SparseTensor):
        return [structure.indices, structure.values, structure.dense_shape]
    if isinstance(structure, CompositeTensor):
        return structure._parts()
    if isinstance(structure, IndexedSlices):
        return [part for part in (structure.values, structure.indices, structure.dense_shape) if part is not None]
    return list(structure)


def _sorted_keys(mapping: Mapping) -> list:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _opens(structure: Any, expand_composites: bool) -> bool:
    return is_nested(structure) or expand_composites and is_composite(structure)


def flatten(structure: Any, expand_composites: bool = False) -> list:
    """The leaves of `structure`, depth first; ``[structure]`` for a leaf."""
    if not _opens(structure, expand_composites):
        return [structure]
    found: list = []
    for part in _parts(structure):
        found.extend(flatten(part, expand_composites))
    return found


def paths(structure: Any, path: tuple = ()) -> list[tuple]:
    """Where the leaves of a structure stand in it, each as keys, names of fields and numbers from the outside in."""
    if not is_nested(structure):
        return [path]
    names = _sorted_keys(structure) if isinstance(structure, Mapping) else getattr(structure, "_fields", range(len(structure)))
    return [found for name, part in zip(names, _parts(structure)) for found in paths(part, (*path, name))]


def _rebuilt(structure: Any, parts: list) -> Any:
    """A structure like `structure` with other members."""
    if isinstance(structure, Mapping):
        by_key = dict(zip(_sorted_keys(structure), parts))
        pairs = [(key, by_key[key]) for key in structure]
        if hasattr(structure, "default_factory"):
            return type(structure)(structure.default_factory, pairs)    # type: ignore[attr-defined, call-arg]
        return type(structure)(pairs)           # type: ignore[call-arg]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*parts)
    if isinstance(structure, (SparseTensor, IndexedSlices)):
        return type(structure)(*parts)
    if isinstance(structure, CompositeTensor):
        return structure._with_parts(parts)
    if isinstance(structure, MappingView):      # which nobody can make
        return parts
    return type(structure)(parts)


def _packed(structure: Any, leaves: Any, expand_composites: bool) -> Any:
    if not _opens(structure, expand_composites):
        return next(leaves)
    return _rebuilt(structure, [_packed(part, leaves, expand_composites) for part in _parts(structure)])


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like `structure` whose leaves are those of the list `flat_sequence`.

    Raises TypeError if `flat_sequence` is no list, ValueError if it has another number of leaves.
    """
    if not is_nested(flat_sequence):
        raise TypeError(f"flat_sequence must be a sequence, not {type(flat_sequence).__name__}")
    flat_sequence = _parts(flat_sequence)
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(flat_sequence):
        if not _opens(structure, expand_composites):
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1")
        raise ValueError(f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had "
                         f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}.")
    return _packed(structure, iter(flat_sequence), expand_composites)


def map_structure(func: Callable, *structure: Any, check_types: bool = True, expand_composites: bool = False) -> Any:
    """``func`` applied to the corresponding leaves of structures, in the structure of the first.

    Raises TypeError or ValueError if they differ in structure (in kinds of sequences only with `check_types`).
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    leaves = [flatten(one, expand_composites) for one in structure]
    return pack_sequence_as(structure[0], [func(*together) for together in zip(*leaves)], expand_composites)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raises ValueError if the structures differ, TypeError if only the kinds of their sequences do."""
    problem = _difference(nest1, nest2, check_types, expand_composites)
    if problem is None:
        return
    kind, text = problem
    sketches = [_shape_of(one, expand_composites) for one in (nest1, nest2)]
    raise kind(f"The two structures don't have the same nested structure.\n\nFirst structure: {_shown(nest1)}\n\n"
               f"Second structure: {_shown(nest2)}\n\nMore specifically: {text}\nEntire first structure:\n"
               f"{sketches[0]}\nEntire second structure:\n{sketches[1]}")


def _shown(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _shape_of(structure: Any, expand_composites: bool) -> str:
    dotted = map_structure(lambda _: _Dot(), structure, expand_composites=False)
    return str(dotted)


class _Dot:
    def __repr__(self) -> str:
        return "."


def _difference(a: Any, b: Any, check_types: bool, expand_composites: bool) -> tuple[type, str] | None:
    opens = [_opens(one, expand_composites) for one in (a, b)]
    if opens[0] != opens[1]:
        nested, leaf = (a, b) if opens[0] else (b, a)
        return ValueError, f'Substructure "{_shown(nested)}" is a sequence, while substructure "{_shown(leaf)}" is not'
    if not opens[0]:
        return None
    if check_types:
        problem = _type_difference(a, b)
        if problem:
            return problem
    parts = _parts(a), _parts(b)
    if len(parts[0]) != len(parts[1]):
        return ValueError, ("The two structures don't have the same number of elements. First structure: "
                            f"{_shown(a)}. Second structure: {_shown(b)}")
    for x, y in zip(*parts):
        problem = _difference(x, y, check_types, expand_composites)
        if problem:
            return problem
    return None


def _type_difference(a: Any, b: Any) -> tuple[type, str] | None:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            return ValueError, ("The two dictionaries don't have the same set of keys. First structure has keys "
                                f"{_shown(list(a))}, while second structure has keys {_shown(list(b))}")
        return None
    named = [isinstance(one, tuple) and hasattr(one, "_fields") for one in (a, b)]
    if all(named) and type(a).__name__ == type(b).__name__ and a._fields == b._fields:
        return None
    if type(a) is not type(b):
        return TypeError, ("The two namedtuples don't have the same sequence type. First structure "
                           f"{_shown(a)} has type {type(a).__name__}, while second structure {_shown(b)} has type "
                           f"{type(b).__name__}")
    return None


def flatten_dict_items(dictionary: Any) -> dict:
    """`dictionary` with the parts of keys that are structures as keys, and the parts of their values as values.

    Raises TypeError for what is no mapping, ValueError if key and value have not as many parts, or a key is there twice.
    """
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    found: dict = {}
    for key, value in dictionary.items():
        keys, values = (flatten(key), flatten(value)) if is_nested(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError(f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements. "
                             f"Key: {keys}, value: {values}.")
        for one, of_one in zip(keys, values):
            if one in found:
                raise ValueError(f"Could not flatten dictionary: key {one} is not unique.")
            found[one] = of_one
    return found


def is_sequence(o: Any) -> bool:
    """Whether `o` is a sequence, mapping or other structure that has parts."""
    return is_nested(o)


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False,
                  check_subtrees_length: bool = True) -> list:
    """The parts of `input_tree` that stand where `shallow_tree` has leaves; more of them if not `check_subtrees_length`."""
    if not _opens(shallow_tree, expand_composites):
        return [input_tree]
    if not _opens(input_tree, expand_composites):
        raise TypeError(f"If shallow structure is a sequence, input must also be a sequence. Input has type: "
                        f"{type(input_tree)}.")
    if check_types and not isinstance(input_tree, type(shallow_tree)) and not isinstance(shallow_tree, Mapping):
        raise TypeError("The two structures don't have the same sequence type. Input structure has type "
                        f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}.")
    parts = _parts(shallow_tree), _parts(input_tree)
    if check_subtrees_length and len(parts[0]) != len(parts[1]):
        raise ValueError("The two structures don't have the same sequence length. Input structure has length "
                         f"{len(parts[1])}, while shallow structure has length {len(parts[0])}.")
    if check_types and isinstance(shallow_tree, Mapping) and isinstance(input_tree, Mapping):
        absent = sorted({*shallow_tree} - {*input_tree})
        if absent:
            raise ValueError("The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the "
                             f"following keys that are not in the input_tree: {absent}.")
    found: list = []
    for shallow, deep in zip(*parts):
        found.extend(flatten_up_to(shallow, deep, check_types, expand_composites, check_subtrees_length))
    return found


def map_structure_up_to(shallow_tree: Any, func: Callable, *inputs: Any, check_types: bool = True,
                        expand_composites: bool = False) -> Any:
    """``func`` applied to the parts of `inputs` where `shallow_tree` has leaves, in the structure of `shallow_tree`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow_tree, one, check_types, expand_composites) for one in inputs]
    return pack_sequence_as(shallow_tree, [func(*together) for together in zip(*parts)], expand_composites)
