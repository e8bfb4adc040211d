"""Loops that need nothing of each other run at the same time, each in a thread of its own."""
import threading

import numpy as np
import pytest

from jitgraph.runtime import pool, side_by_side

BATCH, STEPS, UNITS = 16, 40, 64


@pytest.fixture
def at_once(monkeypatch):
    """How many requests were run at once, each time."""
    counts, run = [], side_by_side._run_at_once
    monkeypatch.setattr(pool, "thread_count", lambda: 2)
    monkeypatch.setattr(side_by_side, "_run_at_once", lambda requests: [counts.append(len(requests)), run(requests)])
    return counts


def network(tf, steps=STEPS, units=UNITS):
    """A bidirectional network, its loss and its gradients."""
    tf.reset_default_graph()
    tf.set_random_seed(7)
    x, lengths = tf.placeholder(tf.float32, [None, steps, 8]), tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.GRUCell(units), tf.nn.rnn_cell.GRUCell(units), x, lengths,
                                                 dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(tf.concat(outputs, 2)))
    return [loss, *outputs, *tf.gradients(loss, tf.trainable_variables())], {
        x: np.random.RandomState(0).standard_normal((BATCH, steps, 8)),
        lengths: np.random.RandomState(1).randint(1, steps + 1, BATCH)}


def runs(tf, fetches, feeds, count=3, **options):
    with tf.Session(**options) as session:
        session.run(tf.global_variables_initializer())
        return [session.run(fetches, feeds) for _ in range(count)]


def test_both_directions_give_the_same_bits_as_one_after_the_other(tf, monkeypatch, at_once):
    fetches, feeds = network(tf)
    found = runs(tf, fetches, feeds, jit="always")
    assert at_once and set(at_once) == {2}
    monkeypatch.setenv("JITGRAPH_WITHOUT", "loops_side_by_side")
    del at_once[:]
    wanted = runs(tf, fetches, feeds, jit="always")
    assert not at_once
    for one, other in zip(found, wanted):
        for a, b in zip(one, other):
            np.testing.assert_array_equal(a, b)


def test_they_give_what_the_reference_gives(tf, at_once):
    fetches, feeds = network(tf, steps=9, units=5)
    for a, b in zip(runs(tf, fetches, feeds, jit="always")[-1], runs(tf, fetches, feeds, jit="off")[-1]):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_short_loops_and_long_iterations_go_one_after_the_other(tf, monkeypatch, at_once):
    """Waking a thread would take longer than the former; the kernels of the latter are divided among all threads."""
    fetches, feeds = network(tf, steps=3, units=2)
    runs(tf, fetches, feeds, jit="always")
    assert not at_once
    monkeypatch.setattr(side_by_side, "SHORT", 10)
    fetches, feeds = network(tf)
    runs(tf, fetches, feeds, jit="always")
    assert not at_once


def test_several_threads_run_them(tf, at_once):
    fetches, feeds = network(tf)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        wanted, found = session.run(fetches[0], feeds), []
        work = lambda: found.extend(session.run(fetches[0], feeds) for _ in range(5))
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [wanted] * 15


def test_ctrl_c_ends_them(tf, at_once, interrupt):
    """The session goes on afterwards."""
    fetches, feeds = network(tf, steps=200, units=128)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(fetches[0], feeds)

        def work():
            while True:
                session.run(fetches, feeds)

        interrupt(work)
        assert session.run(fetches[0], feeds) == wanted


def test_a_loop_that_fails_lets_the_others_give_back_what_they_hold():
    held = []

    def loop(fails):
        held.append(fails)
        try:
            yield Request(fails)
        finally:
            held.remove(fails)

    class Request:
        nanoseconds = round = 0

        def __init__(self, fails):
            self.fails = fails

        def run(self):
            if self.fails:
                raise ArithmeticError("overflow")

    with pytest.raises(ArithmeticError):
        side_by_side.together([loop(False), loop(True)])
    assert not held
