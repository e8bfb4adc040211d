"""Tapes of functions within loops, whose variables stand two graphs further out."""
import numpy as np


def test_a_tape_in_a_function_of_a_loop_watches_variables(tf):
    x = tf.get_variable("x", initializer=[0.0, 4.0], use_resource=True)

    @tf.function(autograph=False)
    def slope(before, step):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x - 3.0) ** 2)
        watched = tape.watched_variables()
        assert [one.name for one in watched] == ["x:0"]
        return tape.gradient(loss, watched)[0] + step

    slopes = tf.scan(slope, tf.constant([0.0, 1.0]), initializer=tf.zeros([2]))
    with tf.Session() as session:
        session.run(x.initializer)
        np.testing.assert_allclose(session.run(slopes), [[-6, 2], [-5, 3]])
