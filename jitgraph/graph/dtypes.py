"""Data types: ``tf.float32`` and its kin, and sets of them for op declarations.

A ``DType`` is a singleton per TensorFlow enum value, so ``is`` compares them.  Types of references (the output of a
variable node) have the enum value of their base plus 100.
"""
from __future__ import annotations

from numbers import Number
from typing import Any, cast

import numpy as np

_REF_OFFSET = 100

# name, enum value, numpy type code ("" where there is none), kind, bytes of one element
_ROWS = [
    ("float32", 1, "f4", "float"), ("float64", 2, "f8", "float"), ("int32", 3, "i4", "int"),
    ("uint8", 4, "u1", "uint"), ("int16", 5, "i2", "int"), ("int8", 6, "i1", "int"), ("string", 7, "O", "string"),
    ("complex64", 8, "c8", "complex"), ("int64", 9, "i8", "int"), ("bool", 10, "?", "bool"),
    ("qint8", 11, "i1", "quantized"), ("quint8", 12, "u1", "quantized"), ("qint32", 13, "i4", "quantized"),
    ("bfloat16", 14, "", "float"), ("qint16", 15, "i2", "quantized"), ("quint16", 16, "u2", "quantized"),
    ("uint16", 17, "u2", "uint"), ("complex128", 18, "c16", "complex"), ("float16", 19, "f2", "float"),
    ("resource", 20, "O", "resource"), ("variant", 21, "O", "variant"), ("uint32", 22, "u4", "uint"),
    ("uint64", 23, "u8", "uint"),
]
_QUANTIZED_FIELDS = {"qint8": np.int8, "quint8": np.uint8, "qint32": np.int32, "qint16": np.int16,
                     "quint16": np.uint16}


class DType:
    """The type of the elements of a tensor, such as ``tf.float32``.

    Attributes: ``name``, ``base_dtype``, ``real_dtype``, ``as_numpy_dtype``, ``as_datatype_enum``, ``size`` (bytes),
    ``min``, ``max``, ``limits``, and the questions ``is_floating``, ``is_integer``, ``is_complex``, ``is_bool``,
    ``is_unsigned``, ``is_quantized``, ``is_numpy_compatible``.  Equal to anything that ``as_dtype`` turns into it:
    ``tf.float32 == np.float32`` and ``tf.float32 == "float32"``.
    """

    __slots__ = ("__weakref__", "_code", "_enum", "_is_ref_dtype", "_kind", "_numpy", "_reference", "base_dtype",
                 "name")

    name: str
    base_dtype: DType
    _enum: int                  # value in the protocol buffer
    _code: str                  # NumPy's code, "" for bfloat16
    _kind: str                  # float, int, uint, complex, bool, string, quantized, resource or variant
    _is_ref_dtype: bool
    _reference: DType           # the reference type of a base type, itself for a reference type
    _numpy: Any

    def __new__(cls, type_enum: Any) -> DType:
        return as_dtype(type_enum)

    @classmethod
    def _make(cls, name: str, enum: int, code: str, kind: str, base: DType | None) -> DType:
        self = object.__new__(cls)
        self.name, self._enum, self._code, self._kind = name, enum, code, kind
        self.base_dtype = self if base is None else base
        self._is_ref_dtype = base is not None
        self._reference = self          # of a base type, set to its reference type below
        self._numpy = None
        return self

    @property
    def _as_ref(self) -> DType:
        return self._reference

    @property
    def as_datatype_enum(self) -> int:
        """The value of the protocol buffer enum ``DataType``."""
        return self._enum

    @property
    def as_numpy_dtype(self) -> type:
        """The NumPy scalar type: ``np.float32``; ``object`` for strings; ``ml_dtypes.bfloat16`` for bfloat16."""
        if self._numpy is None:
            self._numpy = self._find_numpy()
        return self._numpy

    def _find_numpy(self) -> Any:
        base = self.base_dtype
        if base.name == "bfloat16":
            import ml_dtypes

            return ml_dtypes.bfloat16
        if base._kind == "quantized":
            return np.dtype([(base.name, _QUANTIZED_FIELDS[base.name])])
        return np.object_ if base._code == "O" else np.dtype(base._code).type

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: float32 for complex64, itself for types that are not complex."""
        base = self.base_dtype
        return {"complex64": float32, "complex128": float64}.get(base.name, self)

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether arrays of this type exist in NumPy."""
        return self._kind not in ("resource", "variant")

    @property
    def is_bool(self) -> bool:
        return self._kind == "bool"

    @property
    def is_integer(self) -> bool:
        """Whether this is a plain (not quantized) integer type."""
        return self._kind in ("int", "uint")

    @property
    def is_floating(self) -> bool:
        """Whether this is a real floating-point type."""
        return self._kind == "float"

    @property
    def is_complex(self) -> bool:
        return self._kind == "complex"

    @property
    def is_quantized(self) -> bool:
        return self._kind == "quantized"

    @property
    def is_unsigned(self) -> bool:
        """Whether this is an unsigned integer type; false for types without order."""
        return self._kind == "uint"

    @property
    def size(self) -> int:
        """Bytes of one element in an array (of a reference to it, for strings); 1 for resources and variants."""
        if self.base_dtype.name == "bfloat16":
            return 2
        return np.dtype(self._code).itemsize if self.is_numpy_compatible else 1

    def _bounds(self) -> tuple:
        base = self.base_dtype
        if base._kind in ("bool", "string", "resource", "variant", "complex"):
            raise TypeError(f"Cannot find minimum or maximum value of {self.name}, which has no order.")
        if base.name == "bfloat16":
            import ml_dtypes

            info: Any = ml_dtypes.finfo(ml_dtypes.bfloat16)
        elif base._kind == "float":
            info = np.finfo(base._code)
        else:
            info = np.iinfo(base._code)
        # floats as scalars of their own type, integers as Python ints
        if base._kind == "float":
            return self.as_numpy_dtype(info.min), self.as_numpy_dtype(info.max)
        return info.min, info.max

    @property
    def min(self) -> Any:
        """The smallest finite value.  Raises TypeError for types without order."""
        return self._bounds()[0]

    @property
    def max(self) -> Any:
        """The largest finite value.  Raises TypeError for types without order."""
        return self._bounds()[1]

    @property
    def limits(self) -> tuple:
        """The usual range of intensities in an image of this type: (0, 255) for uint8, (0, 1) for floats."""
        ranges = {"bool": (False, True), "float": (0, 1), "complex": (0, 1)}
        return ranges[self._kind] if self._kind in ranges else (0, int(self._bounds()[1]))

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a value of type `other` may stand where this type is wanted: that of a reference where its base type is."""
        given = as_dtype(other)
        return self._enum in (given._enum, given.base_dtype._enum)

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self._enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self):
        return as_dtype, (self.name,)

    def __int__(self) -> int:
        return self._enum


_BY_ENUM: dict[int, DType] = {}
for _name, _value, _code, _kind in _ROWS:
    _base = _BY_ENUM[_value] = DType._make(_name, _value, _code, _kind, None)
    _base._reference = _BY_ENUM[_value + _REF_OFFSET] = DType._make(
        _name + "_ref", _value + _REF_OFFSET, _code, _kind, _base)

_BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in _BY_ENUM.values()}
_BY_NAME.update({"half": _BY_NAME["float16"], "double": _BY_NAME["float64"], "float": _BY_NAME["float32"],
                 "half_ref": _BY_NAME["float16_ref"], "double_ref": _BY_NAME["float64_ref"],
                 "float_ref": _BY_NAME["float32_ref"]})

float16 = half = _BY_NAME["float16"]
bfloat16 = _BY_NAME["bfloat16"]
float32 = _BY_NAME["float32"]
float64 = double = _BY_NAME["float64"]
int8, int16, int32, int64 = (_BY_NAME[n] for n in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (_BY_NAME[n] for n in ("uint8", "uint16", "uint32", "uint64"))
complex64, complex128 = _BY_NAME["complex64"], _BY_NAME["complex128"]
bool_ = _BY_NAME["bool"]
string, resource, variant = (_BY_NAME[n] for n in ("string", "resource", "variant"))
qint8, quint8, qint16, quint16, qint32 = (_BY_NAME[n] for n in ("qint8", "quint8", "qint16", "quint16", "qint32"))
globals().update({name: dtype for name, dtype in _BY_NAME.items() if dtype._is_ref_dtype})     # float32_ref and its like
QUANTIZED_DTYPES = frozenset([qint8, quint8, qint16, quint16, qint32])

_BY_NUMPY: dict[Any, DType] = {
    np.dtype(d._code): d for d in _BY_ENUM.values()
    if d._code and d._kind not in ("quantized", "resource", "variant") and not d._is_ref_dtype}
_BY_PYTHON: dict[Any, DType] = {float: float32, int: int32, bool: bool_, complex: complex128, str: string,
                                bytes: string, object: string}


def as_dtype(type_value: Any) -> DType:
    """The DType for a DType, its name, a number that equals its enum value, a NumPy dtype or scalar type, or a Python type.

    ``float`` gives float32 and ``int`` int32, as a Python number in a graph does.  Raises TypeError for anything else.
    """
    if isinstance(type_value, DType):
        return type_value
    try:
        if isinstance(type_value, str):
            return _BY_NAME[type_value]
        if isinstance(type_value, (Number, np.generic)):
            return _BY_ENUM[cast(int, type_value)]         # whatever equals the number: programs write tf.placeholder(1.0)
        if type_value in _BY_PYTHON:
            return _BY_PYTHON[type_value]
    except (KeyError, TypeError):
        pass
    found = _from_numpy(type_value)
    if found is None:
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
    return found


def _from_numpy(type_value: Any) -> DType | None:
    if isinstance(type_value, (str, int)) or type_value is None:
        return None
    if isinstance(type_value, type) and not issubclass(type_value, (np.generic, np.dtype)):
        return None         # NumPy would take it for that of objects
    try:
        dtype = np.dtype(type_value)
    except (TypeError, ValueError):
        return None
    found = _BY_NUMPY.get(dtype)
    if found is not None:
        return found
    if dtype.kind in "SU":
        return string
    if dtype.name == "bfloat16":
        return _BY_NUMPY.setdefault(dtype, bfloat16)
    if dtype.fields and len(dtype.fields) == 1:
        return _BY_NAME.get(next(iter(dtype.fields)))
    return _BY_NUMPY.get(dtype.newbyteorder("="))


class TypeSet:
    """A set of dtypes that a type attribute allows, with an optional default: ``FLOATS + COMPLEX``.

    ``TypeSet(int32, int64, default=int32)``; ``a + b`` joins (keeping a's default), ``a - b`` takes away.
    """

    __slots__ = ("types", "default", "_members")

    def __init__(self, *types: DType, default: DType | None = None):
        self.types = tuple(dict.fromkeys(types))
        self.default = default
        self._members = frozenset(self.types)

    def __add__(self, other: TypeSet | DType) -> TypeSet:
        more = other.types if isinstance(other, TypeSet) else (other,)
        return TypeSet(*self.types, *more, default=self.default)

    def __sub__(self, other: TypeSet | DType) -> TypeSet:
        less = other.types if isinstance(other, TypeSet) else (other,)
        return TypeSet(*(t for t in self.types if t not in less), default=self.default)

    def with_default(self, default: DType) -> TypeSet:
        """The same types, `default` where neither an input nor an argument decides."""
        return TypeSet(*self.types, default=default)

    def __contains__(self, dtype: Any) -> bool:
        return dtype in self._members

    def __iter__(self):
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)

    def __repr__(self) -> str:
        return "TypeSet(" + ", ".join(t.name for t in self.types) + ")"


FLOATS = TypeSet(bfloat16, float16, float32, float64)
COMPLEX = TypeSet(complex64, complex128)
SIGNED_INTS = TypeSet(int8, int16, int32, int64)
UNSIGNED_INTS = TypeSet(uint8, uint16, uint32, uint64)
INTS = SIGNED_INTS + UNSIGNED_INTS
REALS = FLOATS + INTS                       # everything with an order
NUMBERS = REALS + COMPLEX
BOOL = TypeSet(bool_)
STRING = TypeSet(string)
INDICES = TypeSet(int32, int64)
INDEX = INDICES.with_default(int32)
QUANTIZED = TypeSet(qint8, quint8, qint16, quint16, qint32)
ANY = NUMBERS + BOOL + STRING + TypeSet(resource, variant) + QUANTIZED
