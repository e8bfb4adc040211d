"""What columns of ``tf.contrib.layers`` make of features: the input of a deep model, or the sum of a linear one."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.framework.variables import model_variable
from jitgraph.contrib.layers.old_columns import OldColumn, of_rank, real_valued_column, transformed_by
from jitgraph.contrib.layers.old_embeddings import embedded, parts_of, restore
from jitgraph.contrib.layers.rearranging import inner_flatten
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import SparseTensor
from jitgraph.ops.arrays.identity import placeholder, sparse_placeholder
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.elementwise.bias import bias_add
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.files.parsing import VarLenFeature, parse_example
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from jitgraph.ops.sparse.sparse_functions import sparse_concat, sparse_reshape
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import variable_scope


def check_feature_columns(feature_columns: Any) -> None:
    """Raises ValueError for a dict, and for two columns that are alike."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(f"Duplicate feature column key found for column: {column.name}. This usually means that the column is "
                             "almost identical to another column, and one must be discarded.")
        seen.add(column.key)


def _in_order(feature_columns: Any) -> list:
    return sorted(set(feature_columns), key=lambda column: column.key)


def _with_global(collections: Any) -> Any:
    return list({*collections, GraphKeys.GLOBAL_VARIABLES}) if collections else collections


def input_from_feature_columns(columns_to_tensors: dict, feature_columns: Any, weight_collections: Any = None,
                               trainable: bool = True, scope: Any = None, cols_to_outs: dict | None = None) -> Any:
    """What dense columns make of features, side by side: float32 [batch, n].  `cols_to_outs`: is filled with that of each."""
    return input_of_rank(2, columns_to_tensors, feature_columns, weight_collections, trainable, scope, cols_to_outs,
                         "input_from_feature_columns")


def input_of_rank(rank: int, columns_to_tensors: dict, feature_columns: Any, weight_collections: Any, trainable: bool, scope: Any,
                  cols_to_outs: dict | None, name: str) -> Any:
    """What columns make of features, side by side along the last of `rank` axes."""
    tensors = dict(columns_to_tensors)
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    with variable_scope(scope, default_name=name, values=tensors.values()):
        found, collections = [], _with_global(weight_collections)
        for column in _in_order(feature_columns):
            with variable_scope(None, default_name=column.name, values=tensors.values()):
                tensor = transformed_by(tensors, column)
                if rank != 2:
                    tensor = _of_rank(tensor, rank, column.name)
                found.append(_one_input(column, tensor, collections, trainable, rank))
                if cols_to_outs is not None:
                    cols_to_outs[column] = found[-1]
        return concat(found, rank - 1)


def _one_input(column: Any, tensor: Any, collections: Any, trainable: bool, rank: int) -> Any:
    try:
        given = column._deep_embedding_lookup_arguments(tensor)
    except NotImplementedError as no_embedding:
        try:
            return column._to_dnn_input_layer(tensor, collections, trainable, output_rank=rank)
        except ValueError as error:
            raise ValueError(f"Error creating input layer for column: {column.name}.\n{error}, {no_embedding}") from None
    return embedded(column, given, collections, trainable, rank)


def _of_rank(tensor: Any, rank: int, name: str) -> Any:
    """``of_rank`` of what a column made: a tensor, a sparse one, or a pair of these."""
    if isinstance(tensor, tuple):
        return tuple(_of_rank(part, rank, name) for part in tensor)
    own = tensor.dense_shape.get_shape().as_list()[0] if isinstance(tensor, SparseTensor) else tensor.get_shape().ndims
    if own is None:
        raise ValueError(f"Error while processing column {name}. Rank of input Tensor can not be None.")
    if isinstance(tensor, SparseTensor) and rank == own + 1:
        return sparse_reshape(tensor, concat([tensor.dense_shape, [1]], 0))
    return inner_flatten(tensor, rank) if isinstance(tensor, SparseTensor) and rank < own else (
        tensor if isinstance(tensor, SparseTensor) and rank == own else of_rank(tensor, rank, name))


def _looked_up(column: Any, tensors: dict, given: Any, num_outputs: int, trainable: bool, collections: Any) -> tuple[list, Any]:
    with variable_scope(None, default_name=column.name, values=tensors.values()):
        weights = parts_of(model_variable(name="weights", shape=[given.vocab_size, num_outputs], dtype=dtypes.float32,
                                          initializer=given.initializer, trainable=trainable, collections=collections))
        return weights, safe_embedding_lookup_sparse(weights, given.input_tensor, sparse_weights=given.weight_tensor,
                                                     combiner=given.combiner, name=column.name + "_weights")


def _multiplied(column: Any, tensors: dict, tensor: Any, num_outputs: int, trainable: bool, collections: Any) -> tuple[list, Any]:
    with variable_scope(None, default_name=column.name, values=tensors.values()):
        dense = column._to_dense_tensor(tensor)
        rank = dense.get_shape().ndims
        dense = expand_dims(dense, -1) if rank == 1 else inner_flatten(dense, 2) if rank != 2 else dense
        weight = model_variable(name="weight", shape=[dense.get_shape()[1], num_outputs], initializer=zeros_initializer(),
                                trainable=trainable, collections=collections)
        return [weight], matmul(dense, weight, name="matmul")


def _with_bias(sums: Any, num_outputs: int, trainable: bool, collections: Any) -> tuple[Any, Any]:
    bias = model_variable("bias_weight", shape=[num_outputs], initializer=zeros_initializer(), trainable=trainable,
                          collections=_with_global(collections))
    _log(bias)
    return bias_add(sums, bias), bias


def _log(variable: Any) -> None:
    if not hasattr(variable, "_get_variable_list"):
        logs.info("Created variable %s, with device=%s", variable.name, variable.device)


def weighted_sum_from_feature_columns(columns_to_tensors: dict, feature_columns: Any, num_outputs: int,
                                      weight_collections: Any = None, trainable: bool = True, scope: Any = None) -> tuple:
    """(the sums [batch, num_outputs] of a linear model, {column: its variables}, the bias)"""
    tensors = dict(columns_to_tensors)
    check_feature_columns(feature_columns)
    with variable_scope(scope, default_name="weighted_sum_from_feature_columns", values=tensors.values()):
        found, variables = [], {}
        for column in _in_order(feature_columns):
            tensor = transformed_by(tensors, column)
            try:
                given = column._wide_embedding_lookup_arguments(tensor)
            except NotImplementedError:
                made, sums = _multiplied(column, tensors, tensor, num_outputs, trainable, weight_collections)
            except ValueError as error:
                raise ValueError(f"Error creating weighted sum for column: {column.name}.\n{error}") from None
            else:
                made, sums = _looked_up(column, tensors, given, num_outputs, trainable, weight_collections)
            found.append(reshape(sums, shape=(-1, num_outputs)))
            variables[column] = made
            restore(column._checkpoint_path(), made)
        predictions, bias = _with_bias(add_n(found), num_outputs, trainable, weight_collections)
        return predictions, variables, bias


def joint_weighted_sum_from_feature_columns(columns_to_tensors: dict, feature_columns: Any, num_outputs: int,
                                            weight_collections: Any = None, trainable: bool = True, scope: Any = None) -> tuple:
    """As ``weighted_sum_from_feature_columns``, with one variable for all columns, which are categorical."""
    tensors = dict(columns_to_tensors)
    check_feature_columns(feature_columns)
    with variable_scope(scope, default_name="joint_weighted_sum_from_feature_columns", values=tensors.values()):
        shifted, total = [], 0
        for column in _in_order(feature_columns):
            tensor = transformed_by(tensors, column)
            try:
                given = column._wide_embedding_lookup_arguments(tensor)
            except NotImplementedError:
                raise NotImplementedError("Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, "
                                          "or bucketize these columns.") from None
            assert given.weight_tensor is None, ("Joint sums for weighted sparse columns are not supported. Please use "
                                                 "weighted_sum_from_feature_columns instead.")
            assert given.combiner == "sum", ("Combiners other than sum are not supported for joint sums. Please use "
                                             "weighted_sum_from_feature_columns instead.")
            ids = given.input_tensor
            shifted.append(SparseTensor(ids.indices, ids.values + total, ids.dense_shape))
            total += given.vocab_size
        assert shifted, "At least one column must be in the model."
        joined = sparse_concat(1, shifted)
        with variable_scope(None, default_name="linear_weights", values=tensors.values()):
            weights = parts_of(model_variable(name="weights", shape=[total, num_outputs], dtype=dtypes.float32,
                                            initializer=zeros_initializer(), trainable=trainable, collections=weight_collections))
            sums = safe_embedding_lookup_sparse(weights, joined, sparse_weights=None, combiner="sum", name="_weights")
        predictions, bias = _with_bias(sums, num_outputs, trainable, weight_collections)
        return predictions, weights, bias


def create_feature_spec_for_parsing(feature_columns: Any) -> dict[str, Any]:
    """{key: how to parse it from Examples} for columns.  Raises TypeError for other things."""
    found: dict[str, Any] = {}
    for column in feature_columns.values() if isinstance(feature_columns, dict) else feature_columns:
        if not isinstance(column, OldColumn):
            raise TypeError(f"feature_columns should only contain instances of _FeatureColumn. Given column is {column}")
        found.update(column.config)
    return found


def parse_feature_columns_from_examples(serialized: Any, feature_columns: Any, name: str | None = None,
                                        example_names: Any = None) -> dict:
    """{key or column: tensor} of serialized Examples."""
    check_feature_columns(feature_columns)
    tensors = parse_example(serialized=serialized, features=create_feature_spec_for_parsing(feature_columns), name=name,
                            example_names=example_names)
    for column in _in_order(feature_columns):
        transformed_by(tensors, column)
    return tensors


def transform_features(features: dict, feature_columns: Any) -> dict:
    """{column: what it makes of features}"""
    check_feature_columns(feature_columns)
    tensors = dict(features)
    return {column: transformed_by(tensors, column) for column in _in_order(feature_columns)}


def make_place_holder_tensors_for_base_features(feature_columns: Any) -> dict[str, Any]:
    """{key: a placeholder of the feature}"""
    found = {}
    for key, feature in create_feature_spec_for_parsing(feature_columns).items():
        if isinstance(feature, VarLenFeature):
            found[key] = sparse_placeholder(feature.dtype, name=f"Placeholder_{key}")
        else:
            found[key] = placeholder(feature.dtype, shape=(None, feature.shape[0]), name=f"Placeholder_{key}")
    return found


def _inferred(name: str, tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        raise ValueError(f"SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for tensor "
                         f"{name} {tensor}.")
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError("Non integer or non floating types are not supported for auto detection. Please define corresponding "
                         f"FeatureColumn for tensor {name} {tensor}.")
    dimension = 1
    for size in tensor.get_shape().as_list()[1:]:
        dimension *= size
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)


def infer_real_valued_columns(features: Any) -> list:
    """Columns of numbers for a tensor (of the name ""), or for each of a dict.  Raises ValueError for other dtypes."""
    if not isinstance(features, dict):
        return [_inferred("", features)]
    return [_inferred(key, tensor) for key, tensor in features.items()]
