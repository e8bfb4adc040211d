"""``LinearOperator``, the base of all: a batch of matrices that need not exist as tensors."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import Dimension, TensorShape, dimension_at_index, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators import algebra
from jitgraph.linear_operators.arguments import is_reference, shape_as_tensor
from jitgraph.linear_operators.solving import cholesky_solve_broadcast, solve_broadcast
from jitgraph.ops.arrays.identity import is_tensor
from jitgraph.ops.arrays.matrix_parts import eye, matrix_diag_part
from jitgraph.ops.arrays.shape import expand_dims, size, squeeze
from jitgraph.ops.checks.check_values import assert_equal, assert_less, assert_positive
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.elementary import exp, log
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.linalg.linalg_functions import svd
from jitgraph.ops.linalg.matrix_ops import cholesky, matrix_determinant, slogdet
from jitgraph.ops.reduce.reductions import reduce_max, reduce_min, reduce_sum
from jitgraph.variables.module import Module


class LinearOperator(Module):
    """A batch of matrices of the shape ``batch_shape + [range_dimension, domain_dimension]``.

    A class of its own answers ``_shape``, ``_shape_tensor`` and ``_matmul``, and by methods with an underscore whatever it can do
    better than by the dense matrix.  Hints such as `is_positive_definite` are promises of the caller: True, False, or None for
    unknown; they choose methods and are not checked, except by ``assert_positive_definite`` and its kin.
    """

    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("_graph_parents",))

    def __init__(self, dtype: Any, graph_parents: list | None = None, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = None,
                 name: str | None = None):
        """Raises ValueError for hints that contradict each other, and for graph parents that are no tensors."""
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._is_square_set_or_implied_by_hints = is_square
        graph_parents = [] if graph_parents is None else graph_parents
        for index, parent in enumerate(graph_parents):
            if parent is None or not (is_reference(parent) or is_tensor(parent)):
                raise ValueError(f"Graph parent item {index} is not a Tensor; {parent}.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = graph_parents
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None) -> Iterator[Any]:
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    # -- what it is ----------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The DType of the elements."""
        return self._dtype

    @property
    def name(self) -> Any:
        """The name before those of its nodes."""
        return self._name

    @property
    def graph_parents(self) -> list:
        """The tensors of which it is made."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it has an inverse, None if that is not known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it equals its conjugate transpose, None if that is not known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether the real part of ``x^H A x`` is positive for all x but 0, None if that is not known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether it is square, None if that is not known.  Raises ValueError if it is, against the hint."""
        found = self.domain_dimension == self.range_dimension
        if self._is_square_set_or_implied_by_hints is False and found:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return found if self._is_square_set_or_implied_by_hints is None else self._is_square_set_or_implied_by_hints

    # -- shapes --------------------------------------------------------------------------------------------------------

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape()

    def _shape_tensor(self) -> Any:
        raise NotImplementedError("_shape_tensor is not implemented.")

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape, int32 [rank]."""
        with self._name_scope(name):
            return shape_as_tensor(self.shape.as_list()) if self.shape.is_fully_defined() else self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape without the last two dimensions."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape without the last two dimensions, int32."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return shape_as_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of dimensions, None if that is not known."""
        with self._name_scope("tensor_rank"):
            return self.shape.ndims

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The number of dimensions, an int32 scalar."""
        with self._name_scope(name):
            rank = self.tensor_rank
            return size(self.shape_tensor()) if rank is None else convert_to_tensor(rank)

    @property
    def domain_dimension(self) -> Dimension:
        """The number of columns."""
        return Dimension(None) if self.shape.dims is None else self.shape.dims[-1]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns, an int32 scalar."""
        with self._name_scope(name):
            known = dimension_value(self.domain_dimension)
            return self.shape_tensor()[-1] if known is None else convert_to_tensor(known)

    @property
    def range_dimension(self) -> Dimension:
        """The number of rows."""
        return self.shape.dims[-2] if self.shape.dims else Dimension(None)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows, an int32 scalar."""
        with self._name_scope(name):
            known = dimension_value(self.range_dimension)
            return self.shape_tensor()[-2] if known is None else convert_to_tensor(known)

    # -- checks when the graph runs ------------------------------------------------------------------------------------

    def _assert_non_singular(self) -> Any:
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = svd(self.to_dense(), compute_uv=False)
        condition = reduce_max(values, axis=-1) / reduce_min(values, axis=-1)
        return assert_less(condition, self._largest_condition(), message="Singular matrix up to precision epsilon.")

    def _largest_condition(self) -> Tensor:
        with name_scope("max_nonsingular_condition_number"):
            eps = np.finfo(self.dtype.as_numpy_dtype).eps
            largest = reduce_max([100.0, cast(self.range_dimension_tensor(), self.dtype),
                                  cast(self.domain_dimension_tensor(), self.dtype)])
            return 1.0 / (cast(largest, self.dtype) * eps)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """An operation that raises InvalidArgumentError if there is no inverse."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        if self.is_self_adjoint:
            return assert_positive(matrix_diag_part(cholesky(self.to_dense())), message="Matrix was not positive definite.")
        raise NotImplementedError("assert_positive_definite is not implemented.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """An operation that raises InvalidArgumentError if it is not positive definite."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return assert_equal(dense, conjugate_transpose(dense), message="Matrix was not equal to its adjoint.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """An operation that raises InvalidArgumentError if it differs from its conjugate transpose."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    def _checked(self, argument: Any, name: str, own: int, its: int) -> Tensor:
        """The argument as a tensor.  Raises TypeError for another dtype, ValueError for a dimension that does not fit."""
        tensor = convert_to_tensor(argument, name=name)
        if tensor.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {tensor.dtype} in tensor {tensor}")
        dimension_at_index(self.shape, own).assert_is_compatible_with(tensor.shape[its])
        return tensor

    def _with_operator(self, other: LinearOperator, adjoint: bool, adjoint_arg: bool, what: str, function: Callable,
                       name: str) -> LinearOperator:
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        if right.range_dimension is not None and left.domain_dimension is not None \
                and right.range_dimension != left.domain_dimension:
            raise ValueError(f"Operators are incompatible. Expected `{what}` to have dimension {left.domain_dimension} but got "
                             f"{right.range_dimension}.")
        with self._name_scope(name):
            return function(left, right)

    # -- products and solutions ----------------------------------------------------------------------------------------

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """The product with the matrices `x` [..., N, R], a tensor; or with another operator, an operator."""
        if isinstance(x, LinearOperator):
            return self._with_operator(x, adjoint, adjoint_arg, "x", algebra.matmul, name)
        with self._name_scope(name):
            x = self._checked(x, "x", -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Any, adjoint: bool = False) -> Any:
        return squeeze(self.matmul(expand_dims(x, axis=-1), adjoint=adjoint), axis=-1)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product with the vectors `x` [..., N]."""
        with self._name_scope(name):
            return self._matvec(self._checked(x, "x", -2 if adjoint else -1, -1), adjoint=adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self.is_square is False:
            raise NotImplementedError("Solve is not yet implemented for non-square operators.")
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return cholesky_solve_broadcast(cholesky(self.to_dense()), rhs)
        return solve_broadcast(self.to_dense(), rhs, adjoint=adjoint)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """The X of ``A X = rhs``, [..., M, R]; of another operator, an operator."""
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            return self._with_operator(rhs, adjoint, adjoint_arg, "rhs", algebra.solve, name)
        with self._name_scope(name):
            rhs = self._checked(rhs, "rhs", -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
        return squeeze(self.solve(expand_dims(rhs, axis=-1), adjoint=adjoint), axis=-1)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The x of ``A x = rhs``, vectors [..., M]."""
        with self._name_scope(name):
            return self._solvevec(self._checked(rhs, "rhs", -1 if adjoint else -2, -1), adjoint=adjoint)

    # -- determinants and other operators ------------------------------------------------------------------------------

    def _determinant(self) -> Any:
        return exp(self.log_abs_determinant()) if self._can_use_cholesky() else matrix_determinant(self.to_dense())

    def _check_has_determinant(self) -> None:
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")

    def determinant(self, name: str = "det") -> Tensor:
        """The determinants, of the shape of the batch."""
        self._check_has_determinant()
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self) -> Any:
        if self._can_use_cholesky():
            return 2 * reduce_sum(log(matrix_diag_part(cholesky(self.to_dense()))), axis=[-1])
        return slogdet(self.to_dense())[1]

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithms of the absolute values of the determinants."""
        self._check_has_determinant()
        with self._name_scope(name):
            return self._log_abs_determinant()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the conjugate transpose."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return algebra.adjoint(self)

    H = property(adjoint, None)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverse.  Raises ValueError if there is none."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return algebra.inverse(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator of the Cholesky factor.  Raises ValueError unless it is known to be self-adjoint positive definite."""
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return algebra.cholesky(self)

    # -- as a tensor ---------------------------------------------------------------------------------------------------

    def _to_dense(self) -> Any:
        batch = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        known = dimension_value(self.domain_dimension)
        columns = self.domain_dimension_tensor() if known is None else known
        return self.matmul(eye(num_rows=columns, batch_shape=batch, dtype=self.dtype))

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices as a tensor."""
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self) -> Any:
        return matrix_diag_part(self.to_dense())

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals, [..., min(M, N)]."""
        with self._name_scope(name):
            return self._diag_part()

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the diagonals, of the shape of the batch."""
        with self._name_scope(name):
            return self._trace()

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """The sum with the matrices `x`."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            if x.dtype.base_dtype != self.dtype:
                raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {x.dtype} in tensor {x}")
            return self._add_to_tensor(x)

    def _can_use_cholesky(self) -> bool | None:
        return self.is_self_adjoint and self.is_positive_definite
