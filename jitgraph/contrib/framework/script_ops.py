"""Python functions of nested structures of tensors as nodes of the graph."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.graph import structures as nest
from jitgraph.graph.shapes import as_shape
from jitgraph.ops.host.python_function import py_func


def contrib_py_func(func: Callable, args: Any = (), kwargs: dict | None = None, output_types: Any = None,
                    output_shapes: Any = None, stateful: bool = True, name: str | None = None) -> Any:
    """``func(*args, **kwargs)`` on NumPy arrays, for structures of tensors, as a structure of `output_types`.

    `output_types` and `output_shapes` are structures, or functions of the arguments that give them.  Raises TypeError for args
    that are no list and kwargs that are no dict.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes
    given = (args, kwargs)

    def flattened(*values: Any) -> list:
        own, named = nest.pack_sequence_as(given, list(values))
        return nest.flatten_up_to(types, func(*own, **named))

    found = py_func(flattened, nest.flatten(given), nest.flatten(types), stateful=stateful, name=name)
    if shapes is not None:
        wanted = nest.flatten(nest.map_structure_up_to(types, as_shape, shapes))
        for value, shape in zip(found, wanted):
            value.set_shape(shape)
    return nest.pack_sequence_as(types, found)
