"""What all columns share: a column is a named tuple that says how features become ids or numbers, and holds no tensors.

Tensors are kept by a FeatureTransformationCache, variables by a state manager.  The methods that begin with an underscore
are those of TensorFlow's older columns, in terms of the newer ones.
"""
from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

_OLDER = {"_transform_feature", "_get_dense_tensor", "_get_sparse_tensors", "_get_sequence_dense_tensor"}

IdWeightPair = collections.namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))
TensorSequenceLengthPair = collections.namedtuple("TensorSequenceLengthPair", ("dense_tensor", "sequence_length"))


class FeatureColumn:
    """A column: ``name``, ``parse_example_spec`` {key: how to parse it}, ``parents`` (keys and columns that it is made of)."""

    name: str
    parents: list[Any]
    in_scopes = True                    # whether input_layer and linear_model take it
    in_layers = True                    # whether DenseFeatures and LinearModel take it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__ != __name__ and _OLDER & set(vars(cls)):     # a program's own, of before layers took columns
            cls.in_layers = False

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """How to parse the features that it uses."""
        return _older(self, FeatureColumn, "_parse_example_spec")

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """What is made of the features once, whoever uses it: ``transformation_cache.get(column, state_manager)`` keeps it."""
        return _older(self, FeatureColumn, "_transform_feature")(transformation_cache)

    def create_state(self, state_manager: Any) -> None:
        """Makes the column's variables, with ``state_manager.create_variable``."""

    @property
    def _is_v2_column(self) -> bool:
        return self.in_layers

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform_feature(inputs, None)

    def _reset_config(self) -> None:
        """Nothing: no column keeps what it computes."""


class DenseColumn(FeatureColumn):
    """A column of numbers: ``variable_shape`` is that of one example."""

    @property
    def variable_shape(self) -> Any:
        """The shape of one example."""
        return _older(self, DenseColumn, "_variable_shape")

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A float32 tensor [batch, *variable_shape]."""
        return _older(self, DenseColumn, "_get_dense_tensor")(transformation_cache, *_kept_by(state_manager))

    @property
    def _variable_shape(self) -> Any:
        return self.variable_shape

    def _get_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.get_dense_tensor(inputs, _scope_state(weight_collections, trainable))


class CategoricalColumn(FeatureColumn):
    """A column of ids from 0 to ``num_buckets`` - 1, any number of them for an example."""

    IdWeightPair = IdWeightPair

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return _older(self, CategoricalColumn, "_num_buckets")

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(a SparseTensor of ids, one of their weights or None)."""
        if _is_own(self, CategoricalColumn, "_get_sparse_tensors"):
            return self._get_sparse_tensors(transformation_cache, *_kept_by(state_manager))
        return IdWeightPair(transformation_cache.get(self, state_manager), None)

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.get_sparse_tensors(inputs, _scope_state(weight_collections, trainable))


class SequenceDenseColumn(FeatureColumn):
    """A column of sequences of numbers; ``variable_shape`` is that of one step."""

    TensorSequenceLengthPair = TensorSequenceLengthPair
    variable_shape: Any

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """(a float32 tensor [batch, steps, *variable_shape], the int64 lengths [batch])."""
        older = _older(self, SequenceDenseColumn, "_get_sequence_dense_tensor")
        return older(transformation_cache, *_kept_by(state_manager))

    def _get_sequence_dense_tensor(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.get_sequence_dense_tensor(inputs, _scope_state(weight_collections, trainable))


def _is_own(column: Any, base: type, name: str) -> bool:
    """Whether a class of a program's own says what columns said before layers took them."""
    return getattr(type(column), name) is not getattr(base, name)


def _older(column: Any, base: type, name: str) -> Any:
    """What a column says by an older name.  Raises NotImplementedError if it says nothing by it."""
    if not _is_own(column, base, name):
        raise NotImplementedError(f"{type(column).__name__} does not say {name.lstrip('_')}")
    return getattr(column, name)


def _kept_by(state_manager: Any) -> tuple[Any, Any]:
    """(weight_collections, trainable) of the call that a state manager is of."""
    return getattr(state_manager, "collections", None), getattr(state_manager, "trainable", True)


def _scope_state(weight_collections: Any, trainable: Any) -> Any:
    from jitgraph.feature_column.states import ScopeState

    return ScopeState(weight_collections, trainable)


def in_order(feature_columns: Any, kind: str) -> list[Any]:
    """One or many columns as a list in the order of their names.

    `kind`: what TensorFlow calls them in its errors, "FeatureColumn" or "_FeatureColumn".  Raises ValueError for a dict,
    for no columns, for what is no such column, and for two of one name.
    """
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not _is_of(kind, column):
            raise ValueError(f"Items of feature_columns must be a {kind}. Given (type {type(column)}): {column}.")
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This "
                             "usually means that these columns refer to same base feature. Either one must be discarded or a "
                             "duplicated but renamed item must be inserted in features dict.")
        by_name[column.name] = column
    return sorted(feature_columns, key=lambda column: column.name)


def _is_of(kind: str, column: Any) -> bool:
    return isinstance(column, FeatureColumn) and (column.in_scopes if kind.startswith("_") else column.in_layers)


def is_feature_column_v2(feature_columns: Any) -> bool:
    """Whether all of `feature_columns` are taken by the layers of models: all but shared embeddings are."""
    return all(isinstance(column, FeatureColumn) and column.in_layers for column in feature_columns)


def make_parse_example_spec(feature_columns: Any) -> dict[str, Any]:
    """What ``tf.parse_example`` needs for the features that columns use: {key: FixedLenFeature or VarLenFeature}.

    Raises ValueError for what is no column that ``input_layer`` takes, and if two want a key parsed in different ways.
    """
    return parse_example_spec_of(feature_columns, "_FeatureColumn")


def parse_example_spec_of(feature_columns: Any, kind: str) -> dict[str, Any]:
    """``make_parse_example_spec`` of columns of a `kind`, as ``in_order`` takes it."""
    found: dict[str, Any] = {}
    for column in feature_columns:
        if not _is_of(kind, column):
            raise ValueError(f"All feature_columns must be {kind} instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if key in found and value != found[key]:
                raise ValueError(f"feature_columns contain different parse_spec for key {key}. Given {value} and {found[key]}")
        found.update(column.parse_example_spec)
    return found


def check_key(key: Any) -> None:
    """Raises ValueError if the key of a feature is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def check_string_or_int(dtype: Any, prefix: str) -> None:
    """Raises ValueError if `dtype` is neither string nor an integer type."""
    if dtype.name != "string" and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")
