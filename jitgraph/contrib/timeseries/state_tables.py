"""Tables of the states of models: a structure of tensors for each key."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.fill import ones
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.layout import tile
from jitgraph.ops.arrays.shape import expand_dims, rank, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.resources.mutable_tables import MutableDenseHashTable
from jitgraph.resources.tables import LookupInterface


class TensorValuedMutableDenseHashTable(MutableDenseHashTable):
    """A ``MutableDenseHashTable`` whose values are tensors of any rank, all of the shape of `default_value`."""

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, *args: Any, **kwargs: Any):
        self._value_shape = shape_of(default_value)
        super().__init__(key_dtype, value_dtype, reshape(default_value, [-1]), *args, **kwargs)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """As in the base class; `values` has the shape of the keys and then that of a value."""
        keys = reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        return super().insert(keys, reshape(values, [shape_of(keys)[0], -1]), name=name)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value of each key: the shape of the keys and then that of a value."""
        flat = reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        return reshape(super().lookup(flat, name=name), concat([shape_of(keys), self._value_shape], 0))


class TupleOfTensorsLookup(LookupInterface):
    """A table whose values are structures of tensors, like `default_values`; a table of its own stands behind each.

    The other arguments are those of ``MutableDenseHashTable``.
    """

    def __init__(self, key_dtype: Any, default_values: Any, empty_key: Any, deleted_key: Any, name: str, checkpoint: bool = True):
        self._tables = nest.pack_sequence_as(default_values, [
            TensorValuedMutableDenseHashTable(key_dtype, value.dtype.base_dtype, value, empty_key=empty_key,
                                              deleted_key=deleted_key, name=f"{name}_{i}", checkpoint=checkpoint)
            for i, value in enumerate(nest.flatten(default_values))])
        self._name = name

    @property
    def name(self) -> str:
        """The name that those of the tables begin with."""
        return self._name

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The structure of the values of `keys`."""
        return nest.pack_sequence_as(self._tables, [table.lookup(keys) for table in nest.flatten(self._tables)])

    def insert(self, keys: Any, values: Any) -> Any:
        """An operation that keeps a structure of `values`, each with the shape of the keys in front."""
        nest.assert_same_structure(self._tables, values)
        flat = [identity(value) for value in nest.flatten(values)]
        with control_dependencies(flat):
            inserted = [table.insert(keys, value) for table, value in zip(nest.flatten(self._tables), flat)]
        return group(*inserted)

    def check_table_dtypes(self, key_dtype: Any, value_dtype: Any) -> None:
        """Nothing: the tables behind it have several dtypes."""


def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """A state with a first axis of `batch_size`, along which it is the same."""
    repeated = [tile(expand_dims(one, 0), concat([[batch_size], ones([rank(one)], dtype=dtypes.int32)], 0))
                for one in nest.flatten(start_state)]
    return nest.pack_sequence_as(start_state, repeated)


def batch_start_time(times: Any) -> Any:
    """The first time of each window of `times` [batch, window]."""
    return times[:, 0]


def batch_end_time(times: Any) -> Any:
    """The last time of each window of `times` [batch, window]."""
    return times[:, -1]
