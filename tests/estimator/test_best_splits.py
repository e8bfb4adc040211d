"""The best splits of nodes by sums of gradients and hessians, and ensembles that take them: TensorFlow 1.15.5 gives these."""
import re

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


LEFT, RIGHT = b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT"
FIRST = {"feature_ids": [0, 1], "dimension_ids": [[0], [0]], "node_ids": [[0], [0]], "gains": [[.5], [.7]],
         "thresholds": [[1], [2]],
         "left_node_contribs": [[[.1]], [[.2]]], "right_node_contribs": [[[.3]], [[.4]]],
         "split_types": [[LEFT], [b"EQUALITY_DEFAULT_RIGHT"]], "max_depth": 2, "learning_rate": .5}
SECOND = {"feature_ids": [1, 0], "dimension_ids": [[0, 0], [0]], "node_ids": [[1, 2], [1]], "gains": [[.5, -.1], [.5]],
          "thresholds": [[1, 3], [2]], "left_node_contribs": [[[.1], [.5]], [[.2]]], "right_node_contribs": [[[.3], [.6]], [[.4]]],
          "split_types": [[RIGHT, b"EQUALITY_DEFAULT_LEFT"], [LEFT]], "max_depth": 2, "learning_rate": .5}


def _handle(tf):
    return tf.raw_ops.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="e")


def _grown(tf, *layers):
    """What the states and the predictions of an ensemble are after each layer, for examples in buckets 0 to 4 of both features."""
    raw, handle = tf.raw_ops, _handle(tf)
    found = []
    with tf.Session() as session:
        session.run(raw.BoostedTreesCreateEnsemble(tree_ensemble_handle=handle, stamp_token=0, tree_ensemble_serialized=""))
        for layer in layers:
            session.run(raw.BoostedTreesUpdateEnsembleV2(tree_ensemble_handle=handle, **layer))
            states = session.run(list(raw.BoostedTreesGetEnsembleStates(tree_ensemble_handle=handle)))
            logits = session.run(raw.BoostedTreesPredict(tree_ensemble_handle=handle, bucketized_features=[range(5)] * 2,
                                                         logits_dimension=1))
            found.append(([part.tolist() for part in states], np.round(logits.ravel(), 6).tolist()))
    return found


@pytest.mark.parametrize(("pruning_mode", "wanted"), [
    (0, [([1, 1, 0, 1, [1, 3]], [.2, .2, .1, .2, .2]), ([2, 2, 1, 2, [0, 1]], [.45, .45, .2, .45, .5])]),
    (1, [([1, 1, 0, 1, [1, 3]], [.2, .2, .1, .2, .2]), ([2, 2, 1, 2, [0, 1]], [.2, .2, .2, .2, .2])])])
def test_layers_of_splits_of_all_types(tf, pruning_mode, wanted):
    found = _grown(tf, *({**layer, "pruning_mode": pruning_mode} for layer in (FIRST, SECOND)))
    for (states, logits), (their_states, their_logits) in zip(found, wanted):
        assert states == their_states
        np.testing.assert_allclose(logits, their_logits, atol=1e-6)


@pytest.mark.parametrize("kind", [b"EQUALITY_DEFAULT_LEFT", b"equality_default_right", b"INEQUALITY", b"other"])
def test_only_one_type_of_split_is_of_equality(tf, kind):
    (_, logits), = _grown(tf, {**FIRST, "split_types": [[LEFT], [kind]], "pruning_mode": 0})
    np.testing.assert_allclose(logits, [.1, .1, .1, .2, .2], atol=1e-6)


@pytest.mark.parametrize(("given", "message"), [
    ({"feature_ids": [0]}, "Dimension 0 in both shapes must be equal, but are 1 and 2. Shapes are [1] and [2]."),
    ({"feature_ids": 0}, "Shape must be rank 1 but is rank 0"),
    ({"dimension_ids": [0, [0]]}, "Shape must be rank 1 but is rank 0"),
    ({"gains": [[.5, 1.], [.7]]}, "Dimension 0 in both shapes must be equal, but are 2 and 1. Shapes are [2] and [1]."),
    ({"thresholds": [[[1]], [2]]}, "Shape must be rank 1 but is rank 2"),
    ({"right_node_contribs": [[[.1, .2]], [[.2]]]},
     "Dimension 1 in both shapes must be equal, but are 2 and 1. Shapes are [1,2] and [1,1]."),
    ({"split_types": [[LEFT] * 2, [LEFT]]}, "Dimension 0 in both shapes must be equal, but are 2 and 1. Shapes are [2] and [1].")])
def test_shapes_of_candidates(tf, given, message):
    of_both = not {"dimension_ids", "split_types"} & given.keys()
    for version in ("V2", "")[:1 + of_both]:
        layer = {**FIRST, **given, "pruning_mode": 0}
        if not version:
            del layer["dimension_ids"], layer["split_types"]
        with pytest.raises(ValueError, match=re.escape(message)):
            getattr(tf.raw_ops, f"BoostedTreesUpdateEnsemble{version}")(tree_ensemble_handle=_handle(tf), **layer)
    _grown(tf, {**FIRST, "dimension_ids": [[0, 1], [0]], "pruning_mode": 0})
