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
