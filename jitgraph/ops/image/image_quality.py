"""How images differ, and how they change from pixel to pixel: total variation, PSNR, SSIM, gradients, Sobel edges."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.image.image_dtype import convert_image_dtype
from jitgraph.ops.reduce.reductions import reduce_all, reduce_mean, reduce_prod, reduce_sum

_SCALES = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)     # Wang et al. (2003), the weights of the scales


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbors, of one image (a scalar) or of each of a batch (a vector)."""
    with name_scope(name, "total_variation"):
        images = convert_to_tensor(images)
        rank = None if images._shape is None else len(images._shape)
        if rank not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        axes = None if rank == 3 else [1, 2, 3]
        totals = []
        for axis in (rank - 3, rank - 2):
            lead = [slice(None)] * axis
            after, before = images[(*lead, slice(1, None))], images[(*lead, slice(None, -1))]
            totals.append(reduce_sum(raw.Abs(after - before), axes))
        return totals[0] + totals[1]


def _compatible(a: Tensor, b: Tensor) -> list:
    """The checks, at run time, that two images may be compared.  Raises ValueError if it is known that they cannot."""
    first = shape_rules.with_rank_at_least(a._shape, 3)
    second = shape_rules.with_rank_at_least(b._shape, 3)
    if first is not None and second is not None:
        shape_rules.merge(tuple(first[-3:]), tuple(second[-3:]))
        for x, y in zip(reversed(first[:-3]), reversed(second[:-3])):
            if x is not None and y is not None and x != y and 1 not in (x, y):
                raise ValueError(f"Two images are not compatible: {a.shape} and {b.shape}")
    sizes = raw.Shape(a), raw.Shape(b)
    return [Assert(raw.GreaterEqual(raw.Size(sizes[0]), 3), list(sizes), summarize=10),
            Assert(reduce_all(raw.Equal(sizes[0][-3:], sizes[1][-3:])), list(sizes), summarize=10)]


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio in decibels of images [..., height, width, channels] with values up to `max_val`."""
    with name_scope(name, "PSNR", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        peak = convert_image_dtype(cast(max_val, a.dtype.base_dtype), dtypes.float32)
        floats = [convert_image_dtype(x, dtypes.float32) for x in (a, b)]
        error = reduce_mean(raw.SquaredDifference(*floats), [-3, -2, -1])
        ratio = raw.Sub(20 * raw.Log(peak) / math.log(10.0), np.float32(10 / np.log(10)) * raw.Log(error), name="psnr")
        with control_dependencies(_compatible(a, b)):
            return raw.Identity(ratio)


def _gaussian(size: int, sigma: float, depth: Any) -> Tensor:
    """A Gaussian window as the filter of a depthwise convolution: [size, size, depth, 1]."""
    squares = np.square(np.arange(size, dtype=np.float32) - np.float32(size - 1) / np.float32(2))
    exponents = squares * np.float32(-0.5 / sigma ** 2)
    window = np.exp(exponents[:, None] + exponents[None, :])
    window = (window / window.sum()).astype(np.float32)
    return raw.Tile(window.reshape(size, size, 1, 1), raw.Pack([1, 1, depth, 1]))


def _per_channel(x: Tensor, y: Tensor, peak: Any, size: int, sigma: float, k1: float, k2: float) -> tuple:
    """Means over windows of the index and of its second factor, for each channel."""
    from jitgraph.ops.nn.convolution_functions import depthwise_conv2d

    count_nodes(3)                          # TensorFlow computes the window by nodes
    shapes = raw.Shape(x), raw.Shape(y)
    checks = [Assert(reduce_all(raw.GreaterEqual(shape[-3:-1], size)), [shape, size], summarize=8) for shape in shapes]
    with control_dependencies(checks):
        x = raw.Identity(x)
    window = _gaussian(size, sigma, shapes[0][-1])

    def mean(z: Tensor) -> Tensor:
        outer, inner = raw.Shape(z)[:-3], raw.Shape(z)[-3:]
        flat = raw.Reshape(z, raw.ConcatV2([[-1], inner], 0))
        found = depthwise_conv2d(flat, window, strides=[1, 1, 1, 1], padding="VALID")
        return raw.Reshape(found, raw.ConcatV2([outer, raw.Shape(found)[1:]], 0))

    c1, c2 = (k1 * peak) ** 2, (k2 * peak) ** 2
    mean_x, mean_y = mean(x), mean(y)
    product = mean_x * mean_y * 2.0
    squares = raw.Square(mean_x) + raw.Square(mean_y)
    luminance = (product + c1) / (squares + c1)
    structure = (mean(x * y) * 2.0 - product + c2) / (mean(raw.Square(x) + raw.Square(y)) - squares + c2)
    return reduce_mean(luminance * structure, [-3, -2]), reduce_mean(structure, [-3, -2])


def _prepared(img1: Any, img2: Any, max_val: Any) -> tuple:
    x, y = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
    with control_dependencies(_compatible(x, y)):
        x = raw.Identity(x)
    count_nodes(13 + x.dtype.is_integer)    # which TensorFlow has, see `_per_channel`
    peak = convert_image_dtype(raw.Cast(max_val, DstT=x.dtype.base_dtype), dtypes.float32)
    return convert_image_dtype(x, dtypes.float32), convert_image_dtype(y, dtypes.float32), peak


def ssim(img1: Any, img2: Any, max_val: Any, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01,
         k2: float = 0.03) -> Tensor:
    """The structural similarity (Wang et al., 2004) of images [..., height, width, channels], one number per image."""
    x, y, peak = _prepared(img1, img2, max_val)
    index, _ = _per_channel(x, y, peak, filter_size, filter_sigma, k1, k2)
    return reduce_mean(index, [-1])


def _halved(x: Tensor) -> Tensor:
    """Images [..., height, width, channels] at half the size, odd ones continued by their last row and column."""
    outer, inner = raw.Shape(x)[:-3], raw.Shape(x)[-3:]
    flat = raw.Reshape(x, raw.ConcatV2([[-1], inner], 0))
    odd = raw.FloorMod(inner, np.array([2, 2, 1], np.int32))
    behind = raw.ConcatV2([[0], odd], 0)
    padded = raw.MirrorPad(flat, raw.Pack([raw.ZerosLike(behind), behind], axis=1), mode="SYMMETRIC")
    if x._shape is not None:
        padded.set_shape([None, None, None, x._shape[-1]])
    small = raw.AvgPool(padded, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    return raw.Reshape(small, raw.ConcatV2([outer, raw.Shape(small)[1:]], 0))


def ssim_multiscale(img1: Any, img2: Any, max_val: Any, power_factors: Any = _SCALES, filter_size: int = 11,
                    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03) -> Tensor:
    """The structural similarity over several scales (Wang et al., 2003), each half of the one before.

    `power_factors` weigh the scales.  The images must be large enough for the filter at the smallest scale.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        x, y, peak = _prepared(img1, img2, max_val)
        parts = []
        for k in range(len(power_factors)):
            with name_scope(None, f"Scale{k}", [x, y]):
                if k > 0:
                    x, y = _halved(x), _halved(y)
                index, structure = _per_channel(x, y, peak, filter_size, filter_sigma, k1, k2)
                parts.append(raw.Relu(structure))
        count_nodes(17)
        parts[-1] = raw.Relu(index)
        weighted = raw.Pow(raw.Pack(parts, axis=-1), np.array(power_factors, np.float32))
        return reduce_mean(reduce_prod(weighted, [-1]), [-1])


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """(dy, dx): the differences to the next row and to the next column, 0 at the last, of images [batch, h, w, depth]."""
    image = convert_to_tensor(image)
    if image._shape is None or len(image._shape) != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    dy = raw.Pad(image[:, 1:] - image[:, :-1], [[0, 0], [0, 1], [0, 0], [0, 0]])
    dx = raw.Pad(image[:, :, 1:] - image[:, :, :-1], [[0, 0], [0, 0], [0, 1], [0, 0]])
    sizes = raw.Shape(image)
    count_nodes(9)                      # TensorFlow puts zeros behind instead of padding, and asks for the sizes one by one
    return raw.Reshape(dy, sizes), raw.Reshape(dx, sizes)


def sobel_edges(image: Any) -> Tensor:
    """Sobel's edges [batch, h, w, depth, 2] (down, across) of images [batch, h, w, depth]."""
    from jitgraph.ops.nn.convolution_functions import depthwise_conv2d

    image = convert_to_tensor(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    filters = np.stack([down, down.T], -1).astype(image.dtype.as_numpy_dtype)[:, :, None, :]
    sizes = raw.Shape(image)
    repeated = raw.Tile(filters, raw.Pack([1, 1, sizes[-1], 1]), name="sobel_filters")
    padded = raw.MirrorPad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    found = depthwise_conv2d(padded, repeated, [1, 1, 1, 1], "VALID")
    found = raw.Reshape(found, raw.ConcatV2([sizes, [2]], 0))
    if image._shape is not None:
        found.set_shape([*image._shape, 2])
    return found
