"""Constants, and the conversion of Python and NumPy values to them."""
from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.graph import dtypes, literals, shapes
from jitgraph.graph import structures as nest
from jitgraph.graph.convert import convert_to_tensor, is_tensor_like, register_tensor_conversion_function
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor


@op("Const(; value: tensor, dtype: type) -> output: dtype", shape=lambda c: c.attrs["value"].shape,
    lower=lambda b, value, dtype: b.const(value, dtype), grad=NOT_DIFFERENTIABLE, static=True,
    samples=lambda rng, dtype: [([], {"value": np.ones(shape, np.float32), "dtype": dtypes.float32})
                                for shape in ((2, 3), (), (0,))])
def const(value):
    """The tensor `value`."""
    return value


def constant_node(array: np.ndarray, dtype: DType, name: str) -> Tensor:
    """A Const node for `array`, which is kept as it is (nobody may change it afterwards)."""
    graph = get_default_graph()
    op_name = name[:-1] if name[-1:] == "/" else graph.unique_name(name)
    node = graph.add_op(const.opdef, "Const", op_name, [], {"value": array, "dtype": dtype}, [dtype], [array.shape])
    return node.outputs[0]


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const",
             verify_shape: bool = False) -> Tensor:
    """A constant tensor (``tf.constant``).

    Python ints become int32 (int64 if too large), floats float32, complex complex128; NumPy values keep their dtype.
    With `shape`, a shorter value is continued with its last element.  Raises TypeError if the value does not suit
    `dtype`, ValueError if it has too many elements, or holds None.
    """
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    if is_tensor_like(value):
        raise TypeError(f"tf.constant takes values, not the tensor {value!r}; use tf.identity or tf.convert_to_tensor.")
    array = literals.constant_array(value, wanted, shape, verify_shape)
    return constant_node(array, wanted or as_dtype(array.dtype), "Const" if name is None else name)


def _constant_conversion(value: Any, dtype: DType | None = None, name: str | None = None,
                         as_ref: bool = False) -> Tensor:
    return constant(value, dtype, name=name or "Const")


def _shape_conversion(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    sizes = value.as_list()
    if dtype is None:
        dtype = dtypes.int64 if any(size > dtypes.int32.max for size in sizes) else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    if dtype == dtypes.int32 and any(size > dtypes.int32.max for size in sizes):
        raise ValueError(f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({max(sizes)})")
    return constant(sizes, dtype, name=name or "shape_as_tensor")


def _dimension_conversion(value: Any, dtype: DType | None = None, name: str | None = None,
                          as_ref: bool = False) -> Tensor:
    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return constant(value.value, dtype or dtypes.int32, name=name or "shape_as_tensor")


def _holds_tensor(value: Any) -> bool:
    for item in value:
        if isinstance(item, (list, tuple)):
            if _holds_tensor(item):
                return True
        elif is_tensor_like(item):
            return True
    return False


def _dtype_in(value: Any) -> DType | None:
    """The dtype of the first tensor in a nested list."""
    for item in value:
        if isinstance(item, (list, tuple)):
            found = _dtype_in(item)
            if found is not None:
                return found
        elif is_tensor_like(item):
            return item.dtype.base_dtype
    return None


def _list_conversion(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    """Lists that hold tensors are packed (``packed`` nodes), cast before if the first of them has another dtype than is asked for;
    others are constants."""
    if not _holds_tensor(value):
        return NotImplemented
    inferred = _dtype_in(value)
    if dtype is not None and inferred is not dtype:
        value = nest.map_structure(lambda item: _as(dtype, item) if is_tensor_like(item) else item, value)
    return _pack(value, dtype or inferred, name or "packed")


def _as(dtype: DType, tensor: Any) -> Tensor:
    tensor = convert_to_tensor(tensor)
    return tensor if tensor.dtype.base_dtype is dtype else lookup("Cast").builder(tensor, DstT=dtype)


def _pack(value: Any, dtype: DType | None, name: str) -> Any:
    with name_scope(name) as scope:
        converted, must_pack = [], False
        for index, item in enumerate(value):
            if isinstance(item, (list, tuple)):
                item = _pack(item, dtype, str(index)) if _holds_tensor(item) else item
            if is_tensor_like(item):
                item = convert_to_tensor(item)
                if item.dtype.base_dtype is not dtype:
                    raise TypeError(f"Cannot convert a list containing a tensor of dtype {item.dtype} to {dtype} "
                                    f"(Tensor is: {item!r})")
                must_pack = True
            converted.append(item)
        assert must_pack
        tensors = [item if isinstance(item, Tensor) else constant(item, dtype, name=str(index))
                   for index, item in enumerate(converted)]
        return lookup("Pack").builder(tensors, name=scope)


register_tensor_conversion_function((list, tuple), _list_conversion, 99)
register_tensor_conversion_function((list, tuple, str, bytes, numbers.Number, np.ndarray, np.generic, object),
                                    _constant_conversion, 200)
register_tensor_conversion_function(shapes.TensorShape, _shape_conversion, 100)
register_tensor_conversion_function(shapes.Dimension, _dimension_conversion, 100)
