"""Convolutions by cuDNN on one device: a plan made once for the sizes of a binding, calls that a capture may hold.

Images and results lie as [n, h, w, channels], filters as [out, kh, kw, in]; the library is told of all of them as [n, channels, h,
w] and the like, with their strides.  It has many engines; here it may take only those that give the same bits at every run, add
up as precisely as what they are given, and round no float32 to TF32 where that was not asked for.

The library is `cudnn.load`'s, or the FakeDriver's, with functions of the same names and numbers.  Memory that it works in is the
caller's.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jitgraph.compiler.kernel import LibraryConvolution

from . import cudnn
from .cudnn import Attribute, Descriptor, Kind, Note, Type
from .driver import DriverError, Stream
from .products import ALIGNMENT

WORKSPACE = 1 << 30     # bytes that a convolution may have to work in
TYPES = {"f32": 0, "f64": 1, "f16": 2, "fb16": 9}       # cudnnDataType_t
CROSS_CORRELATION = 1   # cudnnConvolutionMode_t
HEURISTICS = (3, 2)     # cudnnBackendHeurMode_t: by a decision tree, then what is left
IMAGES, FILTER, RESULTS = 1, 2, 3       # what tensors are called
ANYTHING = 0            # the number of the engine that takes whatever no other does, and is slower than our kernels
EVEN = {ANYTHING, 1, 2}     # of those for as many zeros after images as before: with others, 1 gives wrong gradients (cuDNN 9.19)
IMPRECISE = frozenset([Note.DOWN_CONVERT_INPUTS, Note.REDUCED_PRECISION_REDUCTION, Note.NONDETERMINISTIC, Note.WINOGRAD_TILE_13x13])
OPERATIONS = {
    "forward": (Kind.CONVOLUTION_FORWARD, Attribute.FORWARD_X, Attribute.FORWARD_W, Attribute.FORWARD_Y,
                Attribute.FORWARD_CONV_DESC, Attribute.FORWARD_ALPHA, Attribute.FORWARD_BETA),
    "input": (Kind.CONVOLUTION_BACKWARD_DATA, Attribute.BWD_DATA_DX, Attribute.BWD_DATA_W, Attribute.BWD_DATA_DY,
              Attribute.BWD_DATA_CONV_DESC, Attribute.BWD_DATA_ALPHA, Attribute.BWD_DATA_BETA),
    "filter": (Kind.CONVOLUTION_BACKWARD_FILTER, Attribute.BWD_FILTER_X, Attribute.BWD_FILTER_DW, Attribute.BWD_FILTER_DY,
               Attribute.BWD_FILTER_CONV_DESC, Attribute.BWD_FILTER_ALPHA, Attribute.BWD_FILTER_BETA),
}
"""{what: kind, and the attributes that are images, filter, results, how these belong together, alpha and beta}"""


class Convolution(NamedTuple):
    """A convolution with its sizes: see `LibraryConvolution`."""

    what: str
    images: tuple[int, ...]         # how many, rows, columns, channels
    results: tuple[int, ...]        # rows, columns, channels
    taps: tuple[int, ...]
    before: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    element: str
    short: bool = False

    @property
    def after(self) -> tuple[int, ...]:
        """Rows and columns of zeros after images, as many as windows see."""
        spans = (s * (n - 1) + d * (t - 1) + 1 for n, t, s, d in zip(self.results, self.taps, self.strides, self.dilations))
        return tuple(max(span - before - size, 0) for span, before, size in zip(spans, self.before, self.images[1:3]))


class Prepared(NamedTuple):
    """The plan that the library will follow for a convolution, and how many bytes that works in; `graph` lives as long."""

    graph: Descriptor
    plan: Descriptor
    workspace: int


def of_call(call: LibraryConvolution, words: Sequence[int]) -> Convolution:
    """A call with its sizes."""
    images, (*results, out), taps, before = words[:4], words[4:7], words[7:9], words[9:]
    return Convolution(call.what, tuple(images), (*results, out), tuple(taps), tuple(before), call.strides, call.dilations,
                       call.element, call.short)


class Convolutions:
    """The library on one device, which is the present one of the thread that makes and asks it."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handle = ctypes.c_void_p()
        self._known: dict[Convolution, Prepared | None] = {}

    def prepare(self, asked: Convolution, near: int) -> Prepared | None:
        """What a convolution needs besides addresses; None where the library has no way for it, or does not start."""
        if asked not in self._known:
            self._known[asked] = self._prepared(asked) if min(*asked.images, *asked.results, *asked.taps) > 0 else None
        return self._known[asked]

    def _prepared(self, asked: Convolution) -> Prepared | None:
        library = self._library
        try:
            if not self._handle:
                cudnn.call(library, "cudnnCreate", ctypes.byref(self._handle))
            graph = described(library, asked, self._handle.value)
            plans = (self._plan(engine) for engine in _engines(library, graph, asked))
            plan, workspace = next(found for found in plans if found is not None)
        except (DriverError, StopIteration):
            return None
        return Prepared(graph, plan, workspace)

    def _plan(self, engine: Descriptor) -> tuple[Descriptor, int] | None:
        """The plan by a way of computing, and how many bytes it works in: many that heuristics name then find that they do not take
        it."""
        plan = Descriptor(self._library, Kind.EXECUTION_PLAN)
        try:
            plan.set(Attribute.EXECUTION_PLAN_HANDLE, Type.HANDLE, self._handle.value)
            plan.set(Attribute.EXECUTION_PLAN_ENGINE_CONFIG, Type.BACKEND_DESCRIPTOR, engine).finished()
            (workspace,) = plan.get(Attribute.EXECUTION_PLAN_WORKSPACE_SIZE, Type.INT64, 1)
        except DriverError:
            return None
        return (plan, workspace) if workspace <= WORKSPACE else None

    def run(self, prepared: Prepared, at: Sequence[int], workspace: int, stream: Stream) -> None:
        """Asks for a convolution on a stream.  `at`: where images, filter and results begin; `workspace`: and the memory that it
        works in."""
        pack = Descriptor(self._library, Kind.VARIANT_PACK)
        pack.set(Attribute.VARIANT_PACK_UNIQUE_IDS, Type.INT64, IMAGES, FILTER, RESULTS)
        pack.set(Attribute.VARIANT_PACK_DATA_POINTERS, Type.VOID_PTR, *at)
        pack.set(Attribute.VARIANT_PACK_WORKSPACE, Type.VOID_PTR, workspace).finished()
        cudnn.call(self._library, "cudnnSetStream", self._handle, int(stream.handle))
        cudnn.call(self._library, "cudnnBackendExecute", self._handle, prepared.plan.handle, pack.handle)


def described(library: Any, asked: Convolution, handle: int | None = None) -> Descriptor:
    """The graph of one operation that a convolution is to the library.  No GPU is needed; `handle`: what it has begun with on one.

    Raises DriverError."""
    count, height, width, channels = asked.images
    rows, columns, out = asked.results
    tensors = [_tensor(library, asked, name, shape) for name, shape in (
        (IMAGES, (count, channels, height, width)), (FILTER, (out, channels, *asked.taps)), (RESULTS, (count, out, rows, columns)))]
    kind, images, weights, results, together, alpha, beta = OPERATIONS[asked.what]
    double = asked.element == "f64"
    geometry = Descriptor(library, Kind.CONVOLUTION)
    geometry.set(Attribute.CONVOLUTION_COMP_TYPE, Type.DATA_TYPE, TYPES["f64" if double else "f32"])
    geometry.set(Attribute.CONVOLUTION_CONV_MODE, Type.CONVOLUTION_MODE, CROSS_CORRELATION)
    geometry.set(Attribute.CONVOLUTION_SPATIAL_DIMS, Type.INT64, 2)
    for attribute, values in (
            (Attribute.CONVOLUTION_DILATIONS, asked.dilations), (Attribute.CONVOLUTION_FILTER_STRIDES, asked.strides),
            (Attribute.CONVOLUTION_PRE_PADDINGS, asked.before), (Attribute.CONVOLUTION_POST_PADDINGS, asked.after)):
        geometry.set(attribute, Type.INT64, *values)
    operation = Descriptor(library, kind)
    for attribute, one in zip((images, weights, results, together), (*tensors, geometry.finished())):
        operation.set(attribute, Type.BACKEND_DESCRIPTOR, one)
    operation.set(alpha, Type.DOUBLE if double else Type.FLOAT, 1.0)
    operation.set(beta, Type.DOUBLE if double else Type.FLOAT, 0.0)
    graph = Descriptor(library, Kind.OPERATIONGRAPH)
    if handle is not None:
        graph.set(Attribute.OPERATIONGRAPH_HANDLE, Type.HANDLE, handle)
    return graph.set(Attribute.OPERATIONGRAPH_OPS, Type.BACKEND_DESCRIPTOR, operation.finished()).finished()


def _tensor(library: Any, asked: Convolution, name: int, shape: tuple[int, ...]) -> Descriptor:
    """A tensor of (count, channels, rows, columns) whose channels lie next to each other."""
    _, channels, rows, columns = shape
    made = Descriptor(library, Kind.TENSOR)
    made.set(Attribute.TENSOR_UNIQUE_ID, Type.INT64, name)
    made.set(Attribute.TENSOR_DATA_TYPE, Type.DATA_TYPE, TYPES[asked.element])
    made.set(Attribute.TENSOR_DIMENSIONS, Type.INT64, *shape)
    made.set(Attribute.TENSOR_STRIDES, Type.INT64, rows * columns * channels, 1, columns * channels, channels)
    return made.set(Attribute.TENSOR_BYTE_ALIGNMENT, Type.INT64, ALIGNMENT).finished()


def _engines(library: Any, graph: Descriptor, asked: Convolution) -> Iterator[Descriptor]:
    """The ways that the library names for a graph, likely the fastest first, of those that it may take."""
    unwanted = IMPRECISE | ({Note.TENSOR_CORE} if asked.element == "f32" and not asked.short else set())
    wrong = {ANYTHING} if asked.before == asked.after else EVEN
    for mode in HEURISTICS:
        asking = Descriptor(library, Kind.ENGINEHEUR).set(Attribute.ENGINEHEUR_OPERATION_GRAPH, Type.BACKEND_DESCRIPTOR, graph)
        asking.set(Attribute.ENGINEHEUR_MODE, Type.HEUR_MODE, mode).finished()
        found = [Descriptor(library, Kind.ENGINECFG)
                 for _ in range(asking.count(Attribute.ENGINEHEUR_RESULTS, Type.BACKEND_DESCRIPTOR))]
        for way in found[:asking.fill(Attribute.ENGINEHEUR_RESULTS, found)]:
            engine = Descriptor(library, Kind.ENGINE)
            way.fill(Attribute.ENGINECFG_ENGINE, [engine])
            notes = engine.get(Attribute.ENGINE_NUMERICAL_NOTE, Type.NUMERICAL_NOTE, 32)
            if not unwanted & set(notes) and not wrong & set(engine.get(Attribute.ENGINE_GLOBAL_INDEX, Type.INT64, 1)):
                yield way
