"""Samples for ops on blocks of space, diagonals, normalisation, three-dimensional windows and positions."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.samples import draw
from jitgraph.graph.registry import lookup

from .inputs import TABLE, _ints, _of

i32 = np.int32


@_of("SpaceToBatchND")
def _(rng, dtype):
    x = draw(rng, (2, 4, 6, 3), dtype)
    return [[x, _ints(2, 3), _ints([0, 0], [0, 0])], [x, _ints(2), _ints([1, 1])], [x, _ints(3, 2), _ints([1, 1], [2, 0])],
            [x[:, :, 0, 0], _ints(1), _ints([0, 0])]]


@_of("BatchToSpaceND")
def _(rng, dtype):
    x = draw(rng, (6, 2, 3, 2), dtype)
    return [[x, _ints(2, 3), _ints([0, 0], [0, 0])], [x, _ints(3), _ints([1, 2])], [x, _ints(1, 2), _ints([1, 0], [0, 1])]]


@_of("SpaceToBatch", "BatchToSpace")
def _(rng, dtype):
    return [([draw(rng, (4, 2, 4, 3), dtype), _ints([0, 0], [1, 1])], {"block_size": 2})]


@_of("SpaceToDepth", "DepthToSpace")
def _(rng, dtype):
    return [([draw(rng, (2, 4, 2, 8), dtype)], {"block_size": 2}),
            ([draw(rng, (2, 8, 4, 2), dtype)], {"block_size": 2, "data_format": "NCHW"})]


@_of("Roll")
def _(rng, dtype):
    x = draw(rng, (3, 4), dtype)
    return [[x, i32(1), i32(0)], [x, _ints(-1, 2), _ints(0, 1)], [x, _ints(5, 6), _ints(1, 1)], [x[:0], i32(1), i32(0)],
            [x, i32(0), i32(-1)]]


@_of("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub")
def _(rng, dtype):
    if dtype.kind in "bO":
        return []
    x = draw(rng, (4, 3), dtype)
    return [[x, _ints([1], [3]), draw(rng, (2, 3), dtype)], [x, _ints([0, 1], [2, 2]), draw(rng, (2,), dtype)]]


@_of("UnravelIndex")
def _(rng, dtype):
    return [[np.array([22, 41, 37], dtype), np.array([7, 6], dtype)], [np.array(5, dtype), np.array([2, 3], dtype)]]


@_of("LowerBound", "UpperBound")
def _(rng, dtype):
    if dtype.kind not in "fiu":
        return []
    rows = np.sort(draw(rng, (2, 5), dtype), -1)
    return [[rows, draw(rng, (2, 3), dtype)], [rows, rows[:, ::2].copy()]]


# -- diagonals -----------------------------------------------------------------------------------------------------

_DIAGONALS = (_ints(0), _ints(1), _ints(-1, 1), _ints(-2, -1))


def _padding(dtype: Any) -> np.ndarray:
    return np.array(b"" if dtype.kind == "O" else 0, dtype)


@_of("MatrixDiagPartV2", "MatrixDiagPartV3")
def _(rng, dtype):
    return [[draw(rng, (2, 3, 4), dtype), k, _padding(dtype)] for k in _DIAGONALS]


@_of("MatrixDiagV2", "MatrixDiagV3")
def _(rng, dtype):
    return [[draw(rng, (2, 3), dtype), _ints(0), i32(-1), i32(-1), _padding(dtype)],
            [draw(rng, (3,), dtype), _ints(1), i32(-1), i32(-1), _padding(dtype)],
            [draw(rng, (2, 3, 3), dtype), _ints(-1, 1), i32(3), i32(4), _padding(dtype)]]


@_of("MatrixSetDiagV2", "MatrixSetDiagV3")
def _(rng, dtype):
    x = draw(rng, (2, 3, 4), dtype)
    return [[x, draw(rng, (2, 3), dtype), _ints(0)], [x, draw(rng, (2, 3, 3), dtype), _ints(-1, 1)]]


# -- sums over gathered rows ---------------------------------------------------------------------------------------

def _gathered(rng: Any, dtype: Any, *more: Any) -> list:
    return [[draw(rng, (5, 3), dtype), _ints(0, 3, 3, 4), _ints(0, 0, 1, 3), *more],
            [draw(rng, (5,), dtype), _ints(1), _ints(2), *more]]


@_of("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")
def _(rng, dtype):
    return _gathered(rng, dtype)


@_of("SparseSegmentSumWithNumSegments", "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments")
def _(rng, dtype):
    return _gathered(rng, dtype, i32(5))


@_of("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad")
def _(rng, dtype):
    return [[draw(rng, (4, 3), dtype), _ints(0, 3, 3, 4), _ints(0, 0, 1, 3), i32(6)]]


# -- normalisation, windows ----------------------------------------------------------------------------------------

def _results(op_type: str, inputs: list, attrs: dict) -> tuple:
    opdef = lookup(op_type)
    filled = {name: attr.default for name, attr in opdef.attrs.items() if not attr.implied} | attrs
    with np.errstate(all="ignore"):
        return opdef.evaluate(inputs, filled)


def _normalised(rng: Any, dtype: Any, scales: Any) -> list:
    found = []
    for layout, shape in (("NHWC", (3, 2, 2, 4)), ("NCHW", (3, 4, 2, 2))):
        for training in (True, False):
            moments = [np.zeros(0, scales)] * 2 if training else [draw(rng, (4,), scales), draw(rng, (4,), scales, 0.5, 2)]
            found.append(([draw(rng, shape, dtype), draw(rng, (4,), scales), draw(rng, (4,), scales), *moments],
                          {"data_format": layout, "is_training": training, "epsilon": 0.1}))
    return found


@_of("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _(rng, dtype):
    return _normalised(rng, dtype, np.float32)


def _norm_gradient(version: str) -> Any:
    def samples(rng: Any, dtype: Any) -> list:
        found = []
        for inputs, attrs in _normalised(rng, dtype, np.float32):
            y, _, _, *saved = _results("FusedBatchNorm" + version, inputs, attrs)
            saved = saved[:2] if attrs["is_training"] else inputs[3:5]
            spare = [np.zeros((), np.float32)] if version == "V3" else []
            found.append(([draw(rng, y.shape, dtype), inputs[0], inputs[1], *saved, *spare], attrs))
        return found

    return samples


for _version in ("", "V2", "V3"):
    TABLE["FusedBatchNormGrad" + _version] = _norm_gradient(_version)

_POOL_3D = tuple({"ksize": [1, 2, 2, 2, 1], "strides": [1, step, 1, step, 1], "padding": padding}
                 for step, padding in ((1, "SAME"), (2, "VALID")))


@_of("MaxPool3D", "AvgPool3D")
def _(rng, dtype):
    return [([draw(rng, (1, 3, 4, 3, 2), dtype)], attrs) for attrs in _POOL_3D]


def _pool_gradients(suffix: str, geometry: tuple, shape: tuple) -> None:
    @_of(f"MaxPool{suffix}Grad")
    def _(rng, dtype):
        found = []
        for attrs in geometry:
            x = draw(rng, shape, dtype)
            y, = _results(f"MaxPool{suffix}", [x], attrs)
            found.append(([x, y, draw(rng, y.shape, dtype)], attrs))
        return found

    @_of(f"MaxPool{suffix}GradGrad")
    def _(rng, dtype):
        found = []
        for attrs in geometry:
            x = draw(rng, shape, dtype)
            found.append(([x, _results(f"MaxPool{suffix}", [x], attrs)[0], draw(rng, shape, dtype)], attrs))
        return found

    @_of(f"AvgPool{suffix}Grad")
    def _(rng, dtype):
        found = []
        for attrs in geometry:
            y, = _results(f"AvgPool{suffix}", [draw(rng, shape, dtype)], attrs)
            found.append(([_ints(*shape), draw(rng, y.shape, dtype)], attrs))
        return found


_pool_gradients("3D", _POOL_3D, (1, 3, 4, 3, 2))
_pool_gradients("", ({"ksize": [1, 2, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"},), (2, 5, 4, 3))

_ARGMAX = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}


@_of("MaxPoolWithArgmax")
def _(rng, dtype):
    return [([draw(rng, (2, 5, 4, 3), dtype)], {**_ARGMAX, "include_batch_in_index": batch}) for batch in (False, True)]


@_of("MaxPoolGradWithArgmax")
def _(rng, dtype):
    x = draw(rng, (2, 5, 4, 3), dtype)
    y, places = _results("MaxPoolWithArgmax", [x], _ARGMAX)
    return [([x, draw(rng, y.shape, dtype), places], _ARGMAX)]


@_of("LRNGrad")
def _(rng, dtype):
    x = draw(rng, (2, 3, 2, 4), dtype)
    return [[draw(rng, x.shape, dtype), x, _results("LRN", [x], {})[0]]]


@_of("Conv3DBackpropInputV2")
def _(rng, dtype):
    found = []
    for (x, w), attrs in TABLE["Conv3D"](rng, dtype):
        found.append(([_ints(*x.shape), w, draw(rng, _results("Conv3D", [x, w], attrs)[0].shape, dtype)], attrs))
    return found


@_of("Conv3DBackpropFilterV2")
def _(rng, dtype):
    found = []
    for (x, w), attrs in TABLE["Conv3D"](rng, dtype):
        found.append(([x, _ints(*w.shape), draw(rng, _results("Conv3D", [x, w], attrs)[0].shape, dtype)], attrs))
    return found


def _depthwise(rng: Any, dtype: Any) -> list:
    return [(x, w, draw(rng, _results("DepthwiseConv2dNative", [x, w], attrs)[0].shape, dtype), attrs)
            for (x, w), attrs in TABLE["DepthwiseConv2dNative"](rng, dtype)]


@_of("DepthwiseConv2dNativeBackpropInput")
def _(rng, dtype):
    return [([_ints(*x.shape), w, grad], attrs) for x, w, grad, attrs in _depthwise(rng, dtype)]


@_of("DepthwiseConv2dNativeBackpropFilter")
def _(rng, dtype):
    return [([x, _ints(*w.shape), grad], attrs) for x, w, grad, attrs in _depthwise(rng, dtype)]


# -- random numbers from given seeds -------------------------------------------------------------------------------

@_of("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")
def _(rng, dtype):
    return [[np.array([2, 3], dtype), np.array([1, 7], np.int64)], [np.array([], dtype), np.array([-1, 2], np.int64)],
            [np.array([0, 2], dtype), np.array([1, 7], np.int64)]]


@_of("StatelessRandomUniformInt")
def _(rng, dtype):
    return [[np.array([4], dtype), np.array([1, 7], np.int64), i32(-3), i32(9)]]


@_of("StatelessMultinomial")
def _(rng, dtype):
    return [[draw(rng, (2, 3), dtype), i32(4), np.array([1, 7], np.int64)]]


# -- patches, grayscale morphology ---------------------------------------------------------------------------------

_PATCHES = {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
_DILATION = {"strides": [1, 2, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}


@_of("ExtractImagePatches")
def _(rng, dtype):
    return [([draw(rng, (2, 5, 4, 3), dtype)], {**_PATCHES, "padding": padding}) for padding in ("SAME", "VALID")]


@_of("ExtractImagePatchesGrad")
def _(rng, dtype):
    return [([_ints(2, 5, 4, 3), draw(rng, (2, 3, 4, 18), dtype)], _PATCHES)]


@_of("Dilation2D")
def _(rng, dtype):
    return [([draw(rng, (2, 5, 4, 3), dtype), draw(rng, (2, 3, 3), dtype)], {**_DILATION, "padding": padding})
            for padding in ("SAME", "VALID")]


@_of("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
def _(rng, dtype):
    x, w = draw(rng, (2, 5, 4, 3), dtype), draw(rng, (2, 3, 3), dtype)
    return [([x, w, draw(rng, _results("Dilation2D", [x, w], _DILATION)[0].shape, dtype)], _DILATION)]


@_of("MaxPoolGradGradV2")
def _(rng, dtype):
    return [([*arrays, _ints(*attrs["ksize"]), _ints(*attrs["strides"])], {"padding": attrs["padding"]})
            for arrays, attrs in TABLE["MaxPoolGradGrad"](rng, dtype)]
