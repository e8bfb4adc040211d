"""Names of ``tensorflow.python.util.nest`` that ``tf.nest`` does not have."""
from __future__ import annotations

import collections
from typing import Any

from jitgraph.graph.structures import flatten, flatten_up_to, is_composite, is_sequence, pack_sequence_as


def flatten_dict_items(dictionary: dict) -> dict:
    """{each element of a key: that of its value}, of keys and values that may be structures.

    Raises TypeError for what is no dict, ValueError if a key and its value have different lengths, or an element comes twice.
    """
    if not isinstance(dictionary, (dict, collections.abc.Mapping)):
        raise TypeError("input must be a dictionary")
    flat: dict = {}
    for key, value in dictionary.items():
        keys, values = ([key], [value]) if not is_sequence(key) else (flatten(key), flatten(value))
        if len(keys) != len(values):
            raise ValueError(f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements. "
                             f"Key: {keys}, value: {values}.")
        for one, its in zip(keys, values):
            if one in flat:
                raise ValueError(f"Could not flatten dictionary: key {one} is not unique.")
            flat[one] = its
    return flat


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False,
                             check_subtrees_length: bool = True) -> None:
    """Raises TypeError, ValueError unless `input_tree` has the structure `shallow_tree`, below which it may go on."""
    flatten_up_to(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)


def _sequence_like(instance: Any, args: Any) -> Any:
    """The elements `args` in a structure like `instance`."""
    return pack_sequence_as(instance, list(args)) if not any(map(is_sequence, instance)) else type(instance)(args)


def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether an object is a namedtuple."""
    return isinstance(instance, tuple) and hasattr(instance, "_fields") and (not strict or type(instance).__base__ is tuple)


def flatten_with_tuple_paths(structure: Any, expand_composites: bool = False) -> list:
    """[(the keys on the way, the element)] for each element."""
    return list(_paths(structure, (), expand_composites))


def flatten_with_joined_string_paths(structure: Any, separator: str = "/", expand_composites: bool = False) -> list:
    """[(the keys on the way, joined by `separator`, the element)] for each element."""
    return [(separator.join(map(str, path)), value) for path, value in _paths(structure, (), expand_composites)]


def map_structure_with_paths(func: Any, *structure: Any, **kwargs: Any) -> Any:
    """What `func(path, elements...)` gives, in the structure of the first.  Raises TypeError, ValueError if another one differs."""
    def of_text(path: tuple, *its: Any, **others: Any) -> Any:
        return func("/".join(map(str, path)), *its, **others)

    return map_structure_with_tuple_paths(of_text, *structure, **kwargs)


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Any:
    """The keys on the way to each element, as tuples."""
    return (path for path, _ in _paths(nest, (), expand_composites))


def map_structure_with_tuple_paths(func: Any, *structure: Any, **kwargs: Any) -> Any:
    """What `func(keys on the way, elements...)` gives, in the structure of the first."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def flatten_with_tuple_paths_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False,
                                   check_subtrees_length: bool = True) -> list:
    """[(the keys on the way, what stands there in `input_tree`)] for each element of `shallow_tree`."""
    below = flatten_up_to(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return list(zip(yield_flat_paths(shallow_tree, expand_composites), below))


def map_structure_with_tuple_paths_up_to(shallow_tree: Any, func: Any, *inputs: Any, check_types: bool = True,
                                         expand_composites: bool = False, check_subtrees_length: bool = True, **kwargs: Any) -> Any:
    """What `func(keys on the way, what stands there in each of the inputs...)` gives, in the structure of `shallow_tree`.

    Raises ValueError without inputs, TypeError or ValueError if one of them has another structure.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    below = [flatten_up_to(shallow_tree, one, check_types, expand_composites, check_subtrees_length) for one in inputs]
    found = [func(path, *its, **kwargs) for path, *its in zip(yield_flat_paths(shallow_tree, expand_composites), *below)]
    return pack_sequence_as(shallow_tree, found, expand_composites)


def get_traverse_shallow_structure(traverse_fn: Any, structure: Any, expand_composites: bool = False) -> Any:
    """Bools in the structure down to where `traverse_fn` of a part is False; it may give a structure of bools for the parts.

    Raises TypeError if it gives anything else, ValueError for a structure of another length.
    """
    chosen = traverse_fn(structure)
    if not is_sequence(structure):
        if not isinstance(chosen, bool):
            raise TypeError(f"traverse_fn returned structure: {chosen} for non-structure: {structure}")
        return chosen
    if not is_sequence(chosen):
        if not isinstance(chosen, bool):
            raise TypeError(f"traverse_fn returned a non-bool scalar: {chosen} for input: {structure}")
        if not chosen:
            return False
        chosen = [True] * len(structure)
    else:
        assert_shallow_structure(chosen, structure)
    parts = [structure[key] for key in structure] if isinstance(structure, collections.abc.Mapping) else list(structure)
    wanted = [chosen[key] for key in chosen] if isinstance(chosen, collections.abc.Mapping) else list(chosen)
    found: list = []
    for part, goes in zip(parts, wanted):
        if not isinstance(goes, bool):
            raise TypeError(f"traverse_fn didn't return a depth=1 structure of bools.  saw: {chosen}  for structure: {structure}")
        found.append(get_traverse_shallow_structure(traverse_fn, part, expand_composites) if goes else False)
    made: Any = type(structure)
    if isinstance(structure, collections.abc.Mapping):
        return made(zip(structure, found))
    return made(*found) if hasattr(structure, "_fields") else made(found)


def is_sequence_or_composite(o: Any) -> bool:
    """Whether an object is a structure or a composite tensor."""
    return is_sequence(o) or is_composite(o)


def _paths(value: Any, path: tuple, expand_composites: bool) -> Any:
    """Each element with the keys on the way: of dicts, names of fields, numbers; for a composite tensor the name of its class and
    the number of its part."""
    if is_sequence(value):
        keys = sorted(value) if isinstance(value, collections.abc.Mapping) else getattr(value, "_fields", range(len(value)))
        parts = [value[key] for key in keys] if isinstance(value, collections.abc.Mapping) else value
        for key, one in zip(keys, parts):
            yield from _paths(one, (*path, key), expand_composites)
    elif expand_composites and is_composite(value):
        for number, one in enumerate(flatten(value, expand_composites=True)):
            yield (*path, type(value).__name__, number), one
    else:
        yield path, value
