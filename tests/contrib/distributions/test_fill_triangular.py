"""Triangular matrices of vectors whose length only a run knows."""
import numpy as np
import pytest


@pytest.mark.parametrize("upper", [False, True])
def test_the_length_may_be_known_in_a_run_alone(tf, upper):
    distributions = tf.contrib.distributions
    vector, matrix = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    filled, back = distributions.fill_triangular(vector, upper), distributions.fill_triangular_inverse(matrix, upper)
    with tf.Session() as session:
        for count, size in ((1, 1), (3, 2), (6, 3), (28, 7)):
            numbers = np.arange(2.0 * count, dtype=np.float32).reshape(2, count)
            found = session.run(filled, {vector: numbers})
            assert found.shape == (2, size, size)
            np.testing.assert_array_equal(found, session.run(distributions.fill_triangular(numbers, upper)))
            np.testing.assert_array_equal(session.run(back, {matrix: found}), numbers)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(filled, {vector: [1.0, 2.0]})


def test_inner_modules_of_distributions_have_those_of_contrib():
    import jitgraph
    import jitgraph.compat

    jitgraph.compat.install()
    try:
        from tensorflow.python.ops.distributions import beta, normal

        assert normal.NormalWithSoftplusScale is jitgraph.contrib.distributions.NormalWithSoftplusScale
        assert beta.BetaWithSoftplusConcentration is jitgraph.contrib.distributions.BetaWithSoftplusConcentration
    finally:
        jitgraph.compat.uninstall()
