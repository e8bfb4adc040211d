"""Op types of old graph files that other op types took the place of: the same functions under older names."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.older import older
from jitgraph.declare.op import op
from jitgraph.declare.samples import draw, ints, results
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import COMPLEX, FLOATS, INDICES, NUMBERS, TypeSet
from jitgraph.graph.registry import lookup
from jitgraph.ops.arrays import matrix_parts  # noqa: F401  (the former declare what is named)
from jitgraph.ops.nn import volume_lowering

_PRECISE = TypeSet(dtypes.float64, dtypes.float32)


def _older(signature: str, newer: str, **fields: Any) -> Any:
    """Declares an older name of the op type `newer`; `fields` differ."""
    return older(signature, lookup(newer), **fields)


def _of_complex64(samples: Any) -> Any:
    return lambda rng, dtype: samples(rng, np.dtype(np.complex64))


batch_cholesky = _older("BatchCholesky(input: T) -> output: T", "Cholesky", T=_PRECISE)
batch_cholesky_grad = _older("BatchCholeskyGrad(l: T, grad: T) -> output: T", "CholeskyGrad", T=TypeSet(dtypes.float32,
                                                                                                      dtypes.float64))
batch_matrix_determinant = _older("BatchMatrixDeterminant(input: T) -> output: T", "MatrixDeterminant", T=_PRECISE + COMPLEX)
batch_matrix_inverse = _older("BatchMatrixInverse(input: T; adjoint: bool = false) -> output: T", "MatrixInverse", T=_PRECISE)
batch_matrix_solve = _older("BatchMatrixSolve(matrix: T, rhs: T; adjoint: bool = false) -> output: T", "MatrixSolve", T=_PRECISE)
batch_matrix_solve_ls = _older("BatchMatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64; fast: bool = true) -> output: T",
                               "MatrixSolveLs", T=_PRECISE)
batch_matrix_triangular_solve = _older(
    "BatchMatrixTriangularSolve(matrix: T, rhs: T; lower: bool = true, adjoint: bool = false) -> output: T",
    "MatrixTriangularSolve", T=_PRECISE)
batch_self_adjoint_eig_v2 = _older("BatchSelfAdjointEigV2(input: T; compute_v: bool = true) -> e: T, v: T", "SelfAdjointEigV2",
                                   T=_PRECISE)
batch_svd = _older("BatchSvd(input: T; compute_uv: bool = true, full_matrices: bool = false) -> s: T, u: T, v: T", "Svd",
                   T=_PRECISE + COMPLEX)
batch_matrix_diag = _older("BatchMatrixDiag(diagonal: T) -> output: T", "MatrixDiag")
batch_matrix_diag_part = _older("BatchMatrixDiagPart(input: T) -> diagonal: T", "MatrixDiagPart")
batch_matrix_set_diag = _older("BatchMatrixSetDiag(input: T, diagonal: T) -> output: T", "MatrixSetDiag")
batch_matrix_band_part = _older("BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> band: T", "MatrixBandPart",
                                samples=lambda rng, dtype: [[draw(rng, (2, 3, 4), dtype), np.int64(1), np.int64(-1)]])
for _kind in ("FFT", "FFT2D", "FFT3D", "IFFT", "IFFT2D", "IFFT3D"):
    _older(f"Batch{_kind}(input: complex64) -> output: complex64", _kind,
           samples=_of_complex64(lookup(_kind).samples))

_VOLUME = 'strides: list(int) >= 5, padding: string {"SAME", "VALID"}, dilations: list(int) = [1, 1, 1, 1, 1]'


def _volume_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (1, 3, 4, 3, 2), dtype), draw(rng, (2, 2, 2, 2, 2), dtype), draw(rng, (1, 3, 4, 3, 2), dtype)],
             {"strides": [1] * 5, "padding": "SAME"})]


def _backprop(which: str, sized: int, lower: Any) -> Any:
    """The gradients of Conv3D that take the tensor whose gradient it is instead of its sizes."""
    newer = lookup(f"Conv3DBackprop{which}V2")

    def value(input, filter, out_backprop, strides, padding, dilations):
        given = [input, filter, out_backprop]
        given[sized] = np.array(given[sized].shape, np.int32)
        return newer.value(*given, strides=strides, padding=padding, data_format="NDHWC", dilations=dilations)

    value.__doc__ = f"The gradient of Conv3D for its {which.lower()}."
    return op(f"Conv3DBackprop{which}(input: T, filter: T, out_backprop: T; {_VOLUME}) -> output: T", T=FLOATS - dtypes.bfloat16,
              samples=_volume_samples,
              shape=shape_rules.same_as(sized), lower=lower)(value)


conv3d_backprop_input = _backprop("Input", 0, volume_lowering.input_gradient_like)
conv3d_backprop_filter = _backprop("Filter", 1, volume_lowering.filter_gradient_like)


def _stacked_shape(c: Any) -> Any:
    value = c.shapes[0]
    if value is None:
        return None
    side = shape_rules.merge_sizes(value[-1], value[-2])
    return (*value[:-2], None if side is None else side + 1, side)


def _stacked_eigen(input):
    """The eigenvalues of self-adjoint matrices in a first row, the eigenvectors in the columns below."""
    values, vectors = np.linalg.eigh(input.astype(np.float32) if input.dtype == np.float16 else input)
    return np.concatenate([values[..., None, :], vectors], -2).astype(input.dtype)


for _name, _types in (("SelfAdjointEig", _PRECISE + dtypes.float16), ("BatchSelfAdjointEig", _PRECISE)):
    op(f"{_name}(input: T) -> output: T", T=_types, shape=_stacked_shape, host=True,
       samples=lookup("Cholesky").samples)(_stacked_eigen)


@op("DeepCopy(x: T) -> y: T", shape=shape_rules.same_as_input, stateful=True,
    samples=lambda rng, dtype: [[draw(rng, (2, 3), dtype)]])
def deep_copy(x):
    """A copy of `x` in memory of its own."""
    return np.array(x)


def _scatter_samples(rng: Any, dtype: Any) -> list:
    x = draw(rng, (4, 3), dtype)
    return [[x, ints([1], [1], [3]), draw(rng, (3, 3), dtype)], [x, ints([0, 2]), draw(rng, (1,), dtype)]]


@op("ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> output: T", T=NUMBERS + dtypes.bool_, Tindices=INDICES,
    shape=shape_rules.same_as_input, checks=True, samples=_scatter_samples)
def scatter_nd_non_aliasing_add(input, indices, updates):
    """A copy of `input` with `updates` added at the coordinates `indices`."""
    return lookup("TensorScatterAdd").value(input, indices, updates)


@scatter_nd_non_aliasing_add.gradient
def _(op, grad):
    from jitgraph import raw_ops as raw

    return [grad, None, raw.GatherNd(grad, op.inputs[1])]


def _maxima_samples(rng: Any, dtype: Any) -> list:
    """Images, their maxima in all windows, and gradients of these."""
    pool, found = lookup("MaxPool"), []
    for (x,), attrs in pool.samples(rng, dtype):
        y, = results(pool.builder, [x], attrs)
        found.append(([x, y, draw(rng, y.shape, dtype)], attrs))
    return found


def _windowed(which: str, inputs: str, attrs: str, samples: Any = None, **type_sets: Any) -> Any:
    """A pooling op that takes the sizes and strides of its windows as tensors."""
    older = lookup(f"MaxPool{which}")

    def windowed_samples(rng: Any, dtype: Any) -> list:
        return [([*arrays, ints(*attrs["ksize"]), ints(*attrs["strides"])], {"padding": attrs["padding"]})
                for arrays, attrs in (samples or older.samples)(rng, dtype)]

    def value(*arguments, padding, data_format):
        *arrays, ksize, strides = arguments
        return older.value(*arrays, ksize=ksize.tolist(), strides=strides.tolist(), padding=padding, data_format=data_format)

    def run(*arguments: Any, **given: Any) -> Any:
        return value(*arguments, **given)

    def shape(c: Any) -> Any:
        if which:
            return c.shapes[0 if which == "Grad" else 1]
        ksize, strides = c.constant(1), c.constant(2)
        if not (shape_rules.known(ksize) and shape_rules.known(strides)):
            return (None,) * 4
        from jitgraph.ops.nn.pooling_ops import _pooled

        attrs = {**c.attrs, "ksize": ksize.tolist(), "strides": strides.tolist()}
        return _pooled(c.shapes[0], attrs, c.attrs["data_format"], not c.running)

    run.__doc__, run.__name__ = f"MaxPool{which} with windows given by tensors.", f"max_pool{which.lower()}_v2"
    return op(f'MaxPool{which}V2({inputs}, ksize: int32, strides: int32; padding: string {{"SAME", "VALID"}}, {attrs}) -> '
              "output: T", shape=shape, host=True, samples=windowed_samples, **type_sets)(run)


_FORMATS = 'data_format: string {"NHWC", "NCHW"} = "NHWC"'
_REALS = lookup("MaxPoolGrad").attrs["T"].allowed
max_pool_v2 = _windowed("", "input: T", 'data_format: string {"NHWC", "NCHW", "NCHW_VECT_C"} = "NHWC"',
                        T=lookup("MaxPool").attrs["T"].allowed)
max_pool_grad_v2 = _windowed("Grad", "orig_input: T, orig_output: T, grad: T", _FORMATS, _maxima_samples, T=_REALS)
max_pool_grad_grad_v2 = _windowed("GradGrad", "orig_input: T, orig_output: T, grad: T", _FORMATS,
                                  T=lookup("MaxPoolGradGrad").attrs["T"].allowed)


def _window_attrs(op: Any) -> dict:
    return {name: op.attrs[name] for name in ("padding", "data_format")}


@max_pool_v2.gradient
def _(op, grad):
    return [max_pool_grad_v2(op.inputs[0], op.outputs[0], grad, op.inputs[1], op.inputs[2], **_window_attrs(op)), None, None]


@max_pool_grad_v2.gradient
def _(op, grad):
    from jitgraph import raw_ops as raw

    x, y, _, ksize, strides = op.inputs
    return [raw.ZerosLike(x), raw.ZerosLike(y), max_pool_grad_grad_v2(x, y, grad, ksize, strides, **_window_attrs(op)), None, None]
