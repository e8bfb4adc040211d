"""Where the time of a run goes: every kernel with its bytes and arithmetic, and nothing counted twice."""
import threading

import numpy as np
import pytest

from jitgraph.runtime import explain, recording


def test_a_product_and_what_is_done_with_it(tf, monkeypatch):
    x, w = tf.placeholder(tf.float32, [None, 64]), tf.Variable(tf.ones([64, 32]))
    y = tf.nn.relu(tf.matmul(x, w) + 1.0)
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        session.run(y, {x: np.ones((5, 64))})
        found = session.explain(y, {x: np.ones((16, 64))}, runs=3)      # another batch size than was compiled for
    joined, = found.lines
    assert joined.operations == ["MatMul", "add", "Relu"] and joined.calls == 3
    assert joined.flops == 3 * 2 * 16 * (64 + 1) * 32
    assert joined.bytes == 3 * 4 * (16 * 64 + 64 * 32 + 16 * 32)
    monkeypatch.setenv("JITGRAPH_WITHOUT", "epilogues")
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        found = session.explain(y, {x: np.ones((16, 64))}, runs=3)
    product, = (line for line in found.lines if line.name.startswith("matmul"))
    assert product.operations == ["MatMul"] and product.calls == 3
    assert product.flops == 3 * 2 * 16 * 64 * 32
    assert product.bytes == 3 * 4 * (16 * 64 + 64 * 32 + 16 * 32)
    rest, = (line for line in found.lines if line is not product)
    assert rest.operations == ["add", "Relu"] and rest.flops == 3 * 2 * 16 * 32 and rest.bytes == 3 * 4 * 2 * 16 * 32
    assert 0 < sum(line.seconds for line in found.lines) <= found.seconds
    assert "MatMul" in str(found) and "around them" in str(found)


def test_kernels_inside_a_loop_are_not_counted_with_the_loop_again(tf):
    w = tf.constant(np.eye(40, dtype=np.float32))
    y = tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, tf.matmul(a, w)), (0, tf.ones([40, 40])))[1]
    with tf.Session(jit="always") as session:
        found = session.explain(y, runs=2)
    assert next(line for line in found.lines if line.name.startswith("matmul")).calls == 20
    assert sum(line.seconds for line in found.lines) <= found.seconds


def test_rows_sum_to_the_run(tf):
    v = tf.Variable(tf.zeros([100, 100]))
    step = tf.assign_add(v, tf.py_func(lambda a: a, [tf.tanh(v)], tf.float32))
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        found = session.explain(step.op, runs=5)
    rows = found.rows()
    assert rows[-1][0] == "around them" and rows[-1][3] > 0
    assert sum(row[3] for row in rows) == pytest.approx(found.seconds / 5 * 1e3)
    assert sum(row[4] for row in rows) == pytest.approx(1.0)
    assert "what Session.run does in Python" in str(found)


def test_counting_a_step_costs_the_same_however_many_came_before():
    """A step inside others is taken off them; the list of those that may be inside never grows beyond one run."""
    tally = explain.Tally()
    for _ in range(3):
        tally.start()
        outer = tally.now()
        for _ in range(1000):
            tally._count("inner", "inner", "host", tally.now(), 10, [])
        assert len(tally.spans) == 1000
        tally._count("outer", "outer", "host", outer, tally.now() - outer, [])
        assert len(tally.spans) == 1
    assert tally.lines["inner"].calls == 3000
    assert 0 <= tally.lines["outer"].seconds < 1


def test_runs_in_two_threads_are_not_taken_off_each_other(tf):
    tally = explain.Tally()
    begin = tally.now()
    thread = threading.Thread(target=lambda: tally._count("there", "there", "host", tally.now(), 10 ** 9, []))
    thread.start()
    thread.join()
    tally._count("here", "here", "host", begin, 2 * 10 ** 9, [])
    assert tally.lines["here"].seconds == 2.0 and tally.lines["there"].seconds == 1.0


def test_compiling_is_a_row_of_its_own(tf):
    recording.record()
    x = tf.placeholder(tf.float32, [None, None])
    with tf.Session(jit="always") as session:
        for shape in [(2, 3), (4, 1)]:
            session.run(tf.tanh(x) + 1.0, {x: np.ones(shape)})
    for one in recording.recorded():
        assert "compiling" in [row[0] for row in one.rows()]


def test_limits_are_measured_once():
    bandwidth, peak = explain.limits()
    assert bandwidth > 1e8 and peak > 1e8 and explain.limits() is explain.limits()


@pytest.mark.parametrize("jit", ["always", "off"])
def test_all_runs_of_a_program(tf, jit):
    recording.record()
    v = tf.Variable(tf.zeros([100]))
    step = v.assign_add(tf.ones([100]))
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        for _ in range(4):
            session.run(step)
    found = {one.title: one for one in recording.recorded()}
    assert found["run AssignAdd"].runs == 4 and not recording.active()


def test_titles_of_runs_hold_the_ends_of_long_names(tf):
    recording.record()
    with tf.name_scope("a_scope/within/another_scope/and_one_more/for_good_measure"):
        total = tf.add(tf.placeholder_with_default(1.0, []), 2.0, name="total")
    with tf.Session() as session:
        session.run(total)
    assert [one.title for one in recording.recorded()] == ["run ...scope/and_one_more/for_good_measure/total"]
