"""Conversion between dtypes: ``cast`` and its shorthands, ``bitcast``, ``saturate_cast``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.op import ANY, BOOL, FLOATS, NUMBERS, QUANTIZED, elementwise, op
from jitgraph.declare.samples import draw
from jitgraph.graph import constant_rules, dtypes
from jitgraph.graph.composite import IndexedSlices, SparseTensor
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.errors import UnimplementedError
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor

_CONVERTED = NUMBERS + BOOL + QUANTIZED


def _cast_samples(rng, dtype):
    targets = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.bool_, dtypes.complex64)
    return [([draw(rng, (2, 3), dtype, 0, 9)], {"DstT": target}) for target in targets if as_dtype(dtype) in _CONVERTED]


def _constant_cast(op: Any, index: int, value_of: Any) -> Any:
    value = value_of(op.inputs[0])
    if constant_rules.is_known(value):
        return constant_rules.by_value(op, index, value_of)
    return value if op.attrs["DstT"].is_integer else None


_NAMES = {"float32": "float", "float64": "double", "float16": "half"}       # of TensorFlow's kernels


@elementwise("Cast(x: SrcT; DstT: type, Truncate: bool = False) -> y: DstT", SrcT=ANY, DstT=ANY, samples=_cast_samples,
             reference=lambda x, DstT: (x.real if np.iscomplexobj(x) and not DstT.is_complex else x).astype(
                 DstT.as_numpy_dtype), constant=_constant_cast, symbolic=lambda x: x, static=True)
def _cast(x, SrcT, DstT):
    """x as `DstT`: to bool by "is not zero", to integers towards zero, from complex by the real part.  A run raises
    UnimplementedError where one of both is no number."""
    if SrcT not in _CONVERTED or DstT not in _CONVERTED:
        source, target = (_NAMES.get(dtype.name, dtype.name) for dtype in (SrcT, DstT))
        raise UnimplementedError(None, None, f"Cast {source} to {target} is not supported: tf.strings.to_number and tf.as_string "
                                             "convert between strings and numbers")
    return prim.cast(x, DstT)


_DIFFERENTIABLE = FLOATS + dtypes.complex64 + dtypes.complex128


@_cast.gradient
def _(op, grad):
    source = op.inputs[0].dtype.base_dtype
    if source not in _DIFFERENTIABLE or grad.dtype.base_dtype not in _DIFFERENTIABLE:
        return None
    return cast(grad, source)


def _bitcast_shape(c: Any) -> Any:
    shape = c.shapes[0]
    source, target = c.attrs["T"].size, c.attrs["type"].size
    if shape is None or source == target:
        return shape
    if source > target:
        return (*shape, source // target)
    if not shape:
        raise ValueError(f"Cannot bitcast due to shape. A scalar of {source} bytes does not give {target} bytes")
    if shape[-1] is not None and shape[-1] != target // source:
        raise ValueError(f"Cannot bitcast due to shape. {shape[-1]} does not match {target // source}")
    return shape[:-1]


@op("Bitcast(input: T; type: type) -> output: type", T=NUMBERS + QUANTIZED, type=NUMBERS + QUANTIZED,
    shape=_bitcast_shape, host=True,
    samples=lambda rng, dtype: [([draw(rng, (2, 8), dtype)], {"type": target})
                                for target in (dtypes.uint8, dtypes.as_dtype(dtype))])
def _bitcast(input, type):
    """The bytes of `input` read as `type`, without conversion."""
    target = np.dtype(type.as_numpy_dtype)
    array = np.ascontiguousarray(input).reshape(np.shape(input))
    if array.dtype.itemsize > target.itemsize:
        return array[..., None].view(target)
    if array.dtype.itemsize < target.itemsize:
        return array.view(target)[..., 0]
    return array.view(target)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """x (Tensor, SparseTensor, IndexedSlices or value) as `dtype`; x itself if it has that dtype."""
    base: DType = as_dtype(dtype).base_dtype
    if (type(x) is Tensor or hasattr(x, "handle")) and x.dtype is base:
        return x            # the latter: a resource variable; what is fed for the one is fed for the other, as in TensorFlow
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast(x.values, base, scope), x.dense_shape)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, base, scope), x.indices, x.dense_shape)
        x = convert_to_tensor(x, name="x")
        return x if x.dtype.base_dtype is base else _cast(x, DstT=base, name=scope)


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """The bytes of `input` read as `type`; a last dimension appears or goes if the sizes differ."""
    return _bitcast(input, type=type, name=name)


def _shorthand(dtype: DType, default_name: str) -> Any:
    def function(x: Any, name: str = default_name) -> Any:
        return cast(x, dtype, name=name)

    function.__name__ = function.__qualname__ = f"to_{dtype.name}"
    function.__doc__ = f"``tf.cast(x, tf.{dtype.name})``."
    return function


to_float = _shorthand(dtypes.float32, "ToFloat")
to_double = _shorthand(dtypes.float64, "ToDouble")
to_int32 = _shorthand(dtypes.int32, "ToInt32")
to_int64 = _shorthand(dtypes.int64, "ToInt64")
to_bfloat16 = _shorthand(dtypes.bfloat16, "ToBFloat16")
to_complex64 = _shorthand(dtypes.complex64, "ToComplex64")
to_complex128 = _shorthand(dtypes.complex128, "ToComplex128")
