"""Sessions whose matrix products a library makes, on a simulated device."""

import numpy as np
import pytest

RNG = np.random.default_rng(1)


@pytest.fixture
def session(tf, monkeypatch):
    """session(): one on a simulated device; `multiplied` is what its library has computed."""
    from jitgraph.compiler import targets
    from jitgraph.runtime.cuda.machine import machine_of

    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")

    def make():
        library = machine_of(targets.present()).driver.library(0, "library_products")
        library.multiplied.clear()
        made = tf.Session(jit="always")
        make.multiplied = library.multiplied
        return made

    return make


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def test_a_layer_of_any_number_of_rows(tf, session):
    x, w, b = tf.placeholder(tf.float32, [None, 6]), normal(6, 5), normal(5)
    y = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))
    with session() as s:
        for rows in (3, 3, 3, 1, 4, 2):
            fed = normal(rows, 6)
            np.testing.assert_allclose(s.run(y, {x: fed}), np.maximum(fed @ w + b, 0), atol=1e-5)
        assert s.run(y, {x: normal(0, 6)}).shape == (0, 5)
    assert set(session.multiplied) == {"relu bias", "relu added"}      # of one row, both are one


def test_no_terms_give_what_is_added(tf, session):
    x, y = tf.placeholder(tf.float32, [3, None]), tf.placeholder(tf.float32, [None, 2])
    with session() as s:
        for terms in (2, 0, 0):
            a, b = normal(3, terms), normal(terms, 2)
            np.testing.assert_allclose(s.run(tf.matmul(x, y) + 1.0, {x: a, y: b}), a @ b + 1.0, atol=1e-6)


def test_steps_of_gradient_descent_are_one_launch_each(tf, session):
    v, x, g = tf.Variable(normal(4, 3)), tf.placeholder(tf.float32, [5, 4]), tf.placeholder(tf.float32, [5, 3])
    step = tf.assign_sub(v, 0.1 * tf.matmul(x, g, transpose_a=True)).op
    with session() as s:
        s.run(tf.global_variables_initializer())
        want, a, b = s.run(v), normal(5, 4), normal(5, 3)
        for _ in range(4):
            s.run(step, {x: a, g: b})
        np.testing.assert_allclose(s.run(v), want - 0.4 * a.T @ b, atol=1e-5)
    assert session.multiplied == ["scaled added"] * 4


def test_a_scale_of_zero_lets_nan_through(tf, session):
    x, y, c = (tf.placeholder(tf.float32, [2, 2]) for _ in range(3))
    with session() as s:
        found = s.run(tf.matmul(x, y) * np.float32(0.0) + c, {x: np.full((2, 2), np.nan), y: np.ones((2, 2)), c: np.ones((2, 2))})
    assert np.isnan(found).all()


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_other_floats(tf, session, dtype):
    a, b = normal(2, 3, 4), normal(2, 4, 5)
    x, y = (tf.placeholder(dtype, v.shape) for v in (a, b))
    with session() as s:
        found = s.run(tf.nn.relu(tf.matmul(x, y)), {x: a, y: b})
    near = {"float64": 1e-5, "float16": 1e-2, "bfloat16": 0.1}[dtype]
    np.testing.assert_allclose(found.astype(np.float64), np.maximum(a @ b, 0), atol=near)
    assert session.multiplied == ["relu"]


def test_without_the_library_the_kernel_gives_the_same(tf, session, monkeypatch):
    x, w = tf.placeholder(tf.float32, [3, 8]), normal(8, 4)
    y, fed = tf.matmul(x, w), normal(3, 8)
    with session() as s:
        found = s.run(y, {x: fed})
    assert session.multiplied == ["plain"]
    monkeypatch.setenv("JITGRAPH_WITHOUT", "library_products")
    with session() as s:
        np.testing.assert_allclose(s.run(y, {x: fed}), found, atol=1e-6)
    assert session.multiplied == []


def test_factors_are_rounded_where_the_environment_says_so(tf, session, monkeypatch):
    x = tf.placeholder(tf.float32, [2, 2])
    fed = np.full((2, 2), 1 + 2.0**-12, np.float32)
    found = []
    for flag in ("0", "1"):
        monkeypatch.setenv("JITGRAPH_TF32", flag)
        with session() as s:
            found.append(s.run(tf.matmul(x, tf.ones([2, 2])), {x: fed})[0, 0])
    assert found == [2 + 2.0**-11, 2]


def test_a_machine_without_the_library(tf, session, monkeypatch):
    from jitgraph.compiler import targets
    from jitgraph.runtime.cuda.machine import machine_of

    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    monkeypatch.setattr(machine_of(targets.present()), "libraries", frozenset())
    x = tf.placeholder(tf.float32, [2, 2])
    with session() as s:
        np.testing.assert_allclose(s.run(tf.matmul(x, x), {x: np.eye(2)}), np.eye(2))
    assert session.multiplied == []


def test_each_device_has_its_own(tf, monkeypatch):
    from jitgraph.compiler import targets
    from jitgraph.runtime.cuda.machine import machine_of

    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator:2")
    x, found = tf.placeholder(tf.float32, [3, 3]), []
    for number in range(2):
        with tf.device(f"/gpu:{number}"):
            found.append(tf.matmul(x, tf.constant(normal(3, 3))))
    libraries = [machine_of(targets.present()).driver.library(number, "library_products") for number in range(2)]
    for library in libraries:
        library.multiplied.clear()
    with tf.Session(jit="always") as s:
        s.run(found[0] + found[1], {x: normal(3, 3)})
    assert [len(library.multiplied) for library in libraries] == [1, 1]
