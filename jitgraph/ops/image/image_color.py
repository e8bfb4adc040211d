"""Color spaces, contrast, hue and saturation of images [..., channels]."""
from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.counting import count_nodes
from jitgraph.graph.dtypes import FLOATS, TypeSet
from jitgraph.graph.scopes import name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.image.image_dtype import convert_image_dtype
from jitgraph.ops.random.draws import random_uniform
from jitgraph.ops.reduce.precise_sum import precise_sum

_PIXELS = TypeSet(dtypes.float16, dtypes.float32, default=dtypes.float32)


# -- hue, saturation, value --------------------------------------------------------------------------------------------

def _to_hsv(r: Any, g: Any, b: Any) -> tuple:
    """Hue, saturation and value, each in [0, 1], as expressions in prims."""
    value = prim.max(r, prim.max(g, b))
    reach = value - prim.min(r, prim.min(g, b))
    flat = reach <= 0
    saturation = prim.select(value > 0, reach / prim.select(value > 0, value, 1), 0)
    norm = 1 / (6 * prim.select(flat, reach * 0 + 1, reach))
    third = 2.0 / 6.0
    hue = prim.select(prim.eq(r, value), norm * (g - b),
                      prim.select(prim.eq(g, value), norm * (b - r) + third, norm * (r - g) + 2 * third))
    hue = prim.select(flat, hue * 0, hue)
    return prim.select(hue < 0, hue + 1, hue), saturation, value


def _to_rgb(h: Any, s: Any, v: Any) -> tuple:
    """Red, green and blue from hue, saturation and value, as expressions in prims."""
    def held(x: Any) -> Any:
        return prim.min(prim.max(x, 0), 1)

    place = h * 6
    amounts = held(abs(place - 3) - 1), held(2 - abs(place - 2)), held(2 - abs(place - 4))
    return tuple(((1 - s) + s * amount) * v for amount in amounts)


def _channels(x: np.ndarray) -> tuple:
    if x.ndim < 1 or x.shape[-1] != 3:
        raise invalid(f"input must have 3 channels but instead has {x.shape[-1] if x.ndim else 0} channels: shape "
                      f"{list(x.shape)}")
    wide = x if x.dtype.itemsize > 2 else x.astype(np.float32)
    return wide[..., 0], wide[..., 1], wide[..., 2]


def _planes(b: Any, x: Any) -> list:
    """The three channels of a value of the compiler, each with a last dimension of size 1."""
    rank = len(x.shape)
    return [b.slice(x, [0] * (rank - 1) + [i], [*x.shape[:-1], 1], [1] * rank) for i in range(3)]


def _lower_with(function: Any, by: Any = None) -> Any:
    def lower(b: Any, x: Any) -> Any:
        if x.shape[-1] != 3 or by is not None and by.shape:
            return NotImplemented       # the NumPy meaning says what is wrong
        wide = b.cast(x, dtypes.float32) if x.dtype == dtypes.float16 else x
        return b.cast(b.concat(list(function(*_planes(b, wide))), len(x.shape) - 1), x.dtype)

    return lower


def _colors_shape(c: Any) -> Any:
    shape = shape_rules.with_rank_at_least(c.shapes[0], 1, "images")
    if shape is None:
        return None
    return (*shape[:-1], shape_rules.merge_sizes(shape[-1], 3))


def _color_samples(rng, dtype):
    gray = np.full((1, 3), 0.5, dtype)
    return [[draw(rng, (2, 3, 3), dtype, 0, 1)], [draw(rng, (3,), dtype, 0, 1)], [gray], [np.zeros((0, 3), dtype)]]


def _distinct_samples(rng, dtype):
    return [[np.array([[0.9, 0.2, 0.4], [0.3, 0.8, 0.1], [0.2, 0.5, 0.7], [0.1, 0.6, 0.4]], dtype)],
            [draw(rng, (2, 2, 3), dtype, 0.1, 0.9)]]


@op("RGBToHSV(images: T) -> output: T", T=FLOATS.with_default(dtypes.float32), shape=_colors_shape,
    lower=_lower_with(_to_hsv), samples=_distinct_samples)
def rgb_to_hsv(images):
    """Hue, saturation and value in [0, 1] of red, green and blue in [0, 1]."""
    return np.stack(_to_hsv(*_channels(images)), -1).astype(images.dtype)


@rgb_to_hsv.gradient
def _(op, grad):
    """By the largest and the smallest channel: value is the largest, saturation 1 - smallest / largest, hue linear in the
    others.  Node by node as TensorFlow: what it takes from the results, and what from the channels, decides second gradients."""
    colors = [op.inputs[0][..., i] for i in range(3)]
    saturation, value = op.outputs[0][..., 1], op.outputs[0][..., 2]
    r, g, b = colors
    largest = [_one_where((r >= b) & (r >= g), r), _one_where((g > r) & (g >= b), g), _one_where((b > r) & (b > g), b)]
    smallest = [_one_where((r < b) & (r < g), r), _one_where((g <= r) & (g < b), g), _one_where((b <= r) & (b <= g), b)]
    of_saturation = [_saturation_slope(i, colors, largest, smallest) for i in range(3)]
    of_hue = [_hue_slope(i, colors, largest, smallest, saturation, value) for i in range(3)]
    of_value, of_saturation, of_hue = (raw.Pack([grad[..., place] * slope for slope in slopes], axis=-1)
                                       for place, slopes in ((2, largest), (1, of_saturation), (0, of_hue)))
    return of_value + of_saturation + of_hue


def _one_where(condition: Tensor, of: Tensor) -> Tensor:
    return raw.Cast(condition, DstT=of.dtype.base_dtype)


def _reciprocal(x: Tensor) -> Tensor:
    """1 / x, and 0 where x is 0."""
    return raw.DivNoNan(convert_to_tensor(1.0, x.dtype.base_dtype), x)


def _saturation_slope(i: int, colors: list, largest: list, smallest: list) -> Tensor:
    """The derivative of the saturation with respect to channel i.

    As in TensorFlow it is 0 where the channel is 0, though it should be -1 / largest there.
    """
    j, k = ((1, 2), (0, 2), (1, 0))[i]
    as_largest = largest[i] * (smallest[j] * colors[j] + smallest[k] * colors[k]) * _reciprocal(raw.Square(colors[i]))
    as_smallest = smallest[i] * -1 * _reciprocal(largest[j] * colors[j] + largest[k] * colors[k])
    return _one_where(colors[i] > 0, colors[i]) * (as_largest + as_smallest)


def _hue_slope(i: int, colors: list, largest: list, smallest: list, saturation: Tensor, value: Tensor) -> Tensor:
    """The derivative of the hue with respect to channel i.

    Where channel k is the largest, the hue is (channel k + 1 - channel k + 2) / (6 reach) and a constant; the reach, largest -
    smallest, is saturation * value.
    """
    def degrees(k: int, *factors: Any) -> Tensor:
        """The term for channel k as the largest, per 1 / 360 of the circle."""
        return 60 * functools.reduce(operator.mul, factors, _one_where(colors[k] > 0, colors[k]) * largest[k])

    after, last = (i + 1) % 3, (i + 2) % 3
    total = degrees(i, -1, colors[after] - colors[last], _reciprocal(raw.Square(saturation)),
                    _reciprocal(raw.Square(value)))
    for k in sorted((after, last)):
        other = after if k == last else last
        total = total + degrees(k, smallest[i], colors[last] - colors[after],
                                _reciprocal(raw.Square(colors[k] - colors[i])))
        total = total + degrees(k, smallest[other], *([-1] if k == after else []), _reciprocal(colors[k] - colors[other]))
    return total / 360


@op("HSVToRGB(images: T) -> output: T", T=FLOATS.with_default(dtypes.float32), shape=_colors_shape,
    lower=_lower_with(_to_rgb), grad=NOT_DIFFERENTIABLE, samples=_color_samples)
def hsv_to_rgb(images):
    """Red, green and blue in [0, 1] of hue, saturation and value in [0, 1]."""
    return np.stack(_to_rgb(*_channels(images)), -1).astype(images.dtype)


def _turned_half(images: Any, delta: Any) -> tuple:
    """Colors with the hue moved by `delta` of a turn, by way of their hue, saturation and value: so TensorFlow turns half."""
    h, s, v = _to_hsv(*images)
    h = h + delta
    return _to_rgb(h - prim.floor(h), s, v)


def _turned(images: Any, delta: Any) -> tuple:
    """Colors with the hue moved by `delta` of a turn.

    The largest and the smallest channel keep their values, whatever their signs; which they are and the value of the third change.
    """
    r, g, b = images
    green, least_b, most_b = r < g, b < prim.min(r, g), b > prim.max(r, g)
    high = prim.select(most_b, b, prim.select(green, g, r))
    low = prim.select(least_b, b, prim.select(green, r, g))
    middle = prim.select(least_b, prim.select(green, r, g), prim.select(most_b, prim.select(green, g, r), b))
    none = low * 0
    sixth = prim.select(green, prim.select(least_b, none + 1, prim.select(most_b, none + 3, none + 2)),
                        prim.select(least_b, none, prim.select(most_b, none + 4, none + 5)))
    reach = high - low
    flat = prim.eq(high, low)
    part = (middle - low) / prim.select(flat, reach * 0 + 1, reach)
    hue = prim.select(flat, reach * 0, sixth + _rising(sixth, part)) + delta * 6
    hue = hue - 6 * prim.floor(hue / 6)
    hue = prim.select(hue >= 6, hue - 6, hue)           # it rounds to 6 just below a whole turn
    sixth = prim.floor(hue)
    middle = low + _rising(sixth, hue - sixth) * reach

    def channel(highest: Any, lowest: Any) -> Any:
        return prim.select(highest, high, prim.select(lowest, low, middle))

    first, second, third = sixth < 1, sixth < 2, sixth < 3              # or one before it
    fourth, fifth = sixth < 4, sixth < 5
    return (channel(first | prim.logical_not(fifth), prim.logical_not(second) & fourth),
            channel(prim.logical_not(first) & third, prim.logical_not(fourth)),
            channel(prim.logical_not(third) & fifth, second))


def _turning(images: Any) -> Any:
    return _turned_half if images.dtype == dtypes.float16 else _turned


def _rising(sixth: Any, part: Any) -> Any:
    """How far the middle channel is from the smallest one: it rises in the even sixths of a turn and falls in the odd ones."""
    return prim.select(prim.eq(sixth - 2 * prim.floor(sixth / 2), 0), part, 1 - part)


def _saturated(images: Any, scale: Any) -> tuple:
    h, s, v = _to_hsv(*images)
    return _to_rgb(h, prim.min(prim.max(s * scale, 0), 1), v)


def _one_number(x: Any, what: str) -> np.float32:
    if np.ndim(x):
        raise invalid(f"{what} must be scalar: {list(np.shape(x))}")
    return np.float32(x)


@op("AdjustHue(images: T, delta: float32) -> output: T", T=_PIXELS,
    shape=lambda c: shape_rules.with_rank_at_least(c.shapes[0], 3, "images"),
    lower=lambda b, images, delta: _lower_with(lambda *rgb: _turning(images)(rgb, delta), delta)(b, images),
    samples=lambda rng, dtype: [[draw(rng, (2, 3, 3), dtype, 0.1, 0.9), np.float32(d)] for d in (0.3, -0.7)])
def _adjust_hue(images, delta):
    """The hue of colors moved by `delta` (of a turn)."""
    return np.stack(_turning(images)(_channels(images), _one_number(delta, "delta")), -1).astype(images.dtype)


@op("AdjustSaturation(images: T, scale: float32) -> output: T", T=_PIXELS,
    shape=lambda c: shape_rules.with_rank_at_least(c.shapes[0], 3, "images"),
    lower=lambda b, images, scale: _lower_with(lambda *rgb: _saturated(rgb, scale), scale)(b, images),
    samples=lambda rng, dtype: [[draw(rng, (2, 3, 3), dtype, 0.1, 0.9), np.float32(d)] for d in (0.3, 1.7)])
def _adjust_saturation(images, scale):
    """The saturation of colors times `scale`, at most 1."""
    return np.stack(_saturated(_channels(images), _one_number(scale, "scale")), -1).astype(images.dtype)


def _lower_contrast(b: Any, images: Any, factor: Any) -> Any:
    if factor.shape:
        return NotImplemented           # the NumPy meaning says that it must be a scalar
    wide = b.cast(images, dtypes.float32)
    rank = len(images.shape)
    total = b.reduce("add", wide, [rank - 3, rank - 2], True)
    count = b.cast(b.const(1, dtypes.int64) * images.shape[-3] * images.shape[-2], dtypes.float32)
    mean = total / count
    return b.cast((wide - mean) * factor + mean, images.dtype)


def _with_one_factor(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[1], 0, "contrast_factor")
    return shape_rules.with_rank_at_least(c.shapes[0], 3, "images")


@op("AdjustContrastv2(images: T, contrast_factor: float32) -> output: T", T=_PIXELS,
    shape=_with_one_factor, lower=_lower_contrast,
    samples=lambda rng, dtype: [[draw(rng, (2, 3, 4, 3), dtype), np.float32(1.5)]])
def _adjust_contrast(images, contrast_factor):
    """The distance of each pixel from the mean of its image and channel, times a factor."""
    wide = images.astype(np.float32)
    mean = precise_sum(wide, (-3, -2), True) / np.float32(wide.shape[-3] * wide.shape[-2])
    return ((wide - mean) * _one_number(contrast_factor, "contrast_factor") + mean).astype(images.dtype)


# -- public functions --------------------------------------------------------------------------------------------------

def _as_float(image: Tensor) -> tuple[Tensor, Any]:
    """The image as floats (half and single precision as they are), and its dtype."""
    kind = image.dtype.base_dtype
    return (image if kind in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)), kind


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """`delta` added to an image, which counts as floats in [0, 1); the result has the dtype of the image."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        floats, kind = _as_float(convert_to_tensor(image, name="image"))
        return convert_image_dtype(raw.Add(floats, cast(delta, floats.dtype.base_dtype), name=scope), kind, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """The distance of each pixel from the mean of its image and channel, times `contrast_factor`."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        floats, kind = _as_float(convert_to_tensor(images, name="images"))
        return convert_image_dtype(_adjust_contrast(floats, contrast_factor, name=scope), kind, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """``gain * image ** gamma`` of an image, which counts as floats in [0, 1).  Raises ValueError for negative gamma."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        floats, kind = _as_float(convert_to_tensor(image, name="image"))
        if isinstance(gamma, Tensor):
            from jitgraph.ops.image.image_checks import require

            gamma = require(gamma >= 0, "Gamma should be a non-negative real number.", gamma)
        elif gamma < 0:
            raise ValueError("Gamma should be a non-negative real number.")
        return convert_image_dtype(gain * floats ** gamma, kind, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """The hue of an RGB image moved by `delta`, from -1 to 1."""
    with name_scope(name, "adjust_hue", [image]):
        floats, kind = _as_float(convert_to_tensor(image, name="image"))
        return convert_image_dtype(_adjust_hue(floats, delta), kind)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """The saturation of an RGB image times `saturation_factor`, at most 1."""
    with name_scope(name, "adjust_saturation", [image]):
        floats, kind = _as_float(convert_to_tensor(image, name="image"))
        return convert_image_dtype(_adjust_saturation(floats, saturation_factor), kind)


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``adjust_brightness`` by a random delta in [-max_delta, max_delta)."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``adjust_contrast`` by a random factor in [lower, upper)."""
    _check_range(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """``adjust_hue`` by a random delta in [-max_delta, max_delta); `max_delta` is at most 0.5."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """``adjust_saturation`` by a random factor in [lower, upper)."""
    _check_range(lower, upper)
    return adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def _check_range(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """One channel, 0.2989 red + 0.587 green + 0.114 blue, of the dtype of `images` [..., 3]."""
    from jitgraph.ops.linalg.products import tensordot

    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        gray = tensordot(convert_image_dtype(images, dtypes.float32), [0.2989, 0.5870, 0.1140], [-1, -1])
        return convert_image_dtype(raw.ExpandDims(gray, -1), images.dtype.base_dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The one channel of `images` [..., 1] three times.  Raises ValueError if there are more channels."""
    from jitgraph.ops.image.image_checks import checked_grayscale

    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = checked_grayscale(convert_to_tensor(images, name="images"))
        ones = raw.Fill(raw.ExpandDims(raw.Rank(images) - 1, 0), 1)
        count_nodes(2)                  # TensorFlow expands the 3
        found = raw.Tile(images, raw.ConcatV2([ones, [3]], 0), name=scope)
        if images._shape is not None:
            found.set_shape([*images._shape[:-1], 3])
        return found


_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _by_matrix(images: Any, matrix: list) -> Tensor:
    from jitgraph.ops.linalg.products import tensordot

    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(matrix, images.dtype.base_dtype, name="kernel")
    return tensordot(images, kernel, [[len(images.shape) - 1], [0]])


def rgb_to_yiq(images: Any) -> Tensor:
    """RGB images in [0, 1] as luma and the chroma of NTSC."""
    return _by_matrix(images, _YIQ)


def yiq_to_rgb(images: Any) -> Tensor:
    """The inverse of ``rgb_to_yiq``."""
    return _by_matrix(images, _FROM_YIQ)


def rgb_to_yuv(images: Any) -> Tensor:
    """RGB images in [0, 1] as luma and the chroma of PAL."""
    return _by_matrix(images, _YUV)


def yuv_to_rgb(images: Any) -> Tensor:
    """The inverse of ``rgb_to_yuv``."""
    return _by_matrix(images, _FROM_YUV)
