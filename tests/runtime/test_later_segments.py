"""Segments of a plan after the first: what they are given, and how often they are bound to sizes."""
from collections import Counter

import numpy as np
import pytest

from jitgraph.compiler import specialize
from jitgraph.resources import queue_ops
from jitgraph.runtime import plan


def middle(session):
    """The second of three segments of the session's largest plan."""
    plan = max(session.plans, key=lambda plan: len(plan.ops))
    first = plan.segment
    (second,) = [found for known in first.next.values() for found in known.values()]
    (third,) = [found for known in second.next.values() for found in known.values()]
    assert not third.next
    return second


def chain(tf, a, b):
    """Sizes that the run tells one after the other: of `b` twice, and beside the first of these those of `a`."""
    distinct = tf.unique(a).y
    positive = tf.gather_nd(b, tf.where(b > 0.0))
    large = tf.gather_nd(positive, tf.where(positive > 1.0))
    return distinct, tf.reduce_sum(large * 2.0) + tf.cast(tf.reduce_sum(distinct * 3), tf.float32), tf.shape(distinct)


def test_a_segment_is_not_bound_anew_for_what_it_hands_on(tf):
    a, b = tf.placeholder(tf.int32, [6]), tf.placeholder(tf.float32, [5])
    fetched = chain(tf, a, b)
    given = np.array([1.0, -1.0, 3.0, 0.5, 2.5], np.float32)
    with tf.Session(jit="always") as session:
        for kinds in (2, 3, 4, 5, 6, 3):
            values = np.arange(6) % kinds
            distinct, total, count = session.run(fetched, {a: values, b: given})
            assert distinct.tolist() == list(range(kinds)) and count.tolist() == [kinds]
            assert total == 11.0 + 3 * sum(range(kinds))
        second = middle(session)
        (program,) = [compiled for known in second.variants.values() for compiled in known]
        assert program.bound == 1 and len(second.picks) < len(second.taken)


@pytest.mark.parametrize("jit", ["always", "auto", "off"])
def test_what_is_handed_on_may_be_of_one_element_or_none(tf, jit):
    a, b = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
    fetched = chain(tf, a, b)
    with tf.Session(jit=jit) as session:
        for kinds, rows in ((2, 5), (1, 5), (0, 5), (1, 1), (0, 0), (3, 2), (2, 5)):
            values, given = np.arange(6 if kinds else 0) % max(kinds, 1), np.linspace(-1.0, 3.0, rows).astype(np.float32)
            distinct, total, count = session.run(fetched, {a: values, b: given})
            assert distinct.tolist() == list(range(kinds)) and count.tolist() == [kinds]
            assert total == pytest.approx(2 * given[given > 1].sum() + 3 * sum(range(kinds)))


def test_a_fetched_feed_of_a_plan_of_several_segments_is_the_callers_own(tf):
    x = tf.placeholder(tf.float32, [4])
    positive = tf.gather_nd(x, tf.where(x > 0.0))
    total = tf.reduce_sum(positive)
    given = np.array([1.0, -1.0, 2.0, 3.0], np.float32)
    with tf.Session(jit="always") as session:
        for _ in range(2):
            handed, found = session.run([x, total], {x: given})
            assert found == 6.0 and handed.tolist() == given.tolist() and not np.may_share_memory(handed, given)


def test_a_handle_is_asked_for_once(tf, monkeypatch):
    asked, shared = [], queue_ops.shared
    monkeypatch.setattr(queue_ops, "shared", lambda *given: asked.append(given) or shared(*given))
    queue = tf.FIFOQueue(9, tf.int32, shapes=[[]])
    enqueue, dequeue = queue.enqueue(7), queue.dequeue()
    with tf.Session(jit="always") as session:
        for _ in range(4):
            session.run(enqueue)
            assert session.run(dequeue) == 7
        assert len(asked) == 2          # once in each of the two plans
    with tf.Session(jit="always") as session:
        session.run(enqueue)
        assert session.run(queue.size()) == 1       # another session's queue is another one


def deep(tf, layers, trained):
    """(feed, fetches) of layers of which each keeps as many rows as the run tells, and sums them up; the last fetch is the sum, or
    its gradient."""
    x = tf.placeholder(tf.float32, [None, 4])
    y, sums = x, []
    for k in range(layers):
        y = tf.boolean_mask(y, y[:, 0] > -1.0 - k) * 1.01
        sums.append(tf.reduce_sum(y))
    total = tf.add_n(sums)
    return x, [y, total, tf.gradients(total, x)[0] if trained else total]


@pytest.mark.parametrize("trained", [False, True])
def test_planning_takes_time_linear_in_the_number_of_segments(tf, monkeypatch, tmp_path, trained):
    """Counted: a look at each operation that waits, in each of the segments, would be 120 times as many for 200 layers."""
    monkeypatch.setenv("JITGRAPH_CACHE", str(tmp_path))          # which holds no program yet
    looks = Counter()
    visit, given = specialize._Specializer._visit, plan.Segment._given
    monkeypatch.setattr(specialize._Specializer, "_visit", lambda self, op: looks.update(["visits"]) or visit(self, op))

    def counted(self, values, pins):
        arrays, key = given(self, values, pins)
        looks["arrays"] += len(arrays)
        return arrays, key

    monkeypatch.setattr(plan.Segment, "_given", counted)
    found = {}
    for layers in (25, 100) if trained else (50, 200):
        tf.reset_default_graph()
        x, fetches = deep(tf, layers, trained)
        rows = np.float32(np.random.default_rng(1).random((6, 4)))
        with tf.Session(jit="always") as session:
            looks.clear()
            y, total, gradient = session.run(fetches, {x: rows})
            found[layers] = dict(looks)
            looks.clear()
            again = session.run(fetches, {x: rows})
            found[layers]["later"] = looks["arrays"]
            np.testing.assert_array_equal(again[0], y)
            np.testing.assert_allclose(y, rows * np.float32(1.01) ** layers, rtol=1e-4)
            assert total == again[1] and np.array_equal(gradient, again[2])
            if trained:
                np.testing.assert_allclose(gradient, sum(np.float32(1.01) ** k for k in range(1, layers + 1)), rtol=1e-4)
            assert sum(1 for p in session.plans for _ in segments(p.segment)) >= layers
    few, many = found.values()
    for what, count in few.items():
        assert many[what] <= 4.5 * count, (what, found)


def segments(first):
    yield first
    for known in list(first.next.values()):
        for found in known.values():
            yield from segments(found)
