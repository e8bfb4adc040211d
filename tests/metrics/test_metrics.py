"""How metrics are kept from run to run, and what their errors say."""
import importlib

import numpy as np
import pytest


def test_values_add_up_until_the_local_variables_begin_anew(tf):
    x, w = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    value, update = tf.metrics.mean(x, w)
    reset = tf.variables_initializer(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES))
    with tf.Session() as session:
        session.run(reset)
        assert session.run(value) == 0
        assert session.run(update, {x: [1, 3], w: [1, 1]}) == 2
        assert session.run(update, {x: [8, 100], w: [2, 0]}) == 5
        assert session.run(value) == 5
        session.run(reset)
        assert session.run(value) == 0
    assert not tf.global_variables() and not tf.trainable_variables()


def test_metrics_of_one_name_are_kept_apart(tf):
    for _ in range(2):
        tf.metrics.accuracy([1, 2], [1, 3])
    assert [v.op.name for v in tf.local_variables()] == ["accuracy/total", "accuracy/count", "accuracy_1/total", "accuracy_1/count"]


def test_the_metrics_of_an_evaluation_run_in_one_step(tf):
    labels, logits = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, 2])
    probability = tf.nn.softmax(logits)[:, 1]
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1)), "auc": tf.metrics.auc(labels, probability),
               "recall": tf.metrics.recall(labels, tf.argmax(logits, 1))}
    rng = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for _ in range(5):
            truth = rng.randint(0, 2, 20)
            scores = np.stack([-3.0 * truth, 3.0 * truth], 1) + [0, -1.5]
            session.run({name: update for name, (_, update) in metrics.items()}, {labels: truth, logits: scores})
        found = session.run({name: value for name, (value, _) in metrics.items()})
    assert found["accuracy"] == 1 and found["recall"] == 1 and found["auc"] == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("build, text", [
    (lambda tf: tf.metrics.accuracy([1, 2, 3], [1, 2]), "(3,).*(2,)|(2,).*(3,)"),
    (lambda tf: tf.metrics.mean([1.0, 2.0], [1.0, 2.0, 3.0]), "weights can not be broadcast to values"),
    (lambda tf: tf.metrics.auc([1], tf.constant([0.5]), curve="roc"), "ROC or PR, roc unknown"),
    (lambda tf: tf.metrics.recall_at_k(np.zeros([2, 3, 1], np.int64), tf.ones([2, 4]), 1), "Unexpected labels shape"),
    (lambda tf: tf.metrics.specificity_at_sensitivity([1], tf.constant([0.5]), -1), "range")])
def test_errors_say_what_does_not_fit(tf, build, text):
    with pytest.raises(ValueError, match=text):
        build(tf)


def test_probabilities_out_of_range_fail_in_the_run(tf):
    p = tf.placeholder(tf.float32, [None])
    _, update = tf.metrics.precision_at_thresholds([1, 0], p, [0.5])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
            session.run(update, {p: [0.5, 1.5]})


def test_the_inner_modules_of_tensorflow_hold_them(tf):
    importlib.import_module("jitgraph.compat").install()
    module = importlib.import_module("tensorflow.python.ops.metrics_impl")
    assert module.mean is tf.metrics.mean and callable(module.metric_variable)
