"""Where the variables of columns are made: in the variable scope of a call, or by a layer."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import float32
from jitgraph.variables.variable_scopes import get_variable

_NAMES_IN_USE = object()


def layer_name(name: str | None, kind: str) -> str:
    """The name of a layer of columns: `name`, or one that no other of its kind in the graph has, "dense_features_1"."""
    if name:
        return name
    counts: dict[str, int] = get_default_graph().per_graph(_NAMES_IN_USE, dict)
    counts[kind] = counts.get(kind, -1) + 1
    return f"{kind}_{counts[kind]}" if counts[kind] else kind


class _State:
    """What both kinds share: the name by which TensorFlow's columns ask whether variables are trained."""

    trainable: Any

    @property
    def _trainable(self) -> Any:
        return self.trainable


class ScopeState(_State):
    """The variables of ``input_layer``: made, or shared, in the current variable scope where they are first needed."""

    def __init__(self, weight_collections: Any = None, trainable: Any = True):
        self.collections = None if weight_collections is None else list(weight_collections)
        if self.collections and GraphKeys.GLOBAL_VARIABLES not in self.collections:
            self.collections.append(GraphKeys.GLOBAL_VARIABLES)
        self.trainable = trainable
        self._made: Any = None
        self._resources: dict[tuple[Any, str], Any] = {}

    def create_variable(self, column: Any, name: str, shape: Any, dtype: Any = None, trainable: bool = True,
                        use_resource: bool | None = None, initializer: Any = None) -> Any:
        """The variable `name` of the current scope."""
        self._made = get_variable(name, shape=shape, dtype=float32 if dtype is None else dtype, initializer=initializer,
                                  trainable=trainable and self.trainable, collections=self.collections)
        return self._made

    def get_variable(self, column: Any, name: str) -> Any:
        """The one variable that ``column.create_state`` makes."""
        column.create_state(self)
        return self._made

    def add_resource(self, column: Any, name: str, resource: Any) -> None:
        """Keeps a table, or what else a column makes."""
        self._resources[column, name] = resource

    def get_resource(self, column: Any, name: str) -> Any:
        """What ``column.create_state`` keeps by that name.  Raises ValueError if it keeps nothing."""
        if (column, name) not in self._resources:
            column.create_state(self)
        if (column, name) not in self._resources:
            raise ValueError("Resource does not exist.")
        return self._resources[column, name]


class LayerState(_State):
    """The variables that a layer made for its columns, by column and name."""

    def __init__(self, trainable: bool):
        self.trainable = trainable
        self.made: list[Any] = []
        self._variables: dict[tuple[Any, str], Any] = {}
        self._resources: dict[tuple[Any, str], Any] = {}

    def create_variable(self, column: Any, name: str, shape: Any, dtype: Any = None, trainable: bool = True,
                        use_resource: bool | None = True, initializer: Any = None) -> Any:
        """A new variable of the current scope.  Raises ValueError if the column has one of that name."""
        if (column, name) in self._variables:
            raise ValueError("Variable already exists.")
        variable = get_variable(name, shape=shape, dtype=float32 if dtype is None else dtype, initializer=initializer,
                                trainable=self.trainable and trainable, use_resource=use_resource)
        self._variables[column, name] = variable
        self.made.append(variable)
        return variable

    def get_variable(self, column: Any, name: str) -> Any:
        """The variable `name` of a column.  Raises ValueError if it was not made."""
        if (column, name) not in self._variables:
            raise ValueError("Variable does not exist.")
        return self._variables[column, name]

    def add_resource(self, column: Any, name: str, resource: Any) -> None:
        """Keeps a table of a column."""
        self._resources[column, name] = resource

    def get_resource(self, column: Any, name: str) -> Any:
        """The table `name` of a column.  Raises ValueError if there is none."""
        if (column, name) not in self._resources:
            raise ValueError("Resource does not exist.")
        return self._resources[column, name]
