"""Values to tensors: ``tf.convert_to_tensor`` and the registry of conversion functions behind it."""
from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.dtypes import DType, as_dtype
from jitgraph.graph.tensor import Tensor

# (priority, order of registration, classes, function); lower priority is tried first
_converters: list[tuple[int, int, Any, Callable]] = []
_by_type: dict[type, list[Callable]] = {}

_STANDARD = "jitgraph.ops.arrays.constant"     # registers numbers, strings, lists, arrays, shapes


def register_tensor_conversion_function(base_type: Any, conversion_func: Callable, priority: int = 100) -> None:
    """Makes ``convert_to_tensor`` accept `base_type` (a class or tuple of classes).

    ``conversion_func(value, dtype=None, name=None, as_ref=False)`` gives a Tensor, or NotImplemented to pass the value
    on.  Lower priorities come first, then earlier registrations.  Raises TypeError for arguments that do not suit.
    """
    classes = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(cls, type) for cls in classes):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _converters.append((priority, len(_converters), base_type, conversion_func))
    _converters.sort(key=lambda entry: entry[:2])
    _by_type.clear()


def _functions_for(cls: type) -> list[Callable]:
    found = _by_type.get(cls)
    if found is None:
        importlib.import_module(_STANDARD)
        found = _by_type[cls] = [fn for _, _, base, fn in _converters if issubclass(cls, base)]
    return found


def is_tensor_like(value: Any) -> bool:
    """Whether `value` is a Tensor or converts to one by a function of its own (a variable, say)."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def convert_to_tensor(value: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False,
                      preferred_dtype: DType | None = None) -> Tensor:
    """`value` as a Tensor of base type `dtype` (any if None; `preferred_dtype` if that works).

    Tensors stay as they are; others go through the registered functions.  With `as_ref`, a variable gives its
    reference.  Raises TypeError if there is no conversion, ValueError if a tensor has another dtype or graph.
    """
    if dtype is not None and not isinstance(dtype, DType):      # of an array, say, in place of a tensor's
        dtype = as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype.base_dtype is not dtype.base_dtype:
            raise ValueError(f"Tensor conversion requested dtype {dtype.base_dtype.name} for Tensor with dtype "
                             f"{value.dtype.name}: {str(value)!r}")
        return value
    functions = _functions_for(type(value))
    if dtype is not None:
        dtype = dtype.base_dtype
    for function in functions:
        if dtype is None and preferred_dtype is not None:
            try:
                result = function(value, dtype=preferred_dtype, name=name, as_ref=as_ref)
            except (TypeError, ValueError):
                pass
            else:
                if result is not NotImplemented and result.dtype.base_dtype is preferred_dtype.base_dtype:
                    return result
        result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        if not isinstance(result, Tensor):
            raise RuntimeError(f"{_for(name)}Conversion function {function!r} for type {type(value)} returned "
                               f"non-Tensor: {result!r}")
        if dtype is not None and result.dtype.base_dtype is not dtype:
            raise RuntimeError(f"{_for(name)}Conversion function {function!r} for type {type(value)} returned "
                               f"incompatible dtype: requested = {dtype.name}, actual = {result.dtype.name}")
        return result
    raise TypeError(f"{_for(name)}Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function "
                    "registered.")


def in_default_graph(value: Any, name: str | None = None) -> Tensor:
    """`value` as a tensor of the default graph: inside a function, what stands there for a tensor from around it."""
    tensor = convert_to_tensor(value, name=name)
    graph = get_default_graph()
    return tensor if tensor.op.graph is graph else graph.capture(tensor)


def _for(name: str | None) -> str:
    return f"Error converting {name}: " if name else ""


def public_convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None,
                             dtype_hint: Any = None) -> Tensor:
    """``tf.convert_to_tensor``: `value` (number, string, list, array, tensor, variable) as a Tensor.

    `dtype` must fit; `preferred_dtype` is used if the value can take it.  Raises TypeError or ValueError if the value
    cannot be converted, RuntimeError if a registered function misbehaves.
    """
    preferred = dtype_hint if preferred_dtype is None else preferred_dtype
    return convert_to_tensor(value, None if dtype is None else as_dtype(dtype), name, False,
                             None if preferred is None else as_dtype(preferred))


def convert_n_to_tensor(values: Any, dtype: DType | None = None, name: str | None = None, as_ref: bool = False,
                        preferred_dtype: DType | None = None) -> list[Tensor]:
    """Each of `values` as a Tensor, named ``name_0``, ``name_1`` ...; see ``convert_to_tensor``."""
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a list.")
    return [convert_to_tensor(v, dtype, None if name is None else f"{name}_{i}", as_ref, preferred_dtype)
            for i, v in enumerate(values)]
