"""What running an Estimator says: its log lines, and the error for a model without predictions."""
import logging

import pytest


def estimator(tf, folder):
    def model(features, labels, mode):
        loss = tf.square(tf.get_variable("w", [], initializer=tf.ones_initializer()))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.TRAIN, loss=loss, train_op=step)

    return tf.estimator.Estimator(model, folder)


def rows(tf):
    return tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0]}).batch(2)


def test_training_and_evaluating_says_where_it_runs(tf, tmp_path, caplog):
    caplog.set_level(logging.INFO, "tensorflow")
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.estimator.train_and_evaluate(estimator(tf, str(tmp_path)), tf.estimator.TrainSpec(lambda: rows(tf), max_steps=1),
                                    tf.estimator.EvalSpec(lambda: rows(tf), steps=1, throttle_secs=0))
    lines = [record.getMessage() for record in caplog.records]
    assert lines.index("Not using Distribute Coordinator.") < lines.index(
        "Running training and evaluation locally (non-distributed).")


def test_a_model_without_predictions_gives_none(tf, tmp_path):
    model = estimator(tf, str(tmp_path))
    model.train(lambda: rows(tf), steps=1)
    with pytest.raises(TypeError, match="gave no predictions"):
        list(model.predict(lambda: rows(tf)))
