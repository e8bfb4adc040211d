"""``tf.RaggedTensor``: a tensor whose rows differ in length."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.control.order_ops import with_dependencies
from jitgraph.graph import dtypes
from jitgraph.graph.composite import CompositeTensor
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.shapes import TensorShape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.gather import gather as gathered
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.sequences import cumsum
from jitgraph.ops.arrays.shape import shape
from jitgraph.ops.checks.check_values import assert_equal, assert_less, assert_less_equal, assert_non_negative
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.reduce.reductions import reduce_max, reduce_sum
from jitgraph.ragged import row_ids
from jitgraph.ragged.axes import positive_axis
from jitgraph.ragged.ragged_value import RaggedTensorValue

_SPLITS = (dtypes.int32, dtypes.int64)


class RaggedTensor(CompositeTensor):
    """``values``, a Tensor or another RaggedTensor, in rows: row i is ``values[row_splits[i]:row_splits[i + 1]]``.

    Make one by a ``from_`` method or ``tf.ragged.constant``: the constructor raises ValueError.
    """

    def __init__(self, values: Any, row_splits: Any, cached_row_lengths: Any = None, cached_value_rowids: Any = None,
                 cached_nrows: Any = None, internal: bool = False):
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                             "RaggedTensor.from_row_lengths())")
        if not isinstance(row_splits, Tensor):
            raise TypeError(f"Row-partitioning argument must be a Tensor, got {row_splits!r}")
        if not isinstance(values, (RaggedTensor, Tensor)):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        if row_splits.dtype not in _SPLITS:
            raise ValueError("Row-partitioning argument must be int32 or int64")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        self._values, self._row_splits = values, row_splits
        self._row_lengths, self._value_rowids, self._nrows = cached_row_lengths, cached_value_rowids, cached_nrows

    # -- composite tensors ---------------------------------------------------------------------------------------------

    def _parts(self) -> list:
        return [self._values, self._row_splits]

    def _with_parts(self, parts: list) -> RaggedTensor:
        return RaggedTensor(parts[0], parts[1], internal=True)

    def _shapes_of_parts(self, shape: Any) -> list:
        inner = None if shape is None else (None, *shape[2:])
        values = self._values._shapes_of_parts(inner) if isinstance(self._values, RaggedTensor) else [inner]
        return [*values, (None if shape is None or shape[0] is None else shape[0] + 1,)]

    def _value(self, parts: list) -> RaggedTensorValue:
        return RaggedTensorValue(*parts)

    def _values_of_parts(self, value: Any) -> list:
        if not isinstance(value, (RaggedTensorValue, tuple, list)):
            raise TypeError(f"what is fed to a RaggedTensor is a RaggedTensorValue, not {value!r}")
        return [value.values, value.row_splits] if isinstance(value, RaggedTensorValue) else list(value)

    # -- making --------------------------------------------------------------------------------------------------------

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None,
                          validate: bool = True) -> RaggedTensor:
        """Rows by the number of the row of each value, in order; `nrows`: how many there are, one more than the last by default.

        Raises ValueError for a known `nrows` that is too small; a run raises InvalidArgumentError, with `validate`.
        """
        _check_validate(validate)
        with name_scope(name, "RaggedFromValueRowIds", []):
            values, ids = _converted(values, value_rowids, "value_rowids")
            known = constant_value(ids)
            if nrows is None:
                count = concat([ids[-1:], convert_to_tensor([-1], ids.dtype)], 0)[0] + 1 if known is None else convert_to_tensor(
                    int(known[-1]) + 1 if known.size else 0, ids.dtype, "nrows")
            else:
                count = convert_to_tensor(nrows, ids.dtype, "nrows")
            number = constant_value(count)
            if number is not None and number < 0:
                raise ValueError(f"Expected nrows >= 0; got {number}")
            if number is not None and known is not None and known.size and number < known[-1] + 1:
                raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={number}, value_rowids[-1]={known[-1]}")
            ids.shape.assert_has_rank(1)
            count.shape.assert_has_rank(0)
            values.shape[:1].assert_is_compatible_with(ids.shape)
            if validate:
                message = "Arguments to from_value_rowids do not form a valid RaggedTensor"
                ids = with_dependencies([
                    assert_equal(cast(rows_of(values), ids.dtype), rows_of(ids, ids.dtype), message=message),
                    assert_non_negative(ids[:1], message=message), _assert_increasing(ids, message),
                    assert_less(ids[-1:], count, message=message)], ids)
            lengths = row_ids.lengths_of(ids, count)
            if number is not None:
                lengths.set_shape([int(number)])
            return cls(values, _splits_of_lengths(lengths), lengths, ids, count, internal=True)

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """Rows by where they begin and end: row i has the values from ``row_splits[i]`` to ``row_splits[i + 1]``."""
        _check_validate(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", []):
            values, splits = _converted(values, row_splits, "row_splits")
            splits.shape.assert_has_rank(1)
            if validate:
                message = "Arguments to from_row_splits do not form a valid RaggedTensor"
                splits = with_dependencies([
                    assert_equal(splits[0], convert_to_tensor(0, splits.dtype), message=message),
                    _assert_increasing(splits, message), assert_equal(splits[-1], rows_of(values, splits.dtype), message=message)],
                    splits)
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """Rows by their lengths."""
        _check_validate(validate)
        with name_scope(name, "RaggedFromRowLengths", []):
            values, lengths = _converted(values, row_lengths, "row_lengths")
            lengths.shape.assert_has_rank(1)
            if validate:
                message = "Arguments to from_row_lengths do not form a valid RaggedTensor"
                lengths = with_dependencies([
                    assert_non_negative(lengths, message=message),
                    assert_equal(reduce_sum(lengths), rows_of(values, lengths.dtype), message=message)], lengths)
            return cls(values, _splits_of_lengths(lengths), lengths, internal=True)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """Rows by where they begin."""
        _check_validate(validate)
        with name_scope(name, "RaggedFromRowStarts", []):
            values, starts = _converted(values, row_starts, "row_starts")
            starts.shape.assert_has_rank(1)
            count = rows_of(values, starts.dtype)
            if validate:
                message = "Arguments to from_row_starts do not form a valid RaggedTensor"
                starts = with_dependencies([
                    assert_equal(starts[:1], convert_to_tensor(0, starts.dtype), message=message),
                    _assert_increasing(starts, message), assert_less_equal(starts[-1:], count, message=message)], starts)
            return cls(values, concat([starts, [count]], 0), internal=True)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True) -> RaggedTensor:
        """Rows by where they end."""
        _check_validate(validate)
        with name_scope(name, "RaggedFromRowLimits", []):
            values, limits = _converted(values, row_limits, "row_limits")
            limits.shape.assert_has_rank(1)
            if validate:
                message = "Arguments to from_row_limits do not form a valid RaggedTensor"
                limits = with_dependencies([
                    assert_non_negative(limits[:1], message=message), _assert_increasing(limits, message),
                    assert_equal(limits[-1:], rows_of(values, limits.dtype), message=message)], limits)
            return cls(values, concat([convert_to_tensor([0], limits.dtype), limits], 0), internal=True)

    @classmethod
    def from_nested_value_rowids(cls, flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None,
                                 name: str | None = None, validate: bool = True) -> Any:
        """``from_value_rowids`` for each ragged dimension, outermost first."""
        _check_nested(nested_value_rowids, "nested_value_rowids", validate)
        if isinstance(nested_nrows, Tensor):
            raise TypeError("nested_nrows must be a list of Tensors")
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        for ids, count in reversed(list(zip(nested_value_rowids, counts))):
            flat_values = cls.from_value_rowids(flat_values, ids, count, validate=validate)
        return flat_values

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any, name: str | None = None,
                               validate: bool = True) -> Any:
        """``from_row_splits`` for each ragged dimension, outermost first."""
        _check_nested(nested_row_splits, "nested_row_splits", validate)
        for splits in reversed(nested_row_splits):
            flat_values = cls.from_row_splits(flat_values, splits, validate=validate)
        return flat_values

    @classmethod
    def from_nested_row_lengths(cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None,
                                validate: bool = True) -> Any:
        """``from_row_lengths`` for each ragged dimension, outermost first."""
        _check_nested(nested_row_lengths, "nested_row_lengths", validate)
        for lengths in reversed(nested_row_lengths):
            flat_values = cls.from_row_lengths(flat_values, lengths, validate=validate)
        return flat_values

    # -- what it is made of --------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape, None where rows differ."""
        rows = self._row_splits.shape[0].value
        return TensorShape([None if rows is None else rows - 1, None]).concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def values(self) -> Any:
        """The values of all rows, one after the other."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Where rows begin and end."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The values of the innermost rows."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> tuple:
        """The splits of all ragged dimensions, outermost first."""
        return (self._row_splits, *(self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()))

    @property
    def op(self) -> Any:
        """The operation that gives the values."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._row_splits.graph

    @property
    def name(self) -> str:
        """The name of the values."""
        return self._values.name

    def value_rowids(self, name: str | None = None) -> Tensor:
        """For each value the number of its row."""
        return self._value_rowids if self._value_rowids is not None else row_ids.ids_of(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple:
        """``value_rowids`` of all ragged dimensions, outermost first."""
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(), *inner)

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        kind = self._row_splits.dtype if out_type is None else as_dtype(out_type)
        return cast(self._nrows, kind) if self._nrows is not None else shape(self._row_splits, out_type=kind)[0] - 1

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where rows begin."""
        return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where rows end."""
        return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of rows; for an `axis` above 1, ragged."""
        if self._row_lengths is not None and axis == 1:
            return self._row_lengths
        axis = positive_axis(axis, self.shape.ndims)
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_splits[1:] - self._row_splits[:-1]
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        sizes = shape(self._values, out_type=self._row_splits.dtype)
        return self.with_values(row_ids.filled(sizes[:axis - 1], sizes[axis - 1]))

    def nested_row_lengths(self, name: str | None = None) -> tuple:
        """``row_lengths`` of all ragged dimensions, outermost first."""
        inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
        return (self.row_lengths(), *inner)

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Tensor:
        """The shape of the smallest dense tensor that holds it; with `axis`, that dimension."""
        kind = self._row_splits.dtype if out_type is None else as_dtype(out_type)
        longest = [maximum(reduce_max(splits[1:] - splits[:-1]), 0) for splits in self.nested_row_splits]
        sizes = concat([[cast(self.nrows(), kind)], [cast(one, kind) for one in longest],
                        shape(self.flat_values, out_type=kind)[1:]], 0)
        return sizes if axis is None else gathered(sizes, axis)

    # -- others like it ------------------------------------------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """One with these rows and other values."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if isinstance(new_values, RaggedTensor) and self._row_splits.dtype != new_values.row_splits.dtype:
            raise ValueError("self and new_values have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
                             "convert them to compatible dtypes.")
        return RaggedTensor(new_values, self._row_splits, self._row_lengths, self._value_rowids, self._nrows, internal=True)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """One with these rows and other values of the innermost."""
        inner = self._values.with_flat_values(new_values) if isinstance(self._values, RaggedTensor) else new_values
        return self.with_values(inner)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """One whose splits are int32 or int64.  Raises ValueError for other dtypes."""
        kind = as_dtype(dtype)
        if kind not in _SPLITS:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == kind:
            return self
        values = self._values.with_row_splits_dtype(kind) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor(values, cast(self._row_splits, kind), internal=True)

    # -- what jitgraph.ragged.methods adds -----------------------------------------------------------------------------

    from_tensor: Any
    from_sparse: Any
    to_tensor: Any
    to_sparse: Any
    __getitem__: Any

    def __iter__(self) -> Any:
        raise ValueError("iterating over a tf.RaggedTensor is not allowed in a graph: index its rows, or use tf.map_fn on its "
                         "values")

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    __nonzero__ = __bool__

    def to_list(self) -> list:
        """Raises ValueError: there are no values before a run; fetch the tensor, and ask what the run gives."""
        raise ValueError("RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the RaggedTensor first "
                         "and then use RaggedTensorValue.to_list().")

    def consumers(self) -> list:
        """The operations that take the values or the splits."""
        return list(dict.fromkeys([*self._values.consumers(), *self._row_splits.consumers()]))

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor, or what a run gave for one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def as_ragged(value: Any, dtype: Any = None, preferred_dtype: Any = None, name: str | None = None) -> Any:
    """A ragged or dense tensor of a value.  Raises ValueError for a ragged one of another dtype."""
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat = convert_to_tensor(value.flat_values, kind, "flat_values", False, preferred_dtype)
            return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)
    if not isinstance(value, RaggedTensor):
        return convert_to_tensor(value, kind, name, False, preferred_dtype)
    if kind is not None and not kind.is_compatible_with(value.dtype):
        raise ValueError(f"Tensor conversion requested dtype {kind.name} for RaggedTensor with dtype "
                         f"{value.dtype.name}: {value!r}")
    return value


def _check_validate(validate: Any) -> None:
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _check_nested(nested: Any, name: str, validate: Any) -> None:
    _check_validate(validate)
    if isinstance(nested, Tensor):
        raise TypeError(f"{name} must be a list of Tensors")


def _converted(values: Any, partition: Any, name: str) -> tuple[Any, Tensor]:
    """The values, and what divides them as an int32 or int64 tensor, of the dtype of the splits within."""
    if isinstance(values, RaggedTensor):
        if not isinstance(partition, Tensor):
            return values, convert_to_tensor(partition, values.row_splits.dtype, name)
        if partition.dtype not in _SPLITS:
            raise ValueError(f"{name} must have dtype int32 or int64")
        if values.row_splits.dtype != partition.dtype:
            raise ValueError(f"dtype mismatch: {name} ({partition.dtype}) vs values.row_splits ({values.row_splits.dtype})")
        return values, partition
    values = convert_to_tensor(values, name="values")
    if isinstance(partition, np.ndarray) and partition.dtype == np.int32:
        made = convert_to_tensor(partition, name=name)
    else:
        made = convert_to_tensor(partition, name=name, preferred_dtype=dtypes.int64)
    if made.dtype not in _SPLITS:
        raise ValueError(f"{name} must have dtype int32 or int64")
    return values, made


def with_equal_splits_dtypes(*tensors: Any) -> tuple:
    """The tensors as they are.  Raises ValueError if the splits of the ragged ones are of two dtypes."""
    kinds = {one.row_splits.dtype for one in tensors if isinstance(one, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError("Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
                         "convert them to compatible dtypes.")
    return tensors


def rows_of(values: Any, dtype: Any = dtypes.int64) -> Tensor:
    """The number of rows of a ragged or dense tensor."""
    return values.nrows(dtype) if isinstance(values, RaggedTensor) else shape(values, out_type=dtype)[0]


def _assert_increasing(tensor: Tensor, message: str) -> Any:
    return assert_non_negative(tensor[1:] - tensor[:-1], message=message)


def _splits_of_lengths(lengths: Tensor) -> Tensor:
    return concat([convert_to_tensor([0], lengths.dtype), cumsum(lengths)], 0)
