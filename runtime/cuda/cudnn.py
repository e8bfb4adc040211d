"""cuDNN's C functions through ctypes: its graph interface, whose descriptors hold attributes, with its numbers and errors.

It comes with the package nvidia-cudnn-cu13, a toolkit or a machine's image.  Descriptors are made without a GPU, though not
without a driver's library.  Names and numbers are those of cudnn_graph.h; what that has of handles in descriptors is deprecated
since 9.8, and still what libraries before that need.
"""
from __future__ import annotations

import ctypes
import enum
import functools
import weakref
from collections.abc import Sequence
from typing import Any

from . import installed
from .driver import DriverError

NOT_SUPPORTED, INTERNAL = 3000, 4000            # the first cudnnStatus_t of these kinds
ADVICE = {
    1000: "the library does not start: is a GPU there that this process sees, with memory left, and are all parts of the library?",
    2000: "the library was given numbers that do not go together: JITGRAPH_WITHOUT=library_convolutions does without it",
    NOT_SUPPORTED: "the library has no way for it: JITGRAPH_WITHOUT=library_convolutions does without it",
    INTERNAL: "the library failed: JITGRAPH_WITHOUT=library_convolutions does without it",
    5000: "the GPU failed to run it",
}
"""{the first status of a kind: what to do}"""


class Kind(enum.IntEnum):
    """cudnnBackendDescriptorType_t"""

    CONVOLUTION = 1
    ENGINE = 2
    ENGINECFG = 3
    ENGINEHEUR = 4
    EXECUTION_PLAN = 5
    CONVOLUTION_FORWARD = 10
    CONVOLUTION_BACKWARD_FILTER = 11
    CONVOLUTION_BACKWARD_DATA = 12
    OPERATIONGRAPH = 15
    VARIANT_PACK = 16
    TENSOR = 17


class Attribute(enum.IntEnum):
    """cudnnBackendAttributeName_t"""

    CONVOLUTION_COMP_TYPE = 100
    CONVOLUTION_CONV_MODE = 101
    CONVOLUTION_DILATIONS = 102
    CONVOLUTION_FILTER_STRIDES = 103
    CONVOLUTION_POST_PADDINGS = 104
    CONVOLUTION_PRE_PADDINGS = 105
    CONVOLUTION_SPATIAL_DIMS = 106
    ENGINEHEUR_MODE = 200
    ENGINEHEUR_OPERATION_GRAPH = 201
    ENGINEHEUR_RESULTS = 202
    ENGINECFG_ENGINE = 300
    EXECUTION_PLAN_HANDLE = 400
    EXECUTION_PLAN_ENGINE_CONFIG = 401
    EXECUTION_PLAN_WORKSPACE_SIZE = 402
    FORWARD_ALPHA = 700
    FORWARD_BETA = 701
    FORWARD_CONV_DESC = 702
    FORWARD_W = 703
    FORWARD_X = 704
    FORWARD_Y = 705
    BWD_DATA_ALPHA = 706
    BWD_DATA_BETA = 707
    BWD_DATA_CONV_DESC = 708
    BWD_DATA_W = 709
    BWD_DATA_DX = 710
    BWD_DATA_DY = 711
    BWD_FILTER_ALPHA = 712
    BWD_FILTER_BETA = 713
    BWD_FILTER_CONV_DESC = 714
    BWD_FILTER_DW = 715
    BWD_FILTER_X = 716
    BWD_FILTER_DY = 717
    OPERATIONGRAPH_HANDLE = 800
    OPERATIONGRAPH_OPS = 801
    TENSOR_BYTE_ALIGNMENT = 900
    TENSOR_DATA_TYPE = 901
    TENSOR_DIMENSIONS = 902
    TENSOR_STRIDES = 903
    TENSOR_UNIQUE_ID = 906
    VARIANT_PACK_UNIQUE_IDS = 1000
    VARIANT_PACK_DATA_POINTERS = 1001
    VARIANT_PACK_WORKSPACE = 1003
    ENGINE_GLOBAL_INDEX = 1301
    ENGINE_NUMERICAL_NOTE = 1303


class Type(enum.IntEnum):
    """cudnnBackendAttributeType_t"""

    HANDLE = 0
    DATA_TYPE = 1
    INT64 = 3
    FLOAT = 4
    DOUBLE = 5
    VOID_PTR = 6
    CONVOLUTION_MODE = 7
    HEUR_MODE = 8
    NUMERICAL_NOTE = 11
    BACKEND_DESCRIPTOR = 15


class Note(enum.IntEnum):
    """cudnnBackendNumericalNote_t"""

    TENSOR_CORE = 0
    DOWN_CONVERT_INPUTS = 1
    REDUCED_PRECISION_REDUCTION = 2
    NONDETERMINISTIC = 4
    WINOGRAD_TILE_13x13 = 8


_P, _I, _N = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
C_TYPES: dict[Type, Any] = {Type.HANDLE: _P, Type.INT64: _N, Type.FLOAT: ctypes.c_float, Type.DOUBLE: ctypes.c_double,
                            Type.VOID_PTR: _P, Type.BACKEND_DESCRIPTOR: _P}
"""{type: what its values are in C}, of those that are no cudnn...t of their own: these are ints"""
FUNCTIONS: dict[str, list[Any]] = {
    "cudnnCreate": [_P],
    "cudnnSetStream": [_P, _P],
    "cudnnBackendCreateDescriptor": [_I, _P],
    "cudnnBackendDestroyDescriptor": [_P],
    "cudnnBackendSetAttribute": [_P, _I, _I, _N, _P],
    "cudnnBackendGetAttribute": [_P, _I, _I, _N, _P, _P],
    "cudnnBackendFinalize": [_P],
    "cudnnBackendExecute": [_P, _P, _P],
}
"""{name: types of its arguments}; each answers a cudnnStatus_t"""


class Declined(DriverError):
    """The library has no way for something."""


@functools.cache
def load() -> tuple[Any, str]:
    """(the library, its path).  Raises installed.NotFound."""
    library, path = installed.loaded("cudnn")
    return declared(library), path


def declared(library: Any) -> Any:
    """A library whose functions know the types of their arguments."""
    return installed.declared(library, FUNCTIONS, "cudnnGetErrorString", "cudnnGetVersion")


def version(library: Any) -> str:
    """What the library says of itself."""
    return installed.version(library.cudnnGetVersion())


def call(library: Any, name: str, *arguments: Any) -> None:
    """Calls a function.  Raises Declined, or DriverError."""
    status = getattr(library, name)(*arguments)
    if status:
        told, kind = library.cudnnGetErrorString(status).decode(), status // 1000 * 1000
        error = Declined if kind == NOT_SUPPORTED else DriverError
        raise error(f"{name} failed with {told}: {ADVICE.get(kind, 'see the manual of cuDNN')}")


class Descriptor:
    """A descriptor of some kind, which is destroyed when nobody has it any more; `finished` once it has its attributes."""

    def __init__(self, library: Any, kind: Kind) -> None:
        self._library, self.handle = library, _P()
        self._holds: list[Any] = []         # descriptors that it was given: the library has their addresses
        call(library, "cudnnBackendCreateDescriptor", int(kind), ctypes.byref(self.handle))
        weakref.finalize(self, library.cudnnBackendDestroyDescriptor, self.handle).atexit = False

    def set(self, attribute: Attribute, kind: Type, *values: Any) -> Descriptor:
        self._holds += [value for value in values if isinstance(value, Descriptor)]
        array = _array(kind, [value.handle.value if isinstance(value, Descriptor) else value for value in values])
        call(self._library, "cudnnBackendSetAttribute", self.handle, int(attribute), int(kind), len(values), array)
        return self

    def finished(self) -> Descriptor:
        call(self._library, "cudnnBackendFinalize", self.handle)
        return self

    def get(self, attribute: Attribute, kind: Type, most: int) -> list[Any]:
        """The values of an attribute, of which there are `most` at most."""
        array = _array(kind, [0] * most)
        return list(array[:self._fill(attribute, kind, most, array)])

    def count(self, attribute: Attribute, kind: Type) -> int:
        """How many values an attribute has."""
        return self._fill(attribute, kind, 0, None)

    def fill(self, attribute: Attribute, into: Sequence[Descriptor]) -> int:
        """Lets descriptors become the values of an attribute; how many did."""
        return self._fill(attribute, Type.BACKEND_DESCRIPTOR, len(into),
                          _array(Type.BACKEND_DESCRIPTOR, [one.handle.value for one in into]))

    def _fill(self, attribute: Attribute, kind: Type, most: int, array: Any) -> int:
        found = _N()
        call(self._library, "cudnnBackendGetAttribute", self.handle, int(attribute), int(kind), most, ctypes.byref(found), array)
        return found.value


def _array(kind: Type, values: Sequence[Any]) -> Any:
    return (C_TYPES.get(kind, _I) * len(values))(*values)
