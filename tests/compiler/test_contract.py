"""Products of matrices: every way to cut them, and nothing to multiply."""
import numpy as np
import pytest

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m, k, n", [(32, 512, 1024), (512, 32, 1024), (128, 784, 256), (3, 5, 7), (1, 300, 1), (300, 2, 300),
                                     (7, 200, 700), (64, 513, 100), (130, 260, 33), (40, 32, 70), (900, 300, 256),
                                     (0, 3, 4), (4, 3, 0), (0, 1, 0), (0, 200, 9), (4, 0, 5), (3, 200, 0)])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products(tf, agree, m, k, n, turned, dtype):
    x = RNG.standard_normal((k, m) if turned[0] else (m, k)).astype(dtype)
    y = RNG.standard_normal((n, k) if turned[1] else (k, n)).astype(dtype)
    a, b = tf.placeholder(dtype, [None, x.shape[1]]), tf.placeholder(dtype, y.shape)
    kernels = agree(tf.matmul(a, b, transpose_a=turned[0], transpose_b=turned[1]), {a: x, b: y}, dtype)
    assert any(name.startswith("matmul") for name in kernels) == (k != 1)


@pytest.mark.parametrize("m, k, n", [(1, 300, 40), (300, 40, 1), (1, 5000, 1), (1, 64, 64), (200, 1, 300), (1, 1, 5000)])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_a_product_with_one_row_column_or_term(tf, agree, m, k, n, turned):
    """It is a sum, unless each row of the matrix has one term of all sums."""
    x, y = (tf.placeholder(tf.float32, shape) for shape in ((k, m) if turned[0] else (m, k), (n, k) if turned[1] else (k, n)))
    product, feeds = tf.matmul(x, y, transpose_a=turned[0], transpose_b=turned[1]), {}
    for fed in (x, y):
        feeds[fed] = RNG.standard_normal(fed.shape.as_list())
    terms_lie_together = (not turned[0]) if n == 1 else turned[1]
    is_sum = k == 1 or m == n == 1 or terms_lie_together
    assert any(name.startswith("matmul") for name in agree(product, feeds, np.float32)) == (not is_sum)
    agree(tf.gradients(tf.square(product), [x, y]), feeds, np.float32)


@pytest.mark.parametrize("m", range(1, 10))
@pytest.mark.parametrize("k, n", [(32, 32), (300, 100), (257, 33), (40, 70), (33, 1030), (2100, 300)])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_of_few_rows(tf, agree, guarded_memory, m, k, n, turned):
    """Where their number is known, and where it is found in the run."""
    x, y = RNG.standard_normal((k, m) if turned[0] else (m, k)), RNG.standard_normal((n, k) if turned[1] else (k, n))
    b = tf.placeholder(tf.float32, y.shape)
    for shape in (x.shape, (None, None)):
        a = tf.placeholder(tf.float32, shape)
        agree(tf.matmul(a, b, transpose_a=turned[0], transpose_b=turned[1]), {a: x, b: y}, np.float32)


def test_what_was_compiled_for_few_rows_multiplies_many(tf):
    a, b = tf.placeholder(tf.float32, [None, 90]), tf.placeholder(tf.float32, [90, 75])
    y = RNG.standard_normal((90, 75)).astype(np.float32)
    with tf.Session(jit="always") as session:
        for rows in (2, 40, 1, 7, 8, 130):
            x = RNG.standard_normal((rows, 90)).astype(np.float32)
            np.testing.assert_allclose(session.run(tf.matmul(a, b), {a: x, b: y}), x @ y, rtol=1e-4, atol=1e-5)


def test_a_batch_of_them(tf, agree):
    x, y = RNG.standard_normal((3, 2, 40, 9)), RNG.standard_normal((3, 2, 9, 300))
    a, b = tf.placeholder(tf.float64, [None, 2, 40, 9]), tf.placeholder(tf.float64, [None, 2, 9, 300])
    agree(tf.matmul(a, b), {a: x, b: y}, np.float64)


@pytest.mark.parametrize("m, k, n", [(1, 300, 100), (3, 70, 33), (6, 90, 64), (32, 300, 100), (70, 40, 130)])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_in_narrow_vectors(tf, agree, narrow, m, k, n, turned):
    x, y = RNG.standard_normal((k, m) if turned[0] else (m, k)), RNG.standard_normal((n, k) if turned[1] else (k, n))
    a, b = tf.placeholder(tf.float32, x.shape), tf.placeholder(tf.float32, y.shape)
    agree(tf.matmul(a, b, transpose_a=turned[0], transpose_b=turned[1]), {a: x, b: y}, np.float32)


@pytest.mark.parametrize("adjoint", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("m, k, n", [(16, 8, 1), (1, 8, 16), (5, 1, 7), (1, 1, 1), (1, 9, 1), (3, 0, 1)])
def test_many_little_products_are_multiplied_and_added_up(tf, agree, m, k, n, adjoint):
    """With their gradients; the first factor's batch is shared by all."""
    shapes = [(7, k, m) if adjoint[0] else (7, m, k), (3, 7, n, k) if adjoint[1] else (3, 7, k, n)]
    x, y = (tf.placeholder(tf.float32, shape) for shape in shapes)
    product = tf.matmul(x, y, adjoint_a=adjoint[0], adjoint_b=adjoint[1])
    fetches = [product, *tf.gradients(tf.square(product), [x, y])]
    kernels = agree(fetches, {fed: RNG.standard_normal(fed.shape.as_list()) for fed in (x, y)}, np.float32)
    assert not any(name.startswith("matmul") for name in kernels)
