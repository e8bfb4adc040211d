"""The older form of linear models trained by dual coordinate ascent: ``tf.contrib.linear_optimizer.SdcaModel``."""
from __future__ import annotations

from typing import Any

from jitgraph.control.order_ops import group
from jitgraph.estimator.canned.dual_model import DualModel, SparseColumn, parts
from jitgraph.estimator.canned.sharded_tables import ShardedTable
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.dual_ascent.sdca_ops import sdca_shrink_l1
from jitgraph.ops.elementwise.arithmetic import multiply
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.segment import segment_sum

SparseFeatureColumn = SparseColumn


class ShardedMutableDenseHashTable(ShardedTable):
    """As its base class; the shape of keys must be known."""

    def _first_elements(self, keys: Tensor) -> Tensor:
        return reshape(slice_of(keys, [0, 0], [keys.shape.as_list()[0], 1]), [-1])

    def _check(self, keys: Tensor) -> None:
        if not keys.shape.is_fully_defined():
            raise ValueError(f"Key shape must be fully defined, got {keys.shape}.")
        super()._check(keys)

    def _count(self, keys: Tensor) -> Any:
        return keys.shape.as_list()[0]


class SdcaModel(DualModel):
    __doc__ = f"""{(DualModel.__doc__ or "").strip()}

    The L2 penalty of the steps is at least 1, whatever is asked for; the number of examples must be known.
    """

    _slot_suffix = "_unshrinked/SDCAOptimizer"
    _slots_are_resources = None
    _table = ShardedMutableDenseHashTable
    _where = staticmethod(where)

    @staticmethod
    def _doubled(values: Tensor) -> Tensor:
        return cast(values, dtypes.float64)

    def _check_penalties(self, l1: float, l2: float) -> None:
        for kind, value in (("l1", l1), ("l2", l2)):
            if value < 0.0:
                raise ValueError(f"symmetric_{kind}_regularization should be non-negative. Found ({value:f})")

    @property
    def _l2(self) -> float:
        return max(self._stated_l2, 1.0)

    def _scores(self, examples: dict) -> Tensor:
        sparse: Any = 0.0
        dense: Any = 0.0
        with name_scope("sdca/prediction"):
            weights = [_tensor(v) for v in self._variables["sparse_features_weights"]]
            for column, of_column in zip(examples["sparse_features"], weights):
                sparse += segment_sum(multiply(gather(of_column, column.feature_indices), column.feature_values),
                                      column.example_indices)
            features = [_tensor(one) for one in examples["dense_features"]]
            weights = [_tensor(v) for v in self._variables["dense_features_weights"]]
            for one, of_column in zip(features, weights):
                dense += matmul(one, expand_dims(of_column, -1))
        return reshape(dense, [-1]) + sparse

    def _shrunk(self, updates: list[Any]) -> Any:
        with control_dependencies(updates):
            return group(*[sdca_shrink_l1([v], l1=self._l1, l2=self._l2) for v in self._all_parts()])


def _tensor(value: Any) -> Tensor:
    several = parts(value)
    return convert_to_tensor(concat(several, axis=0) if len(several) > 1 or isinstance(value, list) else value)
