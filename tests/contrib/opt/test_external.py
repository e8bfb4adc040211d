"""Optimizers outside of the graph: TensorFlow's need SciPy, which its recorded answers were made without."""
import numpy as np
import pytest


@pytest.fixture
def run(tf):
    with tf.Session() as session:
        yield session


def _variable(tf, run):
    variable = tf.Variable([7.0, 7.0], name="v")
    run.run(variable.initializer)
    return variable


def test_the_loss_is_minimized(tf, run):
    v = _variable(tf, run)
    loss = tf.reduce_sum(tf.square(v - [1.0, -2.0]))
    seen, steps = [], []
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, options={"maxiter": 100})
    optimizer.minimize(run, fetches=[loss], loss_callback=seen.append, step_callback=steps.append)
    np.testing.assert_allclose(run.run(v), [1, -2], atol=1e-4)
    assert seen[0] == 117 and seen[-1] < 1e-6 and len(steps) >= 1


def test_constraints_hold(tf, run):
    v = _variable(tf, run)
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(v)), equalities=[v[0] + v[1] - 3.0],
                                                       inequalities=[v[0] - 2.0], method="SLSQP")
    optimizer.minimize(run)
    np.testing.assert_allclose(run.run(v), [2, 1], atol=1e-4)


def test_bounds_hold(tf, run):
    v = _variable(tf, run)
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(v)), var_to_bounds={v: ([1.0, 2.0], np.inf)})
    optimizer.minimize(run)
    np.testing.assert_allclose(run.run(v), [1, 2], atol=1e-4)


def test_several_variables_are_one_vector(tf, run):
    v = _variable(tf, run)
    w = tf.Variable([[1.0, 2.0]], name="w")
    run.run(w.initializer)
    tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(v - 1)) + tf.reduce_sum(tf.square(w + 2))).minimize(run)
    np.testing.assert_allclose(run.run(v), [1, 1], atol=1e-4)
    np.testing.assert_allclose(run.run(w), [[-2, -2]], atol=1e-4)


def test_what_is_set_here_cannot_be_given(tf, run):
    v = _variable(tf, run)
    with pytest.raises(ValueError, match="set automatically"):
        tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(v), jac=False).minimize(run)
