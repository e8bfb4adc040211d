"""Non-maximum suppression beside its definition, one box at a time."""
import numpy as np
import pytest

from jitgraph.ops.image import suppression
from jitgraph.ops.image.suppression import BLOCK, by_boxes, by_matrix, select


def overlap(a, b):
    sides = [max(np.float32(0), min(a[k + 2], b[k + 2]) - max(a[k], b[k])) for k in range(2)]
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return sides[0] * sides[1] / (areas[0] + areas[1] - sides[0] * sides[1])


def defined(overlaps, scores, limit, threshold, least):
    kept = []
    for place in sorted(range(len(scores)), key=lambda k: (-scores[k], k)):
        if len(kept) < limit and scores[place] > least and not any(overlaps[place][other] > threshold for other in kept):
            kept.append(place)
    return kept


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limit", [0, 1, 10, 100, 2000])
@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_the_same_boxes_as_by_definition(count, limit):
    """Scores of few values: of equal ones the first is the better one, also where sorting stops at that value."""
    random = np.random.RandomState(count + limit)
    corners, sizes = random.random_sample((2, count, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + sizes / 3], 1)
    scores = random.randint(0, 20, count).astype(np.float32) / 20
    overlaps = np.array([[overlap(a, b) for b in boxes] for a in boxes], np.float32).reshape(count, count)
    for threshold, least in ((0.3, 0.25), (0.05, -np.inf)):
        places, kept = select(by_boxes(boxes), scores, limit, threshold, least)
        assert places.tolist() == defined(overlaps, scores, limit, np.float32(threshold), least)
        assert kept.tolist() == scores[places].tolist()
        assert select(by_matrix(overlaps), scores, limit, threshold, least)[0].tolist() == places.tolist()


def test_corners_in_any_order_and_boxes_without_area():
    boxes = np.float32([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 0.1], [0.5, 0.5, 0.5, 0.5]])
    places = np.arange(4)
    found = by_boxes(boxes)(places, places)
    np.testing.assert_allclose(found, [[1, 1, 0.9, 0], [1, 1, 0.9, 0], [0.9, 0.9, 1, 0], [0, 0, 0, 0]], rtol=1e-6)


def test_the_compiled_loop_keeps_what_numpy_keeps(tf, monkeypatch):
    """Also of equal scores, boxes without an area, and boxes that are no numbers."""
    rng = np.random.RandomState(5)
    with tf.Session() as session:
        session.run(tf.constant(1.0) + 1.0)         # from now on loops are compiled
    cases = []
    for case in range(60):
        boxes = rng.rand(rng.randint(0, 300), 4).astype(np.float32)
        boxes = np.round(boxes * 4) / 4 if case % 3 == 0 else boxes
        boxes[:1] = np.nan if case % 7 == 0 else boxes[:1]
        scores = np.round(rng.rand(len(boxes)).astype(np.float32) * 8) / 8
        cases.append((boxes, scores, rng.randint(0, 60), rng.choice([0, 0.1, 0.5, 1]), -np.inf if case % 5 else 0.3))
    found = [suppression.select(suppression.by_boxes(boxes), *rest) for boxes, *rest in cases]
    assert suppression._KEEP._function is not None, "the loop was not compiled"
    monkeypatch.setattr(suppression, "_KEEP", lambda *given, **more: None)
    for (places, scores), (boxes, *rest) in zip(found, cases):
        wanted = suppression.select(suppression.by_boxes(boxes), *rest)
        np.testing.assert_array_equal(places, wanted[0])
        np.testing.assert_array_equal(scores, wanted[1])
