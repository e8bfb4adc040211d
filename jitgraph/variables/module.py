"""``tf.Module``: an object that holds variables and other modules, and finds them."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from jitgraph.graph.scopes import name_scope
from jitgraph.variables.variable import Variable

_INNER_CAPITAL = re.compile("((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))")
_IDENTIFIER = re.compile("^[a-zA-Z_]([a-zA-Z0-9_])*$")


class Module:
    """A named holder of variables: what its attributes hold, in lists, tuples and dicts too, and in other modules, is its own.

    The nodes of methods under ``@tf.Module.with_name_scope`` stand in the name scope of the module.
    """

    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset(["_graph_functions"])      # what tf.function keeps of its methods

    def __init__(self, name: str | None = None):
        """Raises ValueError if `name` is no identifier.  Without one, it is that of the class in snake_case."""
        if name is None:
            name = _INNER_CAPITAL.sub(r"_\1", type(self).__name__).lower()
        elif not _IDENTIFIER.match(name):
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                             "class name).")
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> Any:
        """The name that was given."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A block whose nodes stand in the name scope of the module."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """Its variables, then those of its modules; attributes in the order of their names."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of ``variables`` that optimizers change."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable) and getattr(value, "trainable", False)))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules that it holds, and those that they hold."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None,
                 attribute_traversal_key: Any = None, with_path: bool = False) -> Iterator[Any]:
        """The values that it holds for which `predicate` is true, each once; or all of them, as (path, value)."""
        accepts = predicate or (lambda value: True)
        return _held(self, recursive, accepts, attribute_traversal_key, with_path, (), {id(self)})

    def _no_dependency(self, value: Any) -> Any:
        """`value`, which is not to be searched for variables: what derives from it says so, and searches by ``_flatten``."""
        return value

    @classmethod
    def with_name_scope(cls, method: Callable) -> Callable:
        """Decorator: the nodes that a method makes stand in the name scope of the module."""

        @functools.wraps(method)
        def in_scope(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope


def _held(module: Module, recursive: bool, accepts: Callable, key: Any, with_path: bool, path: tuple, seen: set[int]) -> Iterator:
    inside = []
    for name in sorted(vars(module), key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for place, value in _leaves(vars(module)[name], (name,)):
            if not with_path:
                if id(value) in seen:
                    continue
                seen.add(id(value))
            if accepts(value):
                yield (path + place, value) if with_path else value
            if recursive and isinstance(value, Module):
                inside.append((path + place, value))
    for place, submodule in inside:
        yield from _held(submodule, recursive, accepts, key, with_path, place, seen)


def _leaves(value: Any, path: tuple) -> Iterator[tuple[tuple, Any]]:
    if isinstance(value, dict):
        for key in sorted(value):
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", range(len(value)))
        for name, one in zip(names, value):
            yield from _leaves(one, (*path, name))
    else:
        yield path, value
