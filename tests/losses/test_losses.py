"""What errors of losses say, and where TensorFlow's inner modules hold what they stand on."""
import importlib

import numpy as np
import pytest


@pytest.mark.parametrize("build, text", [
    (lambda tf: tf.losses.mean_squared_error(np.ones([4, 3]), np.ones([4, 3]), np.ones(4)), "values.rank=2. weights.rank=1"),
    (lambda tf: tf.losses.mean_squared_error(np.ones([4, 3]), np.ones([4, 3]), np.ones([2, 1])), r"Mismatch at dim 0.*\[4, 3\]"),
    (lambda tf: tf.losses.absolute_difference(np.ones(3), np.ones(3), reduction="mean"), "Invalid Reduction Key mean"),
    (lambda tf: tf.losses.hinge_loss(np.ones(3), None), "logits must not be None"),
    (lambda tf: tf.losses.log_loss(np.ones(3), np.ones(4)), "(3,).*(4,)|(4,).*(3,)")])
def test_errors_name_the_shapes(tf, build, text):
    with pytest.raises(ValueError, match=text):
        build(tf)


def test_weights_that_do_not_fit_fail_in_the_run_where_shapes_are_unknown(tf):
    values, weights = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    loss = tf.losses.compute_weighted_loss(values, weights)
    with tf.Session() as session:
        assert session.run(loss, {values: np.ones([2, 3]), weights: [[1.0], [3.0]]}) == 2.0
        assert session.run(loss, {values: np.ones([2, 3]), weights: 2.0}) == 2.0
        for misfit in ([1.0, 2.0, 3.0], [[[1.0]]]):         # they multiply, but are of another rank
            with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
                session.run(loss, {values: np.ones([2, 3]), weights: misfit})


@pytest.mark.parametrize("module, name", [
    ("losses.losses", "mean_squared_error"), ("losses.losses_impl", "Reduction"), ("losses.util", "get_total_loss"),
    ("losses.util", "add_loss"), ("weights_broadcast_ops", "assert_broadcastable"),
    ("confusion_matrix", "remove_squeezable_dimensions"), ("confusion_matrix", "confusion_matrix")])
def test_the_inner_modules_of_tensorflow_hold_them(tf, module, name):
    importlib.import_module("jitgraph.compat").install()
    assert callable(getattr(importlib.import_module(f"tensorflow.python.ops.{module}"), name))
