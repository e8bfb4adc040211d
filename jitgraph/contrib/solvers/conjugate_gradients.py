"""Conjugate gradients, for equations (Hestenes and Stiefel, 1952) and for least squares (Björck, 1996)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jitgraph.contrib.solvers.operators import dot, l2norm_squared
from jitgraph.control.while_loops import while_loop
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.shape import expand_dims, squeeze
from jitgraph.ops.elementwise.compare import logical_and
from jitgraph.ops.linalg.products import norm


class CGState(NamedTuple):
    """The number of steps, the solution, its residual, the direction of search, and the square of a norm."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


class CGLSState(NamedTuple):
    """The number of steps, the solution, its residual, the direction of search, and the square of a norm."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def _zero(operator: Any, rhs: Any) -> Any:
    return expand_dims(zeros(operator.shape[1:], dtype=rhs.dtype.base_dtype), -1)


def _solved(kind: type, goes_on: Callable, step: Callable, *state: Any) -> Any:
    i = constant(0, dtype=dtypes.int32)
    _, found = while_loop(goes_on, step, [i, kind(i, *state)])
    return kind(found.i, squeeze(found.x), squeeze(found.r), squeeze(found.p), found.gamma)


def conjugate_gradient(operator: Any, rhs: Any, preconditioner: Any = None, x: Any = None, tol: float = 1e-4, max_iter: int = 20,
                       name: str = "conjugate_gradient") -> CGState:
    """Solves operator(x) = rhs for a self-adjoint, positive definite operator, from `x` (zero if None) on.

    `rhs`: a vector [n]; `preconditioner`: an operator near the inverse.  It ends when the residual is `tol` times the first one, or
    after `max_iter` steps.
    """
    def goes_on(i: Any, state: CGState) -> Any:
        return logical_and(i < max_iter, norm(state.r) > least)

    def step(i: Any, state: CGState) -> tuple:
        z = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, z)
        x = state.x + alpha * state.p
        r = state.r - alpha * z
        q = r if preconditioner is None else preconditioner.apply(r)
        gamma = dot(r, q)
        beta = gamma / state.gamma
        return i + 1, CGState(i + 1, x, r, q + beta * state.p, gamma)

    with name_scope(name):
        rhs = expand_dims(rhs, -1)
        if x is None:
            x, r = _zero(operator, rhs), rhs
        else:
            x = expand_dims(x, -1)
            r = rhs - operator.apply(x)
        p = r if preconditioner is None else preconditioner.apply(r)
        gamma = dot(r, p)
        least = tol * norm(r)
        return _solved(CGState, goes_on, step, x, r, p, gamma)


def cgls(operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls") -> CGLSState:
    """The x for which |rhs - operator(x)| is least, where `rhs` is a vector [m] and the operator of shape [m, n].

    It ends when the gradient is `tol` times the first one, or after `max_iter` steps.
    """
    def step(i: Any, state: CGLSState) -> tuple:
        q = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(q)
        x = state.x + alpha * state.p
        r = state.r - alpha * q
        s = operator.apply_adjoint(r)
        gamma = l2norm_squared(s)
        beta = gamma / state.gamma
        return i + 1, CGLSState(i + 1, x, r, s + beta * state.p, gamma)

    with name_scope(name):
        rhs = expand_dims(rhs, -1)
        s = operator.apply_adjoint(rhs)
        gamma = l2norm_squared(s)
        least = tol * tol * gamma
        return _solved(CGLSState, lambda i, state: logical_and(i < max_iter, state.gamma > least), step, _zero(operator, rhs), rhs,
                       s, gamma)
