"""The features of a call, and what columns made of them: each computed once."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.control.conditionals import cond
from jitgraph.feature_column.column import FeatureColumn
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor, convert_to_tensor_or_sparse_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import Dimension
from jitgraph.ops.arrays.batch_gather import gather_nd
from jitgraph.ops.arrays.fill import ones_like, zeros
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import expand_dims, rank
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_positive
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, not_equal
from jitgraph.ops.elementwise.elementary import ceil
from jitgraph.ops.reduce.segment import segment_max
from jitgraph.ops.sparse.sparse_functions import sparse_reshape


class FeatureTransformationCache:
    """Features by key, at least of rank 2, and the tensors that columns made of them."""

    def __init__(self, features: Any):
        self._features = features.copy()
        self._found: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any = None) -> Any:
        """The feature of a key (a vector becomes one column), or what a column makes of features.

        Raises ValueError if there is no such feature or if the column makes nothing, TypeError if `key` is neither.
        """
        if key not in self._found:
            self._found[key] = self._made(key, state_manager)
        return self._found[key]

    def _made(self, key: Any, state_manager: Any) -> Any:
        if key in self._features:
            return _of_rank_two(key, self._features[key])
        if isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        if not isinstance(key, FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        logs.debug("Transforming feature_column %s.", key)
        made = key.transform_feature(self, state_manager)
        if made is None:
            raise ValueError(f"Column {key.name} is not supported.")
        return made


def _of_rank_two(key: Any, given: Any) -> Any:
    feature = convert_to_tensor_or_sparse_tensor(given)
    message = f"Feature (key: {key}) cannot have rank 0. Given: {feature}"

    def column() -> Any:
        if isinstance(feature, SparseTensor):
            return sparse_reshape(feature, [shape_of(feature)[0], 1])
        return expand_dims(feature, -1)

    known = feature.get_shape().ndims
    if known is not None:
        if known == 0:
            raise ValueError(message)
        return column() if known == 1 else feature
    with control_dependencies([assert_positive(rank(feature), message=message)]):
        return cond(equal(1, rank(feature)), column, lambda: feature)


def to_sparse(given: Any, ignore_value: Any = None) -> SparseTensor:
    """A SparseTensor of the elements of a dense tensor that are not `ignore_value`; by default "", -1 or 0."""
    given = convert_to_tensor_or_sparse_tensor(given)
    if isinstance(given, SparseTensor):
        return given
    with name_scope(None, "to_sparse_input", [given, ignore_value]):
        dtype = given.dtype
        if ignore_value is None:
            ignore_value = "" if dtype == dtypes.string else -1 if dtype.is_integer else dtype.as_numpy_dtype()
        ignored = cast(ignore_value, dtype, name="ignore_value")
        indices = where(not_equal(given, ignored), name="indices")
        return SparseTensor(indices, gather_nd(given, indices, name="values"),
                            shape_of(given, out_type=dtypes.int64, name="dense_shape"))


def sequence_lengths(sparse: SparseTensor, num_elements: int = 1) -> Any:
    """The int64 lengths [batch] of the sequences in a SparseTensor [batch, steps, ...], `num_elements` columns to a step."""
    with name_scope(None, "sequence_length") as scope:
        rows = sparse.indices[:, 0]
        columns = sparse.indices[:, 1]
        columns += ones_like(columns)
        lengths = segment_max(columns, segment_ids=rows)
        lengths = cast(ceil(lengths / num_elements), dtypes.int64)
        missing = shape_of(sparse)[:1] - shape_of(lengths)[:1]
        return concat([lengths, zeros(missing, dtype=lengths.dtype)], axis=0, name=scope)


def check_batch_sizes(tensors: list[Any], columns: list[Any]) -> None:
    """Raises ValueError if the known batch sizes of the tensors of columns differ."""
    first = None
    for tensor, column in zip(tensors, columns):
        size = tensor.shape[0].value
        if size is None:
            continue
        if first is None:
            first = size, column.name
        elif size != first[0]:
            raise ValueError("Batch size (first dimension) of each feature must be same. Batch size of columns "
                             f"({first[1]}, {column.name}): ({Dimension(first[0])}, {Dimension(size)})")
