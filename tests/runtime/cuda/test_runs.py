"""Runs of graphs on simulated devices: what is launched, what is copied, and where variables are."""
import gc
import sys
import threading

import numpy as np
import pytest

from jitgraph.runtime.cuda import machine
from jitgraph.runtime.cuda.fake import FakeDriver

from .drivers import use


class Counted(FakeDriver):
    """A fake driver that counts copies, and says what it was asked for."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.asked, self.waits = [], 0

    def to_device(self, address, array, stream):
        self.asked.append("up")
        super().to_device(address, array, stream)

    def to_host(self, array, address, stream):
        self.asked.append("down")
        super().to_host(array, address, stream)

    def launch_graph(self, graph, stream):
        self.asked.append("graph")
        super().launch_graph(graph, stream)

    def launch(self, function, *given):
        self.asked.append("launch")
        super().launch(function, *given)

    def synchronize(self, stream):
        self.waits += 1
        super().synchronize(stream)


@pytest.fixture
def driver(monkeypatch):
    return use(monkeypatch, Counted())


def asked(driver, run):
    """What a run asks of the driver."""
    driver.asked.clear()
    run()
    return list(driver.asked)


def test_the_first_run_launches_and_the_second_makes_a_graph(tf, driver):
    x = tf.placeholder(tf.float32, [4, 4])
    y = tf.reduce_sum(tf.nn.softmax(x) * x)
    value = np.eye(4, dtype=np.float32)
    with tf.Session(jit="always") as session:
        run = lambda: results.append(session.run(y, {x: value}))
        results = []
        first = asked(driver, run)
        assert "launch" in first and "graph" not in first
        assert asked(driver, run) == ["up", *["launch"] * first.count("launch"), "down", "graph"]      # noted, then done
        value = value * 2
        assert asked(driver, run) == ["graph"]          # feeds and answers are part of it
    np.testing.assert_allclose(results, [1.9002, 1.9002, 5.6925], rtol=1e-3)


def test_variables_stay_on_the_device(tf, driver):
    v = tf.Variable(np.ones([64, 64], np.float32))
    more = tf.assign_add(v, tf.ones([64, 64])).op
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        session.run(more)
        assert asked(driver, lambda: session.run(more)) == ["launch", "graph"]      # it cannot fail: nothing is to be looked at
        session.run(more)
        assert asked(driver, lambda: session.run(more)) == ["graph"]
        assert (session.run(v) == 5).all()
        variable = session._state.variable(v.op)
        assert variable.valid == {0} or 0 in variable.valid
        assert (variable.value() == 5).all() and variable.valid >= {0, -1}
        assert asked(driver, lambda: session.run(more)) == ["graph"]            # reading did not move it


def test_a_run_that_neither_takes_nor_gives_anything_waits_for_nothing(tf, driver):
    """The host may be as many steps ahead as the driver lets it; what is fed through the letter box waits for the run before."""
    v, x = tf.Variable(tf.zeros([8])), tf.placeholder(tf.float32, [8])
    more, fed = tf.assign_add(v, tf.ones([8])).op, tf.assign_add(v, x).op
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for step, feeds, waits in ((more, None, 0), (fed, {x: np.full(8, 10.0)}, 5)):
            for _ in range(3):
                session.run(step, feeds)
            driver.waits = 0
            driver.asked.clear()
            for _ in range(5):
                session.run(step, feeds)
            assert driver.asked == ["graph"] * 5
            assert driver.waits == waits
        assert (session.run(v) == 88).all()


def test_answers_come_with_the_part_that_made_them(tf, driver):
    """Small results of an early part, of one before a step of the host, and of one that may fail."""
    x, at = tf.placeholder(tf.float32, [5]), tf.placeholder(tf.int32, [])
    v = tf.Variable(np.zeros([5], np.float32))
    first = tf.reduce_sum(tf.exp(x))
    with tf.control_dependencies([first]):
        taken = tf.gather(x * 2.0, at)
    with tf.control_dependencies([taken]):
        more = tf.assign_add(v, tf.exp(x))
    with tf.control_dependencies([more]):
        called = tf.py_func(lambda a: a + 1, [x], tf.float32)
        last = tf.reduce_sum(tf.sqrt(called))
    value = np.arange(5, dtype=np.float32)
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for k in range(1, 5):
            found = session.run([first, taken, last, more], {x: value, at: k})
            wanted = [np.exp(value).sum(), 2 * k, np.sqrt(value + 1).sum(), k * np.exp(value)]
            for one, other in zip(found, wanted):
                np.testing.assert_allclose(one, other, rtol=1e-5)
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices = 5 is not in \[0, 5\)"):
                session.run([first, taken, last, more], {x: value, at: 5})
        assert {"graph"} <= set(asked(driver, lambda: session.run([first, taken, last, more], {x: value, at: 1})))


def test_what_the_host_writes_is_brought_to_the_device(tf, driver):
    v = tf.Variable(np.ones([3], np.float32))
    more = tf.assign_add(v, [1.0, 2.0, 3.0])
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for _ in range(3):
            session.run(more.op)
        v.load([0.0, 0.0, 0.0], session)
        assert session.run(more).tolist() == [1, 2, 3]
        session._state.assign(v.op, np.float32([5, 5, 5]))
        assert session.run(more).tolist() == [6, 7, 8]


def test_savers_find_the_newest_values(tf, driver, tmp_path):
    v = tf.Variable(np.zeros([3], np.float32), name="v")
    more = tf.assign_add(v, [1.0, 2.0, 3.0]).op
    saver = tf.train.Saver()
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for _ in range(3):
            session.run(more)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(more)
        saver.restore(session, path)
        assert session.run(v).tolist() == [3, 6, 9]
        session.run(more)
        assert session.run(v).tolist() == [4, 8, 12]
    assert tf.train.load_variable(path, "v").tolist() == [3, 6, 9]


@pytest.mark.parametrize("target", ["cpu", "cuda-simulator"])
def test_a_failed_run_leaves_variables_as_on_the_cpu(tf, monkeypatch, target):
    """What was changed before the failing operation stays changed, what would have been changed after it is not."""
    monkeypatch.setenv("JITGRAPH_TARGET", target)
    before, after = tf.Variable(tf.zeros([4])), tf.Variable(tf.zeros([4]))
    i = tf.placeholder(tf.int32, [2])
    with tf.control_dependencies([tf.assign_add(before, tf.ones([4]))]):
        picked = tf.gather(tf.sqrt(tf.placeholder_with_default([1.0, 1.0], [2])), i, name="picked")
    step = tf.assign_add(after, tf.ones([4]) * tf.reduce_max(picked)).op
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step, {i: [0, 1]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="picked"):
            session.run(step, {i: [0, 7]})
        assert session.run([before[0], after[0]]) == [3, 2]
        session.run(step, {i: [1, 1]})
        assert session.run([before[0], after[0]]) == [4, 3]


def test_two_sessions_and_several_threads_at_once(tf, driver):
    v = tf.Variable(tf.zeros([40]))
    x = tf.placeholder(tf.float32, [])
    more = tf.assign_add(v, tf.fill([40], x)).op
    sessions = [tf.Session(jit="always") for _ in range(2)]
    for session in sessions:
        session.run(v.initializer)
    threads = [threading.Thread(target=lambda s=session: [s.run(more, {x: 1.0}) for _ in range(6)]) for session in sessions * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for session in sessions:
        assert (session.run(v) == 12).all()
        session.close()


def test_memory_comes_back_with_the_session(tf, driver):
    x = tf.placeholder(tf.float32, [None, 300])
    y = tf.nn.softmax(tf.cumsum(x)) * 2.0
    device = machine._MACHINES[1].devices[0]
    for _ in range(2):
        with tf.Session(jit="always") as session:
            for rows in (2, 5, 9):
                session.run(y, {x: np.ones((rows, 300))})
            del session
        gc.collect()
    assert device.in_use() == 0 and device.used > 0
    device.trim()
    assert device.used == 0 and driver.memory(0)[0] == driver.memory(0)[1]


def test_too_little_memory_is_told_with_the_bytes(tf, monkeypatch):
    use(monkeypatch, Counted(memory=1 << 16))
    x = tf.placeholder(tf.float32, [600, 600])
    y = tf.exp(x) * 2.0
    with tf.Session(jit="always") as session, pytest.raises(tf.errors.ResourceExhaustedError,
                                                           match=r"OOM when allocating 2880000 bytes on /device:GPU:0"):
        session.run(tf.reduce_sum(tf.nn.softmax(y)), {x: np.ones((600, 600))})


def towers(tf, count, where):
    """A step of gradient descent on the mean of the gradients of towers, each on a device of its own, and their losses."""
    x = tf.placeholder(tf.float32, [2 * count, 3])
    with tf.device(where):
        w = tf.Variable(tf.ones([3, 2]))
    optimizer, losses, gradients = tf.train.GradientDescentOptimizer(0.1), [], []
    for k in range(count):
        with tf.device(f"/gpu:{k}"):
            h = tf.reduce_sum(tf.expand_dims(x[2 * k:2 * k + 2], 2) * w, 1)
            losses.append(tf.reduce_sum(tf.square(h - 1.0)))
            gradients.append(optimizer.compute_gradients(losses[-1], [w])[0][0])
    with tf.device(where):
        train = optimizer.apply_gradients([(tf.add_n(gradients) / count, w)])
    return x, w, losses, train


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("where", ["/cpu:0", "/gpu:0", "/gpu:1"])
def test_towers_train_as_on_one_machine(tf, monkeypatch, count, where):
    x, w, losses, train = towers(tf, count, where)
    value = np.arange(6 * count).reshape(2 * count, 3) / 10.0
    found = {}
    for target in ("cpu", f"cuda-simulator:{count}"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
            session.run(w.initializer)
            found[target] = [session.run([losses, train], {x: value})[0] for _ in range(4)], session.run(w)
            used = {step.device for plan in session.plans for c in plan.compiled for step in c.launches}
            assert used == (set() if target == "cpu" else set(range(count)))
    for here, there in zip(found["cpu"], found[f"cuda-simulator:{count}"], strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-5)


def test_a_value_goes_from_device_to_device(tf, monkeypatch):
    """And a variable that one device changes is read by another in the same run."""
    use(monkeypatch, Counted(2))
    x = tf.placeholder(tf.float32, [5])
    with tf.device("/gpu:0"):
        v = tf.Variable(tf.zeros([5]))
        changed = tf.assign_add(v, tf.exp(x))
    with tf.device("/gpu:1"):
        y = tf.sqrt(changed + 1.0)
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        for k in range(1, 5):
            np.testing.assert_allclose(session.run(y, {x: np.zeros(5)}), np.sqrt(np.full(5, k + 1.0)), rtol=1e-6)


def test_a_feed_that_is_fetched_is_no_variable(tf, driver):
    x, v = tf.placeholder(tf.float32, []), tf.Variable(1.0)
    more = tf.assign_add(v, 1.0).op
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        with tf.control_dependencies([more]):
            y = tf.identity(x)
        assert [session.run(y, {x: 3.0}) for _ in range(3)] == [3.0] * 3 and session.run(v) == 4.0


@pytest.mark.parametrize("shape, axis", [([1, 1], None), ([1, 1], 0), ([1, 1], 1), ([1], 0), ([1, 5], 0), ([5, 1], 1)])
def test_a_sum_of_one_element_beside_a_change_of_it(tf, driver, shape, axis):
    """One kernel sums up what the variable was and changes it: no other thread than that which does both has to load it."""
    v = tf.Variable(np.full(shape, 2.0, np.float32))
    y = tf.tanh(v * 1.5)
    total = tf.reduce_sum(y * y, axis)
    step = tf.train.MomentumOptimizer(0.1, 0.5).minimize(tf.reduce_sum(total))
    found = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            found.append([*(session.run([total, y, step])[:2] for _ in range(3)), [session.run(v)]])
    for wanted, got in zip(*found):
        for one, other in zip(wanted, got):
            np.testing.assert_allclose(other, one, rtol=1e-4)


def test_no_python_code_runs_when_memory_is_given_back(driver):
    """In such code an interrupt would be lost: a loop that gives memory back all the time might not be stopped."""
    made = machine.Machine(driver)
    given = [made.devices[0].take(100), made.pinned(100), machine.OwnedGraph(made, None)]
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append((event, frame.f_code.co_name)) if event == "call" else None)
    del given[:]
    sys.setprofile(None)
    assert not calls
    assert made.devices[0].in_use() == 0 and len(made.returns.come()) == len(made.dead.come()) == 1


def test_an_interrupt_leaves_no_capture_open(driver):
    made = machine.Machine(driver)
    stream = made.devices[0].stream

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.captured(stream, interrupted)
    driver.synchronize(stream)
    begin = driver.begin_capture
    driver.begin_capture = lambda given: (begin(given), interrupted())      # it comes right behind the beginning
    with pytest.raises(KeyboardInterrupt):
        made.captured(stream, lambda: None)
    driver.synchronize(stream)
