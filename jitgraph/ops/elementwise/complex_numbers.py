"""Complex numbers: parts, conjugate, absolute value, angle."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.op import COMPLEX, elementwise
from jitgraph.declare.samples import between
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor

_COMPLEX = COMPLEX.with_default(dtypes.complex64)
_PARTS = TypeSet(dtypes.float32, dtypes.float64, default=dtypes.float32)


def _parts_samples(rng, dtype):
    """Complex inputs, with the dtype of their parts as the attribute Tout."""
    return [(inputs, {"Tout": dtypes.as_dtype(dtype).real_dtype}) for inputs in between(-3, 3)(rng, dtype)]


def _pair_samples(rng, dtype):
    """Pairs of parts, with the complex dtype of the result as the attribute Tout."""
    return [(inputs, {"Tout": np.result_type(dtype, np.complex64)}) for inputs in between(-3, 3, 2)(rng, dtype)]


@elementwise("Real(input: T; Tout: type = float32) -> output: Tout", T=_COMPLEX, Tout=_PARTS,
             samples=_parts_samples, reference=np.real)
def _real(input):
    """The real part."""
    return prim.real(input)


@elementwise("Imag(input: T; Tout: type = float32) -> output: Tout", T=_COMPLEX, Tout=_PARTS,
             samples=_parts_samples, reference=np.imag)
def _imag(input):
    """The imaginary part."""
    return prim.imag(input)


@elementwise("Complex(real: T, imag: T; Tout: type = complex64) -> out: Tout", T=_PARTS, Tout=_COMPLEX,
             samples=_pair_samples, reference=lambda real, imag: real + 1j * imag)
def _complex(real, imag):
    """``real + i imag``, with broadcasting."""
    return prim.complex(real, imag)


@elementwise("Conj(input: T) -> output: T", T=_COMPLEX, reference=np.conj)
def _conj(input):
    """The complex conjugate."""
    return prim.conj(input)


@elementwise("ComplexAbs(x: T; Tout: type = float32) -> y: Tout", T=_COMPLEX, Tout=_PARTS,
             samples=_parts_samples, reference=np.abs)
def _complex_abs(x):
    """The absolute value, a real tensor."""
    return prim.abs(x)


@elementwise("Angle(input: T; Tout: type = float32) -> output: Tout", T=_COMPLEX, Tout=_PARTS,
             samples=_parts_samples, reference=np.angle)
def _angle(input):
    """The argument, in radians from -pi to pi."""
    return prim.atan2(prim.imag(input), prim.real(input))


def _zero_like(grad: Any) -> Tensor:
    from jitgraph.ops.arrays.constant import constant

    return constant(0, grad.dtype.base_dtype)


@_real.gradient
def _(op, grad):
    return complex(grad, _zero_like(grad))


@_imag.gradient
def _(op, grad):
    return complex(_zero_like(grad), grad)


@_complex.gradient
def _(op, grad):
    from jitgraph.ops.elementwise.broadcasting import Unbroadcast

    back = Unbroadcast(*op.inputs, sums=True)
    return [back.to_x(real(grad)), back.to_y(imag(grad))]


@_conj.gradient
def _(op, grad):
    return conj(grad)


@_complex_abs.gradient
def _(op, grad):
    length = op.outputs[0]
    return raw.DivNoNan(complex(grad, raw.ZerosLike(grad)) * op.inputs[0], complex(length, raw.ZerosLike(length)))


@_angle.gradient
def _(op, grad):
    z = op.inputs[0]
    return -complex(grad, _zero_like(grad)) * raw.Reciprocal(complex(imag(z), real(z)))


def complex_abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value of a complex tensor."""
    return _complex_abs(x, Tout=x.dtype.base_dtype.real_dtype, name=name)


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part of a complex tensor; a real tensor as it is."""
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return _real(input, Tout=input.dtype.base_dtype.real_dtype, name=scope) if input.dtype.is_complex else input


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part of a complex tensor; zeros for a real one."""
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return _imag(input, Tout=input.dtype.base_dtype.real_dtype, name=scope)
        return raw.ZerosLike(input)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of a complex tensor in radians; 0 for real ones, negative ones too, as in TensorFlow 1."""
    with name_scope(name, "Angle", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return _angle(input, Tout=input.dtype.base_dtype.real_dtype, name=scope)
        return raw.ZerosLike(input, name="zeros_like")


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """``real + i imag``: complex64 from float32, complex128 from float64.  Raises TypeError for other dtypes."""
    real, imag = convert_to_tensor(real, name="real"), convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        kinds = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
        out = kinds.get(real.dtype.base_dtype)
        if out is None or imag.dtype.base_dtype is not real.dtype.base_dtype:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return _complex(real, imag, Tout=out, name=scope)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor as it is.  Raises TypeError for tensors that are not numbers."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype is dtypes.variant:
            return _conj(x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
