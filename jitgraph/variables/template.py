"""``tf.make_template``: a function whose variables are made at the first call and shared by all later ones."""
from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.variables.variable_scopes import VariableScope, _PureVariableScope, _unique_scope_name, variable_scope


class Template:
    """The function that ``make_template`` gives; it knows its ``name``, ``variable_scope`` and ``variables``."""

    def __init__(self, name: str, function: Callable, create_scope_now: bool, unique_name: str | None,
                 custom_getter: Any):
        if name is None:
            raise ValueError("name cannot be None.")
        self._name = name
        self._function = function
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._called = False
        self._made: list[traceback.FrameSummary] = traceback.extract_stack()[:-1]
        self._variable_scope: VariableScope | None = None
        if create_scope_now:
            with _PureVariableScope(unique_name or _unique_scope_name(name),
                                    overrides={"custom_getter": custom_getter}) as scope:
                self._variable_scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns.  An error says also where the template was made."""
        try:
            return self._call(args, kwargs)
        except Exception as error:
            stated = error.args[0] if error.args else ""
            made = "".join(traceback.format_list(self._made[_common(self._made, traceback.extract_stack()):]))
            error.args = (f"{stated}\n\noriginally defined at:\n{made}", *error.args[1:])
            raise

    def _call(self, args: tuple, kwargs: dict) -> Any:
        if self._variable_scope is None:
            with variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter) as scope:
                self._variable_scope = scope
                result = self._function(*args, **kwargs)
                self._called = True
                return result
        with variable_scope(self._variable_scope, reuse=self._called):
            before = len(get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES))
            result = self._function(*args, **kwargs)
            if self._called and len(get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES)) != before:
                raise ValueError("New variable created when calling a template after the first time, perhaps you used "
                                 f"tf.Variable when you meant tf.get_variable: template {self._name}")
            self._called = True
            return result

    @property
    def name(self) -> str:
        """The name it was made with."""
        return self._name

    @property
    def variable_scope(self) -> VariableScope | None:
        """Its variable scope, None before the first call."""
        return self._variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The name of its variable scope."""
        return None if self._variable_scope is None else self._variable_scope.name

    @property
    def var_scope(self) -> VariableScope | None:
        """The older name of ``variable_scope``."""
        return self._variable_scope

    @property
    def func(self) -> Callable:
        """The function that it calls."""
        return self._function

    def _members(self, key: str) -> list:
        if self._variable_scope is None:
            return []
        return get_default_graph().get_collection(key, self._variable_scope.name + "/")

    @property
    def variables(self) -> list:
        """Its global variables."""
        return self._members(GraphKeys.GLOBAL_VARIABLES)

    weights = global_variables = variables

    @property
    def trainable_variables(self) -> list:
        """Its trainable variables."""
        return self._members(GraphKeys.TRAINABLE_VARIABLES)

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list:
        """Its global variables that are not trainable."""
        trainable = self.trainable_variables
        return [v for v in self.variables if not any(v is t for t in trainable)]

    non_trainable_weights = non_trainable_variables

    @property
    def local_variables(self) -> list:
        """Its local variables."""
        return self._members(GraphKeys.LOCAL_VARIABLES)


def _common(first: list[traceback.FrameSummary], second: list[traceback.FrameSummary]) -> int:
    """How many frames two stacks have in common, from the outermost on."""
    return next((k for k, (a, b) in enumerate(zip(first, second)) if a != b), min(len(first), len(second)))


def make_template(name_: str, func_: Callable, create_scope_now_: bool = False, unique_name_: str | None = None,
                  custom_getter_: Any = None, **kwargs: Any) -> Template:
    """A function like `func_` (with `kwargs` bound) that makes its variables once and shares them afterwards.

    Variables must be made with ``tf.get_variable``; a ``tf.Variable`` in a later call raises ValueError.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)
