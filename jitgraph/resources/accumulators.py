"""``tf.ConditionalAccumulator`` and ``tf.SparseConditionalAccumulator``: gradients of several workers, averaged."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import as_dtype, int64
from jitgraph.graph.operation import Operation
from jitgraph.graph.shapes import raw_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast


class ConditionalAccumulatorBase:
    """What both kinds can do; make one of the subclasses.  `accumulator_ref` is the handle."""

    def __init__(self, dtype: Any, shape: Any, accumulator_ref: Tensor):
        self._dtype, self._shape, self._accumulator_ref = as_dtype(dtype), shape, accumulator_ref
        self._prefix = "Resource" if accumulator_ref.dtype.name == "resource" else ""

    @property
    def accumulator_ref(self) -> Tensor:
        """The handle of the accumulator."""
        return self._accumulator_ref

    @property
    def name(self) -> str:
        """The name of the node that makes the accumulator."""
        return self._accumulator_ref.op.name

    @property
    def dtype(self) -> Any:
        """The dtype of the gradients."""
        return self._dtype

    def _op(self, what: str) -> Any:
        return getattr(raw, f"{self._prefix}Accumulator{what}")

    def num_accumulated(self, name: str | None = None) -> Tensor:
        """How many gradients were added since the last was taken."""
        return self._op("NumAccumulated")(self._accumulator_ref, name=name or f"{self.name}_NumAccumulated")

    def set_global_step(self, new_global_step: Any, name: str | None = None) -> Operation:
        """An operation after which gradients of steps before `new_global_step` are dropped."""
        return self._op("SetGlobalStep")(self._accumulator_ref, _step(new_global_step), name=name)


def _step(value: Any) -> Tensor:
    return cast(value, int64)


def _attrs(dtype: Any, shape: Any, shared_name: str | None, name: str, reduction_type: str) -> dict[str, Any]:
    return {"dtype": as_dtype(dtype), "shape": raw_shape(shape), "container": get_default_graph()._container,
            "shared_name": shared_name or "", "name": name, "reduction_type": reduction_type}


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Adds up dense gradients; the mean ("MEAN") or sum ("SUM") can be taken when enough of them are there."""

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None,
                 name: str = "conditional_accumulator", reduction_type: str = "MEAN"):
        super().__init__(dtype, shape, raw.ResourceConditionalAccumulator(
            **_attrs(dtype, shape, shared_name, name, reduction_type)))

    def apply_grad(self, grad: Any, local_step: Any = 0, name: str | None = None) -> Operation:
        """An operation that adds `grad`, unless `local_step` is before the accumulator's step.

        Raises ValueError if the shape of `grad` is not the accumulator's.
        """
        grad = convert_to_tensor(grad, self._dtype)
        grad.shape.assert_is_compatible_with(self._shape)
        return self._op("ApplyGradient")(self._accumulator_ref, _step(local_step), grad, name=name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Tensor:
        """The mean (or sum) of the gradients; it waits until there are `num_required`.  The step advances by one."""
        taken = self._op("TakeGradient")(self._accumulator_ref, num_required, dtype=self._dtype, name=name)
        taken.set_shape(self._shape)
        return taken


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """As ConditionalAccumulator, for gradients that are some rows of a tensor."""

    def __init__(self, dtype: Any, shape: Any = None, shared_name: str | None = None,
                 name: str = "sparse_conditional_accumulator", reduction_type: str = "MEAN"):
        super().__init__(dtype, shape, raw.SparseConditionalAccumulator(
            **_attrs(dtype, shape, shared_name, name, reduction_type)))

    def apply_indexed_slices_grad(self, grad: IndexedSlices, local_step: Any = 0, name: str | None = None) -> Operation:
        """An operation that adds an IndexedSlices, unless `local_step` is before the accumulator's step."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices: Any, grad_values: Any, grad_shape: Any = None, local_step: Any = 0,
                   name: str | None = None) -> Operation:
        """An operation that adds the rows `grad_values` at `grad_indices`, unless `local_step` is too old."""
        step, indices = _step(local_step), cast(grad_indices, int64)
        shape = cast([] if grad_shape is None else grad_shape, int64)
        return raw.SparseAccumulatorApplyGradient(self._accumulator_ref, step, indices, grad_values, shape,
                                                  has_known_shape=grad_shape is not None, name=name)

    def take_grad(self, num_required: Any, name: str | None = None) -> Any:
        """(indices, values, shape) of the mean (or sum), per row; it waits until there are `num_required` gradients."""
        return raw.SparseAccumulatorTakeGradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required: Any, name: str | None = None) -> IndexedSlices:
        """As ``take_grad``, as an IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return IndexedSlices(taken.values, taken.indices, taken.shape)
