"""The steps of the optimizers: ``ApplyAdam`` and its kin, one expression each.

An expression takes the values of the variables and the gradient and gives the new values of the variables.  From it
follow the op on variables (``ApplyAdam``), the op on resource variables (``ResourceApplyAdam``) and, where a signature for
sparse gradients is given, the ops that update only some rows (``SparseApplyAdam``).
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import OpBuilder, op
from jitgraph.declare.samples import draw
from jitgraph.graph import shape_rules
from jitgraph.graph.dtypes import INDICES, NUMBERS
from jitgraph.graph.shapes import brackets

_LOCKING = "use_locking: bool = false"


def _variables_agree(count: int, gradient: int, resource: bool = False) -> Callable:
    """A shape rule: the first `count` inputs, variables or handles of `resource` variables, and input `gradient` have one
    shape, the result's if there is one; the others are scalars."""

    def rule(c: Any) -> Any:
        merged = c.shapes[gradient]
        for position in range(count):
            merged = shape_rules.merge(merged, c.variable_shape(position) if resource else c.shapes[position])
        _scalars(c.shapes[count:gradient] + c.shapes[gradient + 1:])
        return [] if resource else merged

    return rule


def _scalars(hyperparameters: Sequence) -> None:
    for shape in hyperparameters:
        shape_rules.with_rank(shape, 0, "a hyperparameter")


def _rows_agree(count: int, gradient: int, indices: int, resource: bool = False) -> Callable:
    """A shape rule: input `gradient` has a row of the first variable for each of input `indices`; what follows the first `count`
    inputs are scalars else."""

    def rule(c: Any) -> Any:
        variable = c.variable_shape(0) if resource else c.shapes[0]
        named = shape_rules.with_rank(c.shapes[indices], 1, "indices")
        if variable is not None:
            shape_rules.merge((named[0] if named is not None else None, *variable[1:]), c.shapes[gradient])
        _scalars([shape for k, shape in enumerate(c.shapes) if k >= count and k not in (gradient, indices)])
        return [] if resource else variable

    return rule


def _agreeing(expression: Callable, names: tuple[str, ...], count: int, gradient: int) -> Callable:
    """The expression, which refuses arrays that NumPy would broadcast: the first `count` inputs and input `gradient` must have
    one shape.  What the compiler gives it has been through the shape rule."""

    @functools.wraps(expression)
    def value(*arrays: Any, **attrs: Any) -> Any:
        for position in (*range(1, count), gradient):
            first, other = arrays[0], arrays[position]
            if isinstance(other, np.ndarray | np.generic) and np.shape(first) != np.shape(other):
                raise invalid(f"{names[0]} and {names[position]} do not have the same shape"
                              f"{brackets(np.shape(first))} {brackets(np.shape(other))}")
        _check_scalars((name, array) for k, (name, array) in enumerate(zip(names, arrays)) if k >= count and k != gradient)
        return expression(*arrays, **attrs)

    return value


def _check_scalars(hyperparameters: Iterable[tuple[str, Any]]) -> None:
    for name, array in hyperparameters:
        if isinstance(array, np.ndarray) and array.ndim:
            raise invalid(f"{name} is not a scalar: {brackets(array.shape)}")


def _new_values(expression: Callable, count: int) -> Callable:
    """The NumPy meaning: the new value of each variable, in its dtype."""

    @functools.wraps(expression)
    def value(*arrays: Any, **attrs: Any) -> Any:
        results = expression(*arrays, **attrs)
        results = results if isinstance(results, tuple) else (results,)
        cast = tuple(np.asarray(new, np.asarray(old).dtype) for new, old in zip(results, arrays))
        return cast if count > 1 else cast[0]

    return value


def _new_rows(expression: Callable, order: tuple[str, ...], dense: tuple[str, ...], count: int) -> Callable:
    """The NumPy meaning for some rows only; rows named more than once are updated one after the other."""
    positions = [order.index(name) for name in dense]
    at = order.index("indices")

    @functools.wraps(expression)
    def value(*arrays: Any, **attrs: Any) -> Any:
        indices, grad = np.ravel(arrays[at]), arrays[order.index("grad")]
        new = [np.array(a) for a in arrays[:count]]
        _check_scalars((name, array) for name, array in zip(order[count:], arrays[count:]) if name not in ("grad", "indices"))
        _check_gradient_of_rows(new[0].shape, np.shape(grad), np.shape(arrays[at]))
        _check_rows(indices, new[0].shape[0])
        rounds = [np.arange(len(indices))] if len(np.unique(indices)) == len(indices) else np.arange(len(indices))[:, None]
        for chosen in rounds:
            rows = indices[chosen]
            given = [new[p][rows] if p < count else grad[chosen] if dense[k] == "grad" else arrays[p]
                     for k, p in enumerate(positions)]
            results = expression(*given, **attrs)
            for target, result in zip(new, results if isinstance(results, tuple) else (results,)):
                target[rows] = result
        return tuple(new) if count > 1 else new[0]

    return value


def _lower_rows(name: str, expression: Callable, order: tuple[str, ...], dense: tuple[str, ...], count: int) -> Callable:
    """The same in place, row after row."""

    @functools.wraps(expression)
    def lower(b: Any, *inputs: Any, **attrs: Any) -> Any:
        given = dict(zip(order, inputs))
        return b.update_rows(name, inputs[:count], given["indices"], [given[n] for n in dense[count:]],
                             functools.partial(expression, **attrs))

    return lower


def _check_gradient_of_rows(variable: tuple[int, ...], gradient: tuple[int, ...], indices: tuple[int, ...]) -> None:
    """Raises InvalidArgumentError unless the gradient has a row of the variable for each index."""
    if len(indices) != 1:
        raise invalid("indices must be one-dimensional")
    if len(gradient) != len(variable) or gradient[1:] != variable[1:]:
        sizes = [*gradient[1:], *(len(variable) - len(gradient)) * (None,)]
        axis = next((d for d, (size, other) in enumerate(zip(variable[1:], sizes), 1) if size != other), len(variable))
        raise invalid(f"var and grad must match in dimension {axis}: their shapes are {brackets(variable)} and "
                      f"{brackets(gradient)}")
    if gradient[0] != indices[0]:
        raise invalid(f"grad must be the same size as indices in the first dimension: their shapes are {brackets(gradient)} and "
                      f"{brackets(indices)}")


def _check_rows(indices: np.ndarray, rows: int) -> None:
    outside = (indices < 0) | (indices >= rows)
    if outside.any():
        position = int(np.argmax(outside))
        raise invalid(f"indices[{position}] = {indices[position]} is not in [0, {rows})")


def _step_samples(refs: list, rest: list, attrs: str) -> Callable:
    """Samples of a step: variables above 0, a gradient (of rows, where there are indices), hyperparameters from 0 to 1."""
    rows = "indices" in rest

    def one(name: str, rng: Any, dtype: Any) -> Any:
        if name in refs:
            return draw(rng, (4, 3), dtype, 0.5, 2)
        if name in ("grad", "delta"):
            return draw(rng, (3 if rows else 4, 3), dtype, -2, 2)
        special = {"indices": np.array([3, 0, 3], np.int32), "global_step": np.int64(3), "lr_power": np.array(-0.5, dtype)}
        return special[name] if name in special else draw(rng, (), dtype, 0.1, 0.9)

    def samples(rng: Any, dtype: Any) -> list:
        if dtype.kind in "iuc":
            return []           # steps of less than 1, and slots that are ordered
        choices = [{}, *({flag: value} for flag, value in (("use_nesterov", True), ("update_slots", False)) if flag in attrs)]
        return [([one(name, rng, dtype) for name in (*refs, *rest)], choice) for choice in choices]

    return samples


def _declare(name: str, refs: list, rest: list, attrs: str, value: Callable, updates: Callable | None, rule: Callable,
             **more: Any) -> OpBuilder:
    """The op on variables and the one on resource variables, whose shape rule ``rule(resource=True)`` gives."""
    types = [f"{n}: {'Tindices' if n == 'indices' else 'int64' if n == 'global_step' else 'T'}" for n in rest]
    types_of: dict[str, Any] = {"T": NUMBERS, **({"Tindices": INDICES} if "indices" in rest else {})}
    more["samples"] = _step_samples(refs, rest, attrs)
    on_variables = op(f"{name}({', '.join([f'{n}: &T' for n in refs] + types)}; {attrs}) -> out: &T",
                      stateful=True, state="write", updates=updates, shape=rule(), **more, **types_of)(value)
    op(f"Resource{name}({', '.join([f'{n}: resource' for n in refs] + types)}; {attrs})", stateful=True, state="write",
       updates=updates, shape=rule(resource=True), **more, **types_of)(value)
    return on_variables


def update(name: str, refs: str, rest: str, attrs: str = "", sparse: str = "") -> Callable[[Callable], OpBuilder]:
    """Declares ``Apply{name}``, its resource form, and with `sparse` (the order of its inputs) the sparse forms.

    The body is an expression in prims: the variables `refs` and the inputs `rest` to the new values of `refs`.
    """
    variables, others = refs.split(), rest.split()
    attributes = f"{_LOCKING}, {attrs}" if attrs else _LOCKING
    count = len(variables)

    def declare(expression: Callable) -> OpBuilder:
        gradient = count + others.index("delta" if "delta" in others else "grad")
        agreeing = _agreeing(expression, (*variables, *others), count, gradient)
        builder = _declare("Apply" + name, variables, others, attributes, _new_values(agreeing, count), agreeing,
                           functools.partial(_variables_agree, count, gradient))
        if sparse:
            order = (*variables, *sparse.split())
            rows = expression, order, (*variables, *others), count
            _declare("SparseApply" + name, variables, list(order[count:]), attributes, _new_rows(*rows), None,
                     functools.partial(_rows_agree, count, order.index("grad"), order.index("indices")), checks=True,
                     lower=_lower_rows(expression.__name__, *rows))
        return builder

    return declare


@update("GradientDescent", "var", "alpha delta")
def apply_gradient_descent(var, alpha, delta):
    """var - alpha * delta."""
    return var - delta * alpha


@update("Momentum", "var accum", "lr grad momentum", "use_nesterov: bool = false", sparse="lr grad indices momentum")
def apply_momentum(var, accum, lr, grad, momentum, use_nesterov):
    """accum = momentum * accum + grad; var -= lr * accum (Nesterov: lr * (grad + momentum * accum))."""
    accum = accum * momentum + grad
    if use_nesterov:
        return var - (grad * lr + accum * momentum * lr), accum
    return var - accum * lr, accum


@update("KerasMomentum", "var accum", "lr grad momentum", "use_nesterov: bool = false",
        sparse="lr grad indices momentum")
def apply_keras_momentum(var, accum, lr, grad, momentum, use_nesterov):
    """accum = momentum * accum - lr * grad; var += accum (Nesterov: momentum * accum - lr * grad)."""
    accum = accum * momentum - grad * lr
    return (var + (accum * momentum - grad * lr) if use_nesterov else var + accum), accum


@update("Adam", "var m v", "beta1_power beta2_power lr beta1 beta2 epsilon grad", "use_nesterov: bool = false")
def apply_adam(var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, use_nesterov):
    """Running means m of the gradient and v of its square, corrected for their start (Kingma and Ba, 2014)."""
    alpha = lr * prim.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    step = grad * (1 - beta1) + m * beta1 if use_nesterov else m
    return var - (step * alpha) / (prim.sqrt(v) + epsilon), m, v


@update("AdamWithAmsgrad", "var m v vhat", "beta1_power beta2_power lr beta1 beta2 epsilon grad")
def apply_adam_with_amsgrad(var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad):
    """Adam that divides by the greatest mean square so far (Reddi et al., 2018)."""
    alpha = lr * prim.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = prim.max(vhat, v)
    return var - (m * alpha) / (prim.sqrt(vhat) + epsilon), m, v, vhat


@update("AdaMax", "var m v", "beta1_power lr beta1 beta2 epsilon grad")
def apply_ada_max(var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad):
    """Adam with the largest gradient in place of the mean square (Kingma and Ba, 2014)."""
    m = m + (grad - m) * (1 - beta1)
    v = prim.max(v * beta2, prim.abs(grad))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


@update("Adagrad", "var accum", "lr grad", "update_slots: bool = true", sparse="lr grad indices")
def apply_adagrad(var, accum, lr, grad, update_slots):
    """accum += grad ** 2; var -= lr * grad / sqrt(accum) (Duchi et al., 2011)."""
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr * prim.rsqrt(accum), accum


@update("AdagradV2", "var accum", "lr epsilon grad", "update_slots: bool = true", sparse="lr epsilon grad indices")
def apply_adagrad_v2(var, accum, lr, epsilon, grad, update_slots):
    """accum += grad ** 2; var -= lr * grad / (sqrt(accum) + epsilon)."""
    if update_slots:
        accum = accum + grad * grad
    return var - grad * lr / (prim.sqrt(accum) + epsilon), accum


@update("AdagradDA", "var gradient_accumulator gradient_squared_accumulator", "grad lr l1 l2 global_step",
        sparse="grad indices lr l1 l2 global_step")
def apply_adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step):
    """Adagrad with dual averaging: the weights follow from all gradients so far (Duchi et al., 2011)."""
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    step = prim.cast(global_step, _dtype_of(var))
    shrunk = prim.sign(total) * prim.max(prim.abs(total) - l1 * step, 0)
    top = prim.select(l1 > 0, shrunk, total)
    return -lr * top / (l2 * step * lr + prim.sqrt(squares)), total, squares


def _dtype_of(value: Any) -> Any:
    return value.dtype


@update("Adadelta", "var accum accum_update", "lr rho epsilon grad", sparse="lr rho epsilon grad indices")
def apply_adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    """Steps in the units of the weights: running means of squared gradients and squared steps (Zeiler, 2012)."""
    accum = accum * rho + grad * grad * (1 - rho)
    step = prim.sqrt(accum_update + epsilon) * prim.rsqrt(accum + epsilon) * grad
    return var - step * lr, accum, accum_update * rho + step * step * (1 - rho)


@update("RMSProp", "var ms mom", "lr rho momentum epsilon grad", sparse="lr rho momentum epsilon grad indices")
def apply_rms_prop(var, ms, mom, lr, rho, momentum, epsilon, grad):
    """ms: running mean of grad ** 2; mom = momentum * mom + lr * grad / sqrt(ms + epsilon); var -= mom."""
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + (grad * lr) / prim.sqrt(ms + epsilon)
    return var - mom, ms, mom


@update("CenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad",
        sparse="lr rho momentum epsilon grad indices")
def apply_centered_rms_prop(var, mg, ms, mom, lr, rho, momentum, epsilon, grad):
    """As RMSProp, divided by the standard deviation: the square of the running mean mg is taken off ms."""
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + (grad * lr) / prim.sqrt((ms - mg * mg) + epsilon)
    return var - mom, mg, ms, mom


def _powered(x, lr_power):
    """x ** -lr_power; for the usual -0.5 the square root, which errs by half as much: the difference of two is taken."""
    known = getattr(lr_power, "constant", lr_power)
    if known is not None and known == -0.5:
        return prim.sqrt(x)
    return prim.pow(x, -lr_power)


def _ftrl(var, accum, linear, grad, shrunk_grad, lr, l1, l2, lr_power):
    """Follow the regularized leader, with L1 and L2 (McMahan et al., 2013)."""
    squares = accum + grad * grad
    root, old_root = _powered(squares, lr_power), _powered(accum, lr_power)
    linear = linear + shrunk_grad - (root - old_root) / lr * var
    quadratic = root / lr + 2 * l2
    shrunk = (prim.sign(linear) * l1 - linear) / quadratic
    return prim.select(prim.abs(linear) > l1, shrunk, 0), squares, linear


@update("Ftrl", "var accum linear", "grad lr l1 l2 lr_power", sparse="grad indices lr l1 l2 lr_power")
def apply_ftrl(var, accum, linear, grad, lr, l1, l2, lr_power):
    """Follow the regularized leader, with L1 and L2 (McMahan et al., 2013)."""
    return _ftrl(var, accum, linear, grad, grad, lr, l1, l2, lr_power)


@update("FtrlV2", "var accum linear", "grad lr l1 l2 l2_shrinkage lr_power",
        sparse="grad indices lr l1 l2 l2_shrinkage lr_power")
def apply_ftrl_v2(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power):
    """As Ftrl, with an L2 penalty on the size of the weights that does not enter the accumulator."""
    return _ftrl(var, accum, linear, grad, grad + 2 * l2_shrinkage * var, lr, l1, l2, lr_power)


def _proximal(pulled, rate, l1, l2):
    """The point nearest to `pulled` under L1 and L2 penalties of weight `rate`."""
    shrunk = prim.sign(pulled) * prim.max(prim.abs(pulled) - rate * l1, 0)
    return prim.select(l1 > 0, shrunk, pulled) / (1 + l2 * rate)


@update("ProximalGradientDescent", "var", "alpha l1 l2 delta")
def apply_proximal_gradient_descent(var, alpha, l1, l2, delta):
    """A gradient step, then the proximal step for L1 and L2 (Duchi and Singer, 2009)."""
    return _proximal(var - delta * alpha, alpha, l1, l2)


_PROXIMAL = (lambda var, alpha, l1, l2, grad: _proximal(var - grad * alpha, alpha, l1, l2),
             ("var", "alpha", "l1", "l2", "grad", "indices"), ("var", "alpha", "l1", "l2", "grad"), 1)
_declare("SparseApplyProximalGradientDescent", ["var"], ["alpha", "l1", "l2", "grad", "indices"], _LOCKING, _new_rows(*_PROXIMAL),
         None, functools.partial(_rows_agree, 1, 4, 5), checks=True, lower=_lower_rows("proximal_gradient_descent", *_PROXIMAL))


@update("ProximalAdagrad", "var accum", "lr l1 l2 grad", sparse="lr l1 l2 grad indices")
def apply_proximal_adagrad(var, accum, lr, l1, l2, grad):
    """As Adagrad, then the proximal step for L1 and L2 (Duchi and Singer, 2009)."""
    accum = accum + grad * grad
    rate = lr * prim.rsqrt(accum)
    return _proximal(var - grad * rate, rate, l1, l2), accum


@update("AddSign", "var m", "lr alpha sign_decay beta grad")
def apply_add_sign(var, m, lr, alpha, sign_decay, beta, grad):
    """Steps larger where gradient and running mean agree in sign (Bello et al., 2017)."""
    m = m * beta + grad * (1 - beta)
    return var - lr * (alpha + sign_decay * prim.sign(grad) * prim.sign(m)) * grad, m


@update("PowerSign", "var m", "lr logbase sign_decay beta grad")
def apply_power_sign(var, m, lr, logbase, sign_decay, beta, grad):
    """Steps exponentially larger where gradient and running mean agree in sign (Bello et al., 2017)."""
    m = m * beta + grad * (1 - beta)
    return var - lr * prim.exp(logbase * sign_decay * prim.sign(grad) * prim.sign(m)) * grad, m
