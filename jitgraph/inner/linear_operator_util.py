"""``tensorflow.python.ops.linalg.linear_operator_util``: checks, and solutions whose batches are broadcast."""
from __future__ import annotations

from typing import Any

from jitgraph.graph.convert import public_convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.linear_operators import arguments, solving

assert_compatible_matrix_dimensions = arguments.assert_same_dimension
assert_no_entries_with_modulus_zero = arguments.no_modulus_zero
assert_not_ref_type = arguments.check_not_reference
assert_zero_imag_part = arguments.no_imaginary_part
is_ref = arguments.is_reference
shape_tensor = arguments.shape_as_tensor
use_operator_or_provided_hint_unless_contradicting = arguments.combined_hint

broadcast_matrix_batch_dims = solving.broadcast_batches
cholesky_solve_with_broadcast = solving.cholesky_solve_broadcast
matrix_solve_with_broadcast = solving.solve_broadcast
matrix_triangular_solve_with_broadcast = solving.triangular_solve_broadcast


def base_dtype(dtype: Any) -> Any:
    """The dtype of what a variable of `dtype` holds."""
    return as_dtype(dtype).base_dtype


def dtype_name(dtype: Any) -> str:
    """The name of a dtype."""
    return as_dtype(dtype).name


def convert_nonref_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """`value` as a tensor; variables, modules with a shape and a dtype, and None as they are.

    Raises TypeError for a variable of another dtype.
    """
    if value is None:
        return None
    if not is_ref(value):
        return public_convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)
    if dtype is not None and base_dtype(dtype) != base_dtype(value.dtype):
        raise TypeError(f'Mutable type must be of dtype "{dtype_name(base_dtype(dtype))}" but is '
                        f'"{dtype_name(base_dtype(value.dtype))}".')
    return value


def assert_is_batch_matrix(tensor: Any) -> None:
    """Raises ValueError for a tensor that is known to have less than two dimensions."""
    rank = getattr(tensor, "shape", None) and tensor.shape.ndims
    if rank is not None and rank < 2:
        raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}")
