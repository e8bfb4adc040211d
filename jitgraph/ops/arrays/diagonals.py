"""Several diagonals of matrices at once: the second and third versions of MatrixDiag, MatrixDiagPart and MatrixSetDiag.

Diagonal k > 0 lies above the main one.  ``k`` is one number or (lowest, highest); with several diagonals the packed form
has one row for each, the highest first, all of the length of the longest.  `align` says on which side shorter ones stand:
"LEFT_RIGHT" puts those above (k > 0) left and those below right, and so on; the second versions align all left.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import shape_rules
from jitgraph.ops.arrays.matrix_parts import lower_diag_part, lower_matrix_diag, lower_set_diag
from jitgraph.ops.arrays.shape import plain_sizes

_ALIGN = 'align: string {"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"} = "RIGHT_LEFT"'


def _bounds(k: Any) -> tuple[int, int]:
    """The lowest and highest diagonal.  Raises ValueError if they are in the wrong order."""
    if np.ndim(k) > 1:
        raise ValueError(f"diag_index must be a scalar or vector, received shape: {_listed(np.shape(k))}")
    values = [int(v) for v in np.ravel(k)]
    if len(values) not in (1, 2):
        raise ValueError(f"diag_index must have only one or two elements, received {len(values)} elements.")
    low, high = values[0], values[-1]
    if low > high:
        raise ValueError(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _bounds_within(k: Any, shape: tuple) -> tuple[int, int]:
    """The lowest and highest diagonal of matrices of a shape.  Raises InvalidArgumentError if they have none of that number."""
    if len(shape) < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {list(shape)}")
    low, high = _bounds(k)
    rows, columns = shape[-2:]
    for name, diagonal in (("lower_diag_index", low), ("upper_diag_index", high)):
        if diagonal and not -rows < diagonal < columns:
            raise invalid(f"{name} is out of bound: {diagonal}. It must be between {-rows} and {columns}")
    return low, high


def _length(rows: int, columns: int, k: int) -> int:
    return max(0, min(rows + min(k, 0), columns - max(k, 0)))


def _places(rows: int, columns: int, k: int) -> tuple:
    """The index of diagonal k in a batch of matrices."""
    steps = np.arange(_length(rows, columns, k))
    return ..., steps + max(-k, 0), steps + max(k, 0)


def _span(k: int, length: int, longest: int, align: str) -> slice:
    """Where diagonal k stands in its packed row."""
    above, below = align.split("_")
    left = (above if k >= 0 else below) == "LEFT"
    return slice(0, length) if left else slice(longest - length, longest)


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    return max(_length(rows, columns, k) for k in range(low, high + 1))


def _packed(x: np.ndarray, k: Any, padding: Any, align: str) -> np.ndarray:
    low, high = _bounds_within(k, x.shape)
    rows, columns = x.shape[-2:]
    longest = _longest(rows, columns, low, high)
    if low == high:
        places = _places(rows, columns, low)
        return x[places].copy()
    result = np.full((*x.shape[:-2], high - low + 1, longest), padding, x.dtype)
    for index, diagonal in enumerate(range(high, low - 1, -1)):
        places = _places(rows, columns, diagonal)
        result[..., index, _span(diagonal, len(places[1]), longest, align)] = x[places]
    return result


def _check_diagonals(packed: np.ndarray, number: tuple, message: str) -> None:
    """Raises InvalidArgumentError if `packed` is no vector, or has not the `number` of diagonals, which is () for one."""
    if not packed.ndim:
        raise invalid("diagonal must be at least 1-dim, received shape: []")
    if number and (packed.ndim < 2 or packed.shape[-2] != number[0]):
        raise invalid(message)


def _listed(shape: tuple) -> str:
    return f"[{','.join(map(str, shape))}]"


def _put(x: np.ndarray, packed: np.ndarray, k: Any, align: str) -> np.ndarray:
    """x with the diagonals replaced by `packed`."""
    low, high = _bounds_within(k, x.shape)
    rows, columns = x.shape[-2:]
    longest = _longest(rows, columns, low, high)
    number = () if low == high else (high - low + 1,)
    _check_diagonals(packed, number, "The number of diagonals provided in `diag` is not consistent with `lower_diag_index` and "
                     "`upper_diag_index`")
    expected = (*x.shape[:-2], *number, longest)
    if packed.shape != expected:
        raise invalid("Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "
                      "the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
                      f"Input shape: {_listed(x.shape)}\nDiagonal shape: {_listed(packed.shape)}\n"
                      f"Expected diagonal shape: {_listed(expected)}")
    result = x.copy()
    if low == high:
        packed = packed[..., None, :]
    for index, diagonal in enumerate(range(high, low - 1, -1)):
        places = _places(rows, columns, diagonal)
        result[places] = packed[..., index, _span(diagonal, len(places[1]), longest, align)]
    return result


def _check_made(rows: int, columns: int, least_rows: int, least_columns: int) -> None:
    """Raises ValueError if matrices of this size do not have just the diagonals that are given."""
    for what, size, least in (("num_rows", rows, least_rows), ("num_cols", columns, least_columns)):
        if size < least:
            raise ValueError(f"{what} is too small: {size}, the diagonals need {least}")
    if rows != least_rows and columns != least_columns:
        raise ValueError("num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and the length of the "
                         f"given diagonals: {rows} x {columns}, where {least_rows} rows or {least_columns} columns are needed")


def _made(diagonal: np.ndarray, k: Any, num_rows: Any, num_cols: Any, padding: Any, align: str) -> np.ndarray:
    low, high = _bounds(k)
    _check_diagonals(diagonal, () if low == high else (high - low + 1,), "The number of diagonals provided in the input does not "
                     "match the lower_diag_index and upper_diag_index range.")
    longest = diagonal.shape[-1]
    rows, columns = (plain_sizes(size)[0] for size in (num_rows, num_cols))
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    elif rows == -1:
        rows = least_rows
    elif columns == -1:
        columns = least_columns
    _check_made(rows, columns, least_rows, least_columns)
    lead = diagonal.shape[:-1] if low == high else diagonal.shape[:-2]
    return _put(np.full((*lead, rows, columns), padding, diagonal.dtype), diagonal, k, align)


# -- shape rules ---------------------------------------------------------------------------------------------------

def _check_there(low: int, high: int, rows: Any, columns: Any) -> None:
    """Raises ValueError if it is known that matrices of this size have no such diagonals."""
    for name, diagonal in (("lower_diag_index", low), ("upper_diag_index", high)):
        above, below = isinstance(columns, int) and diagonal >= columns, isinstance(rows, int) and -diagonal >= rows
        if diagonal and (above or below):
            raise ValueError(f"{name} is out of bound: {diagonal}, of matrices {rows} x {columns}")


def _part_shape(c: Any) -> Any:
    value, k = c.shapes[0], c.constant(1)
    value = shape_rules.with_rank_at_least(value, 2, "input")
    if value is None or not shape_rules.known(k):
        return None
    low, high = _bounds(k)
    rows, columns = value[-2:]
    _check_there(low, high, rows, columns)
    lead = tuple(value[:-2]) if low == high else (*value[:-2], high - low + 1)
    if rows is None or columns is None:
        return (*lead, None)
    # sizes may be symbolic: the longest diagonal is the one nearest to the main one
    nearest = 0 if low <= 0 <= high else low if low > 0 else high
    height = rows + nearest if nearest < 0 else rows
    width = columns - nearest if nearest > 0 else columns
    return (*lead, width if width < height else height)


def _made_shape(c: Any) -> Any:
    diagonal, k = c.shapes[0], c.constant(1)
    if not diagonal or not shape_rules.known(k):
        return None
    low, high = _bounds(k)
    lead = tuple(diagonal[:-1]) if low == high else tuple(diagonal[:-2])
    sizes = [plain_sizes(v)[0] if shape_rules.known(v) else None for v in (c.constant(2), c.constant(3))]
    longest = diagonal[-1]
    if None in sizes or longest is None:
        return (*lead, None, None)
    rows, columns = sizes
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == -1 and columns == -1:
        rows = columns = least_rows if least_rows > least_columns else least_columns
    elif rows == -1:
        rows = least_rows
    elif columns == -1:
        columns = least_columns
    if isinstance(longest, int) and rows is not None and columns is not None:
        _check_made(rows, columns, least_rows, least_columns)
    return (*lead, rows, columns)


# -- kernels: of one diagonal, the main one where it is given --------------------------------------------------------

def _single(k: Any) -> int | None:
    """The one diagonal, if it is one that is known."""
    if k.constant is None:
        return None
    low, high = _bounds(k.constant)
    return low if low == high else None


def _lower_made(b: Any, diagonal: Any, k: Any, num_rows: Any, num_cols: Any, padding_value: Any, **align: str) -> Any:
    sizes = [None if v.constant is None else plain_sizes(v.constant)[0] for v in (num_rows, num_cols)]
    if _single(k) != 0 or not diagonal.shape or any(size is None or size not in (-1, diagonal.shape[-1]) for size in sizes):
        return NotImplemented
    return lower_matrix_diag(b, diagonal, padding_value)


def _lower_part(b: Any, x: Any, k: Any, padding_value: Any, **align: str) -> Any:
    diagonal = _single(k)
    if len(x.shape) < 2:
        return NotImplemented           # which the meaning says
    rows, columns = x.shape[-2:]
    if diagonal is None or diagonal and not (isinstance(rows, int) and isinstance(columns, int)
                                             and -rows < diagonal < columns):
        return NotImplemented
    return lower_diag_part(b, x, max(-diagonal, 0), max(diagonal, 0))


def _lower_put(b: Any, x: Any, diagonal: Any, k: Any, **align: str) -> Any:
    rows, columns = x.shape[-2:]
    fits = diagonal.shape == (*x.shape[:-2], shape_rules.smaller_size(rows, columns))
    return lower_set_diag(b, x, diagonal) if _single(k) == 0 and fits else NotImplemented


# -- ops -----------------------------------------------------------------------------------------------------------

def _version(op: Any) -> str:
    return op.type[-2:]


def _same_align(op: Any) -> dict[str, str]:
    return {"align": op.attrs["align"]} if "align" in op.attrs else {}


def _diag_gradient(op, grad):
    zero = raw.Cast(0, DstT=grad.dtype.base_dtype)
    part = getattr(raw, "MatrixDiagPart" + _version(op))(grad, op.inputs[1], zero, **_same_align(op))
    return [part, None, None, None, None]


def _part_gradient(op, grad):
    value, k = op.inputs[:2]
    known = value._shape
    zero = raw.Cast(0, DstT=grad.dtype.base_dtype)
    if known is not None and None not in known[-2:]:
        made = getattr(raw, "MatrixDiag" + _version(op))(grad, k, known[-2], known[-1], zero, **_same_align(op))
        return [made, None, None]
    put = getattr(raw, "MatrixSetDiag" + _version(op))(raw.ZerosLike(value), grad, k, **_same_align(op))
    return [put, None, None]


def _set_gradient(op, grad):
    diagonal, k = op.inputs[1], op.inputs[2]
    blank = getattr(raw, "MatrixSetDiag" + _version(op))(grad, raw.ZerosLike(diagonal), k, **_same_align(op))
    zero = raw.Cast(0, DstT=grad.dtype.base_dtype)
    return [blank, getattr(raw, "MatrixDiagPart" + _version(op))(grad, k, zero, **_same_align(op)), None]


def _zero(dtype: Any) -> np.ndarray:
    return np.array(b"" if dtype.kind == "O" else 0, dtype)


def _diag_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (2, 3), dtype), ints(0), np.int32(-1), np.int32(-1), _zero(dtype)],
            [draw(rng, (3,), dtype), ints(1), np.int32(-1), np.int32(-1), _zero(dtype)],
            [draw(rng, (2, 3, 3), dtype), ints(-1, 1), np.int32(3), np.int32(4), _zero(dtype)]]


@op("MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> output: T",
    shape=_made_shape, lower=_lower_made, grad=_diag_gradient, samples=_diag_samples)
def matrix_diag_v2(diagonal, k, num_rows, num_cols, padding_value):
    """Matrices with the given diagonals, `padding_value` elsewhere; sizes of -1 are as small as can be."""
    return _made(diagonal, k, num_rows, num_cols, padding_value, "LEFT_LEFT")


@op(f"MatrixDiagV3(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T; {_ALIGN}) -> output: T",
    shape=_made_shape, lower=_lower_made, grad=_diag_gradient, samples=_diag_samples, origin="TensorFlow 2")
def matrix_diag_v3(diagonal, k, num_rows, num_cols, padding_value, align):
    """Matrices with the given diagonals, `padding_value` elsewhere; sizes of -1 are as small as can be."""
    return _made(diagonal, k, num_rows, num_cols, padding_value, align)


def _part_samples(rng: Any, dtype: Any) -> list:
    return [[draw(rng, (2, 3, 4), dtype), k, _zero(dtype)] for k in (ints(0), ints(1), ints(-1, 1), ints(-2, -1))]


@op("MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> diagonal: T", shape=_part_shape, lower=_lower_part,
    grad=_part_gradient, samples=_part_samples)
def matrix_diag_part_v2(input, k, padding_value):
    """The diagonals `k` of matrices, shorter ones continued with `padding_value`."""
    return _packed(input, k, padding_value, "LEFT_LEFT")


@op(f"MatrixDiagPartV3(input: T, k: int32, padding_value: T; {_ALIGN}) -> diagonal: T", shape=_part_shape,
    lower=_lower_part, grad=_part_gradient, samples=_part_samples, origin="TensorFlow 2")
def matrix_diag_part_v3(input, k, padding_value, align):
    """The diagonals `k` of matrices, shorter ones continued with `padding_value`."""
    return _packed(input, k, padding_value, align)


def _set_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (2, 3, 4), dtype)
    return [[x, draw(rng, (2, 3), dtype), ints(0)], [x, draw(rng, (2, 3, 3), dtype), ints(-1, 1)]]


@op("MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> output: T", shape=shape_rules.same_as_input,
    lower=_lower_put, grad=_set_gradient, samples=_set_samples)
def matrix_set_diag_v2(input, diagonal, k):
    """The matrices `input` with other diagonals `k`."""
    return _put(input, diagonal, k, "LEFT_LEFT")


@op(f"MatrixSetDiagV3(input: T, diagonal: T, k: int32; {_ALIGN}) -> output: T", shape=shape_rules.same_as_input,
    lower=_lower_put, grad=_set_gradient, samples=_set_samples, origin="TensorFlow 2")
def matrix_set_diag_v3(input, diagonal, k, align):
    """The matrices `input` with other diagonals `k`."""
    return _put(input, diagonal, k, align)
