"""Dense columns side by side: ``input_layer``, whose variables stand in variable scopes, and the layers of models."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph.feature_column.column import DenseColumn, SequenceDenseColumn, in_order
from jitgraph.feature_column.states import LayerState, ScopeState, layer_name
from jitgraph.feature_column.transformations import FeatureTransformationCache, check_batch_sizes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import control_dependencies, get_collection, name_scope
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_equal
from jitgraph.variables.template import make_template
from jitgraph.variables.variable_scopes import _PureVariableScope, get_variable_scope, variable_scope

_ADVICE = "You can wrap a categorical column with an embedding_column or indicator_column."


def weight_collections_of(given: Any) -> list[str]:
    """The collections that the variables of columns join: `given`, and those of global and of model variables."""
    found = list(given or [])
    return found + [key for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES) if key not in found]


def _dense_columns(feature_columns: Any) -> list[Any]:
    """The columns in the order of their names.  Raises ValueError for those that are not dense."""
    columns = in_order(feature_columns, "_FeatureColumn")
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(f"Items of feature_columns must be a _DenseColumn. {_ADVICE} Given: {column}")
    return columns


def _dense(features: Any, feature_columns: Any, weight_collections: Any = None, trainable: bool = True,
           cols_to_vars: dict | None = None, cols_to_output_tensors: dict | None = None, note: Callable | None = None) -> Any:
    """The columns side by side, each in a variable scope of its name; `note` is told features, columns, and their tensors."""
    columns = _dense_columns(feature_columns)
    state = ScopeState(weight_collections_of(weight_collections), trainable)
    cache = FeatureTransformationCache(features)
    found: list[Any] = []
    for column in columns:
        with variable_scope(None, default_name=column._var_scope_name):
            tensor = column.get_dense_tensor(cache, state)
            elements = column.variable_shape.num_elements()
            batch_size = shape_of(tensor)[0]
            found.append(reshape(tensor, (batch_size, elements)))
            if cols_to_vars is not None:
                cols_to_vars[column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=get_variable_scope().name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = found[-1]
    check_batch_sizes(found, columns)
    whole = concat(found, 1)
    if note is not None:
        note(features, feature_columns, dict(zip(columns, found)))
    return whole


def input_layer(features: dict[str, Any], feature_columns: Any, weight_collections: Any = None, trainable: bool = True,
                cols_to_vars: dict | None = None, cols_to_output_tensors: dict | None = None) -> Any:
    """What dense columns make of `features` {key: tensor}, side by side in the order of their names: float32 [batch, n].

    `weight_collections`: what their variables join beside those of global and of model variables; `cols_to_vars` and
    `cols_to_output_tensors` are dicts that are filled.  Raises ValueError for columns that are not dense, for two of a name,
    and if batch sizes differ.
    """
    columns = _dense_columns(feature_columns)       # before the scope: a call that is refused takes no name
    with variable_scope(None, default_name="input_layer", values=features.values()):
        return _dense(features, columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors)


class InputLayer:
    """``input_layer`` with variables that later calls share, as those of a template."""

    def __init__(self, feature_columns: Any, weight_collections: Any = None, trainable: bool = True,
                 cols_to_vars: dict | None = None, name: str = "feature_column_input_layer", create_scope_now: bool = True):
        self.name = name
        self._template = make_template(name, _dense, create_scope_now_=create_scope_now, feature_columns=feature_columns,
                                       weight_collections=weight_collections, trainable=trainable)

    def __call__(self, features: dict[str, Any]) -> Any:
        """What the columns make of `features`: [batch, n]."""
        return self._template(features)

    def noted(self, features: dict[str, Any], note: Callable | None) -> Any:
        """The same; `note` is told features, columns and {column: what it makes of them}."""
        return self._template(features, note=note)

    def __getattr__(self, name: str) -> Any:
        if name in ("trainable_variables", "trainable_weights", "non_trainable_variables", "non_trainable_weights", "variables",
                    "weights"):
            return getattr(self._template, name)
        raise AttributeError(name)


class _Features:
    """Columns side by side as a layer: its variables are made at the first call, in the scopes LAYER/COLUMN."""

    kind: Any
    snake_name: str

    def __init__(self, feature_columns: Any, trainable: bool = True, name: str | None = None):
        self.name = layer_name(name, self.snake_name)
        self.feature_columns = in_order(feature_columns, "FeatureColumn")
        self.state = LayerState(trainable)
        self._built = False
        for column in self.feature_columns:
            if not isinstance(column, self.kind):
                raise ValueError(f"Items of feature_columns must be a {self.kind}. {_ADVICE} Given: {column}")

    @property
    def variables(self) -> list[Any]:
        """The variables of the columns, in their order: none before the first call."""
        return list(self.state.made)

    weights = variables

    @property
    def trainable_variables(self) -> list[Any]:
        """Those of them that are trained."""
        return [variable for variable in self.state.made if variable.trainable]

    trainable_weights = trainable_variables

    def _build(self) -> None:
        if self._built:
            return
        for column in self.feature_columns:
            with _PureVariableScope(self.name), _PureVariableScope(column.name):
                column.create_state(self.state)
        self._built = True

    def _called(self, features: Any, *further: Any) -> Any:
        with name_scope(self.name):
            self._build()
            if not isinstance(features, dict):
                raise ValueError("We expected a dictionary here. Instead we got: ", features)
            return self.call(FeatureTransformationCache(features), *further)

    def __call__(self, features: Any) -> Any:
        """What the columns make of `features`.  Raises ValueError if they are no dict."""
        return self._called(features)

    def call(self, cache: FeatureTransformationCache, *further: Any) -> Any:
        """What the columns make of the features in `cache`."""
        raise NotImplementedError


class DenseFeatures(_Features):
    """Dense columns side by side: float32 [batch, n]."""

    kind = DenseColumn
    snake_name = "dense_features"

    def __call__(self, features: Any, cols_to_output_tensors: dict | None = None) -> Any:
        """What the columns make of `features`; `cols_to_output_tensors` is filled with what each makes, [batch, its numbers].

        Raises ValueError if `features` are no dict.
        """
        return self._called(features, cols_to_output_tensors)

    def compute_output_shape(self, input_shape: Any) -> tuple:
        """(batch, n) for the shape of a batch: only its first dimension counts."""
        return input_shape[0], sum(column.variable_shape.num_elements() for column in self.feature_columns)

    def call(self, cache: FeatureTransformationCache, cols_to_output_tensors: dict | None = None) -> Any:
        """[batch, n]."""
        found = []
        for column in self.feature_columns:
            with name_scope(column.name):
                tensor = column.get_dense_tensor(cache, self.state)
                elements = column.variable_shape.num_elements()
                found.append(reshape(tensor, (shape_of(tensor)[0], elements)))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = found[-1]
        check_batch_sizes(found, self.feature_columns)
        return concat(found, -1)


class SequenceFeatures(_Features):
    """Columns of sequences side by side: (float32 [batch, steps, n], the int64 lengths [batch])."""

    kind = SequenceDenseColumn
    snake_name = "sequence_features"

    def call(self, cache: FeatureTransformationCache, *further: Any) -> Any:
        """([batch, steps, n], lengths); that the columns' lengths are equal is checked when it runs."""
        found, lengths = [], []
        for column in self.feature_columns:
            with name_scope(column.name):
                tensor, length = column.get_sequence_dense_tensor(cache, self.state)
                elements = column.variable_shape.num_elements()
                shape = shape_of(tensor)
                found.append(reshape(tensor, (shape[0], shape[1], elements)))
                lengths.append(length)
        check_batch_sizes(lengths, self.feature_columns)
        length = all_equal(lengths)
        check_batch_sizes(found, self.feature_columns)
        return concat(found, -1), length


def all_equal(tensors: list[Any], name: str | None = None) -> Any:
    """The first of tensors, after a check that the others equal it."""
    with name_scope(name, "assert_all_equal", values=tensors):
        if len(tensors) == 1:
            return tensors[0]
        with control_dependencies([assert_equal(tensors[0], other) for other in tensors[1:]]):
            return identity(tensors[0])
