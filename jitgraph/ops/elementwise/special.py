"""Special functions: error function, gamma and its kin, zeta, incomplete beta, Bessel functions."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import COMPLEX, FLOATS, TypeSet, elementwise, op
from jitgraph.declare.samples import between, draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.graph.texts import as_text
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros_like
from jitgraph.ops.elementwise import special_loops
from jitgraph.ops.elementwise.arithmetic import negative, not_equal, square
from jitgraph.ops.elementwise.broadcasting import Unbroadcast
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.complex_numbers import conj
from jitgraph.ops.elementwise.elementary import exp, log, reciprocal
from jitgraph.ops.elementwise.incomplete_gamma import lower_slope

_SINGLE_DOUBLE = TypeSet(dtypes.float32, dtypes.float64)
_TWO_OVER_ROOT_PI = 2 / np.sqrt(np.pi)


def _scipy(name: str) -> Any:
    """A function of scipy.special, imported at the first call."""

    def function(*arrays: Any) -> Any:
        import scipy.special

        with np.errstate(all="ignore"):
            return getattr(scipy.special, name)(*arrays)

    return function


def _computed(name: str, first: Any, second: Any) -> Any:
    """A function of scipy.special of two numbers: of float32 by a loop of our own, where there is one for them."""
    found = special_loops.computed(name, first, second)
    return _scipy(name)(first, second) if found is None else found


# -- functions with a kernel -------------------------------------------------------------------------------------------

def _erf_gradient(factor: float) -> Any:
    def gradient(op, grad):
        x = op.inputs[0]
        return grad * constant(factor, grad.dtype.base_dtype) * exp(negative(square(x)))

    return gradient


@elementwise("Erf(x: T) -> y: T", T=FLOATS, grad=_erf_gradient(_TWO_OVER_ROOT_PI), reference=_scipy("erf"))
def erf(x):
    """The error function: 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    return prim.erf(x)


@elementwise("Erfc(x: T) -> y: T", T=FLOATS, grad=_erf_gradient(-_TWO_OVER_ROOT_PI), reference=_scipy("erfc"))
def erfc(x):
    """``1 - erf(x)``, exact for large x."""
    return prim.erfc(x)


@elementwise("Lgamma(x: T) -> y: T", T=FLOATS, reference=_scipy("gammaln"), samples=between(0.3, 6),
             grad=lambda op, grad: grad * digamma(op.inputs[0]))
def lgamma(x):
    """The logarithm of the absolute value of the gamma function."""
    return prim.lgamma(x)


@elementwise("Digamma(x: T) -> y: T", T=FLOATS, reference=_scipy("psi"), samples=between(0.3, 6),
             grad=lambda op, grad: grad * polygamma(constant(1, op.inputs[0].dtype.base_dtype), op.inputs[0]))
def digamma(x):
    """The derivative of lgamma."""
    return prim.digamma(x)


_XLOGY = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64) + COMPLEX


@elementwise("Xlogy(x: T, y: T) -> z: T", T=_XLOGY, reference=_scipy("xlogy"), samples=between(0.2, 3, 2))
def xlogy(x, y):
    """``x * log(y)``, and 0 where x is 0."""
    zero = prim.eq(x, 0)
    return prim.select(zero, 0, x * prim.log(prim.select(zero, 1, y)))


@elementwise("Xdivy(x: T, y: T) -> z: T", T=_XLOGY, samples=between(0.2, 3, 2),
             reference=lambda x, y: np.where(x == 0, 0, x / y))
def xdivy(x, y):
    """``x / y``, and 0 where x is 0."""
    zero = prim.eq(x, 0)
    return prim.select(zero, x * 0, x / prim.select(zero, y * 0 + 1, y))


def _unless_zero(x: Tensor) -> Tensor:
    """1 where x is not 0, else 0."""
    return cast(not_equal(x, cast(0.0, x.dtype.base_dtype)), x.dtype.base_dtype)


@xlogy.gradient
def _(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y, sums=True)
    x, y = conj(x), conj(y)
    of_x, of_y = xlogy(_unless_zero(x), y), xdivy(x, y)
    return [back.to_x(of_x * grad), back.to_y(of_y * grad)]


@xdivy.gradient
def _(op, grad):
    x, y = op.inputs
    back = Unbroadcast(x, y, sums=True)
    x, y = conj(x), conj(y)
    of_x, of_y = xdivy(_unless_zero(x), y), xdivy(negative(x), y ** 2.0)
    return [back.to_x(of_x * grad), back.to_y(of_y * grad)]


# -- functions on the host ---------------------------------------------------------------------------------------------

@op("Polygamma(a: T, x: T) -> z: T", T=_SINGLE_DOUBLE, shape=shape_rules.broadcast, host=True,
    samples=lambda rng, dtype: [[np.asarray(n, dtype), draw(rng, (2, 3), dtype, 0.5, 4)] for n in (0, 1, 3)])
def polygamma(a, x):
    """The derivative of order a of digamma at x; NaN unless a is a whole number of at least 0, and as in TensorFlow at infinity."""
    whole = (a >= 0) & (a == np.floor(a))
    order = np.where(whole, a, 0).astype(np.int64)
    above = np.maximum(order, 1) + 1.0
    with np.errstate(all="ignore"):
        signed = np.where(order % 2 == 0, -1, 1) * _scipy("gamma")(above)
        found = np.where(x == np.inf, np.nan, signed * _computed("zeta", above.astype(x.dtype), x))
        if not order.all():
            found = np.where(order == 0, prim.digamma(x), found)
    return np.where(whole, found, np.nan).astype(x.dtype)


@polygamma.gradient
def _(op, grad):
    order, x = op.inputs
    back = Unbroadcast(order, x, sums=True)
    return [None, back.to_y(polygamma(order + 1, x) * grad)]


@op("Zeta(x: T, q: T) -> z: T", T=_SINGLE_DOUBLE, shape=shape_rules.broadcast, host=True,
    samples=between(1.5, 4, 2))
def zeta(x, q):
    """The Hurwitz zeta function: the sum of ``(q + n) ** -x`` over n from 0; as in TensorFlow, NaN for an infinite q."""
    return np.where(q == np.inf, np.nan, _computed("zeta", x, q)).astype(x.dtype)


@zeta.gradient
def _(op, grad):
    x, q = op.inputs
    back = Unbroadcast(x, q, sums=True)
    return [None, back.to_y(negative(x) * zeta(x + 1, q) * grad)]


@op("Igamma(a: T, x: T) -> z: T", T=_SINGLE_DOUBLE, shape=shape_rules.broadcast, host=True,
    samples=between(0.5, 4, 2))
def igamma(a, x):
    """The lower regularized incomplete gamma function; for an infinite `a`, as TensorFlow's terms come out, NaN from 1 on."""
    nothing = (x < 0) | (a <= 0) | np.isinf(a) & (x >= 1)
    return np.asarray(np.where(x == 0, 0, np.where(nothing, np.nan, _computed("gammainc", a, x))), x.dtype)


@op("Igammac(a: T, x: T) -> z: T", T=_SINGLE_DOUBLE, shape=shape_rules.broadcast, host=True,
    samples=between(0.5, 4, 2))
def igammac(a, x):
    """The upper regularized incomplete gamma function, ``1 - igamma(a, x)``."""
    known = np.where((x < 0) | (a <= 0) | np.isinf(a) & (x >= 1), np.nan, _computed("gammaincc", a, x))
    return np.asarray(np.where((a > 0) & (x == np.inf), 0, known), x.dtype)


@op("IgammaGradA(a: T, x: T) -> z: T", T=_SINGLE_DOUBLE, shape=shape_rules.broadcast, host=True,
    samples=between(0.5, 4, 2))
def _igamma_grad_a(a, x):
    """The derivative of igamma with respect to a."""
    wide = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    return np.asarray(lower_slope(*wide), np.result_type(a, x))


def _igamma_gradient(sign: int) -> Any:
    def gradient(op, grad):
        a, x = op.inputs
        back = Unbroadcast(a, x, sums=True)
        of_a = _igamma_grad_a(a, x)
        of_x = exp(negative(x) + (a - 1) * log(x) - lgamma(a))
        grads = [back.to_x(of_a * grad), back.to_y(of_x * grad)]
        return grads if sign > 0 else [negative(one) for one in grads]

    return gradient


igamma.gradient(_igamma_gradient(1))
igammac.gradient(_igamma_gradient(-1))


def _beta_samples(rng, dtype):
    a, b, x = (draw(rng, (2, 3), dtype, low, high) for low, high in ((0.5, 4), (0.5, 4), (0.1, 0.9)))
    return [[a, b, x], [a[0, 0], b[0, 0], x], [a[:0], b[:0], x[:0]]]


def _beta_shape(c: Any) -> Any:
    """That of those which are no scalars: they must be of one shape."""
    shapes = [shape for shape in c.shapes if shape != ()]
    return functools.reduce(shape_rules.merge, shapes, None) if shapes else ()


@op("Betainc(a: T, b: T, x: T) -> z: T", T=_SINGLE_DOUBLE, shape=_beta_shape, host=True, samples=_beta_samples)
def betainc(a, b, x):
    """The regularized incomplete beta function."""
    return np.asarray(_scipy("betainc")(a, b, x), x.dtype)


@betainc.gradient
def _(op, grad):
    a, b, x = op.inputs
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    of_x = exp((b - 1) * log(1 - x) + (a - 1) * log(x) - log_beta)
    return [None, None, Unbroadcast(a, x, sums=True).to_y(of_x * grad)]


@op("BesselI0e(x: T) -> y: T", T=FLOATS, shape=shape_rules.same_as_input, host=True)
def bessel_i0e(x):
    """``exp(-abs(x))`` times the modified Bessel function of order 0."""
    return _rounded("i0e", x)


@op("BesselI1e(x: T) -> y: T", T=FLOATS, shape=shape_rules.same_as_input, host=True)
def bessel_i1e(x):
    """``exp(-abs(x))`` times the modified Bessel function of order 1."""
    return _rounded("i1e", x)


def _rounded(name: str, x: Any) -> Any:
    """A function of scipy.special; half floats are computed in float32."""
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    return np.asarray(_scipy(name)(wide), x.dtype)


@bessel_i0e.gradient
def _(op, grad):
    x, y = op.inputs[0], op.outputs[0]
    return grad * (bessel_i1e(x) - raw.Sign(x) * y)


@bessel_i1e.gradient
def _(op, grad):
    # the formula has 1/x in it; at 0 the derivative is 1/2
    x, y = op.inputs[0], op.outputs[0]
    zeros = zeros_like(x)
    dtype = x.dtype.base_dtype
    epsilon = float(np.finfo(np.float32 if dtype is dtypes.bfloat16 else dtype.as_numpy_dtype).eps)
    far = raw.Greater(raw.Abs(x), constant(epsilon, dtype))
    safe = raw.Select(far, x, epsilon + zeros)
    slope = bessel_i0e(safe) - y * (raw.Sign(safe) + reciprocal(safe))
    return grad * raw.Select(far, slope, 0.5 + zeros)


@op("NextAfter(x1: T, x2: T) -> output: T", T=TypeSet(dtypes.float64, dtypes.float32, default=dtypes.float32),
    shape=shape_rules.broadcast, host=True, samples=between(-3, 3, 2))
def nextafter(x1, x2):
    """The number next to x1 in the direction of x2, with broadcasting."""
    return np.nextafter(x1, x2)


@nextafter.gradient
@gradient_of_nodes(13)
def _(op, grad):
    x1, x2 = op.inputs
    back = Unbroadcast(x1, x2)
    return [back.to_x(grad, arrived=True), back.to_y(raw.ZerosLike(grad))]


@op("CheckNumerics(tensor: T; message: string) -> output: T", T=FLOATS, shape=shape_rules.same_as_input, host=True,
    stateful=True,
    samples=lambda rng, dtype: [([draw(rng, shape, dtype)], {"message": "wrong"}) for shape in ((2, 3), (), (0, 2))])
def _check_numerics(tensor, message):
    """`tensor`, unchanged; InvalidArgumentError if it has an infinite or NaN element."""
    from jitgraph.graph.errors import InvalidArgumentError

    found = [word for word, bad in (("Inf", np.isinf(tensor)), ("NaN", np.isnan(tensor))) if np.any(bad)]
    if found:
        text = as_text(message)
        raise InvalidArgumentError(None, None, f"{text} : Tensor had {' and '.join(found)} values")
    return tensor


@_check_numerics.gradient
def _(op, grad):
    return _check_numerics(grad, message="Not a number (NaN) or infinity (Inf) values detected in gradient. "
                                         + str(op.attrs["message"]))


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """`tensor`, unchanged; running it raises InvalidArgumentError, with `message`, if an element is infinite or NaN."""
    return _check_numerics(tensor, message=message, name=name)


# -- composites --------------------------------------------------------------------------------------------------------

def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return exp(raw.Abs(x)) * bessel_i0e(x)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return exp(raw.Abs(x)) * bessel_i1e(x)


def lbeta(x: Any, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the multivariate beta function, over the last dimension."""
    from jitgraph.ops.reduce.reductions import reduce_sum

    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        of_parts = reduce_sum(lgamma(x), axis=[-1])
        return of_parts - lgamma(reduce_sum(x, axis=[-1]))
