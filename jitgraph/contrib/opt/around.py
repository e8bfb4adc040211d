"""Optimizers around another: variables clipped after the step, tasks without a gradient left alone."""
from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from jitgraph.app import logs
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group, no_op
from jitgraph.graph.composite import IndexedSlices
from jitgraph.graph.dtypes import as_dtype
from jitgraph.graph.scopes import colocate_with, control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.gather import gather
from jitgraph.ops.elementwise.clip import clip_by_global_norm, clip_by_norm, global_norm
from jitgraph.ops.elementwise.compare import equal
from jitgraph.ops.reduce.reductions import count_nonzero
from jitgraph.train.optimizer import Optimizer


class VariableClippingOptimizer(Optimizer):
    """`opt`, after whose steps the variables of `vars_to_clip_dims` {variable: axes} are clipped to the norm `max_norm` along them.

    Of a sparse gradient only its rows are clipped.  `colocate_clip_ops_with_vars`: where the clipping stands.
    """

    def __init__(self, opt: Any, vars_to_clip_dims: dict, max_norm: Any, use_locking: bool = False,
                 colocate_clip_ops_with_vars: bool = False, name: str = "VariableClipping"):
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = {id(var): axes[:] for var, axes in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list:  # type: ignore[override]
        """Those of the optimizer inside."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """That of the optimizer inside."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list:  # type: ignore[override]
        """Those of the optimizer inside."""
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """The operation that applies gradients and clips."""
        with name_scope(name, self._name) as scope:
            done = self._opt.apply_gradients(grads_and_vars, global_step=global_step)
            clipped = []
            with control_dependencies([done]):
                for grad, var in grads_and_vars:
                    if grad is not None and id(var) in self._vars_to_clip_dims:
                        with name_scope("clip_" + var.op.name):
                            clipped.append(self._clip_dense(var) if isinstance(grad, Tensor) else self._clip_rows(grad, var))
            return group(done, *clipped, name=scope)

    def _place(self, var: Any) -> Any:
        return colocate_with(var.op) if self._colocate_clip_ops_with_vars else contextlib.nullcontext()

    def _clip_dense(self, var: Any) -> Any:
        with self._place(var):
            value = var.read_value()
            delta = value - clip_by_norm(value, self._max_norm, self._vars_to_clip_dims[id(var)])
        with colocate_with(var.op):
            return var.assign_sub(delta, use_locking=self._use_locking)

    def _clip_rows(self, grad: Any, var: Any) -> Any:
        axes = self._vars_to_clip_dims[id(var)]
        if 0 in axes:
            logs.warn("Clipping norm across dims %s for %s is inefficient when including sparse dimension 0.", axes, var.op.name)
            return self._clip_dense(var)
        with colocate_with(var.op):
            rows = gather(var, grad.indices)
        with self._place(var):
            delta = IndexedSlices(rows - clip_by_norm(rows, self._max_norm, axes), grad.indices, grad.dense_shape)
        with colocate_with(var.op):
            return var.scatter_sub(delta, use_locking=self._use_locking)


def _is_all_zeros(grad: Any) -> Any:
    return equal(count_nonzero(grad), 0)


def _unless_zero(apply: Callable) -> Callable:
    """`apply`, a method that applies a gradient, done only in runs in which the gradient is not all zeros."""
    def applied(grad: Any, *args: Any, **kwargs: Any) -> Any:
        def moved() -> Any:
            with control_dependencies([apply(grad, *args, **kwargs)]):
                return no_op()

        return cond(_is_all_zeros(grad), no_op, moved)

    return applied


class MultitaskOptimizerWrapper:
    """`opt`, which leaves a variable and its slots alone in runs in which the gradient is all zeros.

    For tasks that are trained in turns.  Raises TypeError if `opt` is no optimizer.
    """

    def __init__(self, opt: Any):
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt: Any = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, _unless_zero(getattr(opt, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(gradients_variables: Any, clip_norm: Any = 20.0) -> tuple:
    """(pairs with clipped gradients, their global norm): as ``tf.clip_by_global_norm``, for pairs (gradient, variable)."""
    gradients, variables = zip(*gradients_variables)

    def or_nothing(grad: Any) -> Any:
        if grad is None:
            return grad
        return cond(_is_all_zeros(grad), lambda: zeros([], dtype=as_dtype(grad.dtype)), lambda: grad)

    norm = global_norm([or_nothing(grad) for grad in gradients])
    clipped, _ = clip_by_global_norm(gradients, clip_norm, use_norm=norm)
    return list(zip(clipped, variables)), norm
