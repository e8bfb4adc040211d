"""Loops that need nothing of each other stand side by side in the plan."""
import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.compiler.divide import LoopCall
from jitgraph.compiler.place import HostStep

STEPS, BATCH, UNITS = 7, 3, 5


def sequence(tf):
    return tf.placeholder(tf.float32, [BATCH, STEPS, 4])


def rnn(tf, x, name, units=UNITS, lengths=None):
    return tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(units), x, lengths, dtype=tf.float32, scope=name)[0]


def both_ways(tf, x):
    lengths = tf.constant([7, 3, 5])
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(tf.nn.rnn_cell.LSTMCell(UNITS), tf.nn.rnn_cell.LSTMCell(UNITS), x, lengths,
                                                 dtype=tf.float32)
    return tf.concat(outputs, 2)


def loops(tf, fetches, feeds):
    """For each step of the plan that stays on the host, whether it is a loop."""
    program = compiler.compile(tf.get_default_graph(), fetches, [], {t: t.shape.as_list() for t in feeds},
                               options=compiler.Options(verify=True))
    return "".join("host"[not isinstance(step, HostStep):][:1] if not isinstance(getattr(step, "call", None), LoopCall) else "L"
                   for step in program.layout.steps)


def test_both_directions_of_a_network(tf):
    x = sequence(tf)
    assert "LL" in loops(tf, [both_ways(tf, x)], [x])


def test_and_of_its_gradient(tf):
    x = sequence(tf)
    y = both_ways(tf, x)
    order = loops(tf, tf.gradients(tf.reduce_sum(y * y), tf.trainable_variables()), [x])
    assert order.count("LL") == 2 and order.count("L") == 4


def test_three_loops(tf):
    x = sequence(tf)
    assert "LLL" in loops(tf, [tf.add_n([rnn(tf, x, name) for name in "abc"])], [x])


@pytest.mark.parametrize("count", [2, 3, 4])
def test_loops_with_nothing_between_them(tf, count):
    x = tf.placeholder(tf.float32, [BATCH])
    made = [tf.while_loop(lambda k, _: k < STEPS, lambda k, y: (k + 1, tf.sin(y)), [tf.constant(0), x + n])[1]
            for n in range(count)]
    assert "L" * count in loops(tf, made, [x])


def test_what_needs_the_first_loop_waits_for_the_second(tf):
    x = sequence(tf)
    y = z = rnn(tf, x, "first")
    for k in range(30):
        y = tf.matmul(tf.reshape(y, [-1, UNITS]), tf.constant(np.eye(UNITS, dtype=np.float32) * (k + 1)))
    assert "LL" in loops(tf, [y, z, rnn(tf, x, "second")], [x])


def test_a_layer_waits_for_the_one_below(tf):
    x = sequence(tf)
    order = loops(tf, [rnn(tf, rnn(tf, x, "below"), "above")], [x])
    assert order.count("L") == 2 and "LL" not in order


def test_two_stacks_of_layers_go_level_by_level(tf):
    x = sequence(tf)
    lower = [rnn(tf, x, name) for name in ("a", "b")]
    order = loops(tf, [tf.add_n([rnn(tf, y, f"{k}") for k, y in enumerate(lower)])], [x])
    assert order.count("LL") == 2


@pytest.mark.parametrize("step, is_quiet", [
    (lambda tf, x: x * 0.5, True), (lambda tf, x: tf.random.uniform([BATCH, 4], seed=1), False),
    (lambda tf, x: tf.Print(x, [x], "seen"), False), (lambda tf, x: tf.py_func(np.sin, [x], tf.float32), False)],
    ids=["computes", "draws", "prints", "calls"])
def test_what_may_run_beside_others(tf, step, is_quiet):
    loop = tf.while_loop(lambda k, _: k < STEPS, lambda k, x: (k + 1, tf.reshape(step(tf, x), [BATCH, 4])),
                         [tf.constant(0), tf.ones([BATCH, 4])])[1]
    calls = compiler.compile(tf.get_default_graph(), [loop], [], {}).calls
    assert [call.is_quiet for call in calls.values()] == [is_quiet]


def test_a_variable_that_is_written_between_them(tf):
    """The first loop multiplies by the old value, the second by the new one."""
    v = tf.Variable(np.full((4, 4), 0.5, np.float32), use_resource=True)
    x = tf.placeholder(tf.float32, [BATCH, 4])

    def powers():
        return tf.while_loop(lambda k, _: k < STEPS, lambda k, y: (k + 1, y @ v.read_value()), [tf.constant(0), x])[1]
    first = powers()
    with tf.control_dependencies([first]):
        written = v.assign_add(np.full((4, 4), 0.25, np.float32))
    with tf.control_dependencies([written]):
        second = powers()
    value = np.random.RandomState(0).standard_normal((BATCH, 4)).astype(np.float32)
    with tf.Session(jit="always") as session, tf.Session(jit="off") as reference:
        for one in (session, reference):
            one.run(tf.global_variables_initializer())
        for _ in range(3):
            for found, wanted in zip(session.run([first, second], {x: value}), reference.run([first, second], {x: value})):
                np.testing.assert_allclose(found, wanted, rtol=1e-4)
