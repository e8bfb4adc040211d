"""Optimizers whose step for one variable is one op, ``Apply...``."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.registry import lookup
from jitgraph.ops.arrays.constant import constant
from jitgraph.train.slots import is_resource

if TYPE_CHECKING:
    from jitgraph.train.optimizer import Optimizer as _Mixed
else:
    _Mixed = object


class OneOp(_Mixed):
    """What an optimizer has beside ``Optimizer``, and before it among its bases: the class says which op it is, and its inputs.

    It is no ``Optimizer`` itself because programs ask whether ``__base__`` of an optimizer of ``tf.train`` is that.

    ``_step``: the op's type without "Apply".  ``_slot_inputs``: {input of the op: name of the slot}.  The constructor sets
    ``_hyperparameters``: {input of the op: (name of its node, value)} and may set ``_attrs``.
    """

    _step: str
    _slot_inputs: dict[str, str] = {}

    def __init__(self, use_locking: bool, name: str, hyperparameters: dict[str, tuple[str, Any]], **attrs: Any):
        super().__init__(use_locking, name)
        self._hyperparameters = hyperparameters
        self._attrs = attrs
        self._tensors: dict[str, Any] = {}

    def _prepare(self) -> None:
        self._tensors = {key: convert_to_tensor(self._call_if_callable(value), name=name)
                         for key, (name, value) in self._hyperparameters.items()}

    def _create_slots(self, var_list: list) -> None:
        for v in var_list:
            for slot in self._slot_inputs.values():
                self._zeros_slot(v, slot, self._name)

    def _filled_slot(self, var: Any, value: Any, slot: str, suffix: str | None = None) -> Any:
        """The slot of `var` that starts with the number `value` everywhere."""
        with var.graph.colocate_with(var.op):
            start = constant(value, var.dtype.base_dtype, var.shape)
        return self._get_or_make_slot(var, start, slot, suffix or self._name)

    def _input(self, name: str, var: Any) -> Any:
        """The input `name` of the op, if it is neither a slot nor the gradient."""
        return self._as(self._tensors[name], var)

    def _node(self, prefix: str, var: Any, grad: Any, indices: Any = None) -> Any:
        opdef = lookup(prefix + self._step)
        resource = is_resource(var)
        arguments = []
        for arg in opdef.inputs:
            if arg.name == "var":
                arguments.append(var.handle if resource else var)
            elif arg.name in self._slot_inputs:
                slot = self.get_slot(var, self._slot_inputs[arg.name])
                arguments.append(slot.handle if resource else slot)
            elif arg.name in ("grad", "delta"):
                arguments.append(grad)
            elif arg.name == "indices":
                arguments.append(indices)
            else:
                arguments.append(self._input(arg.name, grad if resource else var))
        result = opdef.builder(*arguments, use_locking=self._use_locking, **self._attrs)
        return result if resource else result.op

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._node("Apply", var, grad)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._node("ResourceApply", handle, grad)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._node("SparseApply", var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._node("ResourceSparseApply", handle, grad, indices)
