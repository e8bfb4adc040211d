"""What loops and conditionals do beside giving values happens where an output that is asked for needs it, as in TensorFlow.

The expected counts are those of TensorFlow 1.15.
"""
import pytest


@pytest.fixture
def done(tf, run):
    """done(make, *picks): how often `make(count)`, which returns tensors, counted when these of them were fetched."""
    def _done(make, *picks):
        tf.reset_default_graph()
        total = tf.Variable(0)
        found = make(lambda: tf.assign_add(total, 1))
        with tf.Session(jit=run.jit) as session:
            session.run(total.initializer)
            session.run([found[k] for k in picks])
            once = session.run(total)
            session.run([found[k] for k in picks])
            assert session.run(total) == 2 * once
        return once

    return _done


def waiting(tf, op, value):
    with tf.control_dependencies([op]):
        return tf.identity(value)


def test_in_a_loop(tf, done):
    def loop(count):
        return tf.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, waiting(tf, count(), y * 2.0)), [0, 1.0])

    assert [done(loop, 0), done(loop, 1), done(loop, 0, 1)] == [0, 3, 3]


def test_before_a_loop(tf, done):
    def loop(count):
        return tf.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, y * 2.0), [0, waiting(tf, count(), 1.0)])

    assert [done(loop, 0), done(loop, 1)] == [0, 1]


def test_in_a_loop_in_a_loop(tf, done):
    def loop(count):
        def body(k, y, z):
            inner = tf.while_loop(lambda i, a, b: i < 2, lambda i, a, b: (i + 1, a + 1.0, waiting(tf, count(), b)), [0, y, z])
            return k + 1, inner[1], inner[2]

        return tf.while_loop(lambda k, y, z: k < 3, body, [0, 1.0, 1.0])

    assert [done(loop, 0), done(loop, 1), done(loop, 2)] == [0, 0, 6]


def test_in_a_branch(tf, done):
    def branch(count):
        yes, captured = tf.placeholder_with_default(True, []), waiting(tf, count(), 3.0)
        return tf.cond(yes, lambda: (tf.constant(1.0), waiting(tf, count(), 2.0), captured + 1.0), lambda: (captured,) * 3)

    assert [done(branch, 1), done(branch, 2)] == [2, 1]


def test_for_a_control_edge_on_one_output(tf, done):
    def loop(count):
        k, y = tf.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, waiting(tf, count(), y * 2.0)), [0, 1.0])
        return waiting(tf, k.op, 1.0), waiting(tf, y.op, 1.0), k.op, y.op

    assert [done(loop, k) for k in range(4)] == [0, 3, 0, 3]


def test_what_nobody_asks_for_need_not_be_fed(tf, run):
    x, z = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    k, y = tf.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, y * x), [0, z])
    assert run(k) == 3 and run([k, y], {x: 2.0, z: 1.0}) == [3, 8.0]
    with tf.Session() as session:
        handle = session.partial_run_setup(k, [x])
        assert session.partial_run(handle, k) == 3


def test_arrays_that_an_unused_variable_reads_may_be_read_again(tf, run):
    array = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
    k, _ = tf.while_loop(lambda k, y: k < 3, lambda k, y: (k + 1, y + array.read(k)), [0, 0.0])
    assert run([k, array.stack()])[1].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
def test_a_conditional_waits_for_what_its_branches_read_too(tf, jit):
    """As the nodes that choose in TensorFlow do: what a fed tensor waited for happens before it."""
    v, chosen = tf.Variable([0.5, 3.0], use_resource=True), tf.placeholder(tf.bool, [])
    with tf.control_dependencies([tf.assign(v, [-1.0, -2.0])]):
        read = v.read_value()
    with tf.control_dependencies([read]):
        found = tf.cond(chosen, lambda: tf.assign_add(v, read), lambda: tf.negative(read))
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        assert session.run(found, {chosen: False, read: [7.0, 8.0]}).tolist() == [-7.0, -8.0]
        assert session.run(v).tolist() == [-1.0, -2.0]


@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_loop_variable_that_is_only_waited_for(tf, jit):
    def twelve(*waited):
        with tf.control_dependencies(waited):
            return tf.constant(12)

    alone = tf.while_loop(lambda x: x < 10, lambda x: [twelve(x)], [tf.constant(0)])
    _, second = tf.while_loop(lambda n, x: n < 10, lambda n, x: [n + 1, twelve(x)], [tf.constant(0), tf.constant(0)])
    outside = tf.constant(7)
    branch = tf.cond(tf.placeholder_with_default(True, []), lambda: twelve(outside), lambda: 1)
    with tf.Session(jit=jit) as session:
        assert session.run([alone, second, branch]) == [12, 12, 12]
