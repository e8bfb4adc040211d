"""Python's functions ``len``, ``range``, ``int`` ..., which for tensors are those of the graph."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from jitgraph.autograph.values import is_dense
from jitgraph.control.conditionals import cond
from jitgraph.graph import dtypes
from jitgraph.graph.scopes import control_dependencies
from jitgraph.graph.texts import as_text
from jitgraph.ops.arrays.sequences import range as tensor_range
from jitgraph.ops.arrays.shape import rank, shape
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import abs as tensor_abs
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.host.python_function import py_func
from jitgraph.ops.strings.string_split import string_join
from jitgraph.ops.strings.strings import as_string, string_to_number
from jitgraph.tensor_arrays.tensor_array import TensorArray

_missing: Any = object()


def abs_(x: Any) -> Any:
    """``abs(x)``"""
    return tensor_abs(x) if is_dense(x) else abs(x)


def float_(x: Any = 0) -> Any:
    """``float(x)``: of a tensor, float32"""
    return _number(x, dtypes.float32) if is_dense(x) else float(x)


def int_(x: Any = 0, base: Any = _missing) -> Any:
    """``int(x)``: of a tensor, int32"""
    if not is_dense(x):
        return int(x) if base is _missing else int(x, base)
    if base is not _missing and base != 10:
        raise NotImplementedError(f"base {base} not supported for int")
    return _number(x, dtypes.int32)


def _number(x: Any, dtype: Any) -> Any:
    return string_to_number(x, dtype) if x.dtype.base_dtype == dtypes.string else cast(x, dtype)


def len_(s: Any) -> Any:
    """``len(s)``: of a tensor, the number of its rows, known or counted"""
    if isinstance(s, TensorArray):
        return s.size()
    if not is_dense(s):
        return len(s)
    if s.shape.ndims == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {shape(s)}")
    if s.shape.ndims is not None:
        known = s.shape.dims[0].value
        return shape(s)[0] if known is None else known

    def refuse() -> Any:
        with control_dependencies([Assert(False, [string_join(["len requires non-zero rank, got ", as_string(rank(s))])])]):
            return cast(0, dtypes.int32) + 0

    return cond(rank(s) > 0, lambda: shape(s)[0], refuse)


def print_(*objects: Any, **kwargs: Any) -> Any:
    """``print(...)``, which prints tensors when they are computed"""
    unknown = tuple(set(kwargs) - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    places = [k for k, one in enumerate(objects) if is_dense(one)]
    if not places:
        return print(*objects, **kwargs)

    def prints(*values: Any) -> int:
        shown = list(objects)
        for place, value in zip(places, values):
            shown[place] = as_text(value)
        print(*shown, **{"flush": True, "file": sys.stdout, **kwargs})
        return 1

    return py_func(prints, [objects[place] for place in places], dtypes.int64, stateful=True)


def range_(start_or_stop: Any, stop: Any = _missing, step: Any = _missing) -> Any:
    """``range(...)``; one of tensors is empty where ``tf.range`` refuses its limits"""
    given = [one for one in (start_or_stop, stop, step) if one is not _missing]
    if not any(map(is_dense, given)):
        return range(*given)
    if len(given) == 3:
        return tensor_range(*given)
    return tensor_range(given[0], maximum(*given)) if len(given) == 2 else tensor_range(maximum(given[0], 0))


def enumerate_(s: Any, start: Any = 0) -> Any:
    """``enumerate(s, start)``: of a dataset, one"""
    return s.enumerate(start) if _is_dataset(s) else enumerate(s, start)


def zip_(*iterables: Any) -> Any:
    """``zip(...)``: of datasets, one"""
    return type(iterables[0]).zip(iterables) if iterables and all(map(_is_dataset, iterables)) else zip(*iterables)


def _is_dataset(value: Any) -> bool:
    return hasattr(value, "_autograph_for_loop")


FUNCTIONS: dict[Any, Callable] = {abs: abs_, float: float_, int: int_, len: len_, print: print_, range: range_,
                                  enumerate: enumerate_, zip: zip_}
