"""``ShampooOptimizer``: gradients preconditioned along each of their dimensions (Gupta, Koren and Singer, 2018)."""
from __future__ import annotations

from typing import Any

from jitgraph.app import logs
from jitgraph.contrib.opt.matrix_powers import matrix_inverse_pth_root, matrix_square_root
from jitgraph.control.conditionals import cond
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import float32, int32
from jitgraph.graph.scopes import colocate_with, name_scope
from jitgraph.ops.arrays.fill import zeros, zeros_like
from jitgraph.ops.arrays.gather import gather, scatter_nd
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.matrix_parts import eye
from jitgraph.ops.arrays.searching import where
from jitgraph.ops.arrays.shape import expand_dims, shape
from jitgraph.ops.elementwise.arithmetic import maximum, mod, pow
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import greater
from jitgraph.ops.linalg.linalg_functions import svd
from jitgraph.ops.linalg.matmul import matmul
from jitgraph.ops.linalg.products import tensordot
from jitgraph.ops.reduce.reductions import reduce_sum
from jitgraph.train.optimizer import Optimizer
from jitgraph.variables.assignments import assign, assign_add, assign_sub, scatter_add


class ShampooOptimizer(Optimizer):
    """For each dimension i of a variable a matrix of sums of outer products of gradients, or their diagonal where the dimension is
    larger than `max_matrix_size`; the gradient is multiplied by each to the power of -`alpha` / rank.

    `gbar_decay`, `gbar_weight`: a running mean of gradients, and `mat_gbar_decay`, `mat_gbar_weight` of the matrices;
    `svd_interval` and `precond_update_interval`: every how many steps powers and matrices are made anew; `use_iterative_root`:
    powers by iteration in the place of singular values.  Numbers may be functions of the step.
    """

    def __init__(self, global_step: Any = 0, max_matrix_size: int = 768, gbar_decay: Any = 0.0, gbar_weight: Any = 1.0,
                 mat_gbar_decay: Any = 1.0, mat_gbar_weight: Any = 1.0, learning_rate: Any = 1.0, svd_interval: Any = 1,
                 precond_update_interval: Any = 1, epsilon: float = 1e-4, alpha: Any = 0.5, use_iterative_root: bool = False,
                 use_locking: bool = False, name: str = "Shampoo"):
        super().__init__(use_locking, name)
        self._global_step = cast(global_step, float32)
        self._max_matrix_size = max_matrix_size
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: list) -> None:
        for var in var_list:
            with colocate_with(var):
                self._zeros_slot(var, "gbar", self._name)
                for i, size in enumerate(var.get_shape().as_list()):
                    whole = convert_to_tensor(size)
                    if size <= self._max_matrix_size:
                        first = zeros_like(eye(whole))
                        if self._svd_interval > 1:
                            self._get_or_make_slot(var, eye(whole), f"H_{i}", self._name)
                    else:
                        first = zeros([whole])
                    self._get_or_make_slot(var, first, f"Gbar_{i}", self._name)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply_gradient(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply_gradient(grad, handle)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._apply_rows(grad.values, grad.indices, var)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply_rows(grad, indices, handle)

    def _apply_rows(self, values: Any, indices: Any, var: Any) -> Any:
        if var.get_shape()[0] <= self._max_matrix_size or self._gbar_decay != 0.0:
            dense = scatter_nd(expand_dims(indices, axis=1), values, shape(var, out_type=indices.dtype))
            return self._apply_gradient(dense, var)
        return self._apply_gradient(values, var, indices)

    def _mean(self, var: Any, weight: Any, weight_at_step: Any, rest: Any) -> Any:
        """The variable, updated, times a weight and `rest` added; the sum alone if nothing of it remains."""
        if weight == 0.0:
            return rest
        if weight == 1.0:
            return assign_add(var, rest)
        return var.assign_add((weight_at_step - 1) * var + rest)

    def _power(self, var: Any, matrix: Any, size: Any, alpha: Any, slot_name: str | None = None) -> Any:
        with name_scope("matrix_iterative_power"):
            if self._use_iterative_root:
                root = matrix_square_root(matrix, size, 100, self._epsilon)
                power = matrix_inverse_pth_root(root, size, 2 * alpha, 100, 1e-6, ridge_epsilon=0.0)
            elif size == 1:
                power = pow(matrix + self._epsilon, alpha)
            else:
                damping = self._epsilon * eye(cast(size, int32))
                values, left, right = svd(matrix + damping, full_matrices=True)
                power = matmul(right * pow(maximum(values, self._epsilon), alpha), transpose(left))
            return power if slot_name is None else assign(self.get_slot(var, slot_name), power)

    def _apply_gradient(self, grad: Any, var: Any, indices: Any = None) -> Any:
        step = self._global_step + 1
        decay, weight = _at(self._gbar_decay, step), _at(self._gbar_weight, step)
        if indices is not None:
            if self._gbar_decay != 0.0:
                logs.warning("Not applying momentum for variable: %s" % var.name)  # noqa: UP031
            moved = grad
        else:
            moved = self._mean(self.get_slot(var, "gbar"), self._gbar_decay, decay, weight * grad)
        sizes = var.get_shape().as_list()
        matrices = [self.get_slot(var, f"Gbar_{i}") for i in range(len(sizes))]
        weights = _at(self._mat_gbar_decay, step), _at(self._mat_gbar_weight, step)
        alpha = -_at(self._alpha, step) / len(sizes)
        intervals = _at(self._svd_interval, step), _at(self._precond_update_interval, step)
        for i, (size, matrix) in enumerate(zip(sizes, matrices)):
            axes = [axis for axis in range(len(sizes)) if axis != i]
            if size <= self._max_matrix_size:
                power = self._power_of_matrix(var, i, matrix, grad, axes, weights, alpha, intervals, step)
                moved = tensordot(moved, power, axes=([0], [0]), name=f"precond_{i}")
            else:
                power = self._power_of_diagonal(i, matrix, grad, axes, weights, alpha, size, indices)
                moved = transpose(moved, perm=[*range(1, len(sizes)), 0]) * power
        rate = _at(self._learning_rate, step)
        if indices is not None:
            return scatter_add(var, indices, -rate * moved)
        return assign_sub(var, rate * moved)

    def _power_of_matrix(self, var: Any, i: int, matrix: Any, grad: Any, axes: list, weights: tuple, alpha: Any, intervals: tuple,
                         step: Any) -> Any:
        size = var.get_shape()[i].value
        every_svd, every_update = intervals

        def updated_matrix() -> Any:
            weight = weights[1] * every_update
            outer = tensordot(grad, grad, axes=(axes, axes), name=f"grad_outer_{i}")
            return self._mean(matrix, self._mat_gbar_decay, weights[0], weight * outer)

        updated = cond(mod(step, every_update) < 1, updated_matrix, lambda: matrix) / float(size)
        if self._svd_interval == 1:
            return self._power(var, updated, size, alpha)
        return cond(mod(step, every_svd) < 1, lambda: self._power(var, updated, size, alpha, f"H_{i}"),
                    lambda: self.get_slot(var, f"H_{i}"))

    def _power_of_diagonal(self, i: int, diagonal: Any, grad: Any, axes: list, weights: tuple, alpha: Any, size: int,
                           indices: Any) -> Any:
        if axes:
            outer = reduce_sum(grad * grad, axis=axes) / (1.0 if indices is not None else float(size))
        else:
            outer = grad * grad
        if i == 0 and indices is not None:
            assert self._mat_gbar_decay == 1.0
            updated = gather(scatter_add(diagonal, indices, weights[1] * outer), indices)
        else:
            updated = self._mean(diagonal, self._mat_gbar_decay, weights[0], weights[1] * outer)
        return where(greater(updated, 0), pow(updated, alpha), zeros_like(updated))


def _at(parameter: Any, step: Any) -> Any:
    return parameter(step) if callable(parameter) else parameter
