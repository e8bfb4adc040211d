"""Names that Python, NumPy and SciPy have given up since TensorFlow 1's time, put back for programs of that time.

    from jitgraph import old_names
    old_names.put_back()
    np.int, time.clock, collections.Iterable, threading.Thread.isAlive     # as they were
    from distutils.version import LooseVersion
    from scipy.misc import imread, imresize
    np.reshape(a, newshape=(2, 3)), a.tostring(), np.lib.pad(a, 1, "constant")

`jitgraph run` does this for a script. Only what is missing is added, so that no name changes its meaning.
"""

from __future__ import annotations

import base64
import collections
import collections.abc
import configparser
import ctypes
import fractions
import functools
import gc
import importlib
import inspect
import math
import random
import sys
import threading
import time
import unittest
import urllib
import xml.etree
import xml.etree.ElementTree
from types import ModuleType
from typing import Any

import numpy as np

from jitgraph import old_modules, old_scipy_misc

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def put_back() -> None:
    """Add the names to their modules, each one only where it is missing."""
    for where, names in _PYTHON:
        _add(where, names)
    _add(np, _NUMPY)
    _add(np.lib, {name: vars(np)[name] for name in _LIB})
    _add(np.linalg, {"linalg": np.linalg})
    for like in (np.zeros(1), np.float64(0)):
        _add_methods(like, _METHODS)
    if "newshape" not in inspect.signature(np.reshape).parameters:
        np.reshape = _with_newshape(np.reshape)         # type: ignore[assignment]
    sys.modules.setdefault("xml.etree.cElementTree", xml.etree.ElementTree)
    sys.modules.setdefault(_ARPACK, _elsewhere(_ARPACK, "scipy.sparse.linalg"))
    _add(urllib, {"__getattr__": _submodule_of_urllib})
    if sys.version_info >= (3, 11):
        random.sample = _sample(random.sample)          # type: ignore[method-assign]
    if sys.version_info >= (3, 12):
        random.randrange = _of_whole_floats(random.randrange)       # type: ignore[method-assign]
        random.randint = _of_whole_floats(random.randint)           # type: ignore[method-assign]
    old_modules.put_back()
    old_scipy_misc.put_back()


def _add(where: Any, names: dict[str, Any]) -> None:
    for name, value in names.items():
        if name not in vars(where):     # hasattr() would make NumPy warn
            setattr(where, name, value)


def _add_methods(like: np.ndarray | np.generic, methods: dict[str, Any]) -> None:
    """Add the methods that arrays, or scalars, `like` this one lack. Types that are written in C refuse `setattr`, so this
    goes by the dictionary behind `__dict__`."""
    missing = {name: method for name, method in methods.items() if not hasattr(like, name)}
    if missing:
        to = np.ndarray if isinstance(like, np.ndarray) else np.generic
        [names] = gc.get_referents(vars(to))
        names.update(missing)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(to))


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


def _of_whole_floats(drawing: Any) -> Any:
    """Return `random.randrange` or `random.randint` that also takes floats like 1e8, as it did until 3.11."""
    @functools.wraps(drawing)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return drawing(*(int(arg) if isinstance(arg, float) and arg.is_integer() else arg for arg in args), **kwargs)

    return wrapper


def _sample(sample: Any) -> Any:
    """Return `random.sample` that also takes a set, in the order in which Python goes through it, as it did until 3.10."""
    @functools.wraps(sample)
    def wrapper(population: Any, *args: Any, **kwargs: Any) -> Any:
        return sample(tuple(population) if isinstance(population, collections.abc.Set) else population, *args, **kwargs)

    return wrapper


_ARPACK = "scipy.sparse.linalg.eigen.arpack"

_ASSERTIONS = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual", "assertRegexpMatches": "assertRegex",
    "assertNotRegexpMatches": "assertNotRegex", "assertRaisesRegexp": "assertRaisesRegex", "assert_": "assertTrue",
}

_PYTHON: list[tuple[Any, dict[str, Any]]] = [
    (collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__}),
    (time, {"clock": time.perf_counter}),
    (inspect, {"getargspec": _getargspec, "ArgSpec": ArgSpec}),
    (base64, {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes}),
    (threading.Thread, {"isAlive": threading.Thread.is_alive}),
    (fractions, {"gcd": math.gcd}),
    (configparser, {"SafeConfigParser": configparser.ConfigParser}),
    (configparser.RawConfigParser, {"readfp": configparser.RawConfigParser.read_file}),
    (unittest.TestCase, {old: getattr(unittest.TestCase, new) for old, new in _ASSERTIONS.items()}),
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
    "unicode0": np.str_, "rank": np.ndim, "issubsctype": np.issubdtype, "obj2sctype": lambda rep: np.dtype(rep).type,
    "sctype2char": lambda sctype: np.dtype(sctype).char, "fastCopyAndTranspose": lambda a: a.T.copy(),
    "msort": lambda a: np.sort(a, axis=0),
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64),
}

# Functions that `np.lib` held too, `np.lib.pad` before all.
_LIB = """
    angle append apply_along_axis apply_over_axes array_split asarray_chkfinite average bartlett bincount blackman
    broadcast_arrays broadcast_to c_ column_stack common_type copy corrcoef cov delete diag diag_indices
    diag_indices_from diagflat diff digitize dsplit dstack ediff1d expand_dims extract eye fill_diagonal flip fliplr
    flipud fromregex genfromtxt get_include gradient hamming hanning histogram histogram2d histogram_bin_edges
    histogramdd hsplit i0 imag index_exp info insert interp intersect1d iscomplex iscomplexobj isin isneginf
    isposinf isreal isrealobj issubdtype iterable ix_ kaiser kron load loadtxt mask_indices median meshgrid mgrid
    mintypecode nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile
    nanprod nanquantile nanstd nansum nanvar ndenumerate ndindex ogrid packbits pad percentile piecewise place poly
    poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval put_along_axis quantile r_
    ravel_multi_index real real_if_close roots rot90 s_ save savetxt savez savez_compressed select setdiff1d
    setxor1d sinc sort_complex split take_along_axis tile tri tril tril_indices tril_indices_from trim_zeros triu
    triu_indices triu_indices_from union1d unique unpackbits unravel_index unwrap vander vectorize vsplit
""".split()


def _tostring(array: Any, order: str = "C") -> bytes:
    """Return the bytes of the elements, as `tobytes` does."""
    return array.tobytes(order)


def _itemset(array: Any, *args: Any) -> None:
    """Set one element: `a.itemset(value)` of an array with one, `a.itemset(index, value)` of any."""
    *given, value = args
    if not given and array.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    index = given[0] if len(given) == 1 and isinstance(given[0], tuple) else tuple(given)
    flat = len(index) < 2 and array.ndim != 1
    array[np.unravel_index(index[0] if index else 0, array.shape) if flat else index or 0] = value


_METHODS: dict[str, Any] = {
    "tostring": _tostring, "itemset": _itemset,
    "ptp": lambda a, axis=None, out=None, keepdims=False: np.ptp(a, axis, out, keepdims),
    "newbyteorder": lambda a, new_order="S": a.view(a.dtype.newbyteorder(new_order)),
}
