"""Runs whose host does the same each time: after some they are a few graphs, whatever loops and TensorArrays are in them."""
import threading
from collections import Counter

import numpy as np
import pytest

from jitgraph.runtime.cuda import repeats
from jitgraph.runtime.cuda.fake import FakeDriver
from jitgraph.runtime.cuda.machine import machine_of

from .drivers import use

RUNS = 7


class Counted(FakeDriver):
    """A fake driver that counts what it is asked for, but not what is noted for a graph."""

    def __init__(self, devices=1, **more):
        super().__init__(devices, **more)
        self.asked, self.capturing = Counter(), False

    def begin_capture(self, stream):
        self.capturing = True
        super().begin_capture(stream)

    def end_capture(self, stream):
        self.capturing = False
        return super().end_capture(stream)


def _counts(name):
    def call(self, *given):
        self.asked[name] += not self.capturing
        return getattr(FakeDriver, name)(self, *given)

    return call


for _name in ("launch", "launch_graph", "on_device", "to_device", "to_host", "fill", "synchronize"):
    setattr(Counted, _name, _counts(_name))

ONE_GRAPH = {"launch_graph": 1}         # and nothing else, but waits


@pytest.fixture
def driver(monkeypatch):
    return use(monkeypatch, Counted())


def compared(tf, monkeypatch, driver, fetches, feeds, runs=RUNS, always=()):
    """Runs on the device and on the host give the same, each with feeds `feeds(number)`; what each asked the driver for.

    `always`: operations of the runs before the first, whose results are not compared.
    """
    config, flatten = tf.ConfigProto(allow_soft_placement=True), tf.contrib.framework.nest.flatten
    found, asked = [], []
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    with tf.Session(jit="always", config=config) as session:
        session.run([tf.global_variables_initializer(), *always])
        state = {v: session.run(v) for v in tf.global_variables()}
        for number in range(runs):
            driver.asked.clear()
            found.append(session.run(fetches, feeds(number)))
            asked.append(dict(driver.asked))
            asked[-1].pop("synchronize", None)
    monkeypatch.setenv("JITGRAPH_TARGET", "cpu")
    with tf.Session(jit="always", config=config) as session:
        for v, value in state.items():
            v.load(value, session)
        wanted = [session.run(fetches, feeds(number)) for number in range(runs)]
    for here, there in zip(found, wanted, strict=True):
        for a, b in zip(flatten(here), flatten(there), strict=True):
            if a is not None:           # as what is fetched of a step is
                np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)
    return asked


def values(number, *shape):
    return np.sin(np.arange(np.prod(shape)) * (number + 1)).reshape(shape).astype(np.float32) * 0.7


def trained(tf, loss, optimizer=None):
    return [(optimizer or tf.train.AdamOptimizer(0.05)).minimize(loss), loss]


def language_model(tf):
    """Words -> the loss of a dynamic recurrent network."""
    words, targets = tf.placeholder(tf.int32, [2, 5]), tf.placeholder(tf.int32, [2, 5])
    table = tf.get_variable("table", [7, 4], initializer=tf.random_normal_initializer(seed=1))
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), tf.nn.embedding_lookup(table, words), dtype=tf.float32)
    logits = tf.layers.dense(outputs, 7, kernel_initializer=tf.random_normal_initializer(seed=2))
    return words, targets, tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits))


def sentences(number):
    return np.random.RandomState(number).randint(0, 7, (2, 5))


def test_a_step_of_a_recurrent_network_is_two_graphs(tf, driver, monkeypatch):
    """One until what may fail is looked at, and one that changes the variables."""
    words, targets, loss = language_model(tf)
    asked = compared(tf, monkeypatch, driver, trained(tf, loss, tf.train.GradientDescentOptimizer(0.1)),
                     lambda k: {words: sentences(k), targets: sentences(k + 50)})
    assert asked[-1] == asked[-2] == {"launch_graph": 2}


def test_a_forward_pass_is_one_graph(tf, driver, monkeypatch):
    x = tf.placeholder(tf.float32, [3, 6, 4])
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(5), x, dtype=tf.float32)
    asked = compared(tf, monkeypatch, driver, [outputs * 2.0, state + 1.0], lambda k: {x: values(k, 3, 6, 4)})
    assert asked[-1] == ONE_GRAPH


def test_large_feeds_and_results(tf, driver, monkeypatch):
    """They are copied from and to where the caller has them, each time, between graphs."""
    monkeypatch.setattr("jitgraph.runtime.cuda.frame.MAILED", 16)
    monkeypatch.setattr("jitgraph.runtime.cuda.frame.SMALL", 16)
    x, y = tf.placeholder(tf.float32, [4, 3, 5]), tf.placeholder(tf.float32, [3, 5])
    mapped = tf.map_fn(lambda row: tf.tanh(row) * 2.0, x)
    total = tf.scan(lambda a, row: a * 0.5 + row, mapped, initializer=y)
    asked = compared(tf, monkeypatch, driver, [mapped, total + 1.0], lambda k: {x: values(k, 4, 3, 5), y: values(k + 9, 3, 5)})
    assert asked[-1].pop("launch_graph") <= 3 and asked[-1] == {"to_device": 2, "to_host": 2}


def test_a_loop_whose_body_asks_for_rows(tf, driver, monkeypatch):
    """A body that may fail is done round by round, but is the same in all runs."""
    table, start = tf.placeholder(tf.float32, [6, 3]), tf.placeholder(tf.int32, [2])

    def body(i, index, total):
        return i + 1, tf.mod(index + 1, 6), total + tf.gather(table, index)

    _, _, total = tf.while_loop(lambda i, *_: i < 5, body, (0, start, tf.zeros([2, 3])))
    asked = compared(tf, monkeypatch, driver, [total + 1.0], lambda k: {table: values(k, 6, 3), start: [k % 6, (k + 2) % 6]})
    assert asked[-1] == ONE_GRAPH


def test_a_body_that_fails_says_so_and_later_runs_go_on(tf, driver):
    table, start = tf.placeholder(tf.float32, [6, 3]), tf.placeholder(tf.int32, [2])
    counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer())
    _, _, total = tf.while_loop(lambda i, *_: i < 5, lambda i, index, total: (i + 1, index + 1, total + tf.gather(table, index)),
                                (0, start, tf.zeros([2, 3])))
    with tf.control_dependencies([total]):
        step = counter.assign_add(1.0)
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(counter.initializer)
        give = lambda first: session.run([total, step], {table: np.ones([6, 3]), start: [first, 0]})
        for _ in range(5):
            give(1)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 6 is not in \[0, 6\)"):
            give(2)
        assert session.run(counter) == 5
        result, count = give(0)
        assert count == 6 and np.all(result == 5)


def test_a_kernel_that_fails_in_a_repeated_run_changes_nothing(tf, driver):
    words, targets, loss = language_model(tf)
    step = trained(tf, loss)
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        feeds = {words: sentences(1), targets: sentences(2)}
        for _ in range(6):
            session.run(step, feeds)
        driver.asked.clear()
        before = session.run(tf.global_variables())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 9 is not in \[0, 7\)"):
            session.run(step, {words: np.full([2, 5], 9), targets: sentences(2)})
        for a, b in zip(before, session.run(tf.global_variables())):
            np.testing.assert_array_equal(a, b)
        session.run(step, feeds)


@pytest.mark.parametrize("fed", [3, 5])
def test_a_number_that_is_fed_is_looked_at_each_time(tf, driver, monkeypatch, fed):
    count, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [2])
    _, y, all_y = tf.while_loop(lambda i, *_: i < count, lambda i, a, array: (i + 1, a * 1.5, array.write(i, a)),
                                (0, x, tf.TensorArray(tf.float32, 9)))
    compared(tf, monkeypatch, driver, [y, all_y.size()], lambda k: {count: (k * fed) % 7, x: values(k, 2)})


def test_lengths_that_are_fed(tf, driver, monkeypatch):
    """How long the loop runs depends on them, and which rows are kept: there is a recording for each of some lengths."""
    x, lengths = tf.placeholder(tf.float32, [3, 6, 4]), tf.placeholder(tf.int32, [3])
    outputs, state = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(3), x, lengths,
                                                     dtype=tf.float32)
    loss = tf.reduce_sum(tf.concat(outputs, 2) ** 2)
    some = [[6, 2, 5], [6, 6, 0], [3, 2, 1]]
    asked = compared(tf, monkeypatch, driver, [[one * 1.0 for one in (*outputs, *state)], tf.gradients(loss, x)],
                     lambda k: {x: values(k, 3, 6, 4), lengths: some[k % 3]}, runs=12)
    assert not any("launch" in one for one in asked[-3:])


def test_a_mask_that_is_fed(tf, driver, monkeypatch):
    """A loop hands on what was fed without a look at it."""
    x, mask = tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.int32, [3])
    total = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.where(mask > i, a + x[i], a)), (0, tf.zeros([3])))[1]
    asked = compared(tf, monkeypatch, driver, [total], lambda k: {x: values(k, 4, 3), mask: [k % 5, (k + 1) % 5, 2]})
    assert asked[-1].keys() <= {"launch_graph", "to_host"}


def test_loops_that_run_as_long_as_values_say(tf, driver, monkeypatch):
    """By the condition, or by a number that the body computes of a value."""
    x = tf.placeholder(tf.float32, [3])
    _, grown = tf.while_loop(lambda i, a: tf.reduce_sum(a) < 20.0, lambda i, a: (i + 1, a * 1.5 + 1.0), (0, x))
    number, less = tf.while_loop(lambda i, a: i < 12, lambda i, a: (i + 1 + tf.cast(tf.reduce_max(a), tf.int32), a * 0.9), (0, x))
    compared(tf, monkeypatch, driver, [grown * 2.0, number, less + 1.0], lambda k: {x: [1.0, 0.5 * k, 0.2 * k]})


def test_branches_by_what_is_fed(tf, driver, monkeypatch):
    flag, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3, 2])
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    y = tf.cond(flag, lambda: array.stack() * 2.0, lambda: array.stack() + 1.0)
    asked = compared(tf, monkeypatch, driver, [y + 1.0], lambda k: {flag: k % 2 == 0, x: values(k, 3, 2)})
    assert asked[-1] == asked[-2] == ONE_GRAPH


def dropping(tf, x, lengths=None):
    """The loss of a network that drops inputs and outputs of its cells, and outputs of a layer."""
    tf.set_random_seed(7)
    cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), input_keep_prob=0.8, output_keep_prob=0.5)
             for _ in range(2)]
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), x, lengths, dtype=tf.float32)
    return tf.reduce_sum(tf.layers.dropout(tf.layers.dense(outputs, 3), 0.4, training=True) ** 2)


def test_random_numbers_are_new_in_each_run_and_those_of_the_host(tf, driver, monkeypatch):
    """They are reserved before a run: for what a loop draws, too, which is one graph all the same."""
    x = tf.placeholder(tf.float32, [2, 5, 4])
    loss = dropping(tf, x)
    asked = compared(tf, monkeypatch, driver, [loss, *tf.gradients(loss, tf.trainable_variables())],
                     lambda k: {x: values(1, 2, 5, 4)})
    assert asked[-1] == {**ONE_GRAPH, "to_host": 4}         # the sums that loops give


def test_what_a_run_reserved_that_is_another_is_given_back(tf, driver, monkeypatch):
    """The lengths show in the middle of it that the run is not the one that was recorded."""
    x, lengths = tf.placeholder(tf.float32, [2, 5, 4]), tf.placeholder(tf.int32, [2])
    loss = dropping(tf, x, lengths)
    asked = compared(tf, monkeypatch, driver, [loss, *tf.gradients(loss, tf.trainable_variables())],
                     lambda k: {x: values(1, 2, 5, 4), lengths: [[5, 2], [3, 1], [2, 4]][k % 3]}, runs=13)
    assert not any("launch" in one for one in asked[-3:])


def test_results_that_stay_are_the_callers_own(tf, driver):
    x = tf.placeholder(tf.float32, [3, 2])
    loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + x[i]), (0, tf.zeros([2])))[1]
    with tf.Session(jit="always") as session:
        found = [session.run_on_devices([loop, loop * 2.0], {x: np.full([3, 2], k)}) for k in range(RUNS)]
    for k, (total, twice) in enumerate(found):
        assert hasattr(total, "__cuda_array_interface__") and hasattr(twice, "__cuda_array_interface__")
        np.testing.assert_array_equal(np.asarray(total), [3 * k] * 2)
        np.testing.assert_array_equal(np.asarray(twice), [6 * k] * 2)


def test_a_step_that_has_effects_is_done_each_time(tf, driver):
    x, seen = tf.placeholder(tf.float32, [3, 2]), []
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    total = tf.py_func(lambda a: seen.append(1) or a.sum(0), [array.stack()], tf.float32)
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        for number in range(RUNS):
            np.testing.assert_allclose(session.run(total, {x: np.full([3, 2], number)}), [3 * number] * 2)
    assert len(seen) == RUNS


def test_variables_that_the_program_writes_between_runs(tf, driver):
    x = tf.placeholder(tf.float32, [2, 3])
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    total = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), (0, x))[1]
    step = w.assign_add([1.0, 0.0, 0.0])
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(w.initializer)
        for number in range(12):
            if number % 3 == 2:
                w.load([number, 1.0, 1.0], session)
            elif number % 3 == 1:
                session.run(step)
            wanted = session.run(w) ** 3
            np.testing.assert_allclose(session.run(total, {x: np.ones([2, 3])}), [wanted, wanted], rtol=1e-6)


def test_other_sizes_and_other_fetches_share_the_bodies(tf, driver, monkeypatch):
    """A body's frames belong to a recording: other runs of the body do not disturb it, nor it them."""
    x = tf.placeholder(tf.float32, [None, 3])
    looped = lambda factor: tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.tanh(a) * factor), (0, x))[1]
    first, second = looped(1.5), looped(0.5)
    fetches = [[first], [second], [first, second], [first * 2.0]]
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    with tf.Session(jit="always") as session:
        for number in range(40):
            rows, wanted = 2 + number % 3, {}
            a = values(number, rows, 3)
            for name, factor in (("first", 1.5), ("second", 0.5)):
                b = a
                for _ in range(4):
                    b = np.tanh(b) * factor
                wanted[name] = b
            k = number * 7 % 4
            found = session.run(fetches[k], {x: a})
            for one, name in zip(found, [["first"], ["second"], ["first", "second"], ["first"]][k]):
                np.testing.assert_allclose(one, wanted[name] * (2 if k == 3 else 1), rtol=1e-5, atol=1e-6)


def test_several_threads(tf, driver):
    x = tf.placeholder(tf.float32, [4, 3])
    w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
    total = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + x[i] * w), (0, tf.zeros([3])))[1]
    failed = []
    with tf.Session(jit="always") as session:
        session.run(w.initializer)

        def work(start):
            try:
                for number in range(start, start + 15):
                    a = values(number, 4, 3)
                    np.testing.assert_allclose(session.run(total, {x: a}), a[:3].sum(0), rtol=1e-5, atol=1e-6)
            except BaseException as error:      # which the test is to tell
                failed.append(error)

        threads = [threading.Thread(target=work, args=(20 * k,)) for k in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failed


def test_a_constant_result_is_the_callers_own(tf, driver):
    x = tf.placeholder(tf.float32, [3, 2])
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    with tf.Session(jit="always") as session:
        for number in range(RUNS):
            size, rows = session.run([array.size(), array.stack()], {x: values(number, 3, 2)})
            assert size == 3
            np.testing.assert_array_equal(rows, values(number, 3, 2))
            rows[...] = -1.0


def test_recordings_give_way_where_memory_is_short(tf, monkeypatch):
    """What all iterations leave serves every run; each recording keeps its own, as long as there is enough."""
    use(monkeypatch, Counted(memory=16 << 20))
    x = tf.placeholder(tf.float32, [None, 64])
    _, rows = tf.while_loop(lambda i, _: i < 40, lambda i, rows: (i + 1, rows.write(i, x * tf.cast(i, tf.float32))),
                            (0, tf.TensorArray(tf.float32, 40)))
    y = tf.reduce_sum(tf.square(rows.stack()), 0)
    dropped = []
    drop = repeats.Repeats.drop
    monkeypatch.setattr(repeats.Repeats, "drop", lambda self: dropped.append(len(self.records)) or drop(self))
    with tf.Session(jit="always") as session:
        for number in range(60):
            a = values(number, 100 + number // 6, 64)
            np.testing.assert_allclose(session.run(y, {x: a}), np.square(a) * sum(i * i for i in range(40)), rtol=1e-5)
    assert any(dropped)


def test_memory_is_given_back_with_the_session(tf, driver, monkeypatch):
    words, targets, loss = language_model(tf)
    step = trained(tf, loss)
    device = machine_of(_target()).devices[0]
    before = device.in_use()
    with tf.Session(jit="always", config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        for number in range(RUNS):
            session.run(step, {words: sentences(number), targets: sentences(number)})
    del session
    import gc
    gc.collect()
    assert device.in_use() == before


def _target():
    from jitgraph.compiler import targets

    return targets.present()


def test_it_can_be_switched_off(tf, driver, monkeypatch):
    monkeypatch.setenv("JITGRAPH_WITHOUT", "repeated_runs")
    monkeypatch.setattr(repeats.Repeats, "run", None)         # would be called otherwise
    x = tf.placeholder(tf.float32, [3, 6, 4])
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(5), x, dtype=tf.float32)
    compared(tf, monkeypatch, driver, [outputs], lambda k: {x: values(k, 3, 6, 4)})
