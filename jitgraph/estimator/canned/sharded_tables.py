"""A table of vectors under keys, in several parts, so that each may lie elsewhere."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.partition import dynamic_partition, dynamic_stitch
from jitgraph.ops.arrays.sequences import range as range_of
from jitgraph.ops.arrays.shape import reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import floormod
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.resources.mutable_tables import MutableDenseHashTable


class ShardedTable:
    """`num_shards` tables, of which a key, or the first element of it, says by its remainder in which it stands.

    The arguments are those of ``tf.contrib.lookup.MutableDenseHashTable``.
    """

    def __init__(self, key_dtype: Any, value_dtype: Any, default_value: Any, empty_key: Any, deleted_key: Any, num_shards: int = 1,
                 checkpoint: bool = True, name: str = "ShardedMutableHashTable"):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        with name_scope(name, "sharded_mutable_hash_table") as scope:
            self._name = scope
            self._shards = [MutableDenseHashTable(key_dtype, value_dtype, default_value, empty_key, deleted_key,
                                                  name=f"{name}-{k + 1}-of-{num_shards}", checkpoint=checkpoint)
                            for k in range(num_shards)]

    @property
    def name(self) -> str:
        """The scope of its nodes."""
        return self._name

    @property
    def table_shards(self) -> list[MutableDenseHashTable]:
        """The tables."""
        return self._shards

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys: int64 []."""
        with name_scope(name, "sharded_mutable_hash_table_size"):
            return add_n([shard.size() for shard in self._shards])

    def _first_elements(self, keys: Tensor) -> Tensor:
        return reshape(slice_of(keys, [0, 0], [-1, 1]), [-1])

    def _shard_of(self, keys: Tensor) -> Tensor:
        if keys.shape.ndims != 1:
            keys = self._first_elements(keys)
        return cast(floormod(absolute(keys), len(self._shards)), dtypes.int32)

    def _check(self, keys: Tensor) -> None:
        """Raises ValueError for keys that are neither a vector nor a matrix."""
        if keys.shape.ndims not in (1, 2):
            raise ValueError(f"Expected a vector or matrix for keys, got {keys.shape}.")

    def _count(self, keys: Tensor) -> Any:
        return shape_of(keys)[0]

    def lookup(self, keys: Tensor, name: str | None = None) -> Tensor:
        """The vectors under `keys` [n] or [n, k], the default where there is none.

        Raises TypeError for keys of another dtype, and ValueError for those of other ranks.
        """
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype!r}, got {keys.dtype!r}.")
        self._check(keys)
        if len(self._shards) == 1:
            return self._shards[0].lookup(keys, name=name)
        places = self._shard_of(keys)
        parts = dynamic_partition(keys, places, len(self._shards))
        values = [shard.lookup(part, name=name) for shard, part in zip(self._shards, parts)]
        numbers = dynamic_partition(range_of(self._count(keys)), places, len(self._shards))
        return dynamic_stitch(numbers, values)

    def insert(self, keys: Tensor, values: Tensor, name: str | None = None) -> Any:
        """The operation that puts vectors under `keys`.  Raises ValueError for keys of other ranks."""
        self._check(keys)
        if len(self._shards) == 1:
            return self._shards[0].insert(keys, values, name=name)
        places = self._shard_of(keys)
        parts = dynamic_partition(keys, places, len(self._shards))
        rows = dynamic_partition(values, places, len(self._shards))
        return group(*[shard.insert(part, row, name=name) for shard, part, row in zip(self._shards, parts, rows)])

    def export_sharded(self, name: str | None = None) -> tuple[list[Tensor], list[Tensor]]:
        """All keys and all values, of each shard."""
        pairs = [shard.export(name=name) for shard in self._shards]
        return [keys for keys, _ in pairs], [values for _, values in pairs]
