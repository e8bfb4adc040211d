"""Parts of images cut out and resized: CropAndResize and its gradients, ExtractGlimpse."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph import raw_ops as raw
from jitgraph.declare import prim
from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, TypeSet, op
from jitgraph.declare.renamed_arguments import renamed
from jitgraph.declare.samples import draw, ints
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.errors import OutOfRangeError
from jitgraph.graph.texts import as_text
from jitgraph.ops.arrays.shape import plain_sizes

f32 = np.float32
_IMAGES = TypeSet(dtypes.uint8, dtypes.uint16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.float16,
                  dtypes.float32, dtypes.float64)
_METHOD = 'method: string {"bilinear", "nearest"} = "bilinear"'


# -- positions ---------------------------------------------------------------------------------------------------------

def _positions(low: np.ndarray, high: np.ndarray, size: int, count: int) -> np.ndarray:
    """Where `count` samples between two borders (in units of the image) lie among `size` pixels: [boxes, count]."""
    low, high, last = low[:, None].astype(f32), high[:, None].astype(f32), f32(size - 1)
    if count > 1:
        step = (high - low) * last / f32(count - 1)
        return low * last + np.arange(count, dtype=f32) * step
    return f32(0.5) * (low + high) * last


def _check_boxes(boxes: np.ndarray, box_ind: np.ndarray, batch: int) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid(f"boxes must have 4 columns, got shape {list(boxes.shape)}")
    if box_ind.shape != boxes.shape[:1]:
        raise invalid(f"box_ind has incompatible shape: {list(box_ind.shape)} for {len(boxes)} boxes")
    if ((box_ind < 0) | (box_ind >= batch)).any():
        raise OutOfRangeError(None, None, "box_index has values outside [0, batch_size)")


def _corners(at: np.ndarray, size: int) -> tuple:
    """The pixels before and after each position, how far it is on the way, and whether it is inside the image."""
    inside = (at >= 0) & (at <= size - 1)
    held = np.where(inside, at, f32(0))
    lower = np.floor(held)
    return lower.astype(np.int64), np.ceil(held).astype(np.int64), held - lower, inside


def _rounded(at: np.ndarray, size: int) -> np.ndarray:
    return np.clip(np.floor(np.abs(at) + f32(0.5)).astype(np.int64), 0, size - 1)


# -- pixels by their places, in primitives -----------------------------------------------------------------------------

class _Places:
    """Where the pixels of crops [boxes, rows, columns] come from, of images [batch, height, width]: as `_positions` and
    `_corners` have it, in primitives."""

    def __init__(self, b: Any, boxes: Any, box_ind: Any, images: tuple, size: tuple):
        self.b, self.images = b, images
        count = boxes.shape[0]
        self.first = b.reshape(b.cast(box_ind, dtypes.int64), (count, 1, 1)) * b.const(images[1], dtypes.int64)
        self.rows = self._along(boxes, 0, images[1], size[0], (count, size[0], 1))
        self.columns = self._along(boxes, 1, images[2], size[1], (count, 1, size[1]))
        self.inside = b.reshape(prim.logical_and(self.rows[2], self.columns[2]), (count, *size, 1))

    def _along(self, boxes: Any, side: int, size: Any, count: int, shape: tuple) -> tuple:
        """For one axis of the crops: positions, the last pixel, and whether each is inside of the image."""
        b = self.b
        low, high = (b.slice(boxes, (0, i), (boxes.shape[0], 1)) for i in (side, side + 2))
        last = b.cast(b.const(size, dtypes.int64), dtypes.float32) - 1
        if count > 1:
            step = (high - low) * last / b.const(f32(count - 1))
            at = low * last + b.const(np.arange(count, dtype=f32)) * step
        else:
            at = b.const(f32(0.5)) * (low + high) * last
        at = b.reshape(at, shape)
        inside = prim.logical_and(prim.ge(at, 0), prim.le(at, last))
        return prim.select(inside, at, b.const(f32(0))), last, inside

    def _pixel(self, row: Any, column: Any) -> Any:
        """The number of a pixel among all of the batch; it is out of range exactly where that of its image is."""
        b, width = self.b, self.images[2]
        return (self.first + b.cast(row, dtypes.int64)) * b.const(width, dtypes.int64) + b.cast(column, dtypes.int64)

    def nearest(self) -> Any:
        """The pixel next to each position."""
        row, column = (prim.min(prim.floor(at + f32(0.5)), last) for at, last, _ in (self.rows, self.columns))
        return self._pixel(row, column)

    def corners(self) -> tuple[list, Any, Any]:
        """The four pixels around each position, two before and two after, and how far it is on the way: down, along."""
        (y, *_), (x, *_) = self.rows, self.columns
        before = [prim.floor(y), prim.floor(x)]
        after = [prim.ceil(y), prim.ceil(x)]
        pixels = [self._pixel(row, column) for row in (before[0], after[0]) for column in (before[1], after[1])]
        return pixels, y - before[0], x - before[1]


def _places(b: Any, boxes: Any, box_ind: Any, images: tuple, size: Any) -> _Places | None:
    """The places of crops; None where the NumPy meaning has to say what is wrong, or no pixel is looked at."""
    if any(d == 0 for d in images) or any(n <= 0 for n in size) or list(boxes.shape) != [*box_ind.shape, 4]:
        return None
    return _Places(b, boxes, box_ind, images[:3], tuple(size))


def _lower_crops(b: Any, image: Any, boxes: Any, box_ind: Any, crop_size: Any, method: Any, extrapolation_value: float) -> Any:
    size = None if crop_size.constant is None else plain_sizes(crop_size.constant)
    places = None if size is None else _places(b, boxes, box_ind, image.shape, size)
    if places is None:
        return NotImplemented
    batch, height, width, depth = image.shape
    pixels = b.reshape(image, (batch * height * width, depth))

    def picked(pixel: Any) -> Any:
        return b.cast(b.gather(pixels, pixel), dtypes.float32)

    if as_text(method) == "nearest":
        found = picked(places.nearest())
    else:
        corners, down, along = places.corners()
        down, along = (b.reshape(way, (*way.shape, 1)) for way in (down, along))
        top_left, top_right, bottom_left, bottom_right = (picked(corner) for corner in corners)
        above = top_left + (top_right - top_left) * along
        below = bottom_left + (bottom_right - bottom_left) * along
        found = above + (below - above) * down
    return prim.select(places.inside, found, b.const(f32(extrapolation_value)))


def _lower_crops_gradient(b: Any, grads: Any, boxes: Any, box_ind: Any, image_size: Any, T: Any, method: Any) -> Any:
    size = None if image_size.constant is None else tuple(plain_sizes(image_size.constant))
    rows, columns = grads.shape[1:3]
    if size is None or len(size) != 4 or size[3] != grads.shape[3] or not all(isinstance(n, int) for n in (rows, columns)):
        return NotImplemented
    places = _places(b, boxes, box_ind, size, (rows, columns))
    if places is None:
        return NotImplemented
    kind = dtypes.float64 if T.size > 4 else dtypes.float32
    grads = prim.select(places.inside, grads, b.const(f32(0)))
    if as_text(method) == "nearest":
        pixels, shares = places.nearest(), grads
    else:
        corners, down, along = places.corners()
        around = [b.reshape(x, (1, *x.shape, 1)) for x in (1 - down, down, 1 - along, along)]
        above, below, left, right = around
        pixels = b.concat([b.reshape(corner, (1, *corner.shape)) for corner in corners], 0)
        grads = b.reshape(grads, (1, *grads.shape))
        shares = grads * b.concat([above, above, below, below], 0) * b.concat([left, right, left, right], 0)
    found = b.scatter("add", (size[0] * size[1] * size[2], size[3]), pixels, b.cast(shares, kind))
    return b.cast(b.reshape(found, size), T)


# -- CropAndResize -----------------------------------------------------------------------------------------------------

def _crops_shape(c: Any) -> Any:
    image = shape_rules.with_rank(c.shapes[0], 4, "image")
    boxes = shape_rules.with_rank(c.shapes[1], 2, "boxes")
    indices = shape_rules.with_rank(c.shapes[2], 1, "box_ind")
    if boxes[1] is not None:
        shape_rules.merge_sizes(boxes[1], 4)
    size = c.constant(3)
    sizes = plain_sizes(size) if shape_rules.known(size) else (None, None)
    if len(sizes) != 2:
        raise ValueError(f"Dimension must be 2 but is {len(sizes)}: crop_size is [height, width]")
    return (shape_rules.merge_sizes(boxes[0], indices[0]), *sizes, image[3])


def _boxes(rng: Any) -> list:
    return [np.array([[0.1, 0.15, 0.85, 0.95], [-0.2, 0.1, 0.6, 1.3], [0.7, 0.8, 0.2, 0.1]], f32),
            np.array([0, 1, 1], np.int32)]


def _crop_samples(rng, dtype):
    image = draw(rng, (2, 5, 6, 2), dtype, 0, 9)
    attrs = [{}, {"method": "nearest", "extrapolation_value": 2.0}]
    return [([image, *_boxes(rng), np.array(size, np.int32)], a) for size in ((3, 4), (1, 1)) for a in attrs]


@op("CropAndResize(image: T, boxes: float32, box_ind: int32, crop_size: int32; " + _METHOD +
    ", extrapolation_value: float = 0.0) -> crops: float32", T=_IMAGES, shape=_crops_shape, lower=_lower_crops, checks=True,
    samples=_crop_samples)
def _crop_and_resize(image, boxes, box_ind, crop_size, method, extrapolation_value):
    """Boxes (y1, x1, y2, x2 in units of the image) cut out of images and resized to `crop_size` (height, width)."""
    batch, height, width, _ = image.shape
    _check_boxes(boxes, box_ind, batch)
    rows, columns = (int(n) for n in crop_size)
    if rows <= 0 or columns <= 0:
        raise invalid("crop dimensions must be positive")
    y = _positions(boxes[:, 0], boxes[:, 2], height, rows)
    x = _positions(boxes[:, 1], boxes[:, 3], width, columns)
    which = box_ind[:, None, None]
    top, bottom, down, y_inside = _corners(y, height)
    left, right, along, x_inside = _corners(x, width)
    inside = y_inside[:, :, None] & x_inside[:, None, :]
    if as_text(method) == "nearest":
        found = image[which, _rounded(y, height)[:, :, None], _rounded(x, width)[:, None, :]].astype(f32)
    else:
        above = _mixed(image, which, top[:, :, None], left[:, None, :], right[:, None, :], along)
        below = _mixed(image, which, bottom[:, :, None], left[:, None, :], right[:, None, :], along)
        found = above + (below - above) * down[:, :, None, None]
    return np.where(inside[..., None], found, f32(extrapolation_value))


def _mixed(image: np.ndarray, which: Any, rows: Any, left: Any, right: Any, along: np.ndarray) -> np.ndarray:
    first, second = image[which, rows, left].astype(f32), image[which, rows, right].astype(f32)
    return first + (second - first) * along[:, None, :, None]


def _size_from(index: int) -> Any:
    return lambda c: shape_rules.with_rank(shape_rules.shape_from(c, index), 4)


_BOXES = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 1.1]], np.float32)


def _crop_gradient_samples(rng, dtype):
    return [([draw(rng, (2, 3, 2, 3), np.float32), _BOXES, ints(0, 1), ints(2, 5, 4, 3)], {"T": dtypes.float32, "method": method})
            for method in ("bilinear", "nearest")]


@op("CropAndResizeGradImage(grads: float32, boxes: float32, box_ind: int32, image_size: int32; T: type, " + _METHOD +
    ") -> output: T", T=TypeSet(dtypes.float32, dtypes.float16, dtypes.float64), shape=_size_from(3),
    lower=_lower_crops_gradient, checks=True, samples=_crop_gradient_samples)
def _crop_and_resize_grad_image(grads, boxes, box_ind, image_size, T, method):
    """The gradient of CropAndResize with respect to the image: each pixel of a crop shared among those it came from."""
    batch, height, width, depth = (int(n) for n in image_size)
    _check_boxes(boxes, box_ind, batch)
    _, rows, columns, _ = grads.shape
    y = _positions(boxes[:, 0], boxes[:, 2], height, rows)
    x = _positions(boxes[:, 1], boxes[:, 3], width, columns)
    top, bottom, down, y_inside = _corners(y, height)
    left, right, along, x_inside = _corners(x, width)
    which = np.broadcast_to(box_ind[:, None, None], grads.shape[:3])
    grads = grads * (y_inside[:, :, None] & x_inside[:, None, :])[..., None]
    output = np.zeros((batch, height, width, depth), f32 if T.size <= 4 else np.float64)
    if as_text(method) == "nearest":
        np.add.at(output, (which, _rounded(y, height)[:, :, None], _rounded(x, width)[:, None, :]), grads)
        return output.astype(T.as_numpy_dtype)
    down, along = down[:, :, None, None], along[:, None, :, None]
    for line, part in ((top, grads * (1 - down)), (bottom, grads * down)):
        np.add.at(output, (which, line[:, :, None], left[:, None, :]), part * (1 - along))
        np.add.at(output, (which, line[:, :, None], right[:, None, :]), part * along)
    return output.astype(T.as_numpy_dtype)


@op("CropAndResizeGradBoxes(grads: float32, image: T, boxes: float32, box_ind: int32; method: string {\"bilinear\"} = "
    "\"bilinear\") -> output: float32", T=_IMAGES, shape=lambda c: c.shapes[2], host=True, checks=True,
    samples=lambda rng, dtype: [[draw(rng, (2, 3, 2, 3), np.float32), draw(rng, (2, 5, 4, 3), dtype), _BOXES, ints(0, 1)]])
def _crop_and_resize_grad_boxes(grads, image, boxes, box_ind):
    """The gradient of CropAndResize with respect to the boxes, by the slopes of the image."""
    batch, height, width, _ = image.shape
    _check_boxes(boxes, box_ind, batch)
    _, rows, columns, _ = grads.shape
    y = _positions(boxes[:, 0], boxes[:, 2], height, rows)
    x = _positions(boxes[:, 1], boxes[:, 3], width, columns)
    top, bottom, down, y_inside = _corners(y, height)
    left, right, along, x_inside = _corners(x, width)
    which = box_ind[:, None, None]
    corner = {(i, j): image[which, line[:, :, None], column[:, None, :]].astype(f32)
              for i, line in enumerate((top, bottom)) for j, column in enumerate((left, right))}
    along, down = along[:, None, :, None], down[:, :, None, None]
    slope_y = (1 - along) * (corner[1, 0] - corner[0, 0]) + along * (corner[1, 1] - corner[0, 1])
    slope_x = (1 - down) * (corner[0, 1] - corner[0, 0]) + down * (corner[1, 1] - corner[1, 0])
    inside = (y_inside[:, :, None] & x_inside[:, None, :])[..., None]
    of_y = np.where(inside, grads * slope_y, f32(0)).sum((2, 3), dtype=f32)
    of_x = np.where(inside, grads * slope_x, f32(0)).sum((1, 3), dtype=f32)
    y1, y2 = _to_borders(of_y, height)
    x1, x2 = _to_borders(of_x, width)
    return np.stack([y1, x1, y2, x2], 1)


def _to_borders(grads: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of positions [boxes, count] as those of the two borders that they come from."""
    count, last = grads.shape[1], f32(size - 1)
    share = np.arange(count, dtype=f32) / f32(count - 1) if count > 1 else np.full(1, 0.5, f32)
    return (grads * (last * (1 - share))).sum(1, dtype=f32), (grads * (last * share)).sum(1, dtype=f32)


@_crop_and_resize.gradient
def _(op, grad):
    image, boxes, box_ind, _ = op.inputs
    known = image._shape
    size = raw.Shape(image) if known is None or None in known else np.array(known, np.int32)
    kind = image.dtype.base_dtype
    of_image = None
    if kind in (dtypes.float16, dtypes.float32, dtypes.float64):
        of_image = raw.CropAndResizeGradImage(grad, boxes, box_ind, size, T=kind, method=op.get_attr("method"))
    return [of_image, raw.CropAndResizeGradBoxes(grad, image, boxes, box_ind), None, None]


def crop_and_resize(image: Any, boxes: Any, box_ind: Any = None, crop_size: Any = None, method: str = "bilinear",
                    extrapolation_value: float = 0, name: str | None = None, box_indices: Any = None) -> Any:
    """Crops [boxes, *crop_size, channels], float32, of images [batch, height, width, channels].

    `boxes` [boxes, 4] holds y1, x1, y2, x2 from 0 to 1 (beyond the image: `extrapolation_value`; y1 > y2 turns the
    crop over); `box_ind` [boxes] says which image each is cut from.  `method` is "bilinear" or "nearest".
    """
    indices = renamed("box_indices", box_indices, "box_ind", box_ind)
    return _crop_and_resize(image, boxes, indices, crop_size, method=method, extrapolation_value=extrapolation_value,
                            name=name)


# -- ExtractGlimpse ----------------------------------------------------------------------------------------------------

def _glimpse_shape(c: Any) -> Any:
    batch, _, _, channels = shape_rules.with_rank(c.shapes[0], 4, "input")
    offsets = shape_rules.with_rank(c.shapes[2], 2, "offsets")
    size = c.constant(1)
    sizes = plain_sizes(size) if shape_rules.known(size) else (None, None)
    return (shape_rules.merge_sizes(batch, offsets[0]), *sizes, channels)


def _glimpse_samples(rng, dtype):
    inputs = [draw(rng, (2, 5, 4, 3), np.float32), ints(3, 2), draw(rng, (2, 2), np.float32, -0.4, 0.4)]
    return [inputs, (inputs, {"centered": False, "normalized": False})]


@op("ExtractGlimpse(input: float32, size: int32, offsets: float32; centered: bool = True, normalized: bool = True, "
    "uniform_noise: bool = True, noise: string = \"uniform\") -> glimpse: float32", shape=_glimpse_shape, host=True,
    stateful=True, grad=NOT_DIFFERENTIABLE, samples=_glimpse_samples)
def _extract_glimpse(input, size, offsets, centered, normalized, uniform_noise, noise):
    """Windows of `size` around `offsets`; what lies outside the image is noise (of entropy, as TensorFlow's), or 0."""
    batch, height, width, depth = input.shape
    rows, columns = (int(n) for n in size)
    rng = np.random.default_rng()
    found = np.zeros((batch, rows, columns, depth), f32)
    kind = "uniform" if uniform_noise else as_text(noise)
    if kind == "uniform":
        found[:] = rng.random(found.shape, f32)
    elif kind == "gaussian":
        found[:] = rng.standard_normal(found.shape, f32) if not uniform_noise else 0
    for image, offset, glimpse in zip(input, np.asarray(offsets, f32), found):
        y, x = offset
        if normalized:
            y, x = y * height, x * width
        if centered:
            y, x = y / 2 + height / 2, x / 2 + width / 2
        top, left = int(y - rows / 2), int(x - columns / 2)
        first, last = max(top, 0), min(top + rows, height)
        begin, end = max(left, 0), min(left + columns, width)
        if first < last and begin < end:
            glimpse[first - top:last - top, begin - left:end - left] = image[first:last, begin:end]
    return found


def extract_glimpse(input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
                    uniform_noise: bool = True, name: str | None = None) -> Any:
    """Windows [batch, *size, channels] of images around `offsets` [batch, 2], noise outside the image.

    Offsets run from -1 to 1 with 0 the middle (`centered`, `normalized`), from 0 to 1, or are counted in pixels.
    """
    return _extract_glimpse(input, size, offsets, centered=centered, normalized=normalized, uniform_noise=uniform_noise,
                            name=name)
