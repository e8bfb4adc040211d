"""Queues: order, capacity, waiting, closing, giving up; what the classes say while the graph is built."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from jitgraph.resources.condition import Condition
from jitgraph.resources.queue_host import patiently


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)


class Thread(threading.Thread):
    """Runs a function; `outcome` is what it returned or raised."""

    def __init__(self, function):
        super().__init__(daemon=True)
        self._function, self.outcome = function, None
        self.start()

    def run(self):
        try:
            self.outcome = self._function()
        except Exception as error:
            self.outcome = error

    def waits(self):
        self.join(0.15)
        return self.is_alive()

    def result(self):
        self.join(10)
        assert not self.is_alive()
        return self.outcome


def test_names_and_shapes_are_those_of_tensorflow(tf):
    q = tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]], name="q")
    assert (q.name, q.dtypes, q.queue_ref.dtype) == ("q", [tf.int32, tf.float32], tf.resource)
    assert q.enqueue([1, [1.0, 2.0]]).name == "q_enqueue" and q.enqueue_many([[1], [[1.0, 2.0]]]).name == "q_EnqueueMany"
    assert [t.shape.as_list() for t in q.dequeue()] == [[], [2]]
    assert [t.shape.as_list() for t in q.dequeue_many(4)] == [[4], [4, 2]]
    assert [t.shape.as_list() for t in q.dequeue_up_to(4)] == [[None], [None, 2]]
    assert q.dequeue_many(4)[0].op.name == "q_DequeueMany_1" and q.size().op.name == "q_Size"
    assert [op.type for op in tf.get_default_graph().get_operations()[:2]] == ["FIFOQueueV2", "Const"]
    assert q.close().type == "QueueCloseV2" and q.is_closed().op.name == "q_Is_Closed"


def test_what_is_refused_while_the_graph_is_built(tf):
    with pytest.raises(ValueError, match="same length as dtypes"):
        tf.FIFOQueue(3, tf.int32, shapes=[[], []])
    with pytest.raises(ValueError, match="fully defined"):
        tf.FIFOQueue(3, tf.int32, shapes=[[None]])
    with pytest.raises(ValueError, match="must have names"):
        tf.FIFOQueue(3, tf.int32).enqueue({"a": 1})
    with pytest.raises(ValueError, match="do not match names"):
        tf.FIFOQueue(3, tf.int32, names=["a"]).enqueue({"b": 1})
    with pytest.raises(ValueError, match="incompatible"):
        tf.FIFOQueue(3, tf.int32, shapes=[[2]]).enqueue([[1]])
    with pytest.raises(TypeError):
        tf.FIFOQueue(3, tf.int32).enqueue("a")
    with pytest.raises(ValueError, match="shapes must be provided"):
        tf.PaddingFIFOQueue(3, tf.int32, shapes=None)


def test_dictionaries_through_a_queue_with_names(tf):
    q = tf.FIFOQueue(10, [tf.string, tf.float32], names=["a", "b"], shapes=[[], [2]])
    with tf.Session() as session:
        session.run(q.enqueue({"a": "x", "b": [1.0, 2.0]}))
        got = session.run(q.dequeue())
    assert got["a"] == b"x" and got["b"].tolist() == [1.0, 2.0]


def test_counts(tf):
    q = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    n, rows = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [None])
    many, some, put = q.dequeue_many(n), q.dequeue_up_to(n), q.enqueue_many([rows])
    with tf.Session() as session:
        session.run(put, {rows: [1, 2, 3]})
        session.run(put, {rows: []})
        assert session.run(many, {n: 0}).tolist() == [] and session.run(many, {n: 2}).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="requested -1 < 0"):
            session.run(some, {n: -1})
        session.run(put, {rows: [4]})
        session.run(q.close())
        with pytest.raises(tf.errors.OutOfRangeError, match=r"insufficient elements \(requested 3, current size 2\)"):
            session.run(many, {n: 3})
        assert session.run(some, {n: 3}).tolist() == [3, 4] and session.run(some, {n: 0}).tolist() == []
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(some, {n: 1})
        with pytest.raises(tf.errors.CancelledError, match="is closed"):
            session.run(put, {rows: [1]})
        with pytest.raises(tf.errors.CancelledError, match="already closed"):
            session.run(q.close())


def test_shapes_are_checked_in_the_run(tf):
    p = tf.placeholder(tf.int32)
    q = tf.FIFOQueue(5, tf.int32, shapes=[[2]])
    free = tf.FIFOQueue(5, tf.int32)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[2\], got \[3\]"):
            session.run(q.enqueue(p), {p: [1, 2, 3]})
        session.run(free.enqueue(p), {p: [1, 2, 3]})
        session.run(free.enqueue(p), {p: 4})
        with pytest.raises(tf.errors.InvalidArgumentError, match="specified shapes"):
            session.run(free.dequeue_many(2))
        assert session.run(free.dequeue()).tolist() == [1, 2, 3] and session.run(free.dequeue()) == 4


def test_padding(tf):
    q = tf.PaddingFIFOQueue(9, [tf.int32, tf.string], shapes=[[None, 2], [None]])
    a, b = tf.placeholder(tf.int32), tf.placeholder(tf.string)
    put = q.enqueue([a, b])
    with tf.Session() as session:
        session.run(put, {a: [[1, 2]], b: ["x", "y"]})
        session.run(put, {a: [[1, 2], [3, 4]], b: ["z"]})
        numbers, words = session.run(q.dequeue_many(2))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[\?,2\], got \[1,3\]"):
            session.run(put, {a: [[1, 2, 3]], b: ["z"]})
    assert numbers.tolist() == [[[1, 2], [0, 0]], [[1, 2], [3, 4]]] and words.tolist() == [[b"x", b"y"], [b"z", b""]]


def test_priorities(tf):
    q = tf.PriorityQueue(9, tf.string, shapes=[[]])
    with tf.Session() as session:
        session.run(q.enqueue_many(([5, 1, 3, 1], ["a", "b", "c", "d"])))
        priorities, words = session.run(q.dequeue_many(4))
    assert priorities.tolist() == [1, 1, 3, 5] and words.tolist() == [b"b", b"d", b"c", b"a"]


def test_shuffling_gives_the_order_of_tensorflow(tf):
    q = tf.RandomShuffleQueue(20, 0, tf.int32, shapes=[[]], seed=3)
    with tf.Session() as session:
        session.run(q.enqueue_many([list(range(20))]))
        assert session.run(q.dequeue_many(10)).tolist() == [7, 4, 10, 11, 15, 16, 18, 14, 1, 3]


def test_a_shuffling_queue_keeps_its_minimum_until_it_is_closed(tf):
    q = tf.RandomShuffleQueue(20, 3, tf.int32, shapes=[[]], seed=3)
    take = q.dequeue()
    with tf.Session() as session:
        session.run(q.enqueue_many([list(range(4))]))
        session.run(take)
        thread = Thread(lambda: session.run(take))
        assert thread.waits()
        session.run(q.close())
        assert thread.result() in range(4) and session.run(q.size()) == 2


def test_a_full_queue_takes_the_rest_as_there_is_room(tf):
    q = tf.FIFOQueue(2, tf.int32, shapes=[[]])
    put, get, size = q.enqueue_many([[1, 2, 3, 4, 5]]), q.dequeue_many(3), q.size()
    with tf.Session() as session:
        thread = Thread(lambda: session.run(put))
        assert thread.waits() and session.run(size) == 2
        assert session.run(get).tolist() == [1, 2, 3]
        assert thread.result() is None and session.run(size) == 2


def test_waiting_requests_are_served_in_turn(tf):
    q = tf.FIFOQueue(9, tf.int32, shapes=[[]])
    three, one = q.dequeue_many(3), q.dequeue()
    with tf.Session() as session:
        session.run(q.enqueue(1))
        first = Thread(lambda: session.run(three).tolist())
        assert first.waits()
        second = Thread(lambda: session.run(one))
        session.run(q.enqueue_many([[2, 3]]))
        assert first.result() == [1, 2, 3] and second.waits()
        session.run(q.enqueue(4))
        assert second.result() == 4


def test_closing_waits_behind_pending_enqueues_or_cancels_them(tf):
    q = tf.FIFOQueue(1, tf.int32, shapes=[[]])
    put, close, cancel, get = q.enqueue_many([[1, 2]]), q.close(), q.close(cancel_pending_enqueues=True), q.dequeue()
    with tf.Session() as session:
        filling = Thread(lambda: session.run(put))
        assert filling.waits()
        closing = Thread(lambda: session.run(close))
        assert closing.waits() and not session.run(q.is_closed())
        assert session.run(get) == 1 and filling.result() is None and closing.result() is None
        assert session.run(get) == 2
    with tf.Session() as session:
        filling = Thread(lambda: session.run(put))
        assert filling.waits()
        session.run(cancel)
        assert isinstance(filling.result(), tf.errors.CancelledError) and session.run(get) == 1


def test_closing_the_session_wakes_those_who_wait(tf):
    empty, full = tf.FIFOQueue(1, tf.int32, shapes=[[]]), tf.FIFOQueue(1, tf.int32, shapes=[[]])
    get, put = empty.dequeue(), full.enqueue_many([[1, 2]])
    session = tf.Session()
    threads = [Thread(lambda: session.run(get)), Thread(lambda: session.run(put))]
    assert all(thread.waits() for thread in threads)
    session.close()
    assert [str(thread.result().message) for thread in threads] == [
        "Dequeue operation was cancelled", "Enqueue operation was cancelled"]


def test_a_run_gives_up_after_its_time_and_loses_nothing(tf):
    q = tf.FIFOQueue(9, tf.int32, shapes=[[]])
    with tf.Session() as session:
        session.run(q.enqueue(1))
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(q.dequeue_many(3), options=tf.RunOptions(timeout_in_ms=100))
        assert session.run(q.size()) == 1 and session.run(q.dequeue()) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")
def test_an_interrupt_ends_waiting(tf):
    q = tf.FIFOQueue(9, tf.int32, shapes=[[]])
    with tf.Session() as session:
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.run(q.dequeue())
        timer.join()
        session.run(q.enqueue(1))
        assert session.run(q.dequeue()) == 1


def test_a_waiting_run_does_not_hold_up_others(tf):
    q, v = tf.FIFOQueue(9, tf.float32, shapes=[[]]), tf.Variable(0.0)
    late = q.dequeue() + v
    step = tf.assign_add(v, 1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        thread = Thread(lambda: session.run(late))
        assert thread.waits()
        begin = time.monotonic()
        assert [session.run(step) for _ in range(3)] == [1.0, 2.0, 3.0] and time.monotonic() - begin < 5
        session.run(q.enqueue(10.0))
        assert thread.result() in (10.0, 13.0)


def test_many_threads_lose_and_double_nothing(tf):
    q = tf.FIFOQueue(3, tf.int32, shapes=[[]])
    x = tf.placeholder(tf.int32, [])
    put, get = q.enqueue(x), q.dequeue()
    with tf.Session() as session:
        fillers = [Thread(lambda k=k: [session.run(put, {x: 100 * k + i}) for i in range(50)]) for k in range(4)]
        takers = [Thread(lambda: [int(session.run(get)) for _ in range(50)]) for _ in range(4)]
        for thread in fillers:
            thread.result()
        taken = [value for thread in takers for value in thread.result()]
    assert sorted(taken) == [100 * k + i for k in range(4) for i in range(50)]


def test_elements_do_not_change_with_their_source(tf):
    q, v = tf.FIFOQueue(9, tf.float32, shapes=[[2]]), tf.Variable([1.0, 2.0])
    put, get = q.enqueue(v), q.dequeue()
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(put)
        session.run(tf.assign(v, [5.0, 6.0]))
        assert session.run(get).tolist() == [1.0, 2.0]


def test_sharing(tf):
    a, b = (tf.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="s") for _ in range(2))
    with tf.Session() as session:
        session.run(a.enqueue(4))
        assert session.run(b.dequeue()) == 4
        for other, text in [(tf.FIFOQueue(7, tf.int32, shapes=[[]], shared_name="s"), "capacity 5 but requested capacity was 7"),
                            (tf.FIFOQueue(5, tf.float32, shapes=[[]], shared_name="s"), "component types"),
                            (tf.RandomShuffleQueue(5, 0, tf.int32, shapes=[[]], shared_name="s"), "kind")]:
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(other.size())
    with tf.Session() as session:
        assert session.run(a.size()) == 0


def test_shared_shuffling_is_alike(tf):
    a, fewer, other = (tf.RandomShuffleQueue(5, minimum, tf.int32, shared_name="r", seed=seed)
                       for minimum, seed in ((2, 1), (0, 1), (2, 7)))
    with tf.Session() as session:
        assert session.run(a.size()) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="has min_after_dequeue 2 but requested min_after_dequeue was 0"):
            session.run(fewer.size())
        with pytest.raises(tf.errors.InvalidArgumentError, match="has random seeds"):
            session.run(other.size())


def test_one_of_several_queues(tf):
    queues = [tf.FIFOQueue(5, tf.int32, shapes=[[]]) for _ in range(2)]
    index = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    with tf.Session() as session:
        for k, q in enumerate(queues):
            session.run(q.enqueue(10 + k))
        assert [session.run(chosen.dequeue(), {index: k}) for k in (1, 0)] == [11, 10]
    with pytest.raises(TypeError, match="matching component dtypes"):
        tf.QueueBase.from_list(0, [queues[0], tf.FIFOQueue(5, tf.float32)])


def test_elements_feed_a_compiled_computation(tf):
    q = tf.FIFOQueue(9, tf.float32)
    x = tf.placeholder(tf.float32, [None])
    put, total = q.enqueue(x * 2.0), tf.reduce_sum(tf.square(q.dequeue()))
    with tf.Session() as session:
        for n in (1, 3, 2):
            session.run(put, {x: np.ones(n)})
        assert [session.run(total) for _ in range(3)] == [4.0, 12.0, 8.0]


def test_shuffle_queues_check_what_they_keep(tf):
    for keep, text in ((3, "min_after_dequeue 3 must be < capacity 2"), (-1, "min_after_dequeue -1 must be >= 0")):
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
            sess.run(tf.RandomShuffleQueue(2, keep, tf.int32).size())
    with pytest.raises(ValueError, match="list of length 0 less than minimum 1"):
        tf.FIFOQueue(1, [])


@pytest.mark.parametrize("shapes, shape", [((), []), ([], []), ([3], [3]), ([[]], [])])
def test_one_shape_may_stand_without_a_list(tf, shapes, shape):
    assert tf.FIFOQueue(2, tf.int32, shapes=shapes).dequeue().shape.as_list() == shape


@pytest.mark.parametrize("first", ["enqueue", "dequeue"])
def test_one_run_may_fill_and_empty_a_queue_that_is_too_small(tf, first):
    q = tf.FIFOQueue(2, tf.int32, [[]])
    made = {name: make() for name, make in sorted(
        {"enqueue": lambda: q.enqueue_many([[1, 2, 3, 4, 5]]), "dequeue": lambda: q.dequeue_many(5)}.items(),
        key=lambda item: item[0] != first)}
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=9000)) as session:
        for _ in range(3):
            taken, nothing = session.run([made["dequeue"], made["enqueue"]])
            assert taken.tolist() == [1, 2, 3, 4, 5] and nothing is None
        assert session.run(q.size()) == 0


def test_an_enqueue_gives_up_with_the_run_it_belongs_to(tf):
    q = tf.FIFOQueue(1, tf.int32, [[]])
    put, taken = q.enqueue_many([[1, 2, 3]]), q.dequeue()
    refused = tf.Assert(tf.equal(taken, 5), ["no"])
    with tf.control_dependencies([taken]):
        closed = q.close(cancel_pending_enqueues=True)
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=9000)) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run([put, refused])
        assert session.run(taken) == 2                  # the third was given up
        with pytest.raises(tf.errors.CancelledError, match="Enqueue operation was cancelled"):
            session.run([put, closed])


def test_threads_that_only_fill_queues_are_told_late_of_room(tf, monkeypatch):
    """What they put into a queue is there at once; they go on when half of the room is free, or somebody waits for more."""
    monkeypatch.setattr("jitgraph.runtime.state.LONGEST_WAIT", 60.0)
    q = tf.FIFOQueue(8, tf.int32, shapes=[[]])
    number = tf.placeholder(tf.int32, [])
    enqueue, dequeue, size = q.enqueue(number), q.dequeue(), q.size()
    put = []
    with tf.Session() as session:
        def fill():
            with patiently():
                for k in range(40):
                    session.run(enqueue, {number: k})
                    put.append(k)

        def stays_at(count):
            limit = time.monotonic() + 30
            while len(put) < count and time.monotonic() < limit:
                time.sleep(0.01)
            time.sleep(0.1)
            return len(put) == count

        thread = Thread(fill)
        assert stays_at(8)                                      # the ninth waits
        taken = [session.run(dequeue) for _ in range(2)]
        assert session.run(size) == 7 and stays_at(8)           # the ninth is in the queue, and its thread does not know
        taken += [session.run(dequeue) for _ in range(3)]
        assert stays_at(13)
        begun = time.monotonic()
        taken += [session.run(dequeue) for _ in range(35)]
        assert taken == list(range(40)) and time.monotonic() - begun < 50 and thread.result() is None


def test_an_interrupt_leaves_no_lock_behind():
    condition = Condition()
    left = 0

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005)
                while True:
                    with condition:
                        pass
            except KeyboardInterrupt:
                pass
            if condition._is_owned():
                left += 1
                condition.release()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not left


@pytest.mark.parametrize("shapes", [[2], [None], [2, None], [], 3])
def test_partial_shapes_are_a_list_of_shapes(tf, shapes):
    with pytest.raises(ValueError, match="a list of shapes must be provided"):
        tf.PaddingFIFOQueue(3, tf.float32, shapes)


def test_elements_have_all_components(tf):
    pairs, ranked = tf.FIFOQueue(3, [tf.int32, tf.float32]), tf.PriorityQueue(3, tf.bool, [()])
    with tf.Session() as session:
        for fill in (pairs.enqueue([5]), pairs.enqueue_many([[5]]), ranked.enqueue([5])):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Signature mismatch"):
                session.run(fill)
        session.run([pairs.enqueue([5, 1.5]), ranked.enqueue([5, True])])
        assert session.run([pairs.dequeue(), ranked.dequeue()]) == [[5, 1.5], [5, True]]
