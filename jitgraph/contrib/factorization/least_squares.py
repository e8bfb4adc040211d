"""Factors of a matrix by weighted alternating least squares (Hu, Koren and Volinsky, 2008), as a graph."""
from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, NamedTuple

from jitgraph.contrib.factorization.wals_ops import masked_matmul, wals_compute_partial_lhs_and_rhs
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.composite import SparseTensor
from jitgraph.graph.scopes import colocate_with, control_dependencies, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import ones, zeros
from jitgraph.ops.arrays.join import concat, split
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import eye
from jitgraph.ops.arrays.partition import dynamic_partition
from jitgraph.ops.arrays.searching import unique, where_v2
from jitgraph.ops.arrays.shape import expand_dims, rank, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.checks.check_values import assert_less_equal
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.elementwise.composite_values import square
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.matrix_ops import matrix_solve
from jitgraph.ops.linalg.products import trace
from jitgraph.ops.nn.embedding import embedding_lookup
from jitgraph.ops.random.draws import random_normal
from jitgraph.ops.sparse.sparse_functions import sparse_add, sparse_reduce_sum, sparse_tensor_dense_matmul, sparse_transpose
from jitgraph.variables.assignments import assign, scatter_update
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_collections import variables_initializer


def _shard_sizes(size: int, shards: int) -> list[int]:
    each, rest = divmod(size, shards)
    return [each + 1] * rest + [each] * (shards - rest)


def _shards(name: str, count: int, values: Callable) -> list:
    return [Variable(functools.partial(values, i), dtype=dtypes.float32, name=f"{name}_shard_{i}") for i in range(count)]


def _factors(rows: int, columns: int, shards: int, init: Any, name: str) -> list:
    if callable(init):
        init = init()
    random = isinstance(init, str) and init == "random"
    if isinstance(init, list):
        assert len(init) == shards
    elif not random and shards == 1:
        init = [init]
    sizes = _shard_sizes(rows, shards)
    return _shards(name, shards, lambda i: random_normal([sizes[i], columns]) if random else init[i])


def _weights(init: Any, count: int, shards: int, name: str) -> list | None:
    if init is None:
        return None
    listed = isinstance(init, Iterable)
    if listed:
        if shards == 1 and len(init) == count:
            init = [init]
        assert len(init) == shards
    elif not (isinstance(init, Real) and float(init) >= 0):
        raise ValueError("Invalid weight initialization argument. Must be one of these: None, a real non-negative real number, or "
                         "a list of lists of non-negative real numbers (or equivalent iterables) corresponding to sharded factors.")
    sizes = _shard_sizes(count, shards)
    return _shards(name, shards, lambda i: init[i] if listed else init * ones([sizes[i]]))


def _transient(name: str) -> Any:
    return Variable(1.0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False, name=name)


def _prepared(factors: list, gramian: Any) -> Any:
    partial = []
    for factor in factors:
        with colocate_with(factor):
            partial.append(matmul(factor, factor, transpose_a=True))
    with colocate_with(gramian):
        return assign(gramian, add_n(partial)).op


def _cached(variable: Any, name: str, cached: bool) -> tuple:
    """(a local copy of a variable or of a list of them, what fills it, what empties it)"""
    if variable is None:
        return None, None, None
    if not cached:
        return variable, no_op(), no_op()
    if not isinstance(variable, list):
        cache = _transient(name)
        with colocate_with(cache):
            return cache, assign(cache, variable, validate_shape=False), assign(cache, 1.0, validate_shape=False)
    caches = [_transient(f"{name}_shard_{i}") for i in range(len(variable))]
    filled: list[Any] = []
    emptied = []
    for cache, shard in zip(caches, variable):
        with colocate_with(cache):
            with control_dependencies(filled[-1:]):
                filled.append(assign(cache, shard, validate_shape=False))
            emptied.append(assign(cache, 1.0, validate_shape=False))
    return caches, filled[-1], group(*emptied)


class _Side(NamedTuple):
    """What is solved for, and what it is solved from."""

    name: str
    left: list
    right: Any
    weights: Any
    other_weights: Any
    size: int
    other_size: int
    shards: int
    gramian: Any


class WALSModel:
    """Factors U [input_rows, n_components] and V [input_cols, n_components] of a sparse matrix A, as variables.

    They minimize ||sqrt(W) * (A - U V^T)||^2 + regularization (||U||^2 + ||V||^2), where W is `unobserved_weight`, and more by
    row weight * column weight where A has a value.  `row_init`, `col_init`: "random", a value, or a list of one for each shard;
    `row_weights`, `col_weights`: a number, numbers for each shard, or both None: then W is the same everywhere.  With the caches a
    worker computes with local copies, which `worker_init` and the operations of initialization fill.
    """

    def __init__(self, input_rows: int, input_cols: int, n_components: int, unobserved_weight: float = 0.1,
                 regularization: float | None = None, row_init: Any = "random", col_init: Any = "random", num_row_shards: int = 1,
                 num_col_shards: int = 1, row_weights: Any = 1, col_weights: Any = 1, use_factors_weights_cache: bool = True,
                 use_gramian_cache: bool = True, use_scoped_vars: bool = False):
        self._input_rows, self._input_cols = input_rows, input_cols
        self._num_row_shards, self._num_col_shards = num_row_shards, num_col_shards
        self._unobserved_weight, self._regularization = unobserved_weight, regularization
        self._regularization_matrix = regularization * eye(n_components) if regularization is not None else None
        assert (row_weights is None) == (col_weights is None)

        def scoped(name: str) -> Any:
            return name_scope(name) if use_scoped_vars else contextlib.nullcontext()

        with scoped("row_weights"):
            self._row_weights = _weights(row_weights, input_rows, num_row_shards, "row_weights")
        with scoped("col_weights"):
            self._col_weights = _weights(col_weights, input_cols, num_col_shards, "col_weights")
        with scoped("row_factors"):
            self._row_factors = _factors(input_rows, n_components, num_row_shards, row_init, "row_factors")
        with scoped("col_factors"):
            self._col_factors = _factors(input_cols, n_components, num_col_shards, col_init, "col_factors")
        self._row_gramian, self._col_gramian = (Variable(zeros([n_components, n_components]), dtype=dtypes.float32, name=name)
                                                for name in ("row_gramian", "col_gramian"))
        with name_scope("row_prepare_gramian"):
            self._row_prepare = _prepared(self._col_factors, self._col_gramian)
        with name_scope("col_prepare_gramian"):
            self._col_prepare = _prepared(self._row_factors, self._row_gramian)
        with name_scope("transient_vars"):
            self._create_caches(use_factors_weights_cache, use_gramian_cache)

    def _create_caches(self, cached: bool, gramian_cached: bool) -> None:
        self._row_factors_cache, rows_in, rows_out = _cached(self._row_factors, "row_factors_cache", cached)
        self._col_factors_cache, columns_in, columns_out = _cached(self._col_factors, "col_factors_cache", cached)
        self._row_wt_cache, row_weights_in, _ = _cached(self._row_weights, "row_wt_cache", cached)
        self._col_wt_cache, col_weights_in, _ = _cached(self._col_weights, "col_wt_cache", cached)
        self._row_gramian_cache, row_gramian_in, row_gramian_out = _cached(self._row_gramian, "row_gramian_cache", gramian_cached)
        self._col_gramian_cache, col_gramian_in, col_gramian_out = _cached(self._col_gramian, "col_gramian_cache", gramian_cached)
        self._row_updates_init = group(columns_in, rows_out, col_gramian_in, row_gramian_out)
        self._col_updates_init = group(rows_in, columns_out, row_gramian_in, col_gramian_out)
        if self._row_wt_cache is None:
            self._worker_init = no_op(name="worker_init")
        else:
            self._worker_init = group(row_weights_in, col_weights_in, name="worker_init")

    # -- variables and the operations before a sweep ------------------------------------------------------------------

    @property
    def row_factors(self) -> list:
        """The shards of U."""
        return self._row_factors

    @property
    def col_factors(self) -> list:
        """The shards of V."""
        return self._col_factors

    @property
    def row_weights(self) -> list | None:
        """The shards of the weights of rows."""
        return self._row_weights

    @property
    def col_weights(self) -> list | None:
        """The shards of the weights of columns."""
        return self._col_weights

    @property
    def initialize_op(self) -> Any:
        """Initializes all variables that are not local."""
        found = [*self._row_factors, *self._col_factors, self._row_gramian, self._col_gramian]
        if self._row_weights is not None and self._col_weights is not None:
            found += [*self._row_weights, *self._col_weights]
        return variables_initializer(found)

    @property
    def worker_init(self) -> Any:
        """Copies the weights to the worker."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Any:
        """Computes V^T V before a sweep of rows."""
        return self._row_prepare

    @property
    def col_update_prep_gramian_op(self) -> Any:
        """Computes U^T U before a sweep of columns."""
        return self._col_prepare

    @property
    def initialize_row_update_op(self) -> Any:
        """Copies to the worker what a sweep of rows reads."""
        return self._row_updates_init

    @property
    def initialize_col_update_op(self) -> Any:
        """Copies to the worker what a sweep of columns reads."""
        return self._col_updates_init

    # -- steps ---------------------------------------------------------------------------------------------------------

    def update_row_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple:
        """Solves for the rows of U that a SparseTensor of some rows of A has, with A's indices.

        Returns (new values, an operation that assigns them, loss without regularization, regularization, sum of weights), the
        last three as if the rows were all of A; `transpose_input`: its columns are the rows.
        """
        return self._process(True, sp_input, transpose_input)

    def update_col_factors(self, sp_input: Any = None, transpose_input: bool = False) -> tuple:
        """Solves for rows of V; see ``update_row_factors``."""
        return self._process(False, sp_input, transpose_input)

    def project_row_factors(self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None) -> Any:
        """The factors of rows that A need not have; `projection_weights`: their weights, a scalar or a vector, 1 if None."""
        return self._process(True, sp_input, transpose_input, 1 if projection_weights is None else projection_weights)[0]

    def project_col_factors(self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None) -> Any:
        """The factors of columns that A need not have; see ``project_row_factors``."""
        return self._process(False, sp_input, transpose_input, 1 if projection_weights is None else projection_weights)[0]

    @classmethod
    def scatter_update(cls, factor: list, indices: Any, values: Any, sharding_func: Callable, name: str | None = None) -> Any:
        """An operation that writes rows of a matrix in shards; `sharding_func` gives (shard, index there) of its indices."""
        assert isinstance(factor, list)
        if len(factor) == 1:
            with colocate_with(factor[0]):
                return scatter_update(factor[0], indices, values, name=name).op
        assignments, inside = sharding_func(indices)
        assignments = cast(assignments, dtypes.int32)
        ids = dynamic_partition(inside, assignments, len(factor))
        parts = dynamic_partition(values, assignments, len(factor))
        return group(*(scatter_update(shard, i, part) for shard, i, part in zip(factor, ids, parts)), name=name)

    def _sides(self, rows: bool) -> _Side:
        if rows:
            return _Side("row_update", self._row_factors, self._col_factors_cache, self._row_wt_cache, self._col_wt_cache,
                         self._input_rows, self._input_cols, self._num_row_shards, self._col_gramian_cache)
        return _Side("col_update", self._col_factors, self._row_factors_cache, self._col_wt_cache, self._row_wt_cache,
                     self._input_cols, self._input_rows, self._num_col_shards, self._row_gramian_cache)

    def _process(self, rows: bool, sp_input: Any, transposed: bool, weights: Any = None) -> tuple:
        assert isinstance(sp_input, SparseTensor)
        side = self._sides(rows)
        transposed = bool(transposed) == rows
        row_ids, col_ids = split(value=sp_input.indices, num_or_size_splits=2, axis=1)
        of_rows, all_rows = unique(row_ids[:, 0])
        of_columns, all_columns = unique(col_ids[:, 0])
        col_ids = expand_dims(cast(all_columns, dtypes.int64), 1)
        row_ids = expand_dims(cast(all_rows, dtypes.int64), 1)
        updated, gathered = (of_columns, of_rows) if transposed else (of_rows, of_columns)
        other_count = [cast(shape_of(gathered)[0], dtypes.int64)]
        count = cast(shape_of(updated)[0], dtypes.int64)
        right = embedding_lookup(side.right, gathered, partition_strategy="div")
        indices = concat([row_ids, col_ids], 1)
        shape = concat([other_count, [count]], 0) if transposed else concat([[count], other_count], 0)
        found = SparseTensor(indices=indices, values=sp_input.values, dense_shape=shape)
        of_left, of_right, left = self._solved(side, found, right, updated, gathered, count, transposed, weights)
        update = self.scatter_update(side.left, updated, left, _sharding(side.size, side.shards), name=side.name)
        return (left, update, *self._losses(side, sparse_transpose(found) if transposed else found, left, right, of_left, of_right,
                                            count))

    def _solved(self, side: _Side, found: Any, right: Any, updated: Any, gathered: Any, count: Any, transposed: bool,
                weights: Any) -> tuple:
        """(weights of the rows, weights of the columns, the factors of the rows)"""
        lhs = self._unobserved_weight * side.gramian
        if self._regularization_matrix is not None:
            lhs += self._regularization_matrix
        if self._row_weights is None:
            rhs = self._unobserved_weight * sparse_tensor_dense_matmul(found, right, adjoint_a=transposed)
            return None, None, transpose(matrix_solve(lhs, transpose(rhs)))
        if weights is None:
            of_left = embedding_lookup(side.weights, updated, partition_strategy="div")
        else:
            number = shape_of(updated)[0]
            with control_dependencies([assert_less_equal(rank(weights), 1)]):
                of_left = cond(equal(rank(weights), 0), lambda: ones([number]) * weights, lambda: cast(weights, dtypes.float32))
        of_right = embedding_lookup(side.other_weights, gathered, partition_strategy="div")
        partial, rhs = wals_compute_partial_lhs_and_rhs(
            right, of_right, self._unobserved_weight, of_left, found.indices, found.values, [], count, transposed,
            name="wals_compute_partial_lhs_rhs")
        lhs = expand_dims(lhs, 0) + partial
        return of_left, of_right, squeeze(matrix_solve(lhs, expand_dims(rhs, -1)), [2])

    def _losses(self, side: _Side, found: Any, left: Any, right: Any, of_left: Any, of_right: Any, count: Any) -> tuple:
        """(loss without regularization, regularization, sum of weights), scaled from these rows to all."""
        near = masked_matmul(left, right, found.indices, transpose_a=False, transpose_b=True)
        near = SparseTensor(found.indices, near, found.dense_shape)
        near_squared = square(near)
        residual_squared = square(sparse_add(found, near * (-1)))
        rows = constant(0.0) if of_left is None else expand_dims(of_left, 1)
        columns = constant(0.0) if of_right is None else expand_dims(of_right, 0)
        gramian = matmul(left, left, transpose_a=True)
        scale = side.size / cast(count, dtypes.float32)
        loss = (self._unobserved_weight * (sparse_reduce_sum(residual_squared) - sparse_reduce_sum(near_squared)
                                           + trace(matmul(gramian, side.gramian)))
                + sparse_reduce_sum(rows * (residual_squared * columns))) * scale
        if self._regularization is not None:
            regularization = self._regularization * (trace(gramian) * scale + trace(side.gramian))
        else:
            regularization = constant(0.0)
        total = self._unobserved_weight * cast(side.size * side.other_size, dtypes.float32)
        if self._row_weights is not None:
            each = SparseTensor(indices=found.indices, values=ones(shape_of(found.values)), dense_shape=found.dense_shape)
            total += sparse_reduce_sum(rows * (each * columns)) * scale
        return loss, regularization, total


def _sharding(size: int, shards: int) -> Callable:
    """The function that gives (shard, index there) of rows in `shards` parts; the first ones have a row more."""
    def place(ids: Any) -> tuple:
        if shards == 1:
            return None, ids
        each, extras = divmod(size, shards)
        found = maximum(ids // (each + 1), (ids - extras) // each)
        return found, where_v2(found < extras, ids % (each + 1), (ids - extras) % each)

    return place
