"""Shapes that depend on the values of variables: a run goes on with what the variable holds where it is used."""
from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_indices_in_a_variable_beside_a_size_of_the_run(tf, jit, resource):
    v = tf.get_variable("v", initializer=np.array([1, 0, 2], np.int32), use_resource=resource)
    depth = tf.placeholder(tf.int32, [])
    hot = tf.one_hot(v, depth)
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        for wanted in (5, 3, 5):
            np.testing.assert_array_equal(session.run(hot, {depth: wanted}), np.eye(wanted, dtype=np.float32)[[1, 0, 2]])
        session.run(v.assign([0, 0, 1]))
        np.testing.assert_array_equal(session.run(hot, {depth: 4}), np.eye(4, dtype=np.float32)[[0, 0, 1]])


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_fed_values_of_the_same_bytes_and_another_shape(tf, jit):
    indices, depth = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [])
    hot = tf.one_hot(indices, depth)
    with tf.Session(jit=jit) as session:
        for shape in ([2, 3], [3, 2], [6, 1], [0, 5], [0, 7], [7, 0], [0, 0]):
            fed = np.arange(np.prod(shape, dtype=int)).reshape(shape)
            found = session.run(hot, {indices: fed, depth: 6})
            np.testing.assert_array_equal(found, np.eye(6, dtype=np.float32)[fed], str(shape))


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_a_shape_in_a_variable(tf, jit, resource):
    v = tf.get_variable("v", initializer=np.array([2, 3], np.int32), use_resource=resource)
    ones = tf.ones(v) * 2
    with tf.control_dependencies([v.assign_add([1, 0])]):
        grown = tf.fill(v.read_value() + 0, 7)
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        for rows in (3, 4, 5):
            assert session.run(ones).shape == (rows - 1, 3)
            assert session.run(grown).shape == (rows, 3)


@pytest.mark.parametrize("fetched", [False, True])
@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_what_follows_an_unknown_size_runs_for_targets_too(tf, jit, fetched):
    """A run that has all that it is to return goes on as long as operations are left."""
    w = tf.Variable(0.0)
    first = tf.assign_add(w, 1.0)
    early = tf.constant([1.0, 2.0]) * 2
    with tf.control_dependencies([first]):
        called = tf.py_func(lambda: np.ones(3), [], tf.float64)
    with tf.control_dependencies([called]):
        second = tf.assign_add(w, 10.0)
    with tf.Session(jit=jit) as session:
        session.run(w.initializer)
        for run in (1, 2, 3):
            session.run([early, second.op] if fetched else second.op)
            assert session.run(w) == 11 * run


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_a_control_edge_from_a_placeholder_after_an_unknown_size(tf, jit):
    x = tf.placeholder(tf.float32, [None])
    places = tf.where(x > 0)
    gate = tf.placeholder(tf.float32, [3])
    with tf.control_dependencies([gate]):
        found = tf.identity(tf.gather_nd(x, places) * 2)
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            assert session.run(found, {x: [1.0, -1.0, 2.0], gate: [0.0, 0.0, 0.0]}).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_a_shape_that_a_program_states_wrongly(tf, jit):
    """TensorFlow goes by what there is; so do first and later runs here, where the operation tells."""
    x = tf.placeholder(tf.float32)
    y = tf.reverse(x, [0]) + 1
    y.set_shape([3])
    picture = tf.image.flip_left_right(tf.placeholder(tf.float32, name="picture"))
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            assert session.run(y * 2, {x: [1.0, 2.0]}).tolist() == [6.0, 4.0]
            batch = np.arange(12.0).reshape(2, 2, 3, 1)
            np.testing.assert_array_equal(session.run(picture, {"picture:0": batch}), batch[:, ::-1])


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("what", [
    "tf.ones([n, 3])", "tf.fill([n], 2.0) * 3", "tf.reshape(tf.range(6), [n, -1])", "tf.range(n)",
    "tf.tile(tf.ones([1, 2]), [n, 1])",
    "tf.range(9)[:n]", "tf.one_hot([0, 1], n)", "tf.eye(n)", "tf.broadcast_to(tf.ones([3]), [n, 3]) + 1",
    "tf.linspace(0.0, 1.0, n)",
    "tf.sequence_mask([1, 2], n)", "tf.scatter_nd([[0]], [1.0], [n])", "tf.tanh(tf.zeros(tf.stack([n, 2])))",
    "tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * 2), [0, tf.ones([n])])[1]",
    "tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.reduce_sum(tf.ones([n]))), [0, 0.0])[1]",
    "tf.cond(n > 1, lambda: tf.ones([n]), lambda: tf.zeros([n]))"])
def test_a_size_that_the_graph_knows_is_fed_otherwise(tf, what, jit):
    """The shapes that the graph states follow from 3; a run goes by what is fed."""
    x = tf.placeholder(tf.float32, [3, 7])
    n = tf.shape(x)[0]
    m = tf.placeholder(tf.int32, [])
    y, same = (eval(what, {"tf": tf, "n": size}) for size in (n, m))
    with tf.Session(jit=jit) as session:
        for size in (2, 2, 6, 3, 2):
            np.testing.assert_array_equal(session.run(y, {n: size}), session.run(same, {m: size}), str(size))
