"""``tf.parse_example`` and its kin: serialized ``tf.train.Example`` messages to tensors, by name."""
from __future__ import annotations

import collections
import re
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import raw_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.shape import reshape


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature of any length: parsed as a SparseTensor."""

    __slots__ = ()


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of the same shape in every example; without `default_value` it must not be missing."""

    __slots__ = ()

    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> FixedLenFeature:
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(collections.namedtuple("FixedLenSequenceFeature", [
        "shape", "dtype", "allow_missing", "default_value"])):
    """A feature with any number of entries of one shape; in a batch it is padded with `default_value` (zeros)."""

    __slots__ = ()

    def __new__(cls, shape: Any, dtype: Any, allow_missing: bool = False,
                default_value: Any = None) -> FixedLenSequenceFeature:
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class SparseFeature(collections.namedtuple("SparseFeature", [
        "index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A sparse vector (or tensor) whose indices are the features `index_key` (one, or a list) and values `value_key`."""

    __slots__ = ()

    def __new__(cls, index_key: Any, value_key: str, dtype: Any, size: Any,
                already_sorted: bool = False) -> SparseFeature:
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)

    @property
    def index_keys(self) -> list:
        """The features that hold the indices, one per dimension."""
        return [self.index_key] if isinstance(self.index_key, str) else list(self.index_key)


class _Wanted:
    """Features in the order in which the ops take them: sparse ones (name -> dtype) and dense ones."""

    def __init__(self, features: Any, allowed: tuple, sequences: bool = False):
        self.sparse: dict[str, Any] = {}
        self.dense: dict[str, tuple] = {}       # name -> (dtype, shape, default)
        self.may_be_missing: list[str] = []
        self.features = features or {}
        for key in sorted(self.features):
            feature = self.features[key]
            if not isinstance(feature, allowed):
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if isinstance(feature, VarLenFeature):
                self._add_sparse(key, feature.dtype)
            elif isinstance(feature, SparseFeature):
                for index_key in sorted(feature.index_keys):
                    self._add_sparse(index_key, dtypes.int64)
                self._add_sparse(feature.value_key, feature.dtype)
            else:
                self._add_dense(key, feature, sequences)

    def _add_sparse(self, key: str, dtype: Any) -> None:
        if dtype is None:
            raise ValueError(f"Missing type for feature {key}.")
        if self.sparse.setdefault(key, as_dtype(dtype)) != as_dtype(dtype):
            raise ValueError(f"Conflicting type {self.sparse[key]} vs {as_dtype(dtype)} for feature {key}.")

    def _add_dense(self, key: str, feature: Any, sequences: bool) -> None:
        if feature.dtype is None or feature.shape is None:
            raise ValueError(f"Missing {'type' if feature.dtype is None else 'shape'} for feature {key}.")
        shape = raw_shape(feature.shape)
        if isinstance(feature, FixedLenSequenceFeature):
            if sequences:
                if feature.allow_missing:
                    self.may_be_missing.append(key)
                if feature.default_value is not None:
                    raise ValueError(f"Unsupported default value {feature.default_value} for feature {key}.")
            else:
                if not feature.allow_missing:
                    raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
                shape = (None, *shape)  # type: ignore[misc]
        elif shape and shape[0] is None:
            raise ValueError(f"First dimension of shape for feature {key} unknown. Consider using "
                             "FixedLenSequenceFeature.")
        if shape is None or None in shape[1:]:
            raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {feature.shape}.")
        self.dense[key] = as_dtype(feature.dtype), shape, feature.default_value

    def defaults(self) -> list[Tensor]:
        """The tensors that stand for missing dense features; empty for those that must be there."""
        return [_default(key, *spec) for key, spec in self.dense.items()]

    @property
    def sparse_types(self) -> list:
        return list(self.sparse.values())

    @property
    def dense_shapes(self) -> list:
        return [shape for _, shape, _ in self.dense.values()]

    def results(self, indices: Any, values: Any, shapes: Any, dense: Any) -> dict[str, Any]:
        """What the ops give, by name; the parts of SparseFeatures joined."""
        from jitgraph.ops.sparse.sparse_functions import sparse_merge

        found: dict[str, Any] = {key: SparseTensor(*parts) for key, *parts in zip(self.sparse, indices, values, shapes)}
        found.update(zip(self.dense, dense))
        for key in sorted(self.features):
            feature = self.features[key]
            if isinstance(feature, SparseFeature):
                ids = [found[index_key] for index_key in feature.index_keys]
                sizes = feature.size
                if isinstance(feature.index_key, str):
                    ids, sizes = ids[0], feature.size
                found[key] = sparse_merge(ids, found[feature.value_key], vocab_size=sizes, name=key,
                                          already_sorted=feature.already_sorted)
        return {key: found[key] for key in self.features}


def _default(key: str, dtype: Any, shape: tuple, value: Any) -> Tensor:
    plain = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
    if shape and shape[0] is None:          # the padding
        if value is None:
            return convert_to_tensor("" if dtype is dtypes.string else 0, dtype)
        return reshape(convert_to_tensor(value, dtype, name=f"padding_{plain}"), [])
    if value is None:
        return constant([], dtype=dtype)
    tensor = value if isinstance(value, Tensor) else convert_to_tensor(value, dtype, name=f"key_{plain}")
    return reshape(tensor, list(shape))


_FEATURES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def parse_example(serialized: Any, features: Any, name: str | None = None, example_names: Any = None) -> dict[str, Any]:
    """The features of a vector of serialized Examples: a dictionary of tensors (sparse for VarLenFeatures).

    `features`: a dictionary from names to FixedLenFeature, VarLenFeature, SparseFeature or FixedLenSequenceFeature (with
    ``allow_missing``).  `example_names`: names of the examples, for messages.  Raises ValueError for an empty or wrong
    description; a run raises InvalidArgumentError for an example that does not suit it.
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    wanted = _Wanted(features, _FEATURES)
    with name_scope(name, "ParseExample", [serialized, example_names]):
        found = raw.ParseExample(serialized, [] if example_names is None else example_names, list(wanted.sparse),
                                 list(wanted.dense), wanted.defaults(), sparse_types=wanted.sparse_types,
                                 dense_shapes=wanted.dense_shapes, name=name)
        return wanted.results(*found)


def parse_single_example(serialized: Any, features: Any, name: str | None = None,
                         example_names: Any = None) -> dict[str, Any]:
    """The features of one serialized Example, a string scalar; as ``parse_example`` without the batch dimension."""
    if not features:
        raise ValueError("Missing features.")
    wanted = _Wanted(features, _FEATURES)
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        serialized = convert_to_tensor(serialized, dtypes.string, name="serialized")
        found = raw.ParseSingleExample(serialized, wanted.defaults(), num_sparse=len(wanted.sparse),
                                       sparse_keys=list(wanted.sparse), dense_keys=list(wanted.dense),
                                       sparse_types=wanted.sparse_types, dense_shapes=wanted.dense_shapes, name=name)
        return wanted.results(*found)


def parse_single_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None,
                                  example_name: Any = None, name: str | None = None) -> tuple[dict, dict]:
    """(context, sequences) of one serialized SequenceExample, a string scalar: dictionaries of tensors.

    `context_features`: FixedLenFeature or VarLenFeature; `sequence_features`: FixedLenSequenceFeature (a dense tensor
    [steps, ...]) or VarLenFeature (a sparse [steps, ...]).
    """
    context, sequences = _sequence_wanted(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        found = raw.ParseSingleSequenceExample(
            serialized, sequences.may_be_missing, list(context.sparse), list(context.dense), list(sequences.sparse),
            list(sequences.dense), context.defaults(), "" if example_name is None else example_name,
            context_sparse_types=context.sparse_types, context_dense_shapes=context.dense_shapes,
            feature_list_sparse_types=sequences.sparse_types, feature_list_dense_shapes=sequences.dense_shapes,
            feature_list_dense_types=[dtype for dtype, _, _ in sequences.dense.values()], name=name)
        return context.results(*found[:4]), sequences.results(*found[4:8])


def parse_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None,
                           example_names: Any = None, name: str | None = None) -> tuple[dict, dict, dict]:
    """(context, sequences, lengths of the dense sequences) of a vector of serialized SequenceExamples.

    As ``parse_single_sequence_example`` with a batch dimension; dense sequences are padded with zeros.
    """
    context, sequences = _sequence_wanted(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        found = raw.ParseSequenceExample(
            serialized, [] if example_names is None else example_names, context.defaults(),
            feature_list_dense_missing_assumed_empty=sequences.may_be_missing, context_sparse_keys=list(context.sparse),
            context_dense_keys=list(context.dense), feature_list_sparse_keys=list(sequences.sparse),
            feature_list_dense_keys=list(sequences.dense), Ncontext_sparse=len(context.sparse),
            Ncontext_dense=len(context.dense), Nfeature_list_sparse=len(sequences.sparse),
            Nfeature_list_dense=len(sequences.dense), context_sparse_types=context.sparse_types,
            context_dense_shapes=context.dense_shapes, feature_list_sparse_types=sequences.sparse_types,
            feature_list_dense_shapes=sequences.dense_shapes,
            feature_list_dense_types=[dtype for dtype, _, _ in sequences.dense.values()], name=name)
        lengths = dict(zip(sequences.dense, found[8]))
        return context.results(*found[:4]), sequences.results(*found[4:8]), lengths


def _sequence_wanted(context_features: Any, sequence_features: Any) -> tuple[_Wanted, _Wanted]:
    if not context_features and not sequence_features:
        raise ValueError("Missing features.")
    return (_Wanted(context_features, (VarLenFeature, FixedLenFeature)),
            _Wanted(sequence_features, (VarLenFeature, FixedLenSequenceFeature), sequences=True))
