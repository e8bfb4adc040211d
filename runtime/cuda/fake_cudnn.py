"""cuDNN without a GPU: the C functions that `convolutions` calls, on the memory of a FakeDriver, by NumPy.

It keeps the attributes of descriptors, under the numbers and with the types of cudnn_graph.h, takes none once a descriptor is
finished and refuses what the library refuses.  It names four engines, of which not all may be taken.  A convolution is computed
when its stream comes to it, from addresses, sizes and strides alone, in the library's order of dimensions; before that its working
memory is overwritten.
"""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from .cudnn import C_TYPES, Attribute, Kind, Note, Type
from .fake_memory import POISON, Memory

VERSION = 91900
WORKING = 256           # bytes that every convolution works in
NOT_INITIALIZED, BAD_PARAM, NOT_FINALIZED, NOT_SUPPORTED = 1001, 2000, 2004, 3000
NAMES = {NOT_INITIALIZED: b"CUDNN_STATUS_NOT_INITIALIZED", BAD_PARAM: b"CUDNN_STATUS_BAD_PARAM",
         NOT_FINALIZED: b"CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED", NOT_SUPPORTED: b"CUDNN_STATUS_NOT_SUPPORTED"}
TYPES: dict[int, Any] = {0: np.float32, 1: np.float64, 2: np.float16, 9: ml_dtypes.bfloat16}
OPERATIONS = {
    Kind.CONVOLUTION_FORWARD: (Attribute.FORWARD_X, Attribute.FORWARD_W, Attribute.FORWARD_Y, Attribute.FORWARD_CONV_DESC),
    Kind.CONVOLUTION_BACKWARD_DATA: (Attribute.BWD_DATA_DX, Attribute.BWD_DATA_W, Attribute.BWD_DATA_DY,
                                     Attribute.BWD_DATA_CONV_DESC),
    Kind.CONVOLUTION_BACKWARD_FILTER: (Attribute.BWD_FILTER_X, Attribute.BWD_FILTER_DW, Attribute.BWD_FILTER_DY,
                                       Attribute.BWD_FILTER_CONV_DESC),
}
"""{kind: its images, filter, results, and how they belong together}"""


ENGINES = [(7, (Note.TENSOR_CORE, Note.NONDETERMINISTIC)), (5, (Note.TENSOR_CORE,)), (0, ()), (3, ())]
"""(number, what it says of itself), the fastest first"""


class _Engine(NamedTuple):
    """A way of computing: its number, and what it says of itself."""

    number: int
    notes: tuple[int, ...]
    operation: _Descriptor


class _Descriptor:
    """What was said of something, and the way of computing that it is, or that it chooses."""

    def __init__(self, kind: int) -> None:
        self.kind, self.finished = kind, False
        self.held: dict[int, list[Any]] = {}        # attribute -> values
        self.engine: _Engine | None = None


class FakeCudnn:
    """The library for one device."""

    def __init__(self, memory: Memory, device: int) -> None:
        self._memory, self._device = memory, device
        self._made: dict[int, _Descriptor] = {}
        self._stream = 0
        self.convolved: list[str] = []          # what was computed, with the number of the engine

    def cudnnGetVersion(self) -> int:
        return VERSION

    def cudnnGetErrorString(self, status: int) -> bytes:
        return NAMES.get(status, b"unknown")

    def cudnnCreate(self, handle: Any) -> int:
        handle._obj.value = 1
        return 0

    def cudnnSetStream(self, handle: Any, stream: int) -> int:
        self._stream = stream
        return 0

    # descriptors ---------------------------------------------------------------------------------------------------
    def cudnnBackendCreateDescriptor(self, kind: int, place: Any) -> int:
        number = 0x2000
        while number in self._made:
            number += 16
        self._made[number] = _Descriptor(kind)
        place._obj.value = number
        return 0

    def cudnnBackendDestroyDescriptor(self, handle: Any) -> int:
        return 0 if self._made.pop(handle.value, None) is not None else BAD_PARAM

    def cudnnBackendSetAttribute(self, handle: Any, attribute: int, kind: int, count: int, array: Any) -> int:
        made = self._made.get(handle.value)
        if made is None or made.finished or len(array) != count or array._type_ is not C_TYPES.get(Type(kind), ctypes.c_int):
            return BAD_PARAM
        values = list(array)
        if kind == Type.BACKEND_DESCRIPTOR:
            values = [self._made[one] for one in array if one in self._made and self._made[one].finished]
        made.held[attribute] = values
        return 0 if len(values) == count else NOT_FINALIZED

    def cudnnBackendGetAttribute(self, handle: Any, attribute: int, kind: int, most: int, count: Any, array: Any) -> int:
        made = self._made.get(handle.value)
        if made is None or not made.finished:
            return NOT_INITIALIZED
        if attribute in (Attribute.ENGINEHEUR_RESULTS, Attribute.ENGINECFG_ENGINE):
            engines = self._engines(made) if made.engine is None else [made.engine]
            count._obj.value = min(len(engines), most) if most else len(engines)
            for one, engine in zip(array or (), engines):
                self._made[one].engine, self._made[one].finished = engine, True
            return 0
        values = self._values(made, attribute)
        count._obj.value = min(len(values), most) if most else len(values)
        if most:
            array[:count._obj.value] = values[:most]
        return 0

    def _values(self, made: _Descriptor, attribute: int) -> list[Any]:
        if made.engine is not None and attribute == Attribute.ENGINE_NUMERICAL_NOTE:
            return list(made.engine.notes)
        if made.engine is not None and attribute == Attribute.ENGINE_GLOBAL_INDEX:
            return [made.engine.number]
        if attribute == Attribute.EXECUTION_PLAN_WORKSPACE_SIZE:
            return [WORKING]
        return made.held[attribute]

    def _engines(self, made: _Descriptor) -> list[_Engine]:
        """What heuristics name: by the first mode all, by that of what is left none."""
        if self._one(made, Attribute.ENGINEHEUR_MODE) != 3:
            return []
        operation = self._one(self._one(made, Attribute.ENGINEHEUR_OPERATION_GRAPH), Attribute.OPERATIONGRAPH_OPS)
        return [_Engine(number, notes, operation) for number, notes in ENGINES]

    def _one(self, made: _Descriptor, attribute: int) -> Any:
        return made.held[attribute][0]

    def cudnnBackendFinalize(self, handle: Any) -> int:
        made = self._made[handle.value]
        held, refused = made.held, 0
        if made.kind == Kind.TENSOR:
            sizes, strides = (held[k] for k in (Attribute.TENSOR_DIMENSIONS, Attribute.TENSOR_STRIDES))
            refused = BAD_PARAM if len(sizes) != len(strides) or min(sizes) < 1 else 0
        elif made.kind == Kind.CONVOLUTION:
            counts = {len(held[k]) for k in (Attribute.CONVOLUTION_DILATIONS, Attribute.CONVOLUTION_FILTER_STRIDES,
                                                Attribute.CONVOLUTION_PRE_PADDINGS, Attribute.CONVOLUTION_POST_PADDINGS)}
            refused = BAD_PARAM if counts != {self._one(made, Attribute.CONVOLUTION_SPATIAL_DIMS)} else 0
        elif made.kind in OPERATIONS:
            refused = self._refused(made)
        made.finished = not refused
        return refused

    def _refused(self, operation: _Descriptor) -> int:
        """The status of a convolution whose sizes or types do not belong together."""
        images, weights, results, geometry = (self._one(operation, k) for k in OPERATIONS[Kind(operation.kind)])
        (count, channels, *size), (out, inner, *taps), (n, depth, *found) = (
            one.held[Attribute.TENSOR_DIMENSIONS] for one in (images, weights, results))
        steps = [geometry.held[k] for k in (Attribute.CONVOLUTION_PRE_PADDINGS, Attribute.CONVOLUTION_POST_PADDINGS,
                                               Attribute.CONVOLUTION_DILATIONS, Attribute.CONVOLUTION_FILTER_STRIDES)]
        wanted = [(d + lo + hi - (t - 1) * gap - 1) // step + 1 for d, t, lo, hi, gap, step in zip(size, taps, *steps)]
        if (count, channels, out) != (n, inner, depth) or wanted != found:
            return BAD_PARAM
        kinds = {self._one(one, Attribute.TENSOR_DATA_TYPE) for one in (images, weights, results)}
        computed = self._one(geometry, Attribute.CONVOLUTION_COMP_TYPE)
        return 0 if len(kinds) == 1 and computed == (1 if kinds == {1} else 0) else NOT_SUPPORTED

    # convolutions --------------------------------------------------------------------------------------------------
    def cudnnBackendExecute(self, handle: Any, plan: Any, pack: Any) -> int:
        engine, given = self._one(self._made[plan.value], Attribute.EXECUTION_PLAN_ENGINE_CONFIG).engine, self._made[pack.value]
        workspace = self._one(given, Attribute.VARIANT_PACK_WORKSPACE)
        if engine is None or not given.finished or not workspace:
            return BAD_PARAM
        at = dict(zip(given.held[Attribute.VARIANT_PACK_UNIQUE_IDS], given.held[Attribute.VARIANT_PACK_DATA_POINTERS]))
        kind = Kind(engine.operation.kind)
        *tensors, geometry = (self._one(engine.operation, k) for k in OPERATIONS[kind])
        images, weights, results = (self._view(tensor, at[self._one(tensor, Attribute.TENSOR_UNIQUE_ID)]) for tensor in tensors)
        before, after, gaps, steps = (geometry.held[k] for k in (
            Attribute.CONVOLUTION_PRE_PADDINGS, Attribute.CONVOLUTION_POST_PADDINGS, Attribute.CONVOLUTION_DILATIONS,
            Attribute.CONVOLUTION_FILTER_STRIDES))

        def work() -> None:
            self._memory.bytes_at(self._device, workspace, WORKING, "the workspace of cudnnBackendExecute")[...] = POISON
            _convolve(kind, images, weights, results, list(zip(before, after)), gaps, steps)
            self.convolved.append(f"{kind.name.lower()} by engine {engine.number}")

        self._memory.ask_for(self._device, self._stream, "cudnnBackendExecute", work)
        return 0

    def _view(self, tensor: _Descriptor, address: int) -> np.ndarray:
        """The memory of a tensor, by its strides."""
        shape, strides = (tensor.held[k] for k in (Attribute.TENSOR_DIMENSIONS, Attribute.TENSOR_STRIDES))
        dtype = np.dtype(TYPES[self._one(tensor, Attribute.TENSOR_DATA_TYPE)])
        reach = 1 + sum((d - 1) * stride for d, stride in zip(shape, strides))
        flat = self._memory.bytes_at(self._device, address, reach * dtype.itemsize, "a tensor of cudnnBackendExecute").view(dtype)
        return np.lib.stride_tricks.as_strided(flat, shape, [stride * dtype.itemsize for stride in strides])


def _convolve(kind: Kind, images: np.ndarray, weights: np.ndarray, results: np.ndarray, around: list[tuple[int, int]],
              gaps: list[int], steps: list[int]) -> None:
    """Fills the one of three tensors that a kind of operation makes, each [count, channels, rows, columns]."""
    number: Any = np.float64 if images.dtype == np.float64 else np.float32
    frame = [(0, 0), (0, 0), *around]
    makes_images = kind == Kind.CONVOLUTION_BACKWARD_DATA
    seen = np.pad(np.zeros(images.shape, number) if makes_images else images.astype(number), frame)
    made = np.zeros(weights.shape if kind == Kind.CONVOLUTION_BACKWARD_FILTER else results.shape, number)
    for i, j in np.ndindex(*weights.shape[2:]):
        rows, columns = (slice(t * gap, t * gap + (n - 1) * step + 1, step) for t, gap, n, step in zip(
            (i, j), gaps, results.shape[2:], steps))
        pixels = seen[:, :, rows, columns]
        if kind == Kind.CONVOLUTION_FORWARD:
            made += np.einsum("ncij,oc->noij", pixels, weights[:, :, i, j].astype(number))
        elif makes_images:
            pixels += np.einsum("noij,oc->ncij", results.astype(number), weights[:, :, i, j].astype(number))
        else:
            made[:, :, i, j] = np.einsum("ncij,noij->oc", pixels, results.astype(number))
    if makes_images:
        inside = (slice(before, before + size) for (before, _), size in zip(around, images.shape[2:]))
        images[...] = seen[(slice(None), slice(None), *inside)].astype(images.dtype)
    else:
        target = weights if kind == Kind.CONVOLUTION_BACKWARD_FILTER else results
        target[...] = made.astype(target.dtype)
