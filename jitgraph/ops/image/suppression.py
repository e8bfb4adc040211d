"""Non-maximum suppression: which boxes are kept of those that overlap."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from textwrap import indent
from typing import Any

import numpy as np

from jitgraph.declare.host_code import HostCode

f32 = np.float32
BLOCK = 128         # boxes that are compared with each other at once


# What the loops below have in common, by the words that stand for it: whether the box `best` overlaps a kept one (j >= 0), and
# an item of the heap that rises from a hole
_PIECES = {"COMPARED": """
at = best * 5
top, left, bottom, right, area = x0[at], x0[at + 1], x0[at + 2], x0[at + 3], x0[at + 4]
j = count - 1
while j >= 0:
    other = y0[j] * 5
    rows = maximum(minimum(bottom, x0[other + 2]) - maximum(top, x0[other]), f32(0))
    common = rows * maximum(minimum(right, x0[other + 3]) - maximum(left, x0[other + 1]), f32(0))
    if (area > f32(0)) & (x0[other + 4] > f32(0)) & (common / (x0[other + 4] + area - common) > threshold):
        break
    j -= 1
""", "RAISED": """
score = x1[item]
while hole > 0:
    above = (hole - 1) // 2
    if x1[y1[above]] < score:
        y1[hole] = y1[above]
        hole = above
    else:
        break
y1[hole] = item
"""}


def _spelled(text: str) -> str:
    """The text with the pieces in place of their words."""
    return re.sub(r"^( *)(COMPARED|RAISED)$", lambda found: indent(_PIECES[found[2]].strip(), found[1]), text, flags=re.M)


# x0 boxes: low row and column, high row and column, area; x1 places, best first; x2 the threshold; y0 the places that are kept, of
# which there are sizes[0] so far and are to be sizes[1] at most; gives how many there are
_KEEP = HostCode("kept_boxes", ("f32", "i64", "f32", "i64"), _spelled("""def kept_boxes(x0, x1, x2, y0, sizes, begin, end):
    count, limit, threshold = sizes[0], sizes[1], x2[0]
    for i in range(begin, end):
        if count < limit:
            best = x1[i]
            COMPARED
            if j < 0:
                y0[count] = best
                count += 1
    return count
"""))


# The same for boxes that overlap themselves and may have equal scores: x1 the scores, x3 the places of those that count, which
# come in the order of `_Heap`; y1 the heap; y2 whether each box is kept: it comes once more then
_KEEP_TIED = HostCode("kept_tied_boxes", ("f32", "f32", "f32", "i64", "i64", "i64", "i64"), _spelled("""\
def kept_tied_boxes(x0, x1, x2, x3, y0, y1, y2, sizes, begin, end):
    count, limit, threshold = 0, sizes[0], x2[0]
    for k in range(begin, end):
        item, hole = x3[k], k
        RAISED
    held = end
    while (held > 0) & (count < limit):
        best = y1[0]
        held -= 1
        if held > 0:
            item, hole, child = y1[held], 0, 2
            while child < held:
                if x1[y1[child]] < x1[y1[child - 1]]:
                    child -= 1
                y1[hole] = y1[child]
                hole = child
                child = 2 * hole + 2
            if child == held:
                y1[hole] = y1[held - 1]
                hole = held - 1
            RAISED
        if y2[best] == 0:
            COMPARED
            if j < 0:
                y0[count] = best
                count += 1
                y2[best] = 1
                item, hole = best, held
                held += 1
                RAISED
    return count
"""))


class _ByBoxes:
    """(places [n], others [m]) -> how much of their union the intersection of boxes is: float32 [n, m]."""

    def __init__(self, boxes: np.ndarray):
        boxes = np.asarray(boxes, f32)
        self.low, self.high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
        self.areas = (self.high[:, 0] - self.low[:, 0]) * (self.high[:, 1] - self.low[:, 1])

    def _side(self, k: int, places: np.ndarray, others: np.ndarray) -> np.ndarray:
        first, last = self.low[:, k], self.high[:, k]
        reach = np.minimum(last[places, None], last[others]) - np.maximum(first[places, None], first[others])
        return np.maximum(reach, f32(0))

    def __call__(self, places: np.ndarray, others: np.ndarray) -> np.ndarray:
        common = self._side(0, places, others)
        common *= self._side(1, places, others)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = common / (self.areas[others] + self.areas[places, None] - common)
        found[self.areas[places] <= 0] = 0
        found[:, self.areas[others] <= 0] = 0
        return found

    def _facts(self) -> np.ndarray:
        return np.concatenate([self.low, self.high, self.areas[:, None]], 1)

    def kept_tied(self, scores: np.ndarray, limit: int, threshold: np.float32, least: np.float32) -> np.ndarray | None:
        """What `select_by_queue` keeps of boxes that overlap themselves, by a loop; None where that is not compiled."""
        places = np.flatnonzero(scores > least)
        found = np.empty(min(limit, len(places)), np.int64)
        count = _KEEP_TIED(self._facts(), scores, np.array([threshold], f32), places, found, np.empty_like(places),
                      np.zeros(len(scores), np.int64), sizes=(len(found),), end=len(places))
        return None if count is None else found[:count]

    def overlap_themselves(self) -> bool:
        return bool(np.all((self.areas > 0) & np.isfinite(self.areas)))

    def kept(self, blocks: Iterator[np.ndarray], limit: int, threshold: np.float32) -> np.ndarray | None:
        """What `select` keeps, by a loop; None where that is not compiled."""
        facts = self._facts()
        found, count = np.empty(min(limit, len(facts)), np.int64), 0
        for places in blocks:
            if count >= limit:
                break
            now = _KEEP(facts, places, np.array([threshold], f32), found, sizes=(count, limit), end=len(places))
            if now is None:
                return None
            count = now
        return found[:count]


def by_boxes(boxes: np.ndarray) -> _ByBoxes:
    """(places [n], others [m]) -> how much of their union the intersection of boxes is: float32 [n, m]."""
    return _ByBoxes(boxes)


def by_matrix(overlaps: np.ndarray) -> Callable:
    """As ``by_boxes``, with the overlaps given."""
    return lambda places, others: overlaps[np.ix_(places, others)]


def select(similarity: Callable, scores: np.ndarray, limit: int, threshold: Any, least: Any) -> tuple:
    """Places (int32) and scores (float32) of at most `limit` boxes with a score above `least`, best first.

    A box is dropped if it overlaps a better one that is kept by more than `threshold`; of equal scores the first is the better
    one.
    """
    scores, threshold = np.asarray(scores, f32), f32(threshold)
    found = similarity.kept(_best_first(scores, f32(least), limit), limit, threshold) if isinstance(similarity, _ByBoxes) else None
    if found is not None:
        return found.astype(np.int32), scores[found]
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


def select_by_queue(similarity: Callable, scores: np.ndarray, limit: int, threshold: Any, least: Any, sigma: float = 0.0) -> tuple:
    """As ``select``, to the letter of TensorFlow's NonMaxSuppression.

    A box is dropped if it overlaps one that is kept by `threshold` or more, boxes of equal scores come as a heap gives them, and
    one that does not overlap itself is kept again and again.  With `sigma` > 0 the score of the others decays with the overlap
    instead (Bodla et al., 2017).
    """
    scores = np.asarray(scores, f32)
    threshold, least, spread = f32(threshold), f32(least), f32(sigma)
    if spread == 0 and isinstance(similarity, _ByBoxes) and similarity.overlap_themselves():
        below = np.nextafter(threshold, f32(-np.inf))       # to overlap by `threshold` or more is to do so by more than this
        places = similarity.kept_tied(np.ascontiguousarray(scores), limit, below, least)
        if places is not None:
            return places.astype(np.int32), scores[places]
        found = select(similarity, scores, limit, below, least)
        if _are_in_one_order(scores, found[1], limit, least):
            return found
    queue = _Heap()
    for place in np.flatnonzero(scores > least).tolist():
        queue.push((scores[place], place, 0))
    chosen: list[int] = []
    kept: list[np.float32] = []
    while len(queue) and len(chosen) < limit:
        before, place, begin = queue.pop()
        overlaps = similarity(np.array([place]), np.array(chosen[begin:], np.int64))[0][::-1]
        score, dropped = _decayed(before, overlaps, threshold, least, spread)
        again = (score, place, len(chosen))
        if not dropped and score == before:
            chosen.append(place)
            kept.append(score)
        if not dropped and score > least:
            queue.push(again)           # one that is kept, too: it is next, and dropped as it overlaps itself
    return np.array(chosen, np.int32), np.array(kept, f32)


def _are_in_one_order(scores: np.ndarray, kept: np.ndarray, limit: int, least: np.float32) -> bool:
    """Whether no two boxes have the same score, of those that were looked at until there were `limit` of these `kept` scores."""
    seen = scores[scores > least] if len(kept) < limit else scores[scores >= kept[-1:]] if limit else kept
    return len(np.unique(seen)) == len(seen)


def _decayed(score: np.float32, overlaps: np.ndarray, threshold: np.float32, least: np.float32, sigma: np.float32) -> tuple:
    """The score of a box after its overlaps with those that are kept, and whether one of them drops it."""
    if sigma == 0 and not np.isnan(overlaps).any():
        return score, bool((overlaps >= threshold).any())
    scale = f32(-0.5) / sigma if sigma > 0 else f32(0)
    weights = np.where(overlaps <= threshold, np.exp(scale * overlaps * overlaps), f32(0))
    for overlap, weight in zip(overlaps, weights):
        score = score * weight
        if overlap >= threshold:
            return score, True
        if score <= least:
            break
    return score, False


class _Heap:
    """Tuples, the one with the largest first part on top; of equal ones, that which ``std::priority_queue`` of libstdc++ gives."""

    def __init__(self) -> None:
        self.items: list[tuple] = []

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: tuple) -> None:
        self.items.append(item)
        self._raise(len(self.items) - 1, item)

    def pop(self) -> tuple:
        items = self.items
        item = items.pop()
        if not items:
            return item
        top, hole, count = items[0], 0, len(items)
        while 2 * hole + 2 < count:     # down to a leaf by the larger child, the second of equal ones, then up again
            child = 2 * hole + 2
            if items[child][0] < items[child - 1][0]:
                child -= 1
            items[hole], hole = items[child], child
        if 2 * hole + 2 == count:
            items[hole], hole = items[count - 1], count - 1
        self._raise(hole, item)
        return top

    def _raise(self, hole: int, item: tuple) -> None:
        items = self.items
        while hole > 0 and items[(hole - 1) // 2][0] < item[0]:
            items[hole], hole = items[(hole - 1) // 2], (hole - 1) // 2
        items[hole] = item
