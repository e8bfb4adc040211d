"""Cholesky's factors and triangular systems by kernels of a device, beside LAPACK and in any order of threads."""

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, compile
from jitgraph.compiler.emit import simt
from jitgraph.compiler.place import DeviceStep

RNG = np.random.default_rng(3)


def positive(*shape):
    a = RNG.standard_normal(shape)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])


def triangular(*shape):
    """Both triangles have numbers: one must not be read."""
    return RNG.standard_normal(shape) + 2 * shape[-1] * np.eye(shape[-1])


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 16, 16), (2, 17, 17), (33, 33), (0, 4, 4), (2, 0, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cholesky(tf, on_the_grid, shape, dtype):
    a = positive(*shape)
    a += np.triu(np.ones(shape[-2:]), 1)            # which is not read
    x = tf.placeholder(dtype, shape)
    (kernel,) = on_the_grid(tf.cholesky(x), {x: a}, np.dtype(dtype).type)
    assert kernel.kind == "cholesky"


@pytest.mark.slow
def test_a_matrix_with_more_rows_than_a_block_has_threads(tf, on_the_grid):
    x = tf.placeholder(tf.float64, [None, None])
    on_the_grid(tf.cholesky(x), {x: positive(261, 261)}, np.float64)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_triangular_systems(tf, on_the_grid, lower, adjoint):
    for shape, columns in (((4, 4), 1), ((2, 3, 19, 19), 9), ((33, 33), 70), ((3, 3), 0), ((0, 2, 2), 3)):
        a, b = triangular(*shape), RNG.standard_normal((*shape[:-1], columns))
        x, y = (tf.placeholder(tf.float64, v.shape) for v in (a, b))
        (kernel,) = on_the_grid(tf.matrix_triangular_solve(x, y, lower, adjoint), {x: a, y: b}, np.float64)
        assert kernel.kind == "triangular_solve"


def test_sizes_that_only_a_run_tells(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, y = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])
    solved = tf.cholesky_solve(tf.cholesky(x), y)
    with tf.Session(jit="always") as session:
        for n, m in ((3, 2), (20, 1), (5, 5)):
            a, b = positive(n, n), RNG.standard_normal((n, m))
            np.testing.assert_allclose(session.run(solved, {x: a, y: b}), np.linalg.solve(a, b), rtol=1e-3, atol=1e-5)
        assert not any(compiled.kernels for plan in session.plans for compiled in plan.compiled)


def test_what_is_not_a_number_goes_through(tf, monkeypatch):
    """As in TensorFlow 1.15."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x = tf.placeholder(tf.float32, [2, 2])
    with tf.Session(jit="always") as session:
        assert np.isnan(session.run(tf.cholesky(x), {x: [[4, 0], [2, np.nan]]})).tolist() == [[False, False], [False, True]]


@pytest.mark.parametrize("bad", [-1.0, 0.0])
def test_what_has_no_factor_is_told_as_the_reference_tells_it(tf, monkeypatch, bad):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x = tf.placeholder(tf.float32, [2, 3, 3])
    fed = positive(2, 3, 3)
    fed[1, 2, 2] = bad
    with tf.Session(jit="always") as session, pytest.raises(tf.errors.InvalidArgumentError, match="decomposition was not succ"):
        session.run(tf.cholesky(x, name="c"), {x: fed})


def test_a_singular_system_is_told_as_the_reference_tells_it(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, y = tf.placeholder(tf.float32, [2, 2]), tf.placeholder(tf.float32, [2, 1])
    with tf.Session(jit="always") as session, pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        session.run(tf.matrix_triangular_solve(x, y), {x: [[1, 0], [1, 0]], y: [[1], [1]]})


def test_elsewhere_and_of_other_types_it_is_lapacks(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x = tf.placeholder(tf.complex64, [2, 2])
    with tf.device("/cpu:0"):
        on_host = tf.cholesky(tf.placeholder_with_default(positive(2, 2), [2, 2]))
    with tf.Session(jit="always") as session:
        np.testing.assert_allclose(session.run(tf.cholesky(x), {x: 4 * np.eye(2)}), 2 * np.eye(2))
        session.run(on_host)
        assert not any(compiled.launches for plan in session.plans for compiled in plan.compiled)


def kernels(tf, n, m, dtype):
    x, y = tf.placeholder(dtype, [2, n, n]), tf.placeholder(dtype, [2, n, m])
    solved = tf.matrix_triangular_solve(tf.cholesky(x), y)
    program = compile(tf.get_default_graph(), [solved], feeds={x: (2, n, n), y: (2, n, m)}, target=TARGETS["cuda"])
    return [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep)]


def test_any_order_of_threads_gives_the_same(tf):
    factor, solve = kernels(tf, 21, 3, tf.float64)
    a, b = positive(2, 21, 21), RNG.standard_normal((2, 21, 3))
    found = []
    for seed in (0, 1):
        low, x = np.full_like(a, np.nan), np.full_like(b, np.nan)
        for kernel, arrays in ((factor, [a, low]), (solve, [low, b, x])):
            sizes = np.array([*kernel.sizes, 0], np.int64)
            assert simt.simulate(kernel.source, kernel.name, arrays, sizes, 1, kernel.threads, seed=seed) == 0
        found.append((low, x))
    for one, other in zip(*found):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(found[0][0], np.linalg.cholesky(a), atol=1e-12)
