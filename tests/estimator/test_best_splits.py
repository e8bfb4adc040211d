"""The best splits of nodes by sums of gradients and hessians, and ensembles that take them: TensorFlow 1.15.5 gives these."""
import numpy as np
import pytest

LIMITS = {"l1": 0.1, "l2": 0.2, "tree_complexity": 0.3, "min_node_weight": 0.1}
# nodes, gains, dimensions, buckets, values to the left, values to the right, kinds
WANTED = {
    "inequality": [[0, 1, 2], [1.0484684, 11.0972824, 2.0531867], [1, 0, 0], [0, 0, 3], [[-0.1423679], [2.8736370], [0.9228877]],
                   [[-3.0202870], [-1.1380817], [3.6679175]],
                   [b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT", b"INEQUALITY_DEFAULT_RIGHT"]],
    "equality": [[0, 1, 2], [2.4372742, 11.0972824, 0.5267222], [1, 0, 1], [0, 0, 1], [[-0.0266241], [2.8736370], [0.2975486]],
                 [[-1.7816668], [-1.1380817], [1.4457017]], [b"EQUALITY_DEFAULT_RIGHT"] * 3],
}


def _check(found, wanted):
    for mine, theirs in zip(found, wanted):
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6)
        else:
            assert mine.tolist() == theirs


def _stats():
    rng = np.random.RandomState(0)
    one = rng.randn(3, 2, 5, 2).astype("f")
    one[..., 1] = abs(one[..., 1])
    diagonal = rng.randn(2, 1, 4, 4).astype("f")
    diagonal[..., 2:] = abs(diagonal[..., 2:])
    full, h = rng.randn(2, 1, 4, 6).astype("f"), rng.randn(2, 1, 4, 2, 2).astype("f")
    full[..., 2:] = (h @ np.swapaxes(h, -1, -2)).reshape(2, 1, 4, 4)
    return one, diagonal, full


@pytest.mark.parametrize("kind", sorted(WANTED))
def test_one_logit(tf, kind):
    found = tf.raw_ops.BoostedTreesCalculateBestFeatureSplit([0, 3], _stats()[0], **LIMITS, logits_dimension=1, split_type=kind)
    with tf.Session() as session:
        _check(session.run(list(found)), WANTED[kind])


def test_several_logits(tf):
    _, diagonal, full = _stats()
    limits = {**LIMITS, "l1": 0.0}
    one = tf.raw_ops.BoostedTreesCalculateBestFeatureSplit([0, 2], diagonal, **limits, logits_dimension=2)
    other = tf.raw_ops.BoostedTreesCalculateBestFeatureSplit([0, 2], full, **{**limits, "tree_complexity": 0.0}, logits_dimension=2)
    with tf.Session() as session:
        _check(session.run(list(one)), [
            [0, 1], [3.1630833, 14.0122843], [0, 0], [2, 1], [[0.4158220, 0.2817217], [2.2505922, -0.4565490]],
            [[-1.8916188, 1.3955828], [-1.0793980, -4.9901700]], [b"INEQUALITY_DEFAULT_RIGHT", b"INEQUALITY_DEFAULT_LEFT"]])
        _check(session.run(list(other)), [
            [0, 1], [1.3860123, 4.3219957], [0, 0], [0, 2], [[-0.2715940, -1.5778574], [-0.2603575, -0.3151008]],
            [[0.0282067, -0.4394098], [2.8515046, -3.5526857]], [b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT"]])


def test_sums_that_stand_where_they_are_not_zero(tf):
    stats = _stats()[0]
    places = np.argwhere(stats != 0).astype("i")
    found = tf.raw_ops.BoostedTreesSparseCalculateBestFeatureSplit(
        [0, 3], places, stats[tuple(places.T)], list(stats.shape), **LIMITS, logits_dimension=1)
    with tf.Session() as session:
        _check(session.run(list(found)), WANTED["inequality"])
