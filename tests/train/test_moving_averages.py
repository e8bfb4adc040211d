"""Moving averages; the numbers are TensorFlow 1.15.5's."""
import numpy as np
import pytest

from jitgraph.train.moving_averages import assign_moving_average


@pytest.mark.parametrize("jit", ["off", "always"])
def test_two_corrected_updates_of_an_average_do_not_disturb_each_other(tf, jit):
    """As where a batch normalisation of Keras is applied twice."""
    average, x = tf.Variable([0.0, 0.0], name="v", trainable=False), tf.constant([1.0, 2.0])
    first, second = (assign_moving_average(average, y, 0.9, zero_debias=True) for y in (x, x * 3))
    assert [v.name for v in tf.global_variables()] == ["v:0", "v/biased:0", "v/local_step:0", "v/biased_1:0", "v/local_step_1:0"]
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            np.testing.assert_allclose(session.run(first), [1, 2], rtol=1e-6)
            np.testing.assert_allclose(session.run(second), [3, 6], rtol=1e-6)


def test_updates_in_a_scope_that_shares_its_variables_share_the_correction_too(tf):
    average = tf.Variable(0.0, name="v", trainable=False)
    assign_moving_average(average, 1.0, 0.9)
    with tf.variable_scope("", reuse=True):
        assign_moving_average(average, 2.0, 0.9)
    assert [v.name for v in tf.global_variables()] == ["v:0", "v/biased:0", "v/local_step:0"]
