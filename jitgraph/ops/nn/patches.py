"""Windows that are not sums: extract_image_patches, grayscale dilation and erosion."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare.op import op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw, ints, results
from jitgraph.graph import shape_rules
from jitgraph.graph.counting import gradient_of_nodes
from jitgraph.graph.dtypes import REALS, as_dtype
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.nn import dilation_loops, window_geometry
from jitgraph.ops.nn.window_geometry import Window

_PADDING = 'padding: string {"SAME", "VALID"}'
_MOST_TAPS = 64         # of a window that a kernel copies tap by tap


def _windows(size: Any, taps: Any, strides: Any, rates: Any, padding: str) -> list[Window]:
    return [window_geometry.window(d, n, step, gap, padding)
            for d, n, step, gap in zip(size, taps, strides[1:3], rates[1:3])]


# -- patches -------------------------------------------------------------------------------------------------------

def _patches_shape(c: Any) -> Any:
    images = shape_rules.with_rank(c.shapes[0], 4, "images")
    _, height, width, _ = c.attrs["ksizes"]
    wins = _windows(images[1:3], (height, width), c.attrs["strides"], c.attrs["rates"], c.attrs["padding"])
    depth = None if images[3] is None else images[3] * (height * width)
    return (images[0], wins[0].output, wins[1].output, depth)


_PATCHES = {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}


def _patch_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (2, 5, 4, 3), dtype)], {**_PATCHES, "padding": padding}) for padding in ("SAME", "VALID")]


def _lower_patches(b: Any, images: Any, ksizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    """Every tap of the windows is a slice of the padded images; side by side they are the patches."""
    taps = tuple(ksizes[1:3])
    if not window_geometry.Layout.of("NHWC").is_spatial(ksizes, strides, rates):
        return NotImplemented
    batch, *size, depth = images.shape
    if not all(isinstance(d, int) for d in size) or math.prod(taps) > _MOST_TAPS:
        return NotImplemented
    wins = _windows(size, taps, strides, rates, padding)
    around = b.pad_images(images, [(w.before, w.after) for w in wins])
    shape = (batch, wins[0].output, wins[1].output, depth)
    parts = [b.slice(around, (0, row * rates[1], column * rates[2], 0), shape, (1, *strides[1:3], 1))
             for row, column in np.ndindex(*taps)]
    return parts[0] if len(parts) == 1 else b.concat(parts, 3)


@op(f"ExtractImagePatches(images: T; ksizes: list(int) >= 4, strides: list(int) >= 4, rates: list(int) >= 4, "
    f"{_PADDING}) -> patches: T",
    T=REALS, shape=_patches_shape, lower=_lower_patches, samples=_patch_samples)
def _extract_image_patches(images, ksizes, strides, rates, padding):
    """Every window of the images, flattened, as the channels of a new image."""
    window_geometry.check_across_space("Only support {} across space.", ksizes=ksizes, strides=strides, rates=rates)
    taps = tuple(ksizes[1:3])
    wins = _windows(images.shape[1:3], taps, strides, rates, padding)
    view = window_geometry.view(np.ascontiguousarray(window_geometry.padded(images, wins)), wins, taps)
    return view.reshape(*view.shape[:3], math.prod(view.shape[3:]))


@_extract_image_patches.gradient
@gradient_of_nodes(97)
def _(op, grad):
    return raw.ExtractImagePatchesGrad(raw.Shape(op.inputs[0]), grad, **{
        name: op.attrs[name] for name in ("ksizes", "strides", "rates", "padding")})


@op("ExtractImagePatchesGrad(images_shape: int32, grad: T; ksizes: list(int) >= 4, strides: list(int) >= 4, rates: list(int) >= 4, "
    f"{_PADDING}) -> images: T", T=REALS,
    shape=lambda c: shape_rules.with_rank(shape_rules.from_value(0)(c), 4),
    samples=lambda rng, dtype: [([ints(2, 5, 4, 3), draw(rng, (2, 3, 4, 18), dtype)], _PATCHES)], origin="jitgraph")
def extract_image_patches_grad(images_shape, grad, ksizes, strides, rates, padding):
    """The gradient of ExtractImagePatches: every window added where it came from."""
    n, height, width, depth = (int(d) for d in images_shape)
    taps = tuple(ksizes[1:3])
    wins = _windows((height, width), taps, strides, rates, padding)
    full = np.zeros((n, *(w.before + d + w.after for w, d in zip(wins, (height, width))), depth), grad.dtype)
    parts = grad.reshape(*grad.shape[:3], *taps, depth)
    for tap in np.ndindex(*taps):
        under = (slice(None), slice(None), slice(None), *tap)
        full[window_geometry.tap_slices(wins, tap)] += parts[under]
    return window_geometry.cropped(full, wins, (height, width))


@extract_image_patches_grad.gradient
def _(op, grad):
    return [None, raw.ExtractImagePatches(grad, **{
        name: op.attrs[name] for name in ("ksizes", "strides", "rates", "padding")})]


def extract_image_patches(images: Any, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,
                          name: str | None = None, sizes: Any = None) -> Any:
    """Every window (`ksizes` [1, height, width, 1]) of `images` [n, h, w, c], flattened to height * width * c channels."""
    ksizes = renamed("sizes", sizes, "ksizes", ksizes)
    return _extract_image_patches(images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name)


# -- dilation ------------------------------------------------------------------------------------------------------

_MORPHOLOGY = f"strides: list(int) >= 4, rates: list(int) >= 4, {_PADDING}"


def _dilation_shape(c: Any) -> Any:
    value = shape_rules.with_rank(c.shapes[0], 4, "input")
    filters = shape_rules.with_rank(c.shapes[1], 3, "filter")
    depth = shape_rules.merge_sizes(value[3], filters[2])
    wins = _windows(value[1:3], filters[:2], c.attrs["strides"], c.attrs["rates"], c.attrs["padding"])
    return (value[0], wins[0].output, wins[1].output, depth)


def _morphology_windows(x: np.ndarray, filters: np.ndarray, strides: Any, rates: Any, padding: str) -> list[Window]:
    window_geometry.check_across_space("{} is only supported across spatial dimensions.", Stride=strides, Rate=rates)
    return _windows(x.shape[1:3], filters.shape[:2], strides, rates, padding)


def _lowest(dtype: np.dtype) -> Any:
    return np.asarray(as_dtype(dtype).min, dtype)


def _highest(x: np.ndarray, filters: np.ndarray, wins: list[Window]) -> tuple[np.ndarray, np.ndarray]:
    """The maxima of data + filter, and the tap that each came from: -1 where nothing exceeds the lowest finite number."""
    data, inside = window_geometry.padded(x, wins), window_geometry.padded(np.ones(x.shape, bool), wins, False)
    shape = (x.shape[0], *(w.output for w in wins), x.shape[3])
    best, where = np.full(shape, _lowest(x.dtype), x.dtype), np.full(shape, -1)
    for number, tap in enumerate(np.ndindex(*filters.shape[:2])):
        part = window_geometry.tap_slices(wins, tap)
        value = data[part] + filters[tap]
        better = inside[part] & (value > best)
        np.copyto(best, value, where=better)
        np.copyto(where, number, where=better)
    return best, where


_DILATION = {"strides": [1, 2, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}


def _dilation_samples(rng: Any, dtype: Any) -> list:
    return [([draw(rng, (2, 5, 4, 3), dtype), draw(rng, (2, 3, 3), dtype)], {**_DILATION, "padding": padding})
            for padding in ("SAME", "VALID")]


@op(f"Dilation2D(input: T, filter: T; {_MORPHOLOGY}) -> output: T", T=REALS, shape=_dilation_shape,
    samples=_dilation_samples)
def _dilation2d(input, filter, strides, rates, padding):
    """The maximum of input + filter in each window."""
    wins = _morphology_windows(input, filter, strides, rates, padding)
    out = np.empty((len(input), *(w.output for w in wins), input.shape[3]), input.dtype)
    done = dilation_loops.run("dilation", [input, filter], out, wins, _lowest(input.dtype))
    return out if done else _highest(input, filter, wins)[0]


def _morphology(op: Any) -> dict[str, Any]:
    return {name: op.attrs[name] for name in ("strides", "rates", "padding")}


@_dilation2d.gradient
def _(op, grad):
    value, filters = op.inputs
    return [raw.Dilation2DBackpropInput(value, filters, grad, **_morphology(op)),
            raw.Dilation2DBackpropFilter(value, filters, grad, **_morphology(op))]


def _dilation_gradient_samples(rng: Any, dtype: Any) -> list:
    x, w = draw(rng, (2, 5, 4, 3), dtype), draw(rng, (2, 3, 3), dtype)
    return [([x, w, draw(rng, results(_dilation2d, [x, w], _DILATION)[0].shape, dtype)], _DILATION)]


@op(f"Dilation2DBackpropInput(input: T, filter: T, out_backprop: T; {_MORPHOLOGY}) -> in_backprop: T", T=REALS,
    shape=shape_rules.same_as_input, samples=_dilation_gradient_samples)
def dilation2d_backprop_input(input, filter, out_backprop, strides, rates, padding):
    """The gradient of Dilation2D for its input: to the element that gave the maximum, or else to the window's first."""
    wins = _morphology_windows(input, filter, strides, rates, padding)
    result = np.zeros(input.shape, input.dtype)
    if not dilation_loops.run("input", [input, filter, out_backprop], result, wins, _lowest(input.dtype)) and result.size:
        where = _highest(input, filter, wins)[1]
        places = []
        for axis, (win, taps) in enumerate(zip(wins, np.divmod(np.maximum(where, 0), filter.shape[1])), 1):
            first = np.arange(win.output) * win.stride - win.before
            first = first.reshape([-1 if k == axis else 1 for k in range(4)])
            places.append(np.where(where < 0, np.maximum(first, 0), first + taps * win.dilation))
        batch, _, _, depth = np.ogrid[tuple(map(slice, where.shape))]
        np.add.at(result, (batch, *places, depth), out_backprop)
    return result


@op(f"Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T; {_MORPHOLOGY}) -> filter_backprop: T", T=REALS,
    shape=shape_rules.same_as(1), samples=_dilation_gradient_samples)
def dilation2d_backprop_filter(input, filter, out_backprop, strides, rates, padding):
    """The gradient of Dilation2D for its filter: to the tap that gave the maximum, or else to the first."""
    wins = _morphology_windows(input, filter, strides, rates, padding)
    result = np.zeros(filter.shape, np.int64 if input.dtype.kind in "iu" else np.float64)
    if not dilation_loops.run("filter", [input, filter, out_backprop], result, wins, _lowest(input.dtype)) and result.size:
        taps = np.divmod(np.maximum(_highest(input, filter, wins)[1], 0), filter.shape[1])
        np.add.at(result, (*taps, np.arange(filter.shape[2])), out_backprop.astype(result.dtype))
    return result.astype(filter.dtype)


def dilation2d(input: Any, filter: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,
               name: str | None = None, filters: Any = None, dilations: Any = None) -> Any:
    """Grayscale dilation: the maximum of `input` [n, h, w, c] plus `filter` [height, width, c] in each window."""
    filter = renamed("filters", filters, "filter", filter)
    rates = renamed("dilations", dilations, "rates", rates)
    return _dilation2d(input, filter, strides=strides, rates=rates, padding=padding, name=name)


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Any:
    """Grayscale erosion: the minimum of `value` minus `kernel` in each window."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        flipped = raw.ReverseV2(kernel, [0, 1])
        return raw.Neg(_dilation2d(raw.Neg(value), flipped, strides=strides, rates=rates, padding=padding, name=scope))
