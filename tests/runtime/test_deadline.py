"""Limits of time: a run that takes longer raises DeadlineExceededError, whatever made it late, and the session goes on."""

import time

import numpy as np
import pytest

import jitgraph as tf

LATE = tf.errors.DeadlineExceededError


@pytest.fixture(params=["auto", "always", "off"])
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)
    return request.param


def limit(milliseconds):
    return tf.RunOptions(timeout_in_ms=milliseconds)


def long_chain(x):
    """Of numbers that stay small: the sine of large ones takes many times as long as a kernel is thought to."""
    for _ in range(40):
        x = tf.sin(x) + tf.pow(tf.abs(x) + 1.0, 0.5)
    return x


def asleep():
    return tf.py_func(lambda: time.sleep(0.15) or np.float32(1), [], tf.float32)


def endless(x):
    return tf.while_loop(lambda i, a: i >= 0, lambda i, a: (i * 1, tf.matmul(a, a) * 0.01), [0, x])[1]


WAITING = {
    "a Python function": asleep,
    "a dequeue": lambda: tf.FIFOQueue(1, tf.float32).dequeue(),
    "a loop of scalars": lambda: tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0]),
    "a loop": lambda: endless(tf.ones([30, 30])),
}


@pytest.mark.parametrize("what", WAITING)
def test_what_makes_a_run_late(jit, what):
    fetch = WAITING[what]()
    one = tf.constant(1.0)
    for config, options in [(None, limit(50)), (tf.ConfigProto(operation_timeout_in_ms=50), None)]:
        with tf.Session(config=config) as session:
            for _ in range(2):                  # by reference, compiled
                with pytest.raises(LATE):
                    session.run(fetch, options=options)
            with pytest.raises(LATE):
                session.make_callable(fetch, accept_options=True)(options=options)
            assert session.run(one, options=limit(10_000)) == 1.0


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_long_kernel_is_left_between_two_chunks(monkeypatch, threads):
    monkeypatch.setenv("JITGRAPH_THREADS", threads)
    x = tf.placeholder(tf.float32, [5000, 1000])
    y, feeds = tf.reduce_sum(long_chain(x)), {x: np.ones([5000, 1000], np.float32)}
    with tf.Session(jit="always") as session:
        session.run(y, feeds)
        begin = time.monotonic()
        want = session.run(y, feeds)
        whole, begin = time.monotonic() - begin, time.monotonic()
        with pytest.raises(LATE):
            session.run(y, feeds, options=limit(50))
        assert time.monotonic() - begin < whole / 2
        assert session.run(y, feeds) == want


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_variable_is_written_whole_or_not_at_all(monkeypatch, threads):
    monkeypatch.setenv("JITGRAPH_THREADS", threads)
    v = tf.Variable(tf.zeros([3_000_000]))
    step = tf.assign(v, long_chain(v) + 1.0)
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        with pytest.raises(LATE):
            session.run(step.op, options=limit(30))
        assert len(np.unique(session.run(v))) == 1


def test_what_comes_before_is_done_and_what_comes_after_is_not(jit):
    calls = []
    with tf.control_dependencies([tf.py_func(lambda: calls.append("before"), [], [])]), \
            tf.control_dependencies([asleep()]):
        after = tf.py_func(lambda: calls.append("after"), [], [])
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(LATE):
                session.run(after, options=limit(50))
    assert calls == ["before"] * 2


def test_a_partial_run_has_the_limit_of_its_session():
    x = tf.placeholder(tf.float32, [])
    y = asleep() + x
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=50)) as session:
        handle = session.partial_run_setup([y], [x])
        with pytest.raises(LATE):
            session.partial_run(handle, y, {x: 1.0})
