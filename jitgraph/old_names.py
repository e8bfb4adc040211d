"""Names that Python, NumPy and SciPy have given up since TensorFlow 1's time, put back for programs of that time.

    from jitgraph import old_names
    old_names.put_back()
    np.int, time.clock, collections.Iterable, threading.Thread.isAlive     # as they were
    np.reshape(a, newshape=(2, 3))

`jitgraph run` does this for a script. Only what is missing is added, so that no name changes its meaning.
"""

from __future__ import annotations

import base64
import collections
import collections.abc
import functools
import importlib
import importlib.util
import inspect
import math
import sys
import threading
import time
import urllib
import xml.etree
import xml.etree.ElementTree
from types import ModuleType
from typing import Any

import numpy as np

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def put_back() -> None:
    """Add the names to their modules, each one only where it is missing."""
    for where, names in _PYTHON:
        _add(where, names)
    _add(np, _NUMPY)
    if "newshape" not in inspect.signature(np.reshape).parameters:
        np.reshape = _with_newshape(np.reshape)         # type: ignore[assignment]
    sys.modules.setdefault("xml.etree.cElementTree", xml.etree.ElementTree)
    sys.modules.setdefault(_ARPACK, _elsewhere(_ARPACK, "scipy.sparse.linalg"))
    _add(urllib, {"__getattr__": _submodule_of_urllib})
    if importlib.util.find_spec("imp") is None:
        sys.modules["imp"] = _imp()


def _add(where: Any, names: dict[str, Any]) -> None:
    for name, value in names.items():
        if name not in vars(where):     # hasattr() would make NumPy warn
            setattr(where, name, value)


def _elsewhere(name: str, place: str) -> ModuleType:
    """Return a module whose names stand in another one, which is imported when the first is asked for."""
    module = ModuleType(name, f"The names of {place}.")
    _add(module, {"__getattr__": lambda attribute: getattr(importlib.import_module(place), attribute)})
    return module


def _submodule_of_urllib(name: str) -> ModuleType:
    """Import `urllib.request` and its kin for programs that write `import urllib` alone: TensorFlow imported them."""
    try:
        return importlib.import_module(f"urllib.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'urllib' has no attribute '{name}'") from None


def _with_newshape(reshape: Any) -> Any:
    """Return `np.reshape` that also takes its argument `shape` as `newshape`, the name that it had before NumPy 2.4."""
    @functools.wraps(reshape)
    def wrapper(a: Any, *args: Any, **kwargs: Any) -> Any:
        if "newshape" in kwargs:
            kwargs["shape"] = kwargs.pop("newshape")
        return reshape(a, *args, **kwargs)

    old = inspect.Parameter("newshape", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = [*inspect.signature(reshape).parameters.values(), old]
    wrapper.__signature__ = inspect.Signature(parameters)       # type: ignore[attr-defined]
    return wrapper


def _getargspec(func: Any) -> ArgSpec:
    """Return what a Python function takes: (args, varargs, keywords, defaults)."""
    return ArgSpec(*inspect.getfullargspec(func)[:4])


class _Cast:
    """`np.cast`: `np.cast["float32"](a)` is `a` as an array of that dtype."""

    def __getitem__(self, dtype: Any) -> Any:
        return lambda a: np.asarray(a).astype(dtype)


_KINDS = "biufcmMOSUV"


def _find_common_type(array_types: Any, scalar_types: Any) -> Any:
    """Return what `np.find_common_type` did: scalars count only if their kind is above that of the arrays."""
    arrays, scalars = (np.result_type(*map(np.dtype, types)) if len(types) else None for types in (array_types, scalar_types))
    if arrays is None or scalars is None:
        return scalars if arrays is None else arrays
    return np.result_type(arrays, scalars) if _KINDS.index(scalars.kind) > _KINDS.index(arrays.kind) else arrays


def _imp() -> ModuleType:
    """Return a module with the functions of `imp` that programs use."""
    module = ModuleType("imp", "The part of Python's old module `imp` that programs use.")

    def load_source(name: str, pathname: str) -> ModuleType:
        """Execute a file as the module `name`, and return that."""
        spec = importlib.util.spec_from_file_location(name, pathname)
        assert spec is not None and spec.loader is not None
        found = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
        return found

    _add(module, {"reload": importlib.reload, "load_source": load_source, "new_module": ModuleType})
    return module


_ARPACK = "scipy.sparse.linalg.eigen.arpack"

_PYTHON: list[tuple[Any, dict[str, Any]]] = [
    (collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__}),
    (time, {"clock": time.perf_counter}),
    (inspect, {"getargspec": _getargspec, "ArgSpec": ArgSpec}),
    (base64, {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes}),
    (threading.Thread, {"isAlive": threading.Thread.is_alive}),
]

_SCTYPES: dict[str, list] = {
    "int": [np.int8, np.int16, np.int32, np.int64], "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble], "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}

_NUMPY: dict[str, Any] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "object": object, "str": str,
    "long": int, "unicode": str,
    "float_": np.float64, "complex_": np.complex128, "cfloat": np.complex128, "singlecomplex": np.complex64,
    "string_": np.bytes_, "unicode_": np.str_, "int0": np.intp, "uint0": np.uintp, "bool8": np.bool_, "object0": np.object_,
    "NaN": np.nan, "NAN": np.nan, "Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "PINF": np.inf, "NINF": -np.inf,
    "PZERO": 0.0, "NZERO": -0.0,
    "product": np.prod, "cumproduct": np.cumprod, "alltrue": np.all, "sometrue": np.any, "round_": np.round,
    "row_stack": np.vstack, "mat": np.asmatrix, "trapz": getattr(np, "trapezoid", None),
    "in1d": lambda ar1, ar2, assume_unique=False, invert=False: np.isin(np.ravel(ar1), ar2, assume_unique, invert),
    "asscalar": lambda a: a.item(),
    "longfloat": np.longdouble, "longcomplex": np.clongdouble, "clongfloat": np.clongdouble,
    "bytes0": np.bytes_, "str0": np.str_, "void0": np.void, "typeDict": np.sctypeDict, "sctypes": _SCTYPES,
    "cast": _Cast(),
    "find_common_type": _find_common_type,
    "disp": lambda mesg, device=None, linefeed=True: print(mesg, file=device, end="\n" if linefeed else ""),
    **{name: getattr(np.exceptions, name) for name in ("AxisError", "ComplexWarning", "RankWarning", "TooHardError",
                                                       "ModuleDeprecationWarning", "VisibleDeprecationWarning")},
    "math": math,
    "msort": lambda a: np.sort(a, axis=0),
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64),
}
