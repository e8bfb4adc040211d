"""Random windows of images, and non-maximum suppression over several classes at once."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import draw
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.scopes import name_scope
from jitgraph.ops.arrays.shape import plain_sizes
from jitgraph.ops.image.suppression import by_boxes, select
from jitgraph.ops.random.philox import Bits
from jitgraph.ops.random.simple_philox import SimplePhilox

f32 = np.float32
_SIZES = TypeSet(dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)


# -- sampling ----------------------------------------------------------------------------------------------------------

def _rounded(x: Any) -> int:
    return int(np.rint(f32(x)))


def _random_crop(width: int, height: int, areas: tuple, aspect: np.float32, random: SimplePhilox) -> tuple | None:
    """A random window (x1, y1, x2, y2) with a ratio of width to height and an area (of the image) in a range."""
    if areas[1] <= 0 or aspect <= 0 or width <= 0 or height <= 0 or areas[0] > areas[1]:
        return None
    least, most = (f32(area) * f32(width) * f32(height) for area in areas)
    rows, limit = _rounded(np.sqrt(least / aspect)), _rounded(np.sqrt(most / aspect))
    if _rounded(f32(limit) * aspect) > width:
        limit = int((width + 0.5 - 1e-7) / float(aspect))
        if _rounded(f32(limit) * aspect) > width:
            limit -= 1
    limit = min(limit, height)
    rows = min(rows, limit)
    if rows < limit:
        rows += random.below(limit - rows + 1)
    columns = _rounded(f32(rows) * aspect)
    if f32(columns * rows) < least:         # rounding may have made it a little too small, or too large
        rows += 1
        columns = _rounded(f32(rows) * aspect)
    if f32(columns * rows) > most:
        rows -= 1
        columns = _rounded(f32(rows) * aspect)
    if not least <= f32(columns * rows) <= most or not 0 < columns <= width or not 0 < rows <= height:
        return None
    y = random.below(height - rows) if rows < height else 0
    x = random.below(width - columns) if columns < width else 0
    return x, y, x + columns, y + rows


def _covers(crop: tuple, boxes: list, share: float) -> bool:
    """Whether a window holds at least `share` of one of the boxes."""
    def area(box: tuple) -> np.float32:
        return f32((box[2] - box[0]) * (box[3] - box[1])) if box[2] > box[0] and box[3] > box[1] else f32(0)

    if area(crop) < 1:
        return False
    for box in boxes:
        own = area(box)
        common = (max(crop[0], box[0]), max(crop[1], box[1]), min(crop[2], box[2]), min(crop[3], box[3]))
        if own >= 1 and area(common) / own >= f32(share):
            return True
    return False


def _boxes_in_pixels(boxes: np.ndarray, height: int, width: int, use_image: bool) -> list:
    found = []
    for y1, x1, y2, x2 in np.asarray(boxes, f32).reshape(-1, 4):
        if not all(0 <= v <= 1 for v in (y1, x1, y2, x2)):
            raise invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {[float(v) for v in (y1, x1, y2, x2)]}")
        found.append((int(x1 * f32(width)), int(y1 * f32(height)), int(x2 * f32(width)), int(y2 * f32(height))))
    if not found:
        if not use_image:
            raise invalid("No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you "
                          "wish to not provide any bounding boxes.")
        found.append((0, 0, width, height))
    return found


def _sampled(image_size: np.ndarray, bounding_boxes: np.ndarray, seeds: tuple, covered: float, aspect_ratio_range: list,
             area_range: list, max_attempts: int, use_image: bool, stream: Any) -> tuple:
    if image_size.shape != (3,):
        raise invalid(f"image_size must contain 3 elements: {list(image_size.shape)}")
    if bounding_boxes.ndim != 3 or bounding_boxes.shape[-1] != 4:
        raise invalid(f"bounding boxes must have shape [batch, boxes, 4], got {list(bounding_boxes.shape)}")
    height, width = int(image_size[0]), int(image_size[1])
    boxes = _boxes_in_pixels(bounding_boxes, height, width, use_image)
    if covered < 0:
        raise invalid("Min object covered must be non-negative.")
    first, second = seeds
    random = SimplePhilox(Bits.reserve(stream, first, second, max_attempts))
    low, high = (f32(v) for v in aspect_ratio_range)
    crop: tuple | None = None
    for _ in range(max_attempts):
        aspect = random.unit() * (high - low) + low
        crop = _random_crop(width, height, tuple(area_range), aspect, random)
        if crop is not None and _covers(crop, boxes, covered):
            break
        crop = None
    x1, y1, x2, y2 = crop or (0, 0, width, height)
    kind = image_size.dtype
    box = np.array([y1 / f32(height), x1 / f32(width), y2 / f32(height), x2 / f32(width)], f32)
    size = np.array([y2 - y1, x2 - x1, -1])
    return np.array([y1, x1, 0], kind), size.astype(kind), box.reshape(1, 1, 4)


_SAMPLING = ("aspect_ratio_range: list(float) = [0.75, 1.33], area_range: list(float) = [0.05, 1.0], max_attempts: int = "
             "100, use_image_if_no_bounding_boxes: bool = False) -> begin: T, size: T, bboxes: float32")


def _window_shapes(c: Any) -> list:
    shape_rules.merge(shape_rules.with_rank(c.shapes[0], 1, "image_size"), (3,))
    shape_rules.with_rank(c.shapes[1], 3, "bounding_boxes")
    return [(3,), (3,), (1, 1, 4)]


@op("SampleDistortedBoundingBox(image_size: T, bounding_boxes: float32; seed: int = 0, seed2: int = 0, "
    "min_object_covered: float = 0.1, " + _SAMPLING, T=_SIZES, shape=_window_shapes, stateful=True, stream=True, host=True,
    grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([np.array([40, 50, 3], dtype), np.array([[[0.1, 0.2, 0.8, 0.9]]], np.float32)], {"seed": 7})])
def _sample_distorted_bounding_box_v1(image_size, bounding_boxes, seed, seed2, min_object_covered, aspect_ratio_range,
                                      area_range, max_attempts, use_image_if_no_bounding_boxes, stream):
    """A random window that holds a share of one of the boxes."""
    return _sampled(image_size, bounding_boxes, (seed, seed2), min_object_covered, aspect_ratio_range, area_range,
                    max_attempts, use_image_if_no_bounding_boxes, stream)


@op("SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float32, min_object_covered: float32; seed: int = 0, "
    "seed2: int = 0, " + _SAMPLING, T=_SIZES, shape=_window_shapes, stateful=True, stream=True, host=True,
    grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([np.array([40, 50, 3], dtype), np.array([[[0.1, 0.2, 0.8, 0.9]]], np.float32), np.float32(0.3)],
                                 {"seed": 7})])
def _sample_distorted_bounding_box_v2(image_size, bounding_boxes, min_object_covered, seed, seed2, aspect_ratio_range,
                                      area_range, max_attempts, use_image_if_no_bounding_boxes, stream):
    """A random window that holds a share of one of the boxes."""
    return _sampled(image_size, bounding_boxes, (seed, seed2), float(min_object_covered), aspect_ratio_range,
                    area_range, max_attempts, use_image_if_no_bounding_boxes, stream)


def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, seed: int | None = None,
                                  seed2: int | None = None, min_object_covered: Any = 0.1,
                                  aspect_ratio_range: Any = None, area_range: Any = None,
                                  max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None,
                                  name: str | None = None) -> Any:
    """(begin, size, bboxes): a random window of an image, for ``tf.slice`` and ``tf.image.draw_bounding_boxes``.

    It holds at least `min_object_covered` of one of `bounding_boxes` [1, boxes, 4] (y1, x1, y2, x2 from 0 to 1), its
    width over height and its area lie in the ranges; the whole image if `max_attempts` are not enough.
    """
    given = {"seed": seed, "seed2": seed2, "aspect_ratio_range": aspect_ratio_range, "area_range": area_range,
             "max_attempts": max_attempts, "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes}
    with name_scope(name, "sample_distorted_bounding_box"):
        return _sample_distorted_bounding_box_v2(image_size, bounding_boxes, min_object_covered,
                                                 **{key: value for key, value in given.items() if value is not None})


# -- several classes ---------------------------------------------------------------------------------------------------

def _combined_shape(c: Any) -> list:
    boxes = shape_rules.with_rank(c.shapes[0], 4, "boxes")
    scores = shape_rules.with_rank(c.shapes[1], 3, "scores")
    per_class, total = c.constant(2), c.constant(3)
    count = None
    if shape_rules.known(per_class) and shape_rules.known(total):
        count = plain_sizes(total)[0]
        if c.attrs["pad_per_class"]:
            classes = scores[2]
            count = None if classes is None else min(count, plain_sizes(per_class)[0] * classes)
    return [(boxes[0], count, 4), (boxes[0], count), (boxes[0], count), (boxes[0],)]


def _combined_samples(rng, dtype):
    corner, size = draw(rng, (2, 6, 1, 2), np.float32, 0, 1), draw(rng, (2, 6, 1, 2), np.float32, 0.1, 0.5)
    inputs = [np.concatenate([corner, corner + size], -1), draw(rng, (2, 6, 2), np.float32, 0, 1), np.int32(3), np.int32(4),
              np.float32(0.4), np.float32(0.1)]
    return [inputs, (inputs, {"pad_per_class": True, "clip_boxes": False})]


@op("CombinedNonMaxSuppression(boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float32, score_threshold: float32; pad_per_class: bool = False, clip_boxes: bool = True) -> "
    "nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32", host=True,
    shape=_combined_shape, samples=_combined_samples)
def _combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold,
                                  score_threshold, pad_per_class, clip_boxes):
    """Non-maximum suppression of each class of each image; the best of all classes together."""
    batch, _, layers, _ = boxes.shape
    classes = scores.shape[2]
    per_class, total = int(max_output_size_per_class), int(max_total_size)
    if layers not in (1, classes):
        raise invalid(f"third dimension of boxes must be either 1 or num classes, got {layers} for {classes} classes")
    if not 0 <= iou_threshold <= 1:
        raise invalid("iou_threshold must be in [0, 1]")
    count = min(total, per_class * classes) if pad_per_class else total
    result = (np.zeros((batch, count, 4), f32), np.zeros((batch, count), f32), np.zeros((batch, count), f32),
              np.zeros(batch, np.int32))
    for i in range(batch):
        found = []
        for k in range(classes):
            own = np.ascontiguousarray(boxes[i, :, k if layers > 1 else 0])
            places, kept = select(by_boxes(own), scores[i, :, k], per_class, iou_threshold, score_threshold)
            found.extend((score, k, own[place]) for place, score in zip(places, kept))
        found.sort(key=lambda item: -item[0])
        found = found[:count]
        result[3][i] = len(found)
        for j, (score, k, box) in enumerate(found):
            result[0][i, j] = np.clip(box, 0, 1) if clip_boxes else box
            result[1][i, j], result[2][i, j] = score, k
    return result


def combined_non_max_suppression(boxes: Any, scores: Any, max_output_size_per_class: Any, max_total_size: Any,
                                 iou_threshold: Any = 0.5, score_threshold: Any = float("-inf"),
                                 pad_per_class: bool = False, clip_boxes: bool = True, name: str | None = None) -> Any:
    """(boxes, scores, classes, counts): non-maximum suppression of each class of each image of a batch.

    `boxes` [batch, boxes, 1 or classes, 4], `scores` [batch, boxes, classes]; what is missing to `max_total_size` is 0.
    """
    with name_scope(name, "combined_non_max_suppression"):
        return _combined_non_max_suppression(
            boxes, scores, max_output_size_per_class, max_total_size,
            convert_to_tensor(iou_threshold, dtypes.float32, "iou_threshold"),
            convert_to_tensor(score_threshold, dtypes.float32, "score_threshold"), pad_per_class=pad_per_class,
            clip_boxes=clip_boxes)
