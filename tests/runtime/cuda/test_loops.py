"""Loops whose bodies run on devices: what is copied between two iterations, and that nobody waits."""
import threading
from collections import Counter

import numpy as np
import pytest

from jitgraph.runtime.cuda.fake import FakeDriver

from .drivers import use


class Counted(FakeDriver):
    """A fake driver that counts what it is asked for."""

    def __init__(self):
        super().__init__()
        self.asked = Counter()

    def to_device(self, address, array, stream):
        self.asked["bytes up"] += array.nbytes
        super().to_device(address, array, stream)

    def to_host(self, array, address, stream):
        self.asked["down"] += 1
        super().to_host(array, address, stream)

    def synchronize(self, stream):
        self.asked["waited"] += 1
        super().synchronize(stream)


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setenv("JITGRAPH_WITHOUT", "repeated_runs")     # by which such programs would ask for less
    return use(monkeypatch, Counted())


def on_cpu(tf, monkeypatch, fetches, feeds):
    """Values of the initial graph by the host."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cpu")
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def asked(driver, session, fetches, feeds):
    """What a run asks of the driver once all is compiled, and its results."""
    for _ in range(2):
        session.run(fetches, feeds)
    driver.asked.clear()
    return session.run(fetches, feeds), Counter(driver.asked)


def recurrent(tf, steps):
    """A recurrent network over a placeholder [batch, steps, 3], and the gradients of its loss."""
    x = tf.placeholder(tf.float32, [2, steps, 3])
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    cell.build((2, 3))
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(outputs))
    return x, [loss, *tf.gradients(loss, tf.trainable_variables())]


def test_values_of_loops_stay_on_the_device(tf, driver, monkeypatch):
    """However many iterations there are, forward and backward: the host waits as often, and copies as much of results."""
    tf.set_random_seed(1)
    found = {}
    for steps in (2, 4):
        tf.reset_default_graph()
        tf.set_random_seed(1)
        x, fetches = recurrent(tf, steps)
        value = np.sin(np.arange(6 * steps)).reshape(2, steps, 3)
        monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator:1")
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            results, found[steps] = asked(driver, session, fetches, {x: value})
            state = {v.op: session.run(v) for v in tf.global_variables()}
        expected = on_cpu(tf, monkeypatch, fetches, {x: value, **{v: state[v.op] for v in tf.global_variables()}})
        for here, there in zip(results, expected, strict=True):
            np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-6)
    assert found[2]["waited"] == found[4]["waited"] and found[2]["down"] == found[4]["down"]


def test_numbers_that_count_are_computed_by_the_host(tf, driver):
    a = tf.placeholder(tf.float32, [4, 4])
    _, power = tf.while_loop(lambda i, p: i < 5, lambda i, p: (i + 1, tf.matmul(p, a)), (0, tf.eye(4)))
    with tf.Session(jit="always") as session:
        result, found = asked(driver, session, power, {a: np.eye(4) * 2})
        assert (result == np.eye(4) * 32).all() and found["down"] == 1
        launched = {step.kernel.name for c in session._state.functions.values() for plan, _ in c.functions[1].plans.values()
                    for compiled in plan.compiled for step in compiled.launches}
        assert len(launched) == 1           # the product: no kernel counts


def test_a_condition_on_what_the_device_computes_is_fetched_by_a_small_copy(tf, driver):
    x = tf.placeholder(tf.float32, [8])
    count, y = tf.while_loop(lambda i, a: tf.reduce_max(a) < 100.0, lambda i, a: (i + 1, a * 2.0), (0, x))
    with tf.Session(jit="always") as session:
        result, found = asked(driver, session, [count, y], {x: np.ones(8)})
        assert result[0] == 7 and (result[1] == 128).all()
        assert found["waited"] <= 10 and found["bytes up"] < 200


def test_a_run_does_not_see_what_an_earlier_one_left(tf, driver):
    """Variables that loops take, change and hand on as they are."""
    v = tf.Variable(tf.ones([3]))
    x = tf.placeholder(tf.float32, [3])

    def body(i, a, b):
        return i + 1, b, a + v

    _, a, b = tf.while_loop(lambda i, a, b: i < 3, body, (0, x, tf.identity(v)))
    with tf.control_dependencies([a, b]):
        more = tf.assign_add(v, [1.0, 1.0, 1.0])
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for k in range(1, 5):
            first, second, _ = session.run([a, b, more.op], {x: np.zeros(3)})
            assert first.tolist() == [2.0 * k] * 3 and second.tolist() == [2.0 * k] * 3, k


@pytest.mark.slow
def test_arrays_with_missing_elements_and_branches_in_a_loop(tf, driver, monkeypatch):
    x = tf.placeholder(tf.float32, [5, 2])

    def body(i, array, total):
        row = x[i]
        total = tf.cond(tf.reduce_sum(row) > 0.0, lambda: total + tf.exp(row), lambda: total)
        return i + 1, array.write(i, total), total

    array = tf.TensorArray(tf.float32, 7, element_shape=[2])
    _, array, total = tf.while_loop(lambda i, a, t: i < 5, body, (0, array, tf.zeros([2])))
    y = array.stack()
    gradient, = tf.gradients(tf.reduce_sum(y * y) + tf.reduce_sum(total), x)
    value = np.cos(np.arange(10)).reshape(5, 2)
    with tf.Session(jit="always") as session:
        here = [session.run([y, total, gradient], {x: value}) for _ in range(3)]
    there = on_cpu(tf, monkeypatch, [y, total, gradient], {x: value})
    for found in here:
        for one, other in zip(found, there, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_results_behind_a_loop_stay_where_they_are_wanted(tf, driver):
    x = tf.placeholder(tf.float32, [4])
    _, array = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * 2.0)), (0, tf.TensorArray(tf.float32, 3)))
    y = tf.exp(array.stack())           # whose shape only the run knows
    with tf.Session(jit="always") as session:
        for _ in range(3):
            found = session.run_on_devices(y, {x: np.zeros(4)})
            assert hasattr(found, "__cuda_array_interface__") and (np.asarray(found) == np.ones((3, 4))).all()
            assert isinstance(session.run(y, {x: np.zeros(4)}), np.ndarray)


@pytest.mark.slow
def test_loops_of_two_sessions_at_once(tf, driver):
    x, fetches = recurrent(tf, 2)
    sessions = [tf.Session(jit="always") for _ in range(2)]
    for session in sessions:
        session.run(tf.global_variables_initializer())
    value = np.ones((2, 2, 3))
    found = [[] for _ in sessions]

    def work(k):
        for _ in range(2):
            found[k].append(sessions[k].run(fetches, {x: value}))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for runs in found:
        assert len(runs) == 2
        for one in runs[1:]:
            for a, b in zip(one, runs[0], strict=True):
                np.testing.assert_array_equal(a, b)


def test_loops_run_on_the_device_that_they_are_placed_on(tf, monkeypatch):
    """One takes what the other has made."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator:2")
    y = x = tf.placeholder(tf.float32, [3, 3])
    for device in ("/gpu:1", "/gpu:0", "/cpu:0"):
        with tf.device(device):
            factor = tf.exp(x)
            y = tf.while_loop(lambda i, a: i < 3, lambda i, a, f=factor: (i + 1, tf.matmul(a, f) * 0.5), (0, y))[1]
    value, expected = np.sin(np.arange(9)).reshape(3, 3), np.sin(np.arange(9)).reshape(3, 3)
    for _ in range(9):
        expected = expected @ np.exp(value) * 0.5
    with tf.Session(jit="always") as session:
        for _ in range(3):
            np.testing.assert_allclose(session.run(y, {x: value}), expected, rtol=1e-4)
        bodies = [plan for caller in session._state.functions.values() for plan, _ in caller.functions[1].plans.values()]
        used = [{step.device for compiled in plan.compiled for step in compiled.launches} for plan in bodies]
        assert sorted(used, key=str) == sorted([{0}, {1}, set()], key=str)


def test_a_loop_that_takes_one_value_twice_and_parts_of_it(tf, driver, monkeypatch):
    x = tf.placeholder(tf.float32, [4, 4])
    y = tf.exp(x) + 1.0
    given = (0, y, y, tf.reshape(y, [2, 8]), y[1:3], tf.transpose(y))

    def body(i, a, b, c, d, e):
        return i + 1, a * 0.5, b + a, c * tf.reduce_sum(d), d + 1.0, e * 2.0

    found = [*tf.while_loop(lambda i, *rest: i < 3, body, given)[1:], y]
    value = np.sin(np.arange(16)).reshape(4, 4)
    with tf.Session(jit="always") as session:
        here = [session.run(found, {x: value}) for _ in range(3)]
    there = on_cpu(tf, monkeypatch, found, {x: value})
    for results in here:
        for one, other in zip(results, there, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_weights_go_to_the_device_once(tf, driver, monkeypatch):
    """Whole variables and parts of one, which the host has initialised and a loop alone uses: not again in every round."""
    weights = tf.get_variable("weights", initializer=np.arange(128, dtype=np.float32).reshape(2, 8, 8) / 100)
    whole = tf.get_variable("whole", initializer=np.ones((8, 8), np.float32) / 8)
    x = tf.placeholder(tf.float32, [1, 8])
    first, second, third = weights[0], weights[1], tf.identity(whole)
    _, found = tf.while_loop(lambda k, y: k < 5, lambda k, y: (k + 1, tf.matmul(tf.tanh(tf.matmul(y, first)), second)
                                                              + tf.matmul(y, third)), [0, x])
    feeds = {x: np.ones((1, 8), np.float32)}
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        got, what = asked(driver, session, found, feeds)
    np.testing.assert_allclose(got, on_cpu(tf, monkeypatch, found, feeds), rtol=1e-5)
    assert what["bytes up"] < 256, what


def test_a_variable_that_changes_between_runs_is_brought_again(tf, driver):
    weights = tf.get_variable("weights", initializer=np.ones((2, 4), np.float32))
    part = weights[1]
    _, found = tf.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, y + part), [0, tf.zeros([4])])
    more = tf.assign_add(weights, tf.ones([2, 4]))
    with tf.Session(jit="always") as session:
        session.run(weights.initializer)
        for k in range(4):
            np.testing.assert_array_equal(session.run(found), np.full(4, 3.0 * (k + 1)))
            session.run(more)
