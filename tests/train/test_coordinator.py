"""Coordinator, LooperThread, QueueRunner: who stops whom, and what is raised where."""

import sys
import threading
import time

import pytest


def reported(coordinator, error):
    try:
        raise error
    except type(error):
        coordinator.request_stop(sys.exc_info())


def test_a_request_to_stop_can_be_seen_and_cleared(tf):
    coordinator = tf.train.Coordinator()
    assert not coordinator.should_stop() and not coordinator.wait_for_stop(0.01)
    coordinator.request_stop()
    assert coordinator.should_stop() and coordinator.wait_for_stop(0.01)
    coordinator.join()
    assert coordinator.joined
    coordinator.clear_stop()
    assert not coordinator.should_stop() and not coordinator.joined


def test_join_raises_the_first_exception(tf):
    coordinator = tf.train.Coordinator()
    reported(coordinator, ValueError("first"))
    reported(coordinator, KeyError("second"))
    for function in (coordinator.raise_requested_exception, coordinator.join):
        with pytest.raises(ValueError, match="first"):
            function()
    with pytest.raises(KeyError, match="late"):
        reported(coordinator, KeyError("late"))


def test_clean_ends_are_not_raised(tf):
    coordinator = tf.train.Coordinator()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "the end"))
    coordinator.join()
    coordinator = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    reported(coordinator, tf.errors.OutOfRangeError(None, None, "the end"))
    with pytest.raises(tf.errors.OutOfRangeError):
        coordinator.join()


def test_threads_that_do_not_end_are_named(tf):
    leave = threading.Event()
    for ignore in (False, True):
        coordinator = tf.train.Coordinator()
        thread = threading.Thread(target=leave.wait, name="endless", daemon=True)
        thread.start()
        coordinator.register_thread(thread)
        coordinator.request_stop()
        if ignore:
            coordinator.join(stop_grace_period_secs=0.1, ignore_live_threads=True)
        else:
            with pytest.raises(RuntimeError, match="threads still running: endless"):
                coordinator.join(stop_grace_period_secs=0.1)
    leave.set()


def test_looper_thread(tf):
    coordinator, calls = tf.train.Coordinator(), []
    thread = tf.train.LooperThread.loop(coordinator, 0.02, target=lambda *a, **k: calls.append((a, k)), args=(1,),
                                        kwargs={"z": 2})
    time.sleep(0.15)
    coordinator.request_stop()
    coordinator.join([thread])
    assert 2 < len(calls) < 12 and calls[0] == ((1,), {"z": 2})

    class Three(tf.train.LooperThread):
        def start_loop(self):
            calls.append("start")

        def run_loop(self):
            calls.append("run")
            if calls.count("run") == 3:
                self._coord.request_stop()

        def stop_loop(self):
            calls.append("stop")

    calls.clear()
    coordinator = tf.train.Coordinator()
    Three(coordinator, None).start()
    coordinator.join()
    assert calls == ["start", "run", "run", "run", "stop"]
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread("nobody", 1)


def counting(tf, limit):
    """A queue that a QueueRunner fills with 0 ... limit - 1."""
    q, v = tf.FIFOQueue(10, tf.int32, shapes=[[]], name="numbers"), tf.Variable(0)
    runner = tf.train.QueueRunner(q, [q.enqueue(v.count_up_to(limit))])
    tf.train.add_queue_runner(runner)
    return q, runner


def test_a_queue_runner_closes_the_queue_at_the_end_of_the_input(tf):
    q, runner = counting(tf, 3)
    get = q.dequeue()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coordinator)
        assert [t.name for t in threads] == ["QueueRunnerThread-numbers-numbers_enqueue",
                                             "QueueRunnerThread-numbers-close_on_stop"]
        assert [session.run(get) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(get)
        coordinator.request_stop()
        coordinator.join(threads)
        assert session.run(q.is_closed()) and runner.exceptions_raised == []


def test_threads_are_not_started_twice(tf):
    q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    runner = tf.train.QueueRunner(q, [q.enqueue(1)] * 2)
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coordinator, start=True)
        assert len(threads) == 3 and runner.create_threads(session, coordinator) == []
        coordinator.request_stop()
        coordinator.join()
        assert len(runner.create_threads(session)) == 2


def test_errors_of_the_input_reach_the_coordinator(tf):
    q = tf.FIFOQueue(1, tf.float32, shapes=[[]])
    runner = tf.train.QueueRunner(q, [q.enqueue(tf.check_numerics(tf.log(tf.Variable(-1.0)), "trouble"))])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        runner.create_threads(session, coordinator, start=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="trouble"):
            coordinator.join()


def test_what_queue_runners_refuse(tf):
    q, runner = counting(tf, 3)
    with pytest.raises(ValueError, match="No default session"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match=r"must be a `tf\.Session` object"):
        tf.train.start_queue_runners(sess="session")
    with pytest.raises(ValueError, match="queue and enqueue_ops"):
        tf.train.QueueRunner(q, [])
    with pytest.raises(TypeError, match="must be a tuple"):
        tf.train.QueueRunner(q, runner.enqueue_ops, queue_closed_exception_types=(ValueError,))


def test_queue_runner_as_a_message(tf):
    _, runner = counting(tf, 3)
    definition = runner.to_proto()
    assert definition.queue_name == "numbers" and definition.cancel_op_name == "numbers_Close_1"
    again = tf.train.QueueRunner.from_proto(definition)
    assert again.close_op is runner.close_op and again.enqueue_ops == runner.enqueue_ops
    assert again.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
    assert runner.to_proto(export_scope="elsewhere") is None
