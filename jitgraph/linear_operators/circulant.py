"""Circulant matrices, of one dimension, or of blocks nested two or three deep: products are convolutions, by Fourier transforms."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import static_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape, dimension_value
from jitgraph.graph.tensor import Tensor
from jitgraph.linear_operators import hints
from jitgraph.linear_operators.algebra import RegisterAdjoint, RegisterInverse, RegisterMatmul, RegisterSolve
from jitgraph.linear_operators.arguments import no_imaginary_part, no_modulus_zero
from jitgraph.linear_operators.linear_operator import LinearOperator
from jitgraph.linear_operators.solving import broadcast_batches
from jitgraph.ops.arrays.fill import ones, zeros_like
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.searching import where_v2
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import rank as rank_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import newaxis
from jitgraph.ops.checks.check_shapes import assert_integer
from jitgraph.ops.checks.check_values import assert_less, assert_positive
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import mod
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import less
from jitgraph.ops.elementwise.complex_numbers import complex as complex_of
from jitgraph.ops.elementwise.complex_numbers import conj, imag, real
from jitgraph.ops.elementwise.elementary import log
from jitgraph.ops.linalg.linalg_functions import adjoint as conjugate_transpose
from jitgraph.ops.reduce.reductions import reduce_prod, reduce_sum
from jitgraph.ops.signal.fft import fft, fft2d, fft3d, ifft, ifft2d, ifft3d

_FFT = {1: fft, 2: fft2d, 3: fft3d}
_IFFT = {1: ifft, 2: ifft2d, 3: ifft3d}


def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Tensor:
    """`x` with its dimensions rotated by `shift` places to the right."""
    with name_scope(name, values=[x, shift]):
        x = convert_to_tensor(x, name="x")
        shift = convert_to_tensor(shift, name="shift")
        assert_integer(shift)
        known, rank = static_value(shift), x.get_shape().ndims
        if rank is not None and known is not None:
            if rank < 2:
                return x
            places = np.sign(known) * (abs(known) % rank)
            return x if places == 0 else transpose(x, perm=np.roll(np.arange(rank), places))
        rank = rank_of(x)
        shift = where_v2(less(shift, 0), mod(-shift, rank), rank - mod(shift, rank))
        first, last = range_of(0, shift), range_of(shift, rank)
        return transpose(x, perm=concat([last, first], 0))


def to_complex(x: Tensor) -> Tensor:
    """`x` as complex numbers of its precision."""
    if x.dtype.is_complex:
        return x
    return cast(x, dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64)


class _Circulant(LinearOperator):
    """A circulant operator whose eigenvalues are the `spectrum`, the Fourier transform of its first column."""

    def __init__(self, spectrum: Any, block_depth: int, input_output_dtype: Any, is_non_singular: bool | None,
                 is_self_adjoint: bool | None, is_positive_definite: bool | None, is_square: bool | None, name: str):
        self._name = name
        self._block_depth = block_depth
        with name_scope(name, values=[spectrum]):
            self._spectrum = convert_to_tensor(spectrum, name="spectrum")
            if self._spectrum.shape.ndims is not None and self._spectrum.shape.ndims < block_depth:
                raise ValueError(f"Argument spectrum must have at least {block_depth} dimensions.  Found: {self._spectrum}")
            if not self.spectrum.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("A [[nested] block] circulant operator is always square.")
            self._block_shape_tensor = shape_of(self.spectrum)[-block_depth:]
            self._spectrum_complex = to_complex(self.spectrum)
            self._abs_spectrum = absolute(self.spectrum)
            self._conj_spectrum = conj(self._spectrum_complex)
            super().__init__(dtype=dtypes.as_dtype(input_output_dtype), graph_parents=[self.spectrum],
                             is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                             is_positive_definite=is_positive_definite, is_square=True, name=name)

    @property
    def block_depth(self) -> int:
        """How deep the blocks are nested: 1, 2 or 3."""
        return self._block_depth

    def block_shape_tensor(self) -> Tensor:
        """The shape of the blocks, int32 [block_depth]."""
        return self._block_shape_tensor

    @property
    def block_shape(self) -> TensorShape:
        """The static shape of the blocks."""
        return self.spectrum.shape[-self.block_depth:]

    @property
    def spectrum(self) -> Tensor:
        """The eigenvalues."""
        return self._spectrum

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The first columns, of the shape of the spectrum."""
        with self._name_scope(name):
            return cast(_IFFT[self.block_depth](to_complex(self._spectrum_complex)), self.dtype)

    def _shape(self) -> TensorShape:
        blocks = self._spectrum.shape[-self.block_depth:]
        size = int(np.prod(blocks.as_list())) if blocks.is_fully_defined() else None
        return self._spectrum.shape[:-self.block_depth].concatenate(TensorShape([size, size]))

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._spectrum)
        batch, blocks = shape[:-self.block_depth], shape[-self.block_depth:]
        size = reduce_prod(blocks)
        return concat((batch, [size, size]), 0)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """An operation that raises InvalidArgumentError if the matrix is not real."""
        eps = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        with self._name_scope(name):
            largest = eps * self.domain_dimension_tensor()
            return assert_less(absolute(imag(self.convolution_kernel())), largest, message="Spectrum was not Hermitian")

    def _assert_non_singular(self) -> Any:
        return no_modulus_zero(self.spectrum, message="Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self) -> Any:
        return assert_positive(real(self.spectrum), message="Not positive definite:  Real part of spectrum was not all positive.")

    def _assert_self_adjoint(self) -> Any:
        return no_imaginary_part(self.spectrum, message="Not self-adjoint:  The spectrum contained non-zero imaginary part.")

    def _as_blocks(self, matrix: Tensor) -> Tensor:
        """The columns of matrices first, each in the shape of the blocks."""
        columns = rotate_transpose(matrix, shift=1)
        if columns.shape.is_fully_defined() and self.block_shape.is_fully_defined():
            return reshape(columns, columns.shape[:-1].concatenate(self.block_shape))
        return reshape(columns, concat((shape_of(columns)[:-1], self.block_shape_tensor()), 0))

    def _as_columns(self, blocks: Tensor) -> Tensor:
        """The inverse of `_as_blocks`."""
        shape: Any
        if blocks.shape.is_fully_defined():
            known = blocks.shape.as_list()
            shape = [*known[:-self.block_depth], np.prod(known[-self.block_depth:])]
        else:
            tensor = shape_of(blocks)
            shape = concat((tensor[:-self.block_depth], [reduce_prod(tensor[-self.block_depth:])]), 0)
        return rotate_transpose(reshape(blocks, shape), shift=-1)

    def _transformed(self, x: Tensor, spectrum: Tensor, change: Callable) -> Tensor:
        """`x`, with its Fourier transform changed by the spectrum."""
        as_matrix = reshape(spectrum, concat((self.batch_shape_tensor(), [-1, 1]), axis=0))
        x, as_matrix = broadcast_batches((x, as_matrix))
        spectrum = reshape(as_matrix, concat((shape_of(x)[:-2], self.block_shape_tensor()), axis=0))
        transformed = _FFT[self.block_depth](to_complex(self._as_blocks(x)))
        return cast(self._as_columns(_IFFT[self.block_depth](to_complex(change(transformed, spectrum)))), self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = conjugate_transpose(x) if adjoint_arg else x
        spectrum = self._conj_spectrum if adjoint else self._spectrum_complex
        return self._transformed(cast(x, spectrum.dtype), spectrum, lambda values, spectrum: spectrum * values)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = conjugate_transpose(rhs) if adjoint_arg else rhs
        spectrum = self._conj_spectrum if adjoint else self._spectrum_complex
        return self._transformed(rhs, spectrum, lambda values, spectrum: values / spectrum)

    def _determinant(self) -> Any:
        return cast(reduce_prod(self.spectrum, axis=[-(i + 1) for i in range(self.block_depth)]), self.dtype)

    def _log_abs_determinant(self) -> Any:
        axis = [-(i + 1) for i in range(self.block_depth)]
        return cast(reduce_sum(log(self._abs_spectrum), axis=axis), self.dtype)

    def _diag_part(self) -> Any:
        known = self.shape.is_fully_defined()
        shape = self.shape[:-1] if known else self.shape_tensor()[:-1]
        size = dimension_value(self.domain_dimension) if known else self.domain_dimension_tensor()
        one = ones(shape, dtype=self.dtype)
        value = self.trace() / cast(size, self.dtype)
        return value[..., newaxis] * one

    def _trace(self) -> Any:
        axis: Any
        if self.spectrum.shape.is_fully_defined():
            rank: Any = self.spectrum.shape.ndims
            axis = np.arange(rank - self.block_depth, rank, dtype=np.int32)
        else:
            rank = rank_of(self.spectrum)
            axis = range_of(rank - self.block_depth, rank)
        of_real = reduce_sum(real(self.spectrum), axis=axis)
        if not self.dtype.is_complex:
            return cast(of_real, self.dtype)
        of_imaginary = zeros_like(of_real) if self.is_self_adjoint else reduce_sum(imag(self.spectrum), axis=axis)
        return cast(complex_of(of_real, of_imaginary), self.dtype)


class LinearOperatorCirculant(_Circulant):
    """Circulant matrices: each column is the one before, shifted.  `spectrum` [..., N] is the Fourier transform of the first."""

    def __init__(self, spectrum: Any, input_output_dtype: Any = dtypes.complex64, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = True,
                 name: str = "LinearOperatorCirculant"):
        """Products take and give `input_output_dtype`.  Raises ValueError for hints that cannot be true."""
        super().__init__(spectrum, 1, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)


class LinearOperatorCirculant2D(_Circulant):
    """Circulant matrices of blocks that are circulant: convolutions in two dimensions; `spectrum` is [..., N0, N1]."""

    def __init__(self, spectrum: Any, input_output_dtype: Any = dtypes.complex64, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = True,
                 name: str = "LinearOperatorCirculant2D"):
        """As ``LinearOperatorCirculant``."""
        super().__init__(spectrum, 2, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)


class LinearOperatorCirculant3D(_Circulant):
    """Convolutions in three dimensions; `spectrum` is [..., N0, N1, N2]."""

    def __init__(self, spectrum: Any, input_output_dtype: Any = dtypes.complex64, is_non_singular: bool | None = None,
                 is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = True,
                 name: str = "LinearOperatorCirculant3D"):
        """As ``LinearOperatorCirculant``."""
        super().__init__(spectrum, 3, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)


def _hints_of(one: LinearOperatorCirculant) -> dict[str, Any]:
    return {"is_non_singular": one.is_non_singular, "is_self_adjoint": one.is_self_adjoint,
            "is_positive_definite": one.is_positive_definite, "is_square": True}


@RegisterAdjoint(LinearOperatorCirculant)
def _adjoint(one: LinearOperatorCirculant) -> LinearOperator:
    return LinearOperatorCirculant(conj(one.spectrum) if one.spectrum.dtype.is_complex else one.spectrum, **_hints_of(one))


@RegisterInverse(LinearOperatorCirculant)
def _inverse(one: LinearOperatorCirculant) -> LinearOperator:
    return LinearOperatorCirculant(1.0 / one.spectrum, **_hints_of(one))


@RegisterMatmul(LinearOperatorCirculant, LinearOperatorCirculant)
def _product(a: LinearOperatorCirculant, b: LinearOperatorCirculant) -> LinearOperator:
    return LinearOperatorCirculant(a.spectrum * b.spectrum, **hints.of_commuting(a, b))


@RegisterSolve(LinearOperatorCirculant, LinearOperatorCirculant)
def _solution(a: LinearOperatorCirculant, b: LinearOperatorCirculant) -> LinearOperator:
    return LinearOperatorCirculant(b.spectrum / a.spectrum, **hints.of_commuting(a, b))
