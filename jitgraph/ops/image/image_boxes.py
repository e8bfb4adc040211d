"""Boxes in images: drawn, sampled, and thinned out by how much they overlap (non-maximum suppression)."""
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
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.shape import plain_sizes
from jitgraph.ops.image.suppression import by_boxes, by_matrix, select_by_queue

f32 = np.float32
_HALF_SINGLE = TypeSet(dtypes.float16, dtypes.float32, default=dtypes.float32)


# -- non-maximum suppression --------------------------------------------------------------------------------------------

def _checked(boxes: np.ndarray, scores: np.ndarray, limit: Any, threshold: Any) -> int:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise invalid(f"boxes must have 4 columns, got shape {list(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise invalid(f"scores has incompatible shape: {list(scores.shape)} for {len(boxes)} boxes")
    if not 0 <= threshold <= 1:
        raise invalid("iou_threshold must be in [0, 1]")
    return max(0, int(limit))


def _suppression_shape(c: Any) -> Any:
    boxes = shape_rules.with_rank(c.shapes[0], 2, "boxes")
    scores = shape_rules.with_rank(c.shapes[1], 1, "scores")
    shape_rules.merge_sizes(boxes[0], scores[0])
    if boxes[1] is not None:
        shape_rules.merge_sizes(boxes[1], 4)
    return (None,)


def _samples(*more: Any) -> Any:
    def samples(rng: Any, dtype: Any) -> list:
        boxes = draw(rng, (6, 4), f32, 0, 1).astype(dtype or f32)
        scores = draw(rng, (6,), f32, 0, 1).astype(dtype or f32)
        return [[boxes, scores, np.int32(3), *(np.asarray(x, dtype or f32) for x in more)]]

    return samples


@op("NonMaxSuppression(boxes: float32, scores: float32, max_output_size: int32; iou_threshold: float = 0.5) -> "
    "selected_indices: int32", shape=_suppression_shape, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    samples=_samples())
def _non_max_suppression_v1(boxes, scores, max_output_size, iou_threshold):
    """The places of boxes, best first, none of which overlaps a better one by more than the threshold."""
    limit = _checked(boxes, scores, max_output_size, iou_threshold)
    return select_by_queue(by_boxes(boxes), scores, limit, iou_threshold, -np.inf)[0]


_THRESHOLDS: dict[str, Any] = {"T": _HALF_SINGLE, "T_threshold": _HALF_SINGLE}


@op("NonMaxSuppressionV2(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold) -> "
    "selected_indices: int32", shape=_suppression_shape, host=True, dynamic=True, grad=NOT_DIFFERENTIABLE,
    samples=_samples(0.5), **_THRESHOLDS)
def _non_max_suppression_v2(boxes, scores, max_output_size, iou_threshold):
    """As NonMaxSuppression."""
    limit = _checked(boxes, scores, max_output_size, iou_threshold)
    return select_by_queue(by_boxes(boxes), scores, limit, iou_threshold, -np.inf)[0]


@op("NonMaxSuppressionV3(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: "
    "T_threshold) -> selected_indices: int32", shape=_suppression_shape, host=True, dynamic=True,
    samples=_samples(0.5, 0.1), **_THRESHOLDS)
def _non_max_suppression_v3(boxes, scores, max_output_size, iou_threshold, score_threshold):
    """As NonMaxSuppression, of the boxes with scores above a threshold."""
    limit = _checked(boxes, scores, max_output_size, iou_threshold)
    return select_by_queue(by_boxes(boxes), scores, limit, iou_threshold, score_threshold)[0]


def _filled(values: np.ndarray, limit: int, fill: bool) -> np.ndarray:
    return np.concatenate([values, np.zeros(limit - len(values), values.dtype)]) if fill else values


def _padded_shape(c: Any, outputs: int) -> list:
    found = _suppression_shape(c)
    size = c.constant(2)
    if c.attrs["pad_to_max_output_size"] and shape_rules.known(size):
        found = (plain_sizes(size)[0],)
    return [*[found] * (outputs - 1), ()]


@op("NonMaxSuppressionV4(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: "
    "T_threshold; pad_to_max_output_size: bool = False) -> selected_indices: int32, valid_outputs: int32", host=True,
    shape=lambda c: _padded_shape(c, 2), dynamic=True, samples=_samples(0.5, 0.1),
    **_THRESHOLDS)
def _non_max_suppression_v4(boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size):
    """As NonMaxSuppressionV3, filled with zeros if asked for, and how many there are."""
    limit = _checked(boxes, scores, max_output_size, iou_threshold)
    chosen, _ = select_by_queue(by_boxes(boxes), scores, limit, iou_threshold, score_threshold)
    return _filled(chosen, limit, pad_to_max_output_size), np.int32(len(chosen))


@op("NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
    "soft_nms_sigma: T; pad_to_max_output_size: bool = False) -> selected_indices: int32, selected_scores: T, "
    "valid_outputs: int32", T=_HALF_SINGLE, shape=lambda c: _padded_shape(c, 3), host=True, dynamic=True,
    samples=_samples(0.5, 0.1, 0.3))
def _non_max_suppression_v5(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma,
                            pad_to_max_output_size):
    """As NonMaxSuppressionV4, with the scores, which decay with the overlap if sigma is positive."""
    limit = _checked(boxes, scores, max_output_size, iou_threshold)
    if soft_nms_sigma < 0:
        raise invalid("soft_nms_sigma must be non-negative")
    chosen, kept = select_by_queue(by_boxes(boxes), scores, limit, iou_threshold, score_threshold, float(soft_nms_sigma))
    fill = pad_to_max_output_size
    return _filled(chosen, limit, fill), _filled(kept.astype(scores.dtype), limit, fill), np.int32(len(chosen))


def _overlap_shape(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[0], 2, "overlaps")
    shape_rules.with_rank(c.shapes[1], 1, "scores")
    return (None,)


@op("NonMaxSuppressionWithOverlaps(overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: "
    "float32, score_threshold: float32) -> selected_indices: int32", shape=_overlap_shape, host=True, dynamic=True,
    grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [[draw(rng, (5, 5), f32, 0, 1), draw(rng, (5,), f32, 0, 1), np.int32(3), f32(0.5), f32(0.1)]])
def _non_max_suppression_with_overlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold):
    """As NonMaxSuppressionV3, with the overlaps given: a square matrix."""
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise invalid(f"overlaps must be square, got shape {list(overlaps.shape)}")
    if scores.shape != overlaps.shape[:1]:
        raise invalid(f"scores has incompatible shape: {list(scores.shape)}")
    return select_by_queue(by_matrix(overlaps), scores, max(0, int(max_output_size)),
                           overlap_threshold, score_threshold)[0]


# -- drawing -----------------------------------------------------------------------------------------------------------

_COLORS = np.array([[1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1], [0.5, 0.5, 0, 1],
                    [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]], f32)


def _drawn(images: np.ndarray, boxes: np.ndarray, colors: np.ndarray | None) -> np.ndarray:
    batch, height, width, depth = images.shape
    if depth not in (1, 3, 4):
        raise invalid(f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got {depth}")
    if boxes.ndim != 3 or boxes.shape[2] != 4 or boxes.shape[0] != batch:
        raise invalid(f"boxes must be [batch, boxes, 4], got shape {list(boxes.shape)} for {batch} images")
    if colors is not None and colors.size:
        if colors.ndim != 2 or colors.shape[1] < depth:
            raise invalid(f"colors must have equal or more channels than the image provided, got shape "
                          f"{list(colors.shape)} for {depth} channels")
        palette = np.asarray(colors, f32)[:, :depth]
    else:
        palette = np.ones((1, 1), f32) if depth == 1 else _COLORS[:, :depth]
    result = images.copy()
    for image, image_boxes in zip(result, np.asarray(boxes, f32)):
        for number, (y1, x1, y2, x2) in enumerate(image_boxes):
            color = palette[number % len(palette)].astype(images.dtype)
            top, left, bottom, right = (int(v) for v in (y1 * f32(height - 1), x1 * f32(width - 1), y2 * f32(height - 1),
                                                         x2 * f32(width - 1)))
            _draw_box(image, top, left, bottom, right, color)
    return result


def _draw_box(image: np.ndarray, top: int, left: int, bottom: int, right: int, color: np.ndarray) -> None:
    """The four edges of a box, as far as they are inside the image."""
    height, width, _ = image.shape
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    if top >= 0:
        image[top, columns] = color
    if bottom < height:
        image[bottom, columns] = color
    if left >= 0:
        image[rows, left] = color
    if right < width:
        image[rows, right] = color


def _drawing_shape(c: Any) -> Any:
    shape_rules.with_rank(c.shapes[1], 3, "boxes")
    images = shape_rules.with_rank(c.shapes[0], 4, "images")
    if images is not None and images[3] is not None and images[3] not in (1, 3, 4):
        raise ValueError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    return images


def _drawing_samples(rng, dtype):
    boxes = np.array([[[0.1, 0.2, 0.7, 0.9], [-0.5, 0.3, 0.5, 1.5]]], f32)
    return [[draw(rng, (1, 6, 7, depth), dtype, 0, 1), boxes] for depth in (1, 3, 4)]


@op("DrawBoundingBoxes(images: T, boxes: float32) -> output: T", T=_HALF_SINGLE, shape=_drawing_shape, host=True,
    grad=NOT_DIFFERENTIABLE, samples=_drawing_samples)
def _draw_bounding_boxes(images, boxes):
    """The images with the outlines of boxes (y1, x1, y2, x2 in units of the image), ten colors in turn."""
    return _drawn(images, boxes, None)


@op("DrawBoundingBoxesV2(images: T, boxes: float32, colors: float32) -> output: T", T=_HALF_SINGLE, host=True,
    shape=_drawing_shape,
    samples=lambda rng, dtype: [[*sample, draw(rng, (2, 4), f32, 0, 1)] for sample in _drawing_samples(rng, dtype)])
def _draw_bounding_boxes_v2(images, boxes, colors):
    """The images with the outlines of boxes in the given colors in turn."""
    return _drawn(images, boxes, colors)


# -- public functions --------------------------------------------------------------------------------------------------

def _number(value: Any, name: str) -> Tensor:
    return convert_to_tensor(value, name=name)


def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                        score_threshold: Any = float("-inf"), name: str | None = None) -> Tensor:
    """The places (int32 [n], best first) of at most `max_output_size` boxes that do not overlap a better one.

    `boxes` [boxes, 4] holds two opposite corners (y1, x1, y2, x2).  Two boxes overlap if their intersection is more than
    `iou_threshold` of their union; scores up to `score_threshold` do not count.
    """
    with name_scope(name, "non_max_suppression"):
        return _non_max_suppression_v3(boxes, scores, max_output_size, _number(iou_threshold, "iou_threshold"),
                                       _number(score_threshold, "score_threshold"))


def non_max_suppression_with_scores(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                                    score_threshold: Any = float("-inf"), soft_nms_sigma: Any = 0.0,
                                    name: str | None = None) -> tuple[Tensor, Tensor]:
    """(places, scores) as of ``non_max_suppression``; with `soft_nms_sigma` > 0 scores decay with the overlap."""
    with name_scope(name, "non_max_suppression_with_scores"):
        found = _non_max_suppression_v5(
            boxes, scores, max_output_size, _number(iou_threshold, "iou_threshold"),
            _number(score_threshold, "score_threshold"), _number(soft_nms_sigma, "soft_nms_sigma"))
        return found[0], found[1]


def non_max_suppression_padded(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any = 0.5,
                               score_threshold: Any = float("-inf"), pad_to_max_output_size: bool = False,
                               name: str | None = None) -> Any:
    """(places, count) as of ``non_max_suppression``, the places filled with zeros up to `max_output_size`."""
    with name_scope(name, "non_max_suppression_padded"):
        return _non_max_suppression_v4(boxes, scores, max_output_size, _number(iou_threshold, "iou_threshold"),
                                       _number(score_threshold, "score_threshold"),
                                       pad_to_max_output_size=pad_to_max_output_size)


def non_max_suppression_overlaps(overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any = 0.5,
                                 score_threshold: Any = float("-inf"), name: str | None = None) -> Tensor:
    """As ``non_max_suppression``, with the overlaps of boxes given as a matrix [boxes, boxes]."""
    with name_scope(name, "non_max_suppression_overlaps"):
        return _non_max_suppression_with_overlaps(overlaps, scores, max_output_size,
                                                  _number(overlap_threshold, "overlap_threshold"), score_threshold)


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Tensor:
    """Images [batch, height, width, 1, 3 or 4] with the outlines of `boxes` [batch, boxes, 4] (y1, x1, y2, x2)."""
    if colors is None:
        return _draw_bounding_boxes(images, boxes, name=name)
    return _draw_bounding_boxes_v2(images, boxes, colors, name=name)
