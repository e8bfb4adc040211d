"""``GGTOptimizer``: full-matrix preconditioning by the last gradients (Agarwal et al., 2018)."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.contrib.optimizer_v2.optimizers import Ready
from jitgraph.control.conditionals import cond
from jitgraph.control.order_ops import group
from jitgraph.graph.dtypes import int32
from jitgraph.graph.scopes import colocate_with, control_dependencies
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import diag, eye
from jitgraph.ops.arrays.sequences import range
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.elementwise.arithmetic import floormod, minimum, pow
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.composite_values import sqrt
from jitgraph.ops.linalg.linalg_functions import svd
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.reduce.reductions import reduce_min
from jitgraph.variables.assignments import assign_add, assign_sub, scatter_update
from jitgraph.variables.variable import Variable


class GGTOptimizer(Ready):
    """Steps along the running mean of gradients, multiplied by the inverse root of the sum of outer products of the last `window`
    such means.

    All trainable variables are one long vector here, ordered by name; `eps`, `svd_eps`, `sigma_eps` keep the roots away from zero.
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, use_locking: bool = False, name: str = "GGT",
                 window: int = 10, eps: float = 1e-4, svd_eps: float = 1e-6, sigma_eps: float = 1e-2):
        super().__init__(use_locking, name)
        self._lr, self._beta1, self._window = learning_rate, beta1, window
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps
        self._places: dict[str, tuple[int, int]] = {}
        self._moved: list = []

    def _create_slots(self, var_list: list) -> None:
        begin = 0
        for var in sorted(var_list, key=lambda var: var.name):
            size = int(np.prod(var.get_shape().as_list()))
            self._places[var.name] = begin, begin + size
            begin += size
        dtype = var_list[0].dtype.base_dtype
        self._step = self._own("global_step", cast(0.0, dtype), var_list[0])
        self._buffer = self._own("grad_buffer", zeros([self._window, begin], dtype), var_list[0])
        self._moment = self._own("moment1", zeros([begin], dtype), var_list[0])
        self._flat = self._own("flat_grad", zeros([begin], dtype), var_list[0])

    def _own(self, name: str, initial_value: Any, beside: Any) -> Any:
        """A variable of the optimizer, by reference whatever those are that it trains."""
        key = name, beside.graph
        if key not in self._non_slots:
            with colocate_with(beside):
                self._non_slots[key] = Variable(initial_value, name=name, trainable=False, use_resource=False)
        return self._non_slots[key]

    def _prepare(self) -> None:
        self._moved = []

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        self._moved.append(var)
        return scatter_update(self._flat, range(*self._places[var.name]), reshape(grad, [-1]))

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError("Sparse gradient updates are not supported.")

    def _finish(self, update_ops: list, name_scope: str) -> Any:
        with control_dependencies(update_ops):
            step = self._direction()
            moves = [assign_sub(var, self._lr * reshape(step[slice(*self._places[var.name])], var.get_shape()))
                     for var in self._moved]
        return group(*moves, name=name_scope)

    def _direction(self) -> Any:
        """How far the vector of all variables goes, [n, 1]."""
        dtype = self._flat.dtype.base_dtype
        count = assign_add(self._step, 1.0)
        moment = self._moment.assign(self._beta1 * self._moment + (1.0 - self._beta1) * self._flat)
        buffer = scatter_update(self._buffer, floormod(cast(count - 1.0, int32), self._window), moment)
        column = expand_dims(moment, -1)
        means = transpose(buffer / sqrt(minimum(count, cast(self._window, dtype))))
        sigma, u, _ = svd(matmul(means, means, transpose_a=True) + cast(eye(self._window), dtype) * self._svd_eps)
        root = sqrt(sigma)
        least = reduce_min(root)

        def projected(scale: Any) -> Any:
            inner = matmul(u, matmul(means, column, transpose_a=True), transpose_a=True)
            return matmul(means, matmul(u, matmul(diag(scale), inner)))

        head = projected(1.0 / pow(root + self._sigma_eps, 3))
        tail = column - projected(1.0 / sigma)
        return cond(least > self._eps, lambda: head + tail / least, lambda: head + 0.0)
