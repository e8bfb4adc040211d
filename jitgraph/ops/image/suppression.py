"""Non-maximum suppression: which boxes are kept of those that overlap."""
from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

f32 = np.float32
BLOCK = 128         # boxes that are compared with each other at once


def by_boxes(boxes: np.ndarray) -> Callable:
    """(places [n], others [m]) -> how much of their union the intersection of boxes is: float32 [n, m]."""
    boxes = np.asarray(boxes, f32)
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    areas = (high[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])
    rows, columns = ((low[:, k], high[:, k]) for k in range(2))

    def side(ends: tuple, places: np.ndarray, others: np.ndarray) -> np.ndarray:
        first, last = ends
        reach = np.minimum(last[places, None], last[others]) - np.maximum(first[places, None], first[others])
        return np.maximum(reach, f32(0))

    def similarity(places: np.ndarray, others: np.ndarray) -> np.ndarray:
        common = side(rows, places, others)
        common *= side(columns, places, others)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = common / (areas[others] + areas[places, None] - common)
        found[areas[places] <= 0] = 0
        found[:, areas[others] <= 0] = 0
        return found

    return similarity


def by_matrix(overlaps: np.ndarray) -> Callable:
    """As ``by_boxes``, with the overlaps given."""
    return lambda places, others: overlaps[np.ix_(places, others)]


def select(similarity: Callable, scores: np.ndarray, limit: int, threshold: Any, least: Any, sigma: float = 0.0) -> tuple:
    """Places (int32) and scores (float32) of at most `limit` boxes with a score above `least`, best first.

    A box is dropped if it overlaps a better one that is kept by more than `threshold`; of equal scores the first is the better
    one.  With `sigma` > 0 the score of the others decays with the overlap instead (Bodla et al., 2017).
    """
    scores, threshold = np.asarray(scores, f32), f32(threshold)
    if sigma > 0:
        return _select_decaying(similarity, scores, limit, threshold, f32(least), f32(sigma))
    kept = np.zeros(0, np.int64)
    for places in _best_first(scores, f32(least), limit):
        if len(kept) >= limit:
            break
        places = places[~(similarity(places, kept) > threshold).any(1)]
        drops = (similarity(places, places) > threshold).T       # row: a box, column: those that it would drop
        dropped, chosen = np.zeros(len(places), bool), []
        for k in range(len(places)):
            if not dropped[k]:
                chosen.append(places[k])
                dropped |= drops[k]
        kept = np.concatenate([kept, np.array(chosen, np.int64)])
    kept = kept[:limit]
    return kept.astype(np.int32), scores[kept]


def _best_first(scores: np.ndarray, least: np.float32, limit: int) -> Iterator[np.ndarray]:
    """The places of scores above `least`, best first, a block at a time.  Seldom more are asked for than twice the `limit`:
    only so many are sorted at first."""
    places, count = np.flatnonzero(scores > least), max(2 * limit, BLOCK)
    while len(places):
        found = scores[places]
        best = np.ones(len(places), bool)
        if count < len(places):
            best = found >= np.partition(found, -count)[-count]
        order = places[best][np.argsort(-found[best], kind="stable")]
        yield from (order[k:k + BLOCK] for k in range(0, len(order), BLOCK))
        places, count = places[~best], 4 * count


def _select_decaying(similarity: Callable, scores: np.ndarray, limit: int, threshold: np.float32, least: np.float32,
                     sigma: np.float32) -> tuple:
    queue = [(-float(score), place, 0) for place, score in enumerate(scores) if score > least]
    heapq.heapify(queue)
    chosen: list[int] = []
    kept: list[np.float32] = []
    while queue and len(chosen) < limit:
        negative, place, begin = heapq.heappop(queue)
        before = score = f32(-negative)
        overlaps = similarity(np.array([place]), np.array(chosen[begin:], np.int64))[0]
        for overlap in overlaps[::-1]:
            score = score * (f32(np.exp(f32(-0.5) / sigma * overlap * overlap)) if overlap <= threshold else f32(0))
            if score <= least:
                break
        if score == before:
            chosen.append(place)
            kept.append(score)
        elif score > least:
            heapq.heappush(queue, (-float(score), place, len(chosen)))
    return np.array(chosen, np.int32), np.array(kept, f32)
