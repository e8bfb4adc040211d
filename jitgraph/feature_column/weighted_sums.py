"""Weighted sums of columns: ``linear_model``, whose variables stand in variable scopes, and the layer of linear models."""
from __future__ import annotations

from typing import Any

from jitgraph.feature_column.column import CategoricalColumn, DenseColumn, in_order
from jitgraph.feature_column.dense_rows import weight_collections_of
from jitgraph.feature_column.states import LayerState, ScopeState, layer_name
from jitgraph.feature_column.transformations import FeatureTransformationCache, check_batch_sizes
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.scopes import add_to_collection, get_collection, name_scope
from jitgraph.layers.base import Layer
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from jitgraph.ops.sparse.sparse_functions import sparse_reshape
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import _PureVariableScope, get_variable_scope, variable_scope


def _rows(column: Any) -> int:
    """The number of weights of a column for one unit."""
    return column.num_buckets if isinstance(column, CategoricalColumn) else column.variable_shape.num_elements()


def _weighted_sum(column: Any, cache: FeatureTransformationCache, state: Any, combiner: str, weights: Any) -> Any:
    """[batch, units]: a column times its `weights` [rows, units]."""
    if not isinstance(column, CategoricalColumn):
        tensor = column.get_dense_tensor(cache, state)
        elements = column.variable_shape.num_elements()
        return matmul(reshape(tensor, (shape_of(tensor)[0], elements)), weights, name="weighted_sum")
    ids, id_weights = column.get_sparse_tensors(cache, state)
    ids = sparse_reshape(ids, [shape_of(ids)[0], -1])
    if id_weights is not None:
        id_weights = sparse_reshape(id_weights, [shape_of(id_weights)[0], -1])
    return safe_embedding_lookup_sparse(weights, ids, sparse_weights=id_weights, combiner=combiner, name="weighted_sum")


def _check_kind(column: Any, mark: str) -> None:
    if not isinstance(column, (DenseColumn, CategoricalColumn)):
        raise ValueError(f"Items of feature_columns must be either a {mark}DenseColumn or {mark}CategoricalColumn. Given: {column}")


def _last_part(name: str) -> str:
    return name.rsplit("/", 1)[-1]


class _Weights(Layer):
    """A variable of zeros, in a scope of its own."""

    _use_resource = True

    def __init__(self, variable: str, shape: Any, collections: list[str], trainable: bool, name: str):
        super().__init__(trainable=trainable, name=name)
        self._variable = variable
        self._shape = shape
        self._collections = collections

    def build(self, input_shape: Any) -> None:
        """Makes the variable."""
        self.made = self.add_weight(self._variable, self._shape, initializer=zeros_initializer(), trainable=self.trainable)
        for key in self._collections:
            if key != GraphKeys.GLOBAL_VARIABLES:
                for part in parts_of(self.made):
                    add_to_collection(key, part)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The variable."""
        return self.made


class _ColumnSum(_Weights):
    """The weighted sum of one column."""

    def __init__(self, column: Any, units: int, combiner: str, collections: list[str], trainable: bool, name: str):
        super().__init__("weights", [_rows(column), units], collections, trainable, name)
        self.column = column
        self._combiner = combiner

    def call(self, inputs: Any) -> Any:
        """[batch, units] of the features in the cache `inputs`."""
        state = ScopeState(self._collections, self.trainable)
        return _weighted_sum(self.column, inputs, state, self._combiner, self.made)


def parts_of(variable: Any) -> list[Any]:
    """The variables that a variable is made of: a partitioned one of several."""
    return [variable] if hasattr(variable, "op") else list(variable)


def linear_model(features: dict[str, Any], feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
                 weight_collections: Any = None, trainable: bool = True, cols_to_vars: dict | None = None) -> Any:
    """The sum of all columns times weights, and a bias: float32 [batch, units].

    Weights and bias begin as zeros, as ``COLUMN/weights`` and ``bias_weights`` in the scope ``linear_model``.
    `sparse_combiner`: how the weights of an example's ids are joined, "sum", "mean" or "sqrtn".  `cols_to_vars` is a dict that
    is filled, with the bias under "bias".  Raises ValueError for columns that are neither dense nor categorical.
    """
    with variable_scope(None, "linear_model") as scope:
        name = _last_part(scope.name)
    return weighted_sums(features, feature_columns, units, sparse_combiner, name, cols_to_vars, weight_collections, trainable)


def weighted_sums(features: dict[str, Any], feature_columns: Any, units: int, sparse_combiner: str, name: str,
                  cols_to_vars: dict | None = None, weight_collections: Any = None, trainable: bool = True) -> Any:
    """``linear_model`` in the scope `name`."""
    collections = weight_collections_of(weight_collections)
    sums: list[_ColumnSum] = []
    for column in in_order(feature_columns, "_FeatureColumn"):
        with variable_scope(None, default_name=column._var_scope_name) as column_scope:
            own = _last_part(column_scope.name)
        _check_kind(column, "_")
        sums.append(_ColumnSum(column, units, sparse_combiner, collections, trainable, own))
    bias = _Weights("bias_weights", [units], collections, trainable, "bias_layer")
    variables: dict[Any, Any] = {}
    with name_scope(name), variable_scope(name):
        cache = FeatureTransformationCache(features)
        sums.sort(key=lambda layer: layer.name)
        found = []
        for layer in sums:
            found.append(layer(cache))
            variables[layer.column] = get_collection(GraphKeys.GLOBAL_VARIABLES, scope=layer.scope_name)
        check_batch_sizes(found, [layer.column for layer in sums])
        without = add_n(found, name="weighted_sum_no_bias")
        result = bias_add(without, bias(cache, scope=get_variable_scope()), name="weighted_sum")
        variables["bias"] = parts_of(bias.variables[0])
    if cols_to_vars is not None:
        cols_to_vars.update(variables)
    return result


class LinearModel:
    """``linear_model`` as a layer, whose variables (resource variables) are made at the first call."""

    def __init__(self, feature_columns: Any, units: int = 1, sparse_combiner: str = "sum", trainable: bool = True,
                 name: str | None = None):
        self.name = layer_name(name, "linear_model")
        self.feature_columns = in_order(feature_columns, "FeatureColumn")
        for column in self.feature_columns:
            _check_kind(column, "")
        self._units = units
        self._combiner = sparse_combiner
        self._trainable = trainable
        self._state = LayerState(trainable)
        self.bias: Any = None

    @property
    def variables(self) -> list[Any]:
        """The weights of the columns in order, and the bias."""
        return list(self._state.made)

    weights = variables

    def _build(self) -> None:
        with _PureVariableScope(self.name):
            for column in self.feature_columns:
                with _PureVariableScope(column.name):
                    column.create_state(self._state)
                    self._state.create_variable(column, "weights", (_rows(column), self._units), dtype=dtypes.float32,
                                                initializer=zeros_initializer(), trainable=self._trainable)
            self.bias = self._state.create_variable(None, "bias_weights", [self._units], dtype=dtypes.float32,
                                                    initializer=zeros_initializer(), trainable=self._trainable)

    def __call__(self, features: Any) -> Any:
        """[batch, units].  Raises ValueError if `features` are no dict."""
        with name_scope(self.name), name_scope(self.name):
            if self.bias is None:
                self._build()
            if not isinstance(features, dict):
                raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
            with name_scope(self.name):
                return self._sum(FeatureTransformationCache(features))

    def _sum(self, cache: FeatureTransformationCache) -> Any:
        found = []
        for column in self.feature_columns:
            with name_scope(column.name):
                weights = self._state.get_variable(column, "weights")
                found.append(_weighted_sum(column, cache, self._state, self._combiner, weights))
        check_batch_sizes(found, self.feature_columns)
        return bias_add(add_n(found, name="weighted_sum_no_bias"), self.bias, name="weighted_sum")
