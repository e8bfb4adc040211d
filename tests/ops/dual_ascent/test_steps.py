"""Steps of dual coordinate ascent beside TensorFlow 1.15, bit for bit where the order of examples does not matter."""
import json
from pathlib import Path

import numpy as np
import pytest

from jitgraph.ops.dual_ascent import ascent_loops

from . import steps

RECORDED = json.loads((Path(__file__).parent / "data" / "tf115_steps.json").read_text())


def test_steps_and_fingerprints_are_tensorflows(tf):
    found = steps.outcome(tf)
    assert found["fingerprints"] == RECORDED["fingerprints"]
    for name, wanted in RECORDED.items():
        for mine, theirs in zip(found[name], wanted, strict=True):
            np.testing.assert_array_equal(np.float64(mine), theirs, err_msg=name)


def test_python_runs_the_same_loop_where_nothing_is_compiled(tf, monkeypatch):
    monkeypatch.setattr(ascent_loops.HostCode, "__call__", lambda *args, **named: None)
    found = steps.outcome(tf)
    for name, wanted in RECORDED.items():
        for mine, theirs in zip(found[name], wanted, strict=True):
            np.testing.assert_array_equal(np.float64(mine), theirs, err_msg=name)


def _trained(tf, adaptive, runs=30):
    """States and weights after some steps over 40 examples of a linear function of two features."""
    rng = np.random.RandomState(0)
    features = rng.randn(40, 2).astype("f")
    labels = features @ np.array([2, -1], "f")
    state, weights = tf.placeholder(tf.float32, [40, 4]), tf.placeholder(tf.float32, [2])
    made = tf.train.sdca_optimizer([], [], [], [features], np.ones(40, "f"), labels, [], [], [weights], state,
                                   loss_type="squared_loss", l1=0.0, l2=0.01, num_loss_partitions=1, num_inner_iterations=1,
                                   adaptative=adaptive)
    found = [np.zeros((40, 4), "f"), np.zeros(2, "f")]
    with tf.Session() as session:
        for _ in range(runs):
            states, _, (change,) = session.run(made, {state: found[0], weights: found[1]})
            found = [states, found[1] + change]
    return found


@pytest.mark.parametrize("adaptive", [False, True])
def test_steps_find_the_least_squares_and_are_the_same_in_each_session(tf, adaptive):
    states, weights = _trained(tf, adaptive)
    np.testing.assert_allclose(weights, [2, -1], atol=2e-3)
    again = _trained(tf, adaptive)
    np.testing.assert_array_equal(states, again[0])
    np.testing.assert_array_equal(weights, again[1])


@pytest.mark.parametrize("changed, message", [
    (dict(example_labels=[0.5]), r"Only labels of 0.0 or 1.0 are supported right now. Found example with label: 0.5"),
    (dict(sparse_feature_indices=[[7, 2, 4]]), "Found sparse feature indices out of valid range: 4"),
    (dict(sparse_feature_indices=[[7, 2, 7]]), "Duplicate index in sparse vector."),
    (dict(dense_weights=[np.ones(0, "f"), np.ones(2, "f")]), "More dense features than we have parameters for: 1"),
    (dict(example_state_data=np.zeros((1, 3), "f")), r"Expected shape \[1,4\] for example_state_data, got \[1,3\]"),
    (dict(sparse_example_indices=[], sparse_feature_indices=[], sparse_indices=[], sparse_weights=[], dense_features=[],
          dense_weights=[]), "Requires at least one feature to train."),
])
def test_what_does_not_fit_is_refused_as_by_tensorflow(tf, changed, message):
    made = tf.raw_ops.SdcaOptimizerV2(**{**steps.step("logistic_loss", 0), **changed})
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(made)


def test_examples_out_of_order_have_no_sparse_features(tf):
    given = {**steps.step("squared_loss", 0), "sparse_example_indices": [[1, 0, 0]]}
    made = tf.raw_ops.SdcaOptimizerV2(**given)
    with tf.Session() as session:
        assert not session.run(made[1])[0].any()


def test_shapes_are_those_of_the_weights(tf):
    made = tf.raw_ops.SdcaOptimizerV2(**steps.step("squared_loss", 2))
    assert [t.shape.as_list() for t in (made[0], *made[1], *made[2])] == [[None, 4], [4], [7], [2]]
    assert tf.train.sdca_fprint(["a", "b"]).shape.as_list() == [2, 2]
