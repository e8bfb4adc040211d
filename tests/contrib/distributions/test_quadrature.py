"""Quadrature by Gauss and Hermite of softmax-normal variables, for which TensorFlow 1.15 raises AttributeError by mistake."""
import numpy as np


def test_the_weights_of_two_classes_are_sigmoids_of_hermite_points(tf):
    scheme = tf.contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite
    grid, probs = scheme(tf.constant([[0.1], [0.5]]), tf.constant([[1.0], [2.0]]), 5)
    points, weights = np.polynomial.hermite.hermgauss(5)
    normal = np.array([[0.1], [0.5]]) + np.sqrt(2.0) * np.array([[1.0], [2.0]]) * points
    second = 1 / (1 + np.exp(normal))
    with tf.Session() as session:
        found, its_probs = session.run([grid, probs])
    np.testing.assert_allclose(found, np.stack([1 - second, second], axis=1), rtol=1e-5)
    np.testing.assert_allclose(its_probs, weights / weights.sum(), rtol=1e-6)
