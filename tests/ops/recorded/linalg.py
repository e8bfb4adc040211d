"""Linear algebra: factorizations, solvers, functions of matrices, their gradients and errors."""
import numpy as np


def weights(shape, dtype):
    """Different numbers to weigh gradients with."""
    return np.cos(np.arange(int(np.prod(shape)))).reshape(shape).astype(dtype)


def gradients(tf, function, *arrays):
    def build():
        inputs = [tf.constant(array) for array in arrays]
        outputs = function(*inputs)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        given = [tf.constant(weights(y.shape.as_list(), y.dtype.as_numpy_dtype)) for y in outputs]
        return tf.gradients(outputs, inputs, given)

    return build


def values(tf, square, positive, tall, bands):
    a, p, r, d = square, positive, tall, bands
    return {
        "cholesky": lambda: tf.cholesky(p), "inverse": lambda: tf.matrix_inverse(a),
        "inverse_adjoint": lambda: tf.matrix_inverse(a, adjoint=True), "determinant": lambda: tf.matrix_determinant(a),
        "slogdet": lambda: list(tf.linalg.slogdet(a)), "solve": lambda: tf.matrix_solve(a, a),
        "triangular": lambda: tf.matrix_triangular_solve(a, a, lower=False, adjoint=True),
        "qr": lambda: list(tf.qr(r)), "qr_wide": lambda: list(tf.qr(r.T.copy())),
        "qr_full": lambda: list(tf.qr(r, full_matrices=True)), "singular_values": lambda: tf.svd(r, compute_uv=False),
        "eigenvalues": lambda: tf.self_adjoint_eigvals(p), "lu": lambda: list(tf.linalg.lu(a)),
        "expm": lambda: tf.linalg.expm(a), "sqrtm": lambda: tf.linalg.sqrtm(p),
        "logm": lambda: tf.linalg.logm(p.astype(complex)), "logdet": lambda: tf.linalg.logdet(p),
        "cholesky_solve": lambda: tf.cholesky_solve(tf.cholesky(p), a),
        "least_squares": lambda: tf.matrix_solve_ls(r, r[:, :1]),
        "least_squares_l2": lambda: tf.matrix_solve_ls(r, r[:, :1], l2_regularizer=0.5),
        "least_squares_wide": lambda: tf.matrix_solve_ls(r.T.copy(), a[:2]),
        "least_squares_slow": lambda: tf.matrix_solve_ls(r, r[:, :1], fast=False),
        "rank": lambda: tf.linalg.matrix_rank(r @ r.T), "pinv": lambda: tf.linalg.pinv(r),
        "normalize": lambda: list(tf.linalg.normalize(r)), "normalize_1": lambda: list(tf.linalg.normalize(r, 1, 0)),
        "matvec": lambda: tf.linalg.matvec(a, np.array([1.0, 2, 3])), "empty": lambda: tf.cholesky(np.zeros((2, 0, 0))),
        "determinant_empty": lambda: tf.matrix_determinant(np.zeros((2, 0, 0))),
        "tridiagonal_matmul": lambda: tf.linalg.tridiagonal_matmul(d, a),
        "tridiagonal_matrix": lambda: tf.linalg.tridiagonal_solve(
            tf.constant(np.diag(d[1]) + np.diag(d[0, :-1], 1) + np.diag(d[2, 1:], -1)), tf.constant(a),
            diagonals_format="matrix"),
    }


def derivatives(tf, square, positive, tall, bands):
    a, p, r, d = square, positive, tall, bands
    return {
        "of_cholesky": gradients(tf, tf.cholesky, p), "of_inverse": gradients(tf, tf.matrix_inverse, a),
        "of_determinant": gradients(tf, tf.matrix_determinant, a),
        "of_slogdet": gradients(tf, lambda x: tf.linalg.slogdet(x)[1], a), "of_solve": gradients(tf, tf.matrix_solve, a, a),
        "of_triangular": gradients(tf, tf.matrix_triangular_solve, p, a),
        "of_singular_values": gradients(tf, lambda x: tf.svd(x, compute_uv=False), r),
        "of_svd": gradients(tf, lambda x: tf.matmul(tf.svd(x)[1], tf.svd(x)[2], adjoint_b=True), r),
        "of_qr": gradients(tf, lambda x: list(tf.qr(x)), r), "of_eigenvalues": gradients(tf, tf.self_adjoint_eigvals, p),
        "of_eigenvectors": gradients(tf, lambda x: tf.self_adjoint_eig(x)[1] ** 2, p),
        "of_expm": gradients(tf, tf.linalg.expm, a), "of_sqrtm": gradients(tf, tf.linalg.sqrtm, p),
        "of_least_squares": gradients(tf, tf.matrix_solve_ls, r, a[:, :1]), "of_pinv": gradients(tf, tf.linalg.pinv, r),
        "of_einsum": gradients(tf, lambda x, y: tf.einsum("ij,jk->ki", x, y), a, r),
        "of_tridiagonal_solve": gradients(tf, tf.linalg.tridiagonal_solve, d, a),
        "of_tridiagonal_matmul": gradients(tf, tf.linalg.tridiagonal_matmul, d, a),
    }


def sums(tf, rng):
    shapes = {"ij,jk->ik": [(2, 3), (3, 4)], "ij,jk": [(2, 3), (3, 4)], "bij,bjk->bik": [(5, 2, 3), (5, 3, 4)],
              "ij,kl->ijkl": [(2, 3), (4, 5)], "ij,ij->": [(2, 3), (2, 3)], "ij,ij->i": [(2, 3), (2, 3)],
              "ij->ji": [(2, 3)], "ij->": [(2, 3)], "i,ij,j->": [(2,), (2, 3), (3,)],
              "abc,cd,de->abe": [(2, 3, 4), (4, 5), (5, 2)], "...ij,jk->...ik": [(2, 3, 4), (4, 5)],
              "ijk,ilj->lki": [(2, 3, 4), (2, 5, 3)], "ab,b->ab": [(2, 3), (3,)], "ii": [(3, 3)]}
    arrays = {equation: [rng.randn(*shape) for shape in sizes] for equation, sizes in shapes.items()}
    return {"einsum " + equation: lambda equation=equation: tf.einsum(equation, *map(tf.constant, arrays[equation]))
            for equation in shapes}


def failures(tf, square):
    singular, a = np.array([[1.0, 2], [2, 4]]), tf.constant
    return {
        "inverse_of_singular": lambda: tf.matrix_inverse(singular), "solve_singular": lambda: tf.matrix_solve(singular, singular),
        "cholesky_of_negative": lambda: tf.cholesky(-singular), "lu_of_singular": lambda: list(tf.linalg.lu(singular)),
        "not_square": lambda: tf.cholesky(np.zeros((2, 3))), "vector": lambda: tf.cholesky(np.zeros(2)),
        "incompatible": lambda: tf.matrix_solve(np.zeros((2, 2)), np.zeros((3, 3))),
        "einsum_too_few": lambda: tf.einsum("ij,jk->ik", a(square)),
        "einsum_repeated": lambda: tf.einsum("iij,jk->ik", a(square), a(square)),
        "einsum_unknown": lambda: tf.einsum("ij,jk->im", a(square), a(square)),
        "einsum_letters": lambda: tf.einsum("i%j,jk->im", a(square), a(square)),
        "einsum_keyword": lambda: tf.einsum("ij,jk->ik", a(square), a(square), foo=1),
    }


def cases(tf):
    rng = np.random.RandomState(0)
    square = rng.randn(3, 3)
    positive = square @ square.T + 3 * np.eye(3)
    tall = rng.randn(3, 2)
    bands = rng.randn(3, 3) + np.array([[0], [4], [0]])
    arrays = (square, positive, tall, bands)
    return {**values(tf, *arrays), **derivatives(tf, *arrays), **sums(tf, rng), **failures(tf, square)}
