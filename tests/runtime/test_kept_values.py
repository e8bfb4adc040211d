"""What is made of variables alone stays from run to run, and never longer than the variables do."""

import dataclasses
import threading

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.compiler import targets

RNG = np.random.RandomState(0)
SHAPE = [96, 160]           # of a matrix whose transpose a kernel reads in blocks


def network():
    """(result, what to feed, its variables): everything about the filter, and the scale, is made of variables alone."""
    x = tf.placeholder(tf.float32, [None, 9, 9, 8])
    w = tf.Variable(RNG.standard_normal((3, 3, 16, 8)).astype(np.float32), name="w")
    scale = tf.Variable(np.full(16, 2.0, np.float32), name="scale")
    y = tf.nn.conv2d_transpose(x, w, [tf.shape(x)[0], 18, 18, 16], [1, 2, 2, 1]) * tf.rsqrt(scale + 2.0)
    return y, {x: RNG.standard_normal((2, 9, 9, 8)).astype(np.float32)}, [w, scale]


def programs(session):
    return [made.program for plan in session.plans for made in plan.compiled]


@pytest.fixture
def session():
    tf.reset_default_graph()
    with tf.Session(jit="always") as session:
        yield session


def reference(y, feeds, session, variables):
    """The result that the values of the variables must give."""
    values = session.run(variables)
    with tf.Session(jit="off") as other:
        for variable, value in zip(variables, values):
            variable.load(value, other)
        return other.run(y, feeds)


def test_it_is_made_once(session, monkeypatch):
    y, feeds, _ = network()
    session.run(tf.global_variables_initializer())
    first, second = session.run(y, feeds), session.run(y, feeds)
    np.testing.assert_array_equal(first, second)
    (program,) = [program for program in programs(session) if program.kept]
    assert program.kept == 2
    found = session.explain(y, feeds, runs=3)
    assert len(found.lines) == len(program.layout.steps) - program.kept
    monkeypatch.setenv("JITGRAPH_WITHOUT", "kept_values")
    with tf.Session(jit="always") as other:
        other.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(other.run(y, feeds), first)
        assert not any(program.kept for program in programs(other))


def by_kernels(session, w, value):
    session.run(tf.assign(w, value))


def by_half(session, w, value):
    session.run(w.assign_sub(w * 0.5))


def by_rows(session, w, value):
    session.run(tf.scatter_update(w, [0, 2], value[:2]))


def by_load(session, w, value):
    w.load(value, session)


def by_loop(session, w, value):
    def body(i):
        with tf.control_dependencies([tf.assign_add(w, w * 0.25)]):
            return i + 1

    session.run(tf.while_loop(lambda i: i < 3, body, [0]))


def by_branch(session, w, value):
    session.run(tf.cond(tf.placeholder_with_default(True, []), lambda: tf.identity(tf.assign(w, value)), lambda: w + 0.0))


def by_slice(session, w, value):
    session.run(w[1:2].assign(value[1:2]))


def by_training(session, w, value):
    session.run(tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(w)), var_list=[w]))


def by_initializer(session, w, value):
    session.run(tf.assign(w, value))
    session.run(w.initializer)


@pytest.mark.parametrize("change", [by_kernels, by_half, by_rows, by_load, by_loop, by_branch, by_slice, by_training,
                                    by_initializer])
def test_whatever_changes_a_variable(session, change):
    y, feeds, variables = network()
    session.run(tf.global_variables_initializer())
    session.run(y, feeds)
    for _ in range(2):
        change(session, variables[0], RNG.standard_normal((3, 3, 16, 8)).astype(np.float32))
        found = session.run(y, feeds)
        np.testing.assert_allclose(found, reference(y, feeds, session, variables), atol=1e-4)
    session.run(tf.assign(variables[1], np.arange(16, dtype=np.float32)))
    np.testing.assert_allclose(session.run(y, feeds), reference(y, feeds, session, variables), atol=1e-4)


def test_a_restored_checkpoint(session, tmp_path):
    y, feeds, variables = network()
    session.run(tf.global_variables_initializer())
    saver = tf.train.Saver()
    first, path = session.run(y, feeds), saver.save(session, str(tmp_path / "model"))
    session.run(variables[0].assign_add(tf.ones([3, 3, 16, 8])))
    assert not np.allclose(session.run(y, feeds), first)
    saver.restore(session, path)
    np.testing.assert_array_equal(session.run(y, feeds), first)


def test_a_variable_of_another_shape(session):
    x = tf.placeholder(tf.float32, [3, 96])
    w = tf.Variable(np.ones(SHAPE, np.float32), validate_shape=False)
    y = tf.matmul(x, tf.reshape(tf.transpose(w), [96, -1]) * 2.0)
    change = tf.assign(w, tf.placeholder(tf.float32, [None, None], name="new"), validate_shape=False)
    session.run(w.initializer)
    for rows in (160, 64, 160):
        value = RNG.standard_normal((rows, 96)).astype(np.float32)
        session.run(change.op, {"new:0": value})
        for _ in range(2):
            found = session.run(y, {x: np.ones((3, 96))})
            np.testing.assert_allclose(found, np.ones((3, 96)) @ (value.T.reshape(96, -1) * 2), atol=1e-3)


def test_a_run_that_changes_its_variables_keeps_nothing_of_them(session):
    y, feeds, (w, scale) = network()
    step = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(y)), var_list=[w])
    session.run(tf.global_variables_initializer())
    before = session.run(w)
    session.run([y, step], feeds)
    made = session.plans[-1].compiled[0]
    assert made.program.kept and [variable.name for variable in made.decisive] == ["scale"]
    assert not np.array_equal(session.run(w), before)
    np.testing.assert_allclose(session.run(y, feeds), reference(y, feeds, session, [w, scale]), atol=1e-4)


def test_a_python_function_may_change_any(session):
    y, feeds, (w, scale) = network()
    doubled = np.full(16, 5.0, np.float32)
    session.run(tf.global_variables_initializer())

    def change():
        scale.load(doubled, session)
        return np.float32(0)

    changed = tf.py_func(change, [], tf.float32)
    changed.set_shape([])
    with tf.control_dependencies([changed]):
        late = y + 0.0 * tf.reduce_sum(scale.read_value())
    session.run(late, feeds)
    assert not programs(session)[-1].kept
    np.testing.assert_allclose(session.run(late, feeds), reference(y, feeds, session, [w, scale]), atol=1e-4)


def test_what_is_made_of_constants(session):
    """A frozen graph's filters."""
    x = tf.placeholder(tf.float32, [None, 9, 9, 8])
    w = tf.constant(RNG.standard_normal((3, 3, 16, 8)).astype(np.float32))
    y = tf.nn.conv2d_transpose(x, w, [tf.shape(x)[0], 18, 18, 16], [1, 2, 2, 1])
    value = RNG.standard_normal((2, 9, 9, 8)).astype(np.float32)
    found = [session.run(y, {x: value}) for _ in range(2)]
    assert programs(session)[0].kept == 1
    with tf.Session(jit="off") as other:
        for result in found:
            np.testing.assert_allclose(result, other.run(y, {x: value}), atol=1e-4)


def test_there_is_a_limit(session, monkeypatch):
    monkeypatch.setattr(targets.CPU, "tuning", dataclasses.replace(targets.CPU.tuning, kept=1000))
    y, feeds, _ = network()
    session.run(tf.global_variables_initializer())
    session.run(y, feeds)
    assert programs(session)[-1].kept == 1          # the scale's, of 64 bytes


def test_threads(session):
    """While one thread trains, others see whole filters: those before a step, or those after it."""
    x = tf.placeholder(tf.float32, [4, 96])
    w = tf.Variable(np.ones(SHAPE[::-1], np.float32))
    y = tf.matmul(x, tf.tanh(w) * 0.0 + w, transpose_b=True)
    more = tf.assign_add(w, tf.ones(SHAPE[::-1]))
    session.run(w.initializer)
    wrong, stop = [], threading.Event()

    def look():
        last = 0.0
        while not stop.is_set():
            found = session.run(y, {x: np.ones((4, 96))})
            if found.min() != found.max() or found.min() < last:
                wrong.append(found)
            last = found.min()

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        session.run(more)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert session.run(y, {x: np.ones((4, 96))}).max() == 96 * 201


def test_what_shows_programs_says_so(session, monkeypatch, capsys):
    y, feeds, _ = network()
    session.run(tf.global_variables_initializer())
    monkeypatch.setenv("JITGRAPH_SHOW", "plan")
    session.run(y, feeds)
    assert capsys.readouterr().err.count("runs only when a variable has changed") == 2
