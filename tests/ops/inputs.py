"""Samples for ops whose declaration does not bring any: what their inputs look like."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.samples import draw

i32 = np.int32
TABLE: dict[str, Any] = {}


def _of(*types: str) -> Any:
    """Enters a function of samples for op types."""

    def enter(function: Any) -> Any:
        TABLE.update(dict.fromkeys(types, function))
        return function

    return enter


def _ints(*values: Any) -> np.ndarray:
    return np.array(values, i32)


@_of("Reshape")
def _(rng, dtype):
    x = draw(rng, (2, 6), dtype)
    return [[x, _ints(3, 4)], [x, _ints(-1)], [x, _ints(2, -1, 1)], [x[0, 0], _ints(1, 1)], [x[:0], _ints(0, 3)],
            [x[:1, :1], np.zeros(0, i32)]]


@_of("ExpandDims")
def _(rng, dtype):
    x = draw(rng, (2, 3), dtype)
    return [[x, i32(0)], [x, i32(-1)], [x, i32(1)], [x[0, 0], i32(0)], [x[:0], i32(2)]]


@_of("Squeeze")
def _(rng, dtype):
    x = draw(rng, (1, 3, 1), dtype)
    return [[x], ([x], {"squeeze_dims": [0]}), ([x], {"squeeze_dims": [-1]}), [x[:, :1]], [x[:, :0]]]


@_of("Transpose", "ConjugateTranspose")
def _(rng, dtype):
    x = draw(rng, (2, 3, 4), dtype)
    return [[x, _ints(2, 0, 1)], [x, _ints(0, 2, 1)], [x[0, 0, 0], np.zeros(0, i32)], [x[:, :0], _ints(1, 0, 2)]]


@_of("Tile")
def _(rng, dtype):
    x = draw(rng, (2, 3), dtype)
    return [[x, _ints(1, 2)], [x, _ints(3, 1)], [x[:1], _ints(4, 2)], [x, _ints(0, 1)], [x[0, 0], np.zeros(0, i32)]]


@_of("BroadcastTo")
def _(rng, dtype):
    x = draw(rng, (2, 1), dtype)
    return [[x, _ints(2, 3)], [x, _ints(4, 2, 3)], [x[0, 0], _ints(2, 2)], [x[:0], _ints(0, 3)]]


@_of("BroadcastArgs")
def _(rng, dtype):
    return [[np.array([2, 1], dtype), np.array([3], dtype)], [np.array([], dtype), np.array([4, 1], dtype)]]


@_of("Fill")
def _(rng, dtype):
    return [[dims, draw(rng, (), dtype)] for dims in (_ints(2, 3), np.zeros(0, i32), _ints(0, 2))]


@_of("OneHot")
def _(rng, dtype):
    on, off = draw(rng, (), dtype), draw(rng, (), dtype)
    return [([np.array([0, 2, -1, 7], np.int64), i32(3), on, off], {"axis": axis}) for axis in (-1, 0)] + \
           [[np.array([[1], [0]], np.int64), i32(2), on, off], [np.int64(1), i32(3), on, off]]


@_of("Pack")
def _(rng, dtype):
    x, y = draw(rng, (2, 3), dtype), draw(rng, (2, 3), dtype)
    return [([[x, y]], {"axis": axis}) for axis in (0, 1, 2, -1)] + [[[x[0, 0], y[0, 0]]], [[x]]]


@_of("Unpack")
def _(rng, dtype):
    x = draw(rng, (2, 3), dtype)
    return [([x], {"num": 2, "axis": 0}), ([x], {"num": 3, "axis": -1})]


@_of("ConcatV2")
def _(rng, dtype):
    x, y = draw(rng, (2, 3), dtype), draw(rng, (2, 3), dtype)
    return [[[x, y], i32(0)], [[x, y[:, :1]], i32(-1)], [[x[:0], y, x], i32(0)], [[x[0], y[1]], i32(0)]]


@_of("Concat")
def _(rng, dtype):
    return [[axis, arrays] for arrays, axis in TABLE["ConcatV2"](rng, dtype)]


@_of("ConcatOffset")
def _(rng, dtype):
    return [[i32(1), [_ints(2, 3), _ints(2, 5), _ints(2, 1)]]]


@_of("ParallelConcat")
def _(rng, dtype):
    return [([[draw(rng, (1, 3), dtype), draw(rng, (1, 3), dtype)]], {"shape": (2, 3)})]


@_of("Split")
def _(rng, dtype):
    x = draw(rng, (4, 6), dtype)
    return [([i32(0), x], {"num_split": 2}), ([i32(-1), x], {"num_split": 3}), ([i32(1), x[:0]], {"num_split": 1})]


@_of("SplitV")
def _(rng, dtype):
    x = draw(rng, (4, 6), dtype)
    return [([x, np.array([1, 3]), i32(0)], {"num_split": 2}), ([x, np.array([2, -1, 0]), i32(1)], {"num_split": 3})]


@_of("Slice")
def _(rng, dtype):
    x = draw(rng, (4, 6), dtype)
    return [[x, _ints(1, 2), _ints(2, 3)], [x, _ints(0, 1), _ints(-1, -1)], [x, _ints(4, 0), _ints(0, 6)]]


def _strides(rng, dtype):
    x = draw(rng, (4, 6), dtype)
    begin, end, step = _ints(1, 0), _ints(3, 6), _ints(1, 2)
    return [([x, begin, end, step], {}), ([x, begin, end, step], {"begin_mask": 1, "end_mask": 2}),
            ([x, begin, end, step], {"shrink_axis_mask": 1}), ([x, _ints(3, 5), _ints(0, 0), _ints(-1, -2)], {}),
            ([x, _ints(0, 1), _ints(0, 2), _ints(1, 1)], {"ellipsis_mask": 1}),
            ([x, _ints(0, 1), _ints(0, 2), _ints(1, 1)], {"new_axis_mask": 1}),
            ([x[:0], _ints(0), _ints(2), _ints(1)], {})]


TABLE["StridedSlice"] = _strides


@_of("StridedSliceGrad")
def _(rng, dtype):
    from jitgraph.graph.registry import lookup

    slice_op = lookup("StridedSlice")
    found = []
    for (x, *bounds), attrs in _strides(rng, dtype):
        masks = {name: attrs.get(name, 0) for name in slice_op.given}
        sliced = slice_op.value(x, *bounds, **masks)
        found.append(([_ints(*x.shape), *bounds, draw(rng, np.shape(sliced), dtype)], attrs))
    return found


@_of("Gather")
def _(rng, dtype):
    x = draw(rng, (4, 3), dtype)
    return [[x, _ints(0, 3, 0)], [x, i32(2)], [x, np.array([[1], [2]], np.int64)], [x, np.zeros(0, i32)]]


@_of("GatherV2")
def _(rng, dtype):
    x = draw(rng, (4, 3), dtype)
    return [[*sample, i32(0)] for sample in TABLE["Gather"](rng, dtype)] + [[x, _ints(2, 0, 2), i32(1)],
                                                                            [x, _ints(2), i32(-1)]]


@_of("GatherNd")
def _(rng, dtype):
    x = draw(rng, (4, 3), dtype)
    return [[x, np.array([[0, 1], [3, 2], [0, 1]], i32)], [x, np.array([[2], [2]], i32)], [x, np.zeros((2, 0), i32)]]


@_of("ScatterNd")
def _(rng, dtype):
    return [[np.array([[0], [2], [0]], i32), draw(rng, (3, 2), dtype), _ints(4, 2)],
            [np.array([[0, 1], [1, 1]], i32), draw(rng, (2,), dtype), _ints(2, 2)]]


def _unsorted(rng, dtype):
    return [[draw(rng, (4, 2), dtype), _ints(0, 2, 0, -1), i32(3)],
            [draw(rng, (2, 2), dtype), np.array([[1, 0], [1, 1]], i32), i32(2)],
            [draw(rng, (0, 2), dtype), np.zeros(0, i32), i32(2)]]


def _sorted(rng, dtype):
    return [[draw(rng, (4, 2), dtype), _ints(0, 0, 1, 3)], [draw(rng, (3,), dtype), _ints(0, 1, 1)]]


TABLE.update(dict.fromkeys([f"UnsortedSegment{kind}" for kind in ("Sum", "Prod", "Max", "Min")], _unsorted))
TABLE.update(dict.fromkeys([f"Segment{kind}" for kind in ("Sum", "Prod", "Max", "Min", "Mean")], _sorted))


@_of("DynamicPartition")
def _(rng, dtype):
    return [([draw(rng, (4, 2), dtype), _ints(0, 2, 0, 1)], {"num_partitions": 3})]


@_of("DynamicStitch", "ParallelDynamicStitch")
def _(rng, dtype):
    return [[[_ints(0, 2), i32(1)], [draw(rng, (2, 3), dtype), draw(rng, (3,), dtype)]]]


@_of("Reverse")
def _(rng, dtype):
    return [[draw(rng, (2, 3), dtype), np.array([True, False])]]


@_of("ReverseV2")
def _(rng, dtype):
    x = draw(rng, (2, 3), dtype)
    return [[x, _ints(0)], [x, _ints(0, -1)], [x, np.zeros(0, i32)], [x[:0], _ints(1)]]


@_of("ReverseSequence")
def _(rng, dtype):
    return [([draw(rng, (2, 4), dtype), np.array([3, 1])], {"seq_dim": 1, "batch_dim": 0})]


@_of("Pad")
def _(rng, dtype):
    x = draw(rng, (2, 3), dtype)
    return [[x, np.array([[1, 0], [0, 2]], i32)], [x, np.zeros((2, 2), i32)], [x[:0], np.array([[1, 1], [0, 0]], i32)]]


@_of("PadV2")
def _(rng, dtype):
    return [[*sample, draw(rng, (), dtype)] for sample in TABLE["Pad"](rng, dtype)]


@_of("MirrorPad")
def _(rng, dtype):
    x = draw(rng, (2, 3), dtype)
    return [([x, np.array([[1, 0], [1, 2]], i32)], {"mode": mode}) for mode in ("REFLECT", "SYMMETRIC")]


@_of("MirrorPadGrad")
def _(rng, dtype):
    x = draw(rng, (3, 6), dtype)
    return [([x, np.array([[1, 0], [1, 2]], i32)], {"mode": mode}) for mode in ("REFLECT", "SYMMETRIC")]


@_of("BiasAdd")
def _(rng, dtype):
    return [[draw(rng, (2, 3), dtype), draw(rng, (3,), dtype)],
            [draw(rng, (2, 2, 2, 3), dtype), draw(rng, (3,), dtype)],
            ([draw(rng, (2, 3, 2, 2), dtype), draw(rng, (3,), dtype)], {"data_format": "NCHW"})]


@_of("BiasAddV1")
def _(rng, dtype):
    return [[draw(rng, (2, 3), dtype), draw(rng, (3,), dtype)]]


@_of("BiasAddGrad")
def _(rng, dtype):
    return [[draw(rng, (2, 3), dtype)], ([draw(rng, (2, 3, 2, 2), dtype)], {"data_format": "NCHW"})]


@_of("Softmax", "LogSoftmax")
def _(rng, dtype):
    return [[draw(rng, shape, dtype)] for shape in ((2, 4), (5,), (2, 1, 3), (0, 3))]


@_of("EluGrad", "SeluGrad", "ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad", "SoftsignGrad")
def _(rng, dtype):
    return [[draw(rng, shape, dtype), draw(rng, shape, dtype)] for shape in ((2, 3), (), (0, 3), (1, 1))]


@_of("SoftmaxCrossEntropyWithLogits")
def _(rng, dtype):
    labels = np.abs(draw(rng, (3, 4), np.float64)) + 0.1
    labels = (labels / labels.sum(1, keepdims=True)).astype(dtype)
    return [[draw(rng, (3, 4), dtype), labels], [draw(rng, (0, 4), dtype), labels[:0]]]


@_of("SparseSoftmaxCrossEntropyWithLogits")
def _(rng, dtype):
    return [[draw(rng, (3, 4), dtype), np.array([0, 3, 1])]]


@_of("InTopK")
def _(rng, dtype):
    return [([draw(rng, (3, 4), np.float32), np.array([0, 3, 1], dtype)], {"k": 2})]


@_of("InTopKV2")
def _(rng, dtype):
    return [[draw(rng, (3, 4), np.float32), np.array([0, 3, 1], dtype), np.array(2, dtype)]]


@_of("TopK")
def _(rng, dtype):
    return [([draw(rng, (2, 5), dtype)], {"k": 3})]


@_of("TopKV2")
def _(rng, dtype):
    return [[draw(rng, (2, 5), dtype), i32(3)], [draw(rng, (4,), dtype), i32(1)]]


@_of("NthElement")
def _(rng, dtype):
    return [([draw(rng, (2, 5), dtype), i32(2)], {"reverse": reverse}) for reverse in (False, True)]


@_of("Unique", "UniqueWithCounts")
def _(rng, dtype):
    return [[draw(rng, (6,), dtype, 0, 2)], [draw(rng, (0,), dtype)]]


@_of("UniqueV2", "UniqueWithCountsV2")
def _(rng, dtype):
    return [[draw(rng, (6,), dtype, 0, 2), np.array([0])]]


@_of("ListDiff")
def _(rng, dtype):
    return [[draw(rng, (6,), dtype, 0, 3), draw(rng, (2,), dtype, 0, 3)]]


@_of("InvertPermutation")
def _(rng, dtype):
    return [[np.array([2, 0, 1], dtype)]]


@_of("EnsureShape")
def _(rng, dtype):
    return [([draw(rng, (2, 3), dtype)], {"shape": (None, 3)})]


@_of("IdentityN")
def _(rng, dtype):
    return [[[draw(rng, (2, 3), np.float64), draw(rng, (), i32)]]]


@_of("ShapeN")
def _(rng, dtype):
    return [[[draw(rng, (2, 3), dtype), draw(rng, (), dtype)]]]


@_of("MatrixBandPart")
def _(rng, dtype):
    x = draw(rng, (2, 3, 4), dtype)
    return [[x, np.int64(low), np.int64(high)] for low, high in ((0, 0), (1, -1), (-1, 0), (-1, -1))]


@_of("MatrixSetDiag")
def _(rng, dtype):
    return [[draw(rng, (2, 3, 4), dtype), draw(rng, (2, 3), dtype)]]


@_of("MatrixDiag", "BatchMatrixDiag", "Diag")
def _(rng, dtype):
    return [[draw(rng, (3,), dtype)], [draw(rng, (2, 3), dtype)]]


@_of("MatrixDiagPart", "BatchMatrixDiagPart")
def _(rng, dtype):
    return [[draw(rng, (3, 3), dtype)], [draw(rng, (2, 3, 4), dtype)]]


@_of("DiagPart")
def _(rng, dtype):
    return [[draw(rng, (3, 3), dtype)], [draw(rng, (2, 3, 2, 3), dtype)]]


# -- convolution and pooling ---------------------------------------------------------------------------------------------

_STEPS = ({"strides": [1, 1, 1, 1], "padding": "SAME"}, {"strides": [1, 2, 2, 1], "padding": "VALID"},
          {"strides": [1, 2, 1, 1], "padding": "SAME"})


def _convolved(op_type: str, inputs: list, attrs: dict) -> np.ndarray:
    """The value of the forward op, whose shape an incoming gradient has."""
    from jitgraph.graph.registry import lookup

    opdef = lookup(op_type)
    given = {name: attrs.get(name, opdef.attrs[name].default) for name in opdef.given}
    return opdef.evaluate(inputs, given)[0]


@_of("Conv2D")
def _(rng, dtype):
    x, w = draw(rng, (2, 5, 4, 3), dtype), draw(rng, (3, 2, 3, 2), dtype)
    dilated = {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1, 2, 1, 1]}
    return [([x, w], attrs) for attrs in (*_STEPS, dilated)]


@_of("Conv2DBackpropInput")
def _(rng, dtype):
    return [([_ints(*x.shape), w, draw(rng, _convolved("Conv2D", [x, w], attrs).shape, dtype)], attrs)
            for (x, w), attrs in TABLE["Conv2D"](rng, dtype)]


@_of("Conv2DBackpropFilter")
def _(rng, dtype):
    return [([x, _ints(*w.shape), draw(rng, _convolved("Conv2D", [x, w], attrs).shape, dtype)], attrs)
            for (x, w), attrs in TABLE["Conv2D"](rng, dtype)]


@_of("DepthwiseConv2dNative")
def _(rng, dtype):
    x, w = draw(rng, (2, 5, 4, 3), dtype), draw(rng, (3, 2, 3, 2), dtype)
    return [([x, w], attrs) for attrs in _STEPS[:2]]


@_of("Conv3D")
def _(rng, dtype):
    x, w = draw(rng, (1, 3, 4, 3, 2), dtype), draw(rng, (2, 2, 2, 2, 2), dtype)
    return [([x, w], {"strides": [1] * 5, "padding": padding}) for padding in ("SAME", "VALID")]


_WINDOWS = tuple({"ksize": [1, 2, 2, 1], **attrs} for attrs in _STEPS)


@_of("MaxPool", "AvgPool")
def _(rng, dtype):
    return [([draw(rng, (2, 5, 4, 3), dtype)], attrs) for attrs in _WINDOWS]


@_of("MaxPoolGrad")
def _(rng, dtype):
    found = []
    for (x,), attrs in TABLE["MaxPool"](rng, dtype):
        y = _convolved("MaxPool", [x], attrs)
        found.append(([x, y, draw(rng, y.shape, dtype)], attrs))
    return found


@_of("AvgPoolGrad")
def _(rng, dtype):
    return [([_ints(*x.shape), draw(rng, _convolved("AvgPool", [x], attrs).shape, dtype)], attrs)
            for (x,), attrs in TABLE["AvgPool"](rng, dtype)]


@_of("LRN")
def _(rng, dtype):
    return [[draw(rng, (2, 3, 2, 4), dtype)], ([draw(rng, (1, 2, 2, 6), dtype)], {"depth_radius": 2, "beta": 0.75})]


@_of("CheckNumerics")
def _(rng, dtype):
    return [([draw(rng, shape, dtype)], {"message": "wrong"}) for shape in ((2, 3), (), (0, 2))]


@_of("PlaceholderWithDefault")
def _(rng, dtype):
    return [([draw(rng, shape, dtype)], {"shape": shape}) for shape in ((2, 3), ())]


@_of("ScatterNdNonAliasingAdd")
def _(rng, dtype):
    x = draw(rng, (4, 3), dtype)
    return [[x, np.array([[1], [1], [3]], i32), draw(rng, (3, 3), dtype)], [x, np.array([[0, 2]], i32), draw(rng, (1,), dtype)]]


@_of("MaxPoolV2")
def _(rng, dtype):
    return [([x, _ints(*attrs["ksize"]), _ints(*attrs["strides"])], {"padding": attrs["padding"]})
            for (x,), attrs in TABLE["MaxPool"](rng, dtype)]


@_of("MaxPoolGradV2")
def _(rng, dtype):
    found = []
    for (x,), attrs in TABLE["MaxPool"](rng, dtype):
        y = _convolved("MaxPool", [x], attrs)
        found.append(([x, y, draw(rng, y.shape, dtype), _ints(*attrs["ksize"]), _ints(*attrs["strides"])],
                      {"padding": attrs["padding"]}))
    return found


@_of("SparseSparseMaximum", "SparseSparseMinimum")
def _(rng, dtype):
    a, b = (np.array(rows, np.int64) for rows in ([[0, 1], [2, 0]], [[0, 1], [1, 1]]))
    shape = np.array([3, 2], np.int64)
    return [[a, draw(rng, (2,), dtype), shape, b, draw(rng, (2,), dtype), shape]]


@_of("BatchNormWithGlobalNormalization")
def _(rng, dtype):
    x, m, beta, gamma = (draw(rng, shape, dtype) for shape in ((2, 2, 2, 3), (3,), (3,), (3,)))
    return [([x, m, draw(rng, (3,), dtype, 1, 3), beta, gamma], {"variance_epsilon": 0.01, "scale_after_normalization": scaled})
            for scaled in (False, True)]


@_of("CTCLoss")
def _(rng, dtype):
    indices, values = np.array([[0, 0], [0, 1], [1, 0]], np.int64), np.array([0, 1, 1], i32)
    return [[draw(rng, (4, 2, 3), np.float32), indices, values, _ints(4, 3)]]
