"""Which weights are masked, and when: the smallest ones, more of them from step to step (Zhu and Gupta, 2017)."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.model_pruning import blocks, masks
from jitgraph.contrib.training.hyperparameters import HParams
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import no_op
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.arrays.shape import reshape, size, squeeze
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.arrays.top_k import top_k
from jitgraph.ops.elementwise.arithmetic import abs as absolute
from jitgraph.ops.elementwise.arithmetic import add, div, maximum, minimum, multiply
from jitgraph.ops.elementwise.arithmetic import pow as power
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater_equal, less, less_equal, logical_and, logical_or
from jitgraph.ops.elementwise.elementary import round as round_of
from jitgraph.ops.elementwise.sums import add_n
from jitgraph.ops.nn.dimension_free import pool
from jitgraph.ops.nn.functions import zero_fraction
from jitgraph.summary.summaries import scalar
from jitgraph.variables.assignments import assign
from jitgraph.variables.global_steps import get_global_step
from jitgraph.variables.partitioners import PartitionedVariable
from jitgraph.variables.variable_initializers import zeros_initializer
from jitgraph.variables.variable_scopes import get_variable, variable_scope


def get_pruning_hparams() -> HParams:
    """The hyperparameters of ``Pruning``.

    `name`: a name scope; `begin_pruning_step`, `end_pruning_step` (-1: none), `pruning_frequency`: when masks change;
    `initial_sparsity` and `target_sparsity` hold at `sparsity_function_begin_step` and `sparsity_function_end_step`, between them
    the rest of a power `sparsity_function_exponent`; `threshold_decay`: the part of the old threshold in a new one;
    `block_height`, `block_width`, `block_pooling_function` ("AVG", "MAX"): weights are masked by blocks; `weight_sparsity_map`
    and `block_dims_map`: what holds for some weights, "regular expression:0.7" and "regular expression:4x1"; `use_tpu`: pool
    along one axis after the other.
    """
    return HParams(name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""], block_dims_map=[""],
                   threshold_decay=0.0, pruning_frequency=10, nbins=256, block_height=1, block_width=1,
                   block_pooling_function="AVG", initial_sparsity=0.0, target_sparsity=0.5, sparsity_function_begin_step=0,
                   sparsity_function_end_step=100, sparsity_function_exponent=3.0, use_tpu=False)


def _check(spec: Any) -> None:
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step and spec.end_pruning_step != -1:
        raise ValueError(f"Pruning must begin before it can end. begin_step={spec.begin_pruning_step}, "
                         f"end_step={spec.end_pruning_step}.Set end_pruning_step to -1 if pruning is required till trainingstops")
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError(f"{name} must be in range [0,1)")


class Pruning:
    """Operations that set the masks of all masked weights of the graph.

    `spec`: what ``get_pruning_hparams`` gives; `global_step`: that of the graph if None; `sparsity`: a scalar tensor in place of
    the one that `spec` describes.  Raises ValueError for a `spec` with values that do not fit.
    """

    def __init__(self, spec: Any = None, global_step: Any = None, sparsity: Any = None):
        self._spec: Any = spec or get_pruning_hparams()
        _check(self._spec)
        self._global_step = cast(get_global_step() if global_step is None else global_step, dtypes.int32)
        self._sparsity = self._planned_sparsity() if sparsity is None else sparsity
        self._assign_ops: list[Any] = []
        self._last_update_step = self._make_last_update_step()
        options: Any = self._spec
        self._block_dims = [options.block_height, options.block_width]
        self._block_dims_map = self._mapped(options.block_dims_map, _block_dims)
        self._sparsity_map = self._mapped(options.weight_sparsity_map, _sparsity)

    @staticmethod
    def _mapped(lines: list[str], read: Callable) -> dict[re.Pattern, Any]:
        found = {}
        for line in filter(None, lines):
            name, value = line.split(":")
            found[re.compile(name)] = read(name, value)
        return found

    def _planned_sparsity(self) -> Any:
        spec = self._spec
        with name_scope(spec.name):
            length = spec.sparsity_function_end_step - spec.sparsity_function_begin_step
            passed = cast(self._global_step - spec.sparsity_function_begin_step, dtypes.float32)
            part = minimum(1.0, maximum(0.0, div(passed, length)))
            return add(multiply(spec.initial_sparsity - spec.target_sparsity, power(1 - part, spec.sparsity_function_exponent)),
                       spec.target_sparsity, name="sparsity")

    def _make_last_update_step(self) -> Any:
        with variable_scope(self._spec.name, use_resource=self._spec.use_tpu) as entered:
            try:
                return get_variable("last_mask_update_step", [], initializer=zeros_initializer(), trainable=False,
                                    dtype=dtypes.int32)
            except ValueError:
                entered.reuse_variables()
                return get_variable("last_mask_update_step", dtype=dtypes.int32)

    def _matching(self, mapped: dict[re.Pattern, Any], what: str, name: str) -> list:
        found = [value for pattern, value in mapped.items() if pattern.search(name)]
        if len(found) > 1:
            raise ValueError(f"Multiple matches in {what} for weight {name}")
        return found

    def _sparsity_of(self, name: str) -> Any:
        found = self._matching(self._sparsity_map, "weight_sparsity_map", name)
        return multiply(self._sparsity, div(found[0], self._spec.target_sparsity)) if found else self._sparsity

    def _update_mask(self, weights: Any, threshold: Any) -> tuple:
        """(the new threshold, the new mask), both smooth in time"""
        sparsity, decay = self._sparsity_of(weights.op.name), self._spec.threshold_decay
        with name_scope(f"{weights.op.name}_pruning_ops"):
            sizes = absolute(weights)
            k = cast(round_of(cast(size(sizes), dtypes.float32) * (1 - sparsity)), dtypes.int32)
            values, _ = top_k(reshape(sizes, [-1]), k=size(sizes))
            smooth = add_n([multiply(gather(values, k - 1), 1 - decay), multiply(threshold, decay)])
            return smooth, cast(greater_equal(sizes, smooth), dtypes.float32)

    def _maybe_update_block_mask(self, weights: Any, threshold: Any) -> tuple:
        name = weights.op.name
        found = self._matching(self._block_dims_map, "block_dims_map", name)
        block = found[0] if found else self._block_dims
        flat = squeeze(weights)
        if flat.get_shape().ndims != 2 or block == [1, 1]:
            return self._update_mask(weights, threshold)
        shape = flat.get_shape().as_list()
        block[:] = [shape[axis] if one == -1 else one for axis, one in enumerate(block)]   # for later weights too, as in TensorFlow
        kind = self._spec.block_pooling_function
        if kind not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {kind}")
        with name_scope(f"{name}_pruning_ops"):
            sizes = absolute(flat)
            if self._spec.use_tpu:
                pooled = blocks.factorized_pool(sizes, block, kind, block, "SAME", name=f"{name}_pooled")
            else:
                sizes = reshape(sizes, [1, *shape, 1])
                pooled = pool(sizes, window_shape=block, pooling_type=kind, strides=block, padding="SAME", name=f"{name}_pooled")
                pooled = squeeze(pooled, axis=[0, 3])
            smooth, mask = self._update_mask(pooled, threshold)
            mask = slice_of(blocks.expand_tensor(mask, block), [0, 0], shape)
        return smooth, reshape(mask, shape_of(weights))

    def _make_assign_ops(self) -> None:
        found, weights, thresholds = masks.get_masks(), masks.get_weights(), masks.get_thresholds()
        if len(found) != len(thresholds):
            raise ValueError(f"Number of masks {len(found)} and number of thresholds {len(thresholds)} mismatch")
        for mask, weight, threshold in zip(found, weights, thresholds):
            parted = isinstance(weight, PartitionedVariable)
            new_threshold, new_mask = self._maybe_update_block_mask(weight.as_tensor() if parted else weight, threshold)
            self._assign_ops.append(blocks.variable_assign(threshold, new_threshold))
            self._assign_ops.append((blocks.partitioned_variable_assign if parted else blocks.variable_assign)(mask, new_mask))

    # -- what is asked of it ------------------------------------------------------------------------------------------

    def mask_update_op(self) -> Any:
        """An operation that sets all masks."""
        with name_scope(self._spec.name):
            if not self._assign_ops:
                self._make_assign_ops()
            with control_dependencies([assign(self._last_update_step, self._global_step, name="last_mask_update_step_assign")]):
                with control_dependencies(self._assign_ops):
                    logs.info("Updating masks.")
                    return no_op("mask_update")

    def conditional_mask_update_op(self) -> Any:
        """An operation that sets all masks if it is time: between the steps of `spec`, `pruning_frequency` after the last time."""
        spec = self._spec
        with name_scope(spec.name):
            inside = logical_and(greater_equal(self._global_step, spec.begin_pruning_step),
                                 logical_or(less_equal(self._global_step, spec.end_pruning_step), less(spec.end_pruning_step, 0)))
            due = less_equal(add(self._last_update_step, spec.pruning_frequency), self._global_step)
            time = logical_and(inside, due)
        return cond(time, self.mask_update_op, no_op)

    def add_pruning_summaries(self) -> None:
        """Adds summaries of the sparsity that is aimed at, of masks and of thresholds."""
        with name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(masks.get_masks(), masks.get_thresholds()):
                scalar(f"{mask.op.name}/sparsity", zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the hyperparameters."""
        logs.info(self._spec.to_json())


def _block_dims(name: str, text: str) -> list[int]:
    sizes = text.split("x")
    if len(sizes) != 2:
        raise ValueError(f"Expected 2 values for block dim for {name}, got {sizes}")
    return [int(sizes[0]), int(sizes[1])]


def _sparsity(name: str, text: str) -> float:
    if float(text) >= 1.0:
        raise ValueError("Weight sparsity can not exceed 1.0")
    return float(text)
