"""Exponentials, roots and logarithms of matrices that have none."""
import numpy as np
import pytest


@pytest.mark.parametrize("matrix", [[[0, 0], [0, 0]], [[1, 1], [1, 1]], [[0, 1], [0, 0]], [[np.nan, 0], [0, 1]],
                                    [[np.inf, 0], [0, 1]]], ids=str)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_the_logarithm_of_a_singular_matrix(tf, matrix, dtype):
    """Is no number, as in TensorFlow; that of the regular matrix beside it is."""
    both = np.array([matrix, [[-1, 0], [0, -2]]], dtype)
    with tf.Session() as session:
        found, beside = session.run(tf.linalg.logm(tf.constant(both)))
    assert np.isnan(found.real).all() and np.isnan(found.imag).all()
    np.testing.assert_allclose(beside, np.diag([1j * np.pi, np.log(2) + 1j * np.pi]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_the_root_of_a_matrix_with_what_is_not_finite(tf, value, dtype):
    with tf.Session() as session:
        assert np.isnan(session.run(tf.linalg.sqrtm(tf.constant(np.array([[value, 0], [0, 1]], dtype))))).all()
