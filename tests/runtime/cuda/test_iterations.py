"""Iterations of loops that are asked for in a row: kernels read and write where the values are, and later runs are one graph."""
import gc
from collections import Counter

import numpy as np
import pytest

from jitgraph.runtime.cuda import iterations
from jitgraph.runtime.cuda.fake import FakeDriver

from .drivers import use


class Counted(FakeDriver):
    """A fake driver that counts what it is asked for, but not what is noted for a graph."""

    def __init__(self, devices=1):
        super().__init__(devices)
        self.asked, self.capturing = Counter(), False

    def begin_capture(self, stream):
        self.capturing = True
        super().begin_capture(stream)

    def end_capture(self, stream):
        self.capturing = False
        return super().end_capture(stream)

    def note(self, what):
        self.asked[what] += not self.capturing

    def launch(self, function, *given):
        self.note("launch")
        super().launch(function, *given)

    def launch_graph(self, graph, stream):
        self.note("graph")
        super().launch_graph(graph, stream)

    def on_device(self, *given):
        self.note("inside")
        super().on_device(*given)

    def to_host(self, *given):
        self.note("down")
        super().to_host(*given)


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.setenv("JITGRAPH_WITHOUT", "repeated_runs")     # by which such programs would ask for less
    return use(monkeypatch, Counted())


def compared(tf, monkeypatch, driver, fetches, feeds, runs=4):
    """Runs on the device and on the host give the same, each time with other values; returns what the last run asked for."""
    monkeypatch.setenv("JITGRAPH_TARGET", f"cuda-simulator:{len(driver.devices())}")
    config = tf.ConfigProto(allow_soft_placement=True)
    given = [{x: np.asarray(value) * (1 + k) for x, value in feeds.items()} for k in range(runs)]
    with tf.Session(jit="always", config=config) as session:
        session.run(tf.global_variables_initializer())
        state = {v: session.run(v) for v in tf.global_variables()}
        found = []
        for one in given:
            gc.collect()                # results of runs before give back their memory, and runs find the same addresses
            driver.asked.clear()
            found.append(session.run(fetches, one))
    monkeypatch.setenv("JITGRAPH_TARGET", "cpu")
    with tf.Session(jit="always", config=config) as session:
        for v, value in state.items():
            v.load(value, session)
        wanted = [session.run(fetches, one) for one in given]
    for here, there in zip(found, wanted, strict=True):
        for a, b in zip(here, there, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return driver.asked


def sines(*shape):
    return np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32) * 0.5


def recurrent(tf, x, units):
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(units), x, dtype=tf.float32)
    return outputs


# rows of 64 and 272 bytes, which lie one behind the other, and such with gaps; from 34 on the inputs' products are made ahead
@pytest.mark.parametrize("units", [8, 34, 5])
def test_a_recurrent_network_asks_as_often_however_long_it_is(tf, driver, monkeypatch, units):
    found = []
    for steps in (6, 12):
        tf.reset_default_graph()
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [2, steps, units])
        loss = tf.reduce_sum(tf.square(recurrent(tf, x, units)))
        found.append(compared(tf, monkeypatch, driver, [loss, *tf.gradients(loss, [x, *tf.trainable_variables()])],
                              {x: sines(2, steps, units)}))
    short, long = found
    assert long["launch"] == short["launch"] == 0 and long["graph"] == short["graph"] < 12 and long["down"] == short["down"]
    more = long["inside"] - short["inside"]
    assert short["inside"] < 40 and (more <= 18 if units == 5 else more == 0)      # rows are put together, no more
    assert short["down"] == 2           # what was fetched: neither rows nor the variables that they are multiplied by


def test_lengths_of_sequences_and_numbers_in_the_body(tf, driver, monkeypatch):
    """A kernel reads the number of the round, which the host counts: a column of them goes to the device at once."""
    x, lengths = tf.placeholder(tf.float32, [3, 7, 4]), tf.constant([7, 3, 5])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, lengths, dtype=tf.float32)
    total = tf.while_loop(lambda i, a: i < 9, lambda i, a: (i + 2, a + tf.cast(i, tf.float32) * x[0]), (1, tf.zeros([7, 4])))[1]
    asked = compared(tf, monkeypatch, driver, [outputs, state, total], {x: sines(3, 7, 4)})
    assert asked["launch"] == 0


def test_more_iterations_than_one_call_has(tf, driver, monkeypatch):
    monkeypatch.setattr(iterations, "LONGEST", 4)
    x = tf.placeholder(tf.float32, [2, 3])
    array = tf.TensorArray(tf.float32, 11)
    _, last, array = tf.while_loop(lambda i, *_: i < 11, lambda i, a, array: (i + 1, tf.tanh(a * 1.5 + x), array.write(i, a)),
                                   (0, x, array))
    asked = compared(tf, monkeypatch, driver, [last, array.stack()], {x: sines(2, 3)})
    assert asked["launch"] == 0 and 3 <= asked["graph"] < 8


def test_elements_in_reverse_and_of_different_shapes(tf, driver, monkeypatch):
    """Those of another shape have a table of their own; few alike are run one by one."""
    x = tf.placeholder(tf.float32, [12, 4])
    parts = tf.TensorArray(tf.float32, 7, infer_shape=False)
    for k in range(7):
        parts = parts.write(k, x[:3] if k < 4 else x[:1])
    out = tf.TensorArray(tf.float32, 7, infer_shape=False)
    _, out = tf.while_loop(lambda i, out: i >= 0, lambda i, out: (i - 1, out.write(i, tf.exp(parts.read(i)) + x[:1])), (6, out))
    compared(tf, monkeypatch, driver, [out.concat()], {x: sines(12, 4)})


def test_like_launches_of_a_round_read_tables_of_their_own(tf, driver, monkeypatch):
    """What becomes one launch finds its buffers in a table, of which each round has one."""
    x = tf.placeholder(tf.float32, [4])

    def body(i, a, b, c):
        return i + 1, tf.cumsum(a) * 0.3, tf.cumsum(b) * 0.2, tf.cumsum(c) * 0.1

    _, *results = tf.while_loop(lambda i, *_: i < 6, body, (0, x, x + 1.0, x * 2.0))
    compared(tf, monkeypatch, driver, results, {x: sines(4)})
    tables = [step for c in driver_plans(tf, results, x) for step in c.launches if step.kernel.batch]
    assert tables


def driver_plans(tf, results, x):
    """What was compiled of a body, in a session of its own on the simulated device."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JITGRAPH_TARGET", "cuda-simulator:1")
        with tf.Session(jit="always") as session:
            session.run(results, {x: sines(4)})
            return [compiled for caller in session._state.functions.values() for plan, _ in caller.body.plans.values()
                    for compiled in plan.compiled]


def test_variables_that_change_between_runs(tf, driver, monkeypatch):
    """A loop reads what a step of training has changed, and what the host has loaded."""
    x = tf.placeholder(tf.float32, [5, 4])
    w = tf.get_variable("w", [4, 4], initializer=tf.constant_initializer(0.1))
    _, y = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, tf.tanh(tf.matmul(a, w))), (0, x))
    loss = tf.reduce_sum(tf.square(y - 1.0))
    step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    losses = {}
    for target in ("cuda-simulator:1", "cpu"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            losses[target] = [session.run([step, loss], {x: sines(5, 4)})[1] for _ in range(5)]
            w.load(np.full([4, 4], 0.2, np.float32), session)
            losses[target] += [session.run([step, loss], {x: sines(5, 4)})[1] for _ in range(3)]
    np.testing.assert_allclose(losses["cuda-simulator:1"], losses["cpu"], rtol=1e-5)
    assert len(set(losses["cpu"])) == 8


def test_loops_on_another_device(tf, monkeypatch):
    driver = use(monkeypatch, Counted(2))
    x = tf.placeholder(tf.float32, [2, 6, 3])
    with tf.device("/gpu:1"):
        outputs = recurrent(tf, x, 4)
    with tf.device("/gpu:0"):
        total = tf.reduce_sum(outputs * 2.0)
    assert compared(tf, monkeypatch, driver, [outputs, total], {x: sines(2, 6, 3)})["launch"] == 0


def test_what_cannot_be_asked_for_in_a_row_is_run_round_by_round(tf, driver, monkeypatch):
    """A kernel that may fail, an operation of the host, and a condition on what the device computes."""
    x = tf.placeholder(tf.float32, [4])
    _, picked = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a + tf.gather(x, tf.cast(a[0] * 0.0, tf.int32))), (0, x))
    more = lambda a: tf.reshape(tf.py_func(lambda b: b + 1, [a], tf.float32), [4])
    _, called = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, more(a)), (0, x))
    _, grown = tf.while_loop(lambda i, a: tf.reduce_max(a) < 9.0, lambda i, a: (i + 1, a * 1.5 + 1.0), (0, x))
    compared(tf, monkeypatch, driver, [picked, called, grown], {x: sines(4)})
