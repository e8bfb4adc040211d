"""Op types of old graph files that nothing took the place of, and convolutions fused with what stands before them."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, elementwise, op
from jitgraph.declare.samples import draw, ints, texts
from jitgraph.graph import dtypes, errors, shape_rules
from jitgraph.graph.dtypes import FLOATS, INDEX, TypeSet
from jitgraph.graph.registry import lookup
from jitgraph.ops.arrays.shape import plain_sizes
from jitgraph.ops.nn.window_geometry import window
from jitgraph.ops.random.philox import Bits
from jitgraph.ops.random.simple_philox import SimplePhilox
from jitgraph.ops.reduce.precise_sum import precise_sum


def _untiled_shape(c: Any) -> Any:
    value, multiples = c.shapes[0], c.constant(1)
    if value is None or not shape_rules.known(multiples):
        return None
    return tuple(None if n is None else n // int(m) if m else 0 for n, m in zip(value, multiples))


@op("TileGrad(input: T, multiples: int32) -> output: T", shape=_untiled_shape, host=True,
    samples=lambda rng, dtype: [] if dtype.kind in "bO" else [[draw(rng, (4, 6), dtype), ints(2, 3)]])
def tile_grad(input, multiples):
    """The sum of the copies that Tile makes: its gradient."""
    counts = plain_sizes(multiples)
    cut = [n for size, count in zip(input.shape, counts) for n in (count, size // count if count else 0)]
    return precise_sum(input.reshape(cut), tuple(range(0, 2 * len(counts), 2)))


_NORMALIZATION = "variance_epsilon: float, scale_after_normalization: bool"


def _normalized_shape(c: Any) -> Any:
    value = shape_rules.with_rank(c.shapes[0], 4, "t")
    for of_channels in c.shapes[1:]:
        value = (*value[:3], shape_rules.merge_sizes(value[3], shape_rules.with_rank(of_channels, 1)[0]))
    return value


def _normalization_samples(rng: Any, dtype: Any) -> list:
    x, m, beta, gamma = (draw(rng, shape, dtype) for shape in ((2, 2, 2, 3), (3,), (3,), (3,)))
    return [([x, m, draw(rng, (3,), dtype, 1, 3), beta, gamma], {"variance_epsilon": 0.01, "scale_after_normalization": scaled})
            for scaled in (False, True)]


@elementwise(f"BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T; {_NORMALIZATION}) -> result: T", T=FLOATS,
             shape=_normalized_shape, samples=_normalization_samples)
def batch_norm_with_global_normalization(t, m, v, beta, gamma, variance_epsilon, scale_after_normalization):
    """``(t - m) / sqrt(v + variance_epsilon)``, times `gamma` if asked for, plus `beta`; along the last axis."""
    unit = (t - m) * prim.rsqrt(v + variance_epsilon)
    return (unit * gamma if scale_after_normalization else unit) + beta


@batch_norm_with_global_normalization.gradient
def _(op, grad):
    t, m, v, _, gamma = op.inputs
    found = batch_norm_with_global_normalization_grad(t, m, v, gamma, grad, **{
        name: op.attrs[name] for name in ("variance_epsilon", "scale_after_normalization")})
    return [found.dx, found.dm, found.dv, found.db, found.dg]


def _normalized_samples(rng, dtype):
    x, grad = draw(rng, (2, 2, 2, 3), dtype), draw(rng, (2, 2, 2, 3), dtype)
    return [([x, draw(rng, (3,), dtype), draw(rng, (3,), dtype, 1, 3), draw(rng, (3,), dtype), grad],
             {"variance_epsilon": 0.01, "scale_after_normalization": scaled}) for scaled in (False, True)]


@op(f"BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T; {_NORMALIZATION}) -> dx: T, dm: T, dv: T, "
    "db: T, dg: T", T=FLOATS, shape=lambda c: [c.shapes[0], *[c.shapes[1]] * 4], samples=_normalized_samples)
def batch_norm_with_global_normalization_grad(t, m, v, gamma, backprop, variance_epsilon, scale_after_normalization):
    """The gradients of BatchNormWithGlobalNormalization for t, m, v, beta and gamma."""
    axes, inverse = tuple(range(t.ndim - 1)), (1 / np.sqrt(v + variance_epsilon)).astype(t.dtype)
    scaled = backprop * gamma if scale_after_normalization else backprop
    distance = t - m
    slope_of_variance = precise_sum(scaled * distance, axes) * np.asarray(-0.5, t.dtype) * inverse ** 3
    of_gamma = precise_sum(backprop * distance * inverse, axes) if scale_after_normalization else np.zeros_like(gamma)
    return (scaled * inverse, -(precise_sum(scaled, axes) * inverse), slope_of_variance, precise_sum(backprop, axes),
            of_gamma)


@op("AdjustContrast(images: T, contrast_factor: float32, min_value: float32, max_value: float32) -> output: float32",
    T=TypeSet(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64),
    shape=shape_rules.same_as_input,
    samples=lambda rng, dtype: [[draw(rng, (2, 3, 2, 3), dtype, 0, 9), np.float32(1.5), np.float32(0), np.float32(8)]])
def adjust_contrast(images, contrast_factor, min_value, max_value):
    """The distance of each channel from its mean times `contrast_factor`, cut off at both values."""
    wide = images.astype(np.float32)
    mean = precise_sum(wide, (-3, -2), True) / np.float32(wide.shape[-3] * wide.shape[-2])
    return np.clip((wide - mean) * contrast_factor + mean, min_value, max_value).astype(np.float32)


_RAW = TypeSet(dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint16, dtypes.uint8, dtypes.int16, dtypes.int8,
               dtypes.int64)


def _padded_shape(c: Any) -> Any:
    value, length = c.shapes[0], c.constant(1)
    size = None if not shape_rules.known(length) else int(length) // c.attrs["out_type"].size
    return None if value is None else (*value, size)


@op("DecodePaddedRaw(input_bytes: string, fixed_length: int32; out_type: type, little_endian: bool = true) -> output: out_type",
    out_type=_RAW, shape=_padded_shape, host=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([texts(bytes(range(8)), b"\x01\x02\x03\x04"), np.array(8, np.int32)],
                                 {"out_type": one, "little_endian": little})
            for one in (dtypes.uint8, dtypes.int32) for little in (True, False)])
def decode_padded_raw(input_bytes, fixed_length, out_type, little_endian):
    """The bytes of each string as numbers; strings are cut off, to whole numbers too, or filled up with zeros to
    `fixed_length` bytes."""
    length, dtype = int(fixed_length), np.dtype(out_type.as_numpy_dtype)
    if length <= 0 or length % dtype.itemsize:
        raise invalid(f"fixed_length ({length}) must be greater than zero and a multiple of the size of out_type "
                      f"({dtype.itemsize})")
    whole = (text[:min(length, len(text) // dtype.itemsize * dtype.itemsize)] for text in input_bytes.reshape(-1).tolist())
    data = b"".join(text.ljust(length, b"\0") for text in whole)
    numbers = np.frombuffer(data, dtype.newbyteorder("<" if little_endian else ">")).astype(dtype)
    return numbers.reshape(*input_bytes.shape, length // dtype.itemsize)


# `stateful`: other values at each run
@op("NonDeterministicInts(shape: shape_dtype; dtype: type = int64) -> output: dtype", shape_dtype=INDEX.with_default(dtypes.int64),
    dtype=TypeSet(dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64).with_default(dtypes.int64), stateful=True, host=True,
    shape=shape_rules.from_value(0), tested_in="tests/ops/test_older_ops.py: the same numbers twice")
def non_deterministic_ints(shape, dtype):
    """Whole numbers from the entropy of the system, with the sizes `shape`."""
    kind = np.dtype(dtype.as_numpy_dtype)
    return np.random.default_rng().integers(0, 256, (*plain_sizes(shape), kind.itemsize), np.uint8).view(kind)[..., 0]


_PADDED = 'mode: string {"REFLECT", "SYMMETRIC"}, strides: list(int), padding: string {"SAME", "VALID"}'


def _convolved_shape(c: Any, image: Any, paddings: Any) -> tuple:
    """The shape of the convolution of an image of this shape after padding."""
    image = shape_rules.with_rank(image, 4, "input")
    *taps, _, channels = shape_rules.with_rank(c.shapes[-1], 4, "filter")
    if paddings is None:
        return (None, None, None, channels)
    full = [None if size is None else size + sum(ends) for size, ends in zip(image, paddings)]
    wins = [window(size, length, stride, 1, c.attrs["padding"], stated=not c.running)
            for size, length, stride in zip(full[1:3], taps, c.attrs["strides"][1:3])]
    return (full[0], *(one.output for one in wins), channels)


def _resized_shape(c: Any) -> tuple:
    image, size = shape_rules.with_rank(c.shapes[0], 4, "input"), c.constant(1)
    rows, columns = (None, None) if size is None else size
    return _convolved_shape(c, (image[0], rows, columns, image[3]), c.constant(2))


def _convolved(image: np.ndarray, paddings: np.ndarray, filter: np.ndarray, mode: str, strides: Any, padding: str) -> np.ndarray:
    how: Any = mode.lower()
    full = np.pad(image, paddings.tolist(), how)
    return lookup("Conv2D").value(full, filter, strides=strides, padding=padding, explicit_paddings=[], data_format="NHWC",
                                  dilations=[1, 1, 1, 1])


@op(f"FusedPadConv2D(input: T, paddings: int32, filter: T; {_PADDED}) -> output: T", T=FLOATS - dtypes.bfloat16, host=True,
    shape=lambda c: _convolved_shape(c, c.shapes[0], c.constant(1)),
    samples=lambda rng, dtype: [([draw(rng, (2, 5, 4, 3), dtype), ints([0, 0], [1, 1], [2, 0], [0, 0]),
                                  draw(rng, (3, 2, 3, 2), dtype)],
             {"mode": mode, "strides": [1, 1, 2, 1], "padding": "VALID"}) for mode in ("REFLECT", "SYMMETRIC")])
def fused_pad_conv2d(input, paddings, filter, mode, strides, padding):
    """The convolution of an image that is mirrored at its borders beforehand."""
    return _convolved(input, paddings, filter, mode, strides, padding)


@op("FusedResizeAndPadConv2D(input: T, size: int32, paddings: int32, filter: T; resize_align_corners: bool = false, "
    f"{_PADDED}) -> output: T", T=FLOATS - dtypes.bfloat16, host=True, shape=_resized_shape,
    samples=lambda rng, dtype: [([draw(rng, (2, 5, 4, 3), dtype), ints(6, 6), ints([0, 0], [1, 1], [2, 0], [0, 0]),
                                  draw(rng, (3, 2, 3, 2), dtype)],
             {"mode": "REFLECT", "strides": [1, 1, 1, 1], "padding": "VALID"})])
def fused_resize_and_pad_conv2d(input, size, paddings, filter, resize_align_corners, mode, strides, padding):
    """The convolution of an image that is resized (bilinearly) and mirrored at its borders beforehand."""
    resized = lookup("ResizeBilinear").value(input, size, align_corners=resize_align_corners, half_pixel_centers=False)
    return _convolved(resized.astype(input.dtype), paddings, filter, mode, strides, padding)


def _cropped_shape(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[0], 3, "image")
    return (None, None, None)


@op("RandomCrop(image: T, size: int64; seed: int = 0, seed2: int = 0) -> output: T", shape=_cropped_shape, host=True, dynamic=True,
    T=TypeSet(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64),
    stateful=True, stream=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[draw(rng, (5, 4, 3), dtype), np.array([2, 3])]])
def random_crop(image, size, seed, seed2, stream):
    """A window of an image [height, width, channels], anywhere in it.

    The node of graphs older than version 8, for which ``tf.random_crop`` builds nodes of other types.
    """
    if image.ndim != 3:
        raise invalid(f"image must be 3-dimensional{list(image.shape)}")
    (height, width), (rows, columns) = image.shape[:2], size.tolist()
    for name, length, target in (("height", height, rows), ("width", width, columns)):
        if not 0 <= target <= length:
            raise errors.FailedPreconditionError(
                None, None, f"{name} must be >= target_{name}: {name} = {length}, target_{name} = {target}")
    if (height, width) == (rows, columns):
        return image
    random = SimplePhilox(Bits.reserve(stream, seed, seed2, 1))
    left = random.word() % (width - columns + 1) if columns < width else 0
    top = random.word() % (height - rows + 1) if rows < height else 0
    return image[top:top + rows, left:left + columns]
