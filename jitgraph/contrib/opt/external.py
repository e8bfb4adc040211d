"""Optimizers outside of the graph: ``ScipyOptimizerInterface``, and the base of such."""
from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.autodiff.gradients import gradients
from jitgraph.graph.stack import get_default_session
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.arrays.identity import placeholder
from jitgraph.ops.arrays.join import concat
from jitgraph.ops.arrays.shape import reshape
from jitgraph.variables.variable_collections import trainable_variables


def _shape(tensor: Any) -> tuple:
    return tuple(tensor.shape.as_list())


def _packed(tensors: list) -> Any:
    """All tensors as one vector."""
    if not tensors:
        return None
    flat = [reshape(tensor, [-1]) for tensor in tensors]
    return flat[0] if len(flat) == 1 else concat(flat, 0)


def _gradients(tensor: Any, variables: list) -> list:
    return [zeros_like(var) if grad is None else grad for var, grad in zip(variables, gradients(tensor, variables))]


class ExternalOptimizerInterface:
    """Minimizes `loss`, a scalar, by a function of one vector, of all of `var_list` (by default the trainable variables).

    `equalities`, `inequalities`: lists of scalars that must be 0, or not negative; `var_to_bounds`: {variable: (low, high)},
    numbers or arrays.  A subclass overrides ``_minimize``, which gets further keywords as `optimizer_kwargs`.
    """

    def __init__(self, loss: Any, var_list: Any = None, equalities: list | None = None, inequalities: list | None = None,
                 var_to_bounds: dict | None = None, **optimizer_kwargs: Any):
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._update_placeholders = [placeholder(var.dtype.base_dtype) for var in self._vars]
        self._var_updates = [var.assign(reshape(fed, _shape(var))) for var, fed in zip(self._vars, self._update_placeholders)]
        loss_grads = _gradients(loss, self._vars)
        equality_grads = [_gradients(one, self._vars) for one in self._equalities]
        inequality_grads = [_gradients(one, self._vars) for one in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = _packed(self._vars)
        self._packed_loss_grad = _packed(loss_grads)
        self._packed_equality_grads = [_packed(grads) for grads in equality_grads]
        self._packed_inequality_grads = [_packed(grads) for grads in inequality_grads]
        ends = list(itertools.accumulate(math.prod(_shape(var)) for var in self._vars))
        self._packing_slices = [slice(begin, end) for begin, end in zip([0, *ends], ends)]

    def _bounds(self, given: dict) -> list:
        by_id = {id(var): bounds for var, bounds in given.items()}
        low: list = []
        high: list = []
        for var in self._vars:
            for side, bound in zip((low, high), by_id.get(id(var), (-np.inf, np.inf))):
                side.extend(np.broadcast_to(bound, var.shape.as_list()).flat)
        return list(zip(low, high))

    def minimize(self, session: Any = None, feed_dict: dict | None = None, fetches: list | None = None,
                 step_callback: Callable | None = None, loss_callback: Callable | None = None, **run_kwargs: Any) -> None:
        """Gives the variables the values that minimize the loss, in `session` or the default one.

        `loss_callback` is called with the values of `fetches` at each evaluation, `step_callback` with the vector after each
        step; `run_kwargs` go to the last ``Session.run``.
        """
        session = session or get_default_session()
        feed_dict, fetches = feed_dict or {}, fetches or []
        quiet = lambda *values: None
        evaluated = functools.partial(self._function, session, feed_dict, fetches)
        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=evaluated([self._loss, self._packed_loss_grad], loss_callback or quiet),
            equality_funcs=[evaluated([one]) for one in self._equalities],
            equality_grad_funcs=[evaluated([one]) for one in self._packed_equality_grads],
            inequality_funcs=[evaluated([one]) for one in self._inequalities],
            inequality_grad_funcs=[evaluated([one]) for one in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds, step_callback=step_callback or quiet, optimizer_kwargs=self.optimizer_kwargs)
        values = [found[part] for part in self._packing_slices]
        session.run(self._var_updates, feed_dict=dict(zip(self._update_placeholders, values)), **run_kwargs)

    def _function(self, session: Any, feed_dict: dict, fetches: list, tensors: list, callback: Callable | None = None) -> Callable:
        """A function of the vector that gives the values of `tensors`."""
        def values_at(x: np.ndarray) -> list:
            feeds = {var: x[part].reshape(_shape(var)) for var, part in zip(self._vars, self._packing_slices)}
            values = session.run(tensors + fetches, feed_dict={**feeds, **feed_dict})
            if callback is not None:
                callback(*values[len(tensors):])
            return values[:len(tensors)]

        return values_at

    def _minimize(self, initial_val: Any, loss_grad_func: Callable, equality_funcs: list, equality_grad_funcs: list,
                  inequality_funcs: list, inequality_grad_funcs: list, packed_bounds: list | None, step_callback: Callable,
                  optimizer_kwargs: dict) -> Any:
        """The vector of values of the variables that minimizes; functions give lists of their values at a vector."""
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes by ``scipy.optimize.minimize``, by the method L-BFGS-B unless `method` says another; `options` are SciPy's.

    ``minimize`` raises ValueError for keywords that are set here, such as `bounds`.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val: Any, loss_grad_func: Callable, equality_funcs: list, equality_grad_funcs: list,
                  inequality_funcs: list, inequality_grad_funcs: list, packed_bounds: list | None, step_callback: Callable,
                  optimizer_kwargs: dict) -> Any:
        import scipy.optimize

        def loss_and_gradient(x: Any) -> tuple:
            loss, gradient = loss_grad_func(x)
            return loss, gradient.astype(np.float64)

        def scalar(function: Callable) -> Callable:
            return lambda x: np.asarray(function(x)[0], np.float64)

        given = dict(optimizer_kwargs)
        method = given.pop("method", self._DEFAULT_METHOD)
        constraints = [{"type": kind, "fun": scalar(one), "jac": scalar(slope)}
                       for kind, ones, slopes in (("eq", equality_funcs, equality_grad_funcs),
                                                  ("ineq", inequality_funcs, inequality_grad_funcs))
                       for one, slope in zip(ones, slopes)]
        own = {"jac": True, "callback": step_callback, "method": method, "constraints": constraints, "bounds": packed_bounds}
        for keyword in own:
            if keyword in given:
                if keyword == "bounds":
                    raise ValueError("Bounds must be set using the var_to_bounds argument")
                raise ValueError(f"Optimizer keyword arg '{keyword}' is set automatically and cannot be injected manually")
        result = scipy.optimize.minimize(loss_and_gradient, np.asarray(initial_val, np.float64), **own, **given)
        lines = ["Optimization terminated with:", f"  Message: {result.message}", f"  Objective function value: {result.fun:f}"]
        if hasattr(result, "nit"):
            lines.append(f"  Number of iterations: {result.nit}")
        if hasattr(result, "nfev"):
            lines.append(f"  Number of functions evaluations: {result.nfev}")
        logs.info("%s", "\n".join(lines))
        return result["x"]
