"""jitgraph.kernel_func: Python functions of scalars inside kernels, with gradients derived or given."""
import math
import warnings
from math import exp

import numpy as np
import pytest

MODES = pytest.mark.parametrize("jit", ["off", "always"])
X = np.linspace(-2, 2, 12).reshape(3, 4).astype(np.float32)
Y = np.array([1, 2, 3, 4], np.float32)


def half(x):
    return x / 2


def branches(x, y):
    if x > 0:
        z = math.sqrt(x) * y
    elif x > -1 and y < 3:
        z = half(-x) + exp(y)
    else:
        z = np.sin(x) if y > 2 else abs(x)
    for k in range(3):
        z = z * 0.5 + k
    return max(z, 1.0)


@MODES
def test_is_what_python_gives_for_each_element(tf, jit):
    import jitgraph

    x, y = tf.placeholder(tf.float32, [None, 4]), tf.constant(Y)
    z = jitgraph.kernel_func(branches, [x, y], tf.float32)
    assert z.shape.as_list() == [None, 4] and z.op.type == "KernelFunc"
    with tf.Session(jit=jit) as session:
        np.testing.assert_allclose(session.run(z, {x: X}), np.vectorize(branches)(X, Y), rtol=1e-6)


@pytest.mark.parametrize("target", ["cpu", "cuda-simulator"])
def test_is_fused_with_what_stands_around_it(tf, monkeypatch, target):
    import jitgraph

    monkeypatch.setenv("JITGRAPH_TARGET", target)
    x = tf.placeholder(tf.float32, [None])
    y = jitgraph.kernel_func(lambda a: a * a if a > 0 else a, [tf.exp(x)], tf.float32) + 1.0
    with tf.Session(jit="always") as session:
        session.run(y, {x: Y})
        assert jitgraph.session_stats(session)["kernels"] == 1


@MODES
def test_gradient_is_derived(tf, jit):
    import jitgraph

    x, y = tf.placeholder(tf.float64, [3, 4]), tf.placeholder(tf.float64, [4])
    z = jitgraph.kernel_func(branches, [x, y], tf.float64)
    points = [X + 0.1, Y + 0.1]         # not where the function jumps
    with tf.Session(jit=jit):
        pairs = tf.test.compute_gradient([x, y], [[3, 4], [4]], z, [3, 4], x_init_value=points, delta=1e-6)
    for symbolic, numeric in pairs:
        np.testing.assert_allclose(symbolic, numeric, atol=1e-6)


def test_the_side_not_taken_does_not_spoil_the_gradient(tf, run):
    import jitgraph

    x = tf.constant([-1.0, 0.0, 4.0])
    y = jitgraph.kernel_func(lambda a: math.sqrt(a) if a > 0 else 0.0, [x], tf.float32)
    assert run(tf.gradients(y, x)[0]).tolist() == [0.0, 0.0, 0.25]


def test_second_gradient(tf, run):
    import jitgraph

    x = tf.constant([1.0, 2.0])
    first = tf.gradients(jitgraph.kernel_func(lambda a: a ** 3, [x], tf.float32), x)[0]
    assert run([first, tf.gradients(first, x)[0]])[1].tolist() == [6.0, 12.0]


def test_gradient_may_be_given(tf, run):
    import jitgraph

    x = tf.constant([1.0, 2.0])
    y = jitgraph.kernel_func(lambda a: math.floor(a) * 1.0, [x], tf.float32, grad=lambda a, g: 10.0 * g + a)
    assert run(tf.gradients(y, x)[0]).tolist() == [11.0, 12.0]


@MODES
def test_several_results_of_several_dtypes(tf, jit):
    import jitgraph

    def parts(x):
        whole = math.floor(x)
        return x - whole, whole

    fraction, whole = jitgraph.kernel_func(parts, [tf.constant([1.25, -0.5])], [tf.float32, tf.int32], name="parts")
    assert fraction.op.name == "parts" and (fraction.dtype, whole.dtype) == (tf.float32, tf.int32)
    with tf.Session(jit=jit) as session:
        found = session.run([fraction, whole])
    assert [a.tolist() for a in found] == [[0.25, 0.5], [1, -1]]


@MODES
def test_whole_numbers_are_divided_only_where_the_function_divides(tf, jit):
    import jitgraph

    with tf.Session(jit=jit) as session:
        found = session.run(jitgraph.kernel_func(lambda i: 7 // i if i != 0 else -1, [tf.constant([0, 2, -2])], tf.int32))
    assert found.tolist() == [-1, 3, -4]


@MODES
def test_loops_that_depend_on_values_run_between_kernels(tf, jit):
    import jitgraph

    def steps(n):
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    n = tf.constant([1, 6, 27])
    y = jitgraph.kernel_func(steps, [n], tf.int64)
    with tf.Session(jit=jit) as session:
        assert session.run(y).tolist() == [0, 8, 111]


def test_what_cannot_be_differentiated_says_so(tf):
    import jitgraph

    def root(x):
        guess = x
        while abs(guess * guess - x) > 1e-6:
            guess = 0.5 * (guess + x / guess)
        return guess

    x = tf.constant([2.0, 9.0], tf.float64)
    y = jitgraph.kernel_func(root, [x], tf.float64)
    with pytest.raises(LookupError, match="grad="):
        tf.gradients(y, x)
    given = jitgraph.kernel_func(root, [x], tf.float64, grad=lambda x, g: g * 0.5 / math.sqrt(x))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run([y, tf.gradients(given, x)[0]]), [np.sqrt([2, 9]), 0.5 / np.sqrt([2, 9])], rtol=1e-5)


@pytest.mark.parametrize("function", [lambda x: {}.get(x), lambda x: [x].missing, lambda x: "a" + x])
def test_what_numba_refuses_is_said_in_one_sentence(tf, function):
    import jitgraph

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r"kernel_func cannot compile <lambda>\(float32\)") as caught:
            jitgraph.kernel_func(function, [tf.constant(1.0)], tf.float32)
    assert "Traceback" not in str(caught.value) and len(str(caught.value)) < 600 and caught.value.__cause__ is None


def test_errors(tf):
    import jitgraph

    with pytest.raises(ValueError, match="callable"):
        jitgraph.kernel_func(3, [tf.constant(1.0)], tf.float32)
    with pytest.raises(ValueError, match="at least one input"):
        jitgraph.kernel_func(lambda: 1.0, [], tf.float32)
    with pytest.raises(ValueError, match="returned 2 values, but 1"):
        jitgraph.kernel_func(lambda x: (x, x), [tf.constant(1.0)], tf.float32)
    with pytest.raises(ValueError, match="must be equal"):
        jitgraph.kernel_func(lambda x, y: x + y, [tf.zeros([2]), tf.zeros([3])], tf.float32)


def test_a_node_of_another_process_is_refused_when_it_runs(tf):
    import jitgraph

    with tf.Graph().as_default() as graph:
        jitgraph.kernel_func(lambda x: x + 1.0, [tf.placeholder(tf.float32, [2], "x")], tf.float32, name="f")
        definition = graph.as_graph_def()
    definition.node[-1].attr["token"].s = b"kernel_of_elsewhere"
    tf.import_graph_def(definition, name="")
    with tf.Session() as session, pytest.raises((tf.errors.OpError, ValueError), match="another process"):
        session.run("f:0", {"x:0": [1.0, 2.0]})
