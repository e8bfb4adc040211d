"""The order of kernels: what changes variables runs as soon as it can."""
import numpy as np
import pytest

from jitgraph import compiler


def layers(tf, x):
    """Two layers whose weights have different shapes: (loss, weights of the first, of the second)."""
    first, second = (tf.Variable(np.full(shape, 0.01, np.float32)) for shape in ((30, 40), (40, 50)))
    return tf.reduce_sum(tf.square(tf.tanh(x @ first) @ second)), first, second


def written(program):
    """For each step, the shapes of the variables that it changes."""
    steps = [step[0] for step in program.layout.steps]
    return [{b.shape for b, p in zip(k.buffers, k.params) if p.use != "in" and b.node.kind.is_state} for k in steps]


@pytest.mark.parametrize("optimizer", ["GradientDescentOptimizer", "AdamOptimizer"])
def test_the_last_layer_is_updated_before_the_first_has_its_gradient(tf, optimizer):
    x = tf.placeholder(tf.float32, [None, 30])
    loss, _, _ = layers(tf, x)
    step = getattr(tf.train, optimizer)(0.1).minimize(loss)
    program = compiler.compile(tf.get_default_graph(), [loss], [step], {x: (20, 30)})
    names = [s[0].name for s in program.layout.steps]
    last_product = max(k for k, name in enumerate(names) if "matmul" in name)
    places = written(program)
    assert places.index({(40, 50)}) < last_product < places.index({(30, 40)})


def test_a_value_of_before_the_update_is_kept(tf):
    """The product for the first layer's gradient needs the second layer's weights as they were."""
    x = tf.placeholder(tf.float32, [None, 30])
    loss, first, second = layers(tf, x)
    gradients = tf.gradients(loss, [first, second])
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    feed = {x: np.random.RandomState(0).standard_normal((20, 30)).astype(np.float32)}
    with tf.Session(jit="always") as session:
        session.run(tf.global_variables_initializer())
        before, given = session.run([[first, second], gradients], feed)
        session.run(step, feed)
        for old, gradient, new in zip(before, given, session.run([first, second])):
            np.testing.assert_allclose(new, old - 0.5 * gradient, rtol=1e-5, atol=1e-7)


def test_a_check_that_comes_first_still_comes_first(tf):
    """An index out of range fails the run before the variable is changed."""
    v, index = tf.Variable(np.zeros([1000, 8], np.float32)), tf.placeholder(tf.int32, [None])
    row = tf.gather(tf.constant(np.ones([3, 8], np.float32)), index)
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        update = v.assign_add(tf.ones([1000, 8]) + tf.reduce_sum(row))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(update.op, {index: [5]})
        assert not session.run(v).any()


def test_units_that_met_wait_for_what_either_waited_for(tf):
    """The kernel that reads v first also needs -x; so -x cannot share a kernel with the second assignment to v."""
    x, v = tf.placeholder(tf.float32, [3, 1]), tf.Variable([0.5])
    negative, read = -x, x * tf.identity(v)
    first = tf.assign(v, tf.reduce_sum(tf.tanh(x), 0))
    both = read + (negative + tf.reduce_sum(negative[:, ::2], 1, keepdims=True) * 0.1)
    second = tf.assign(v, tf.reduce_sum(tf.tanh(negative), 0))
    found = {}
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run(v.initializer)
            found[jit] = session.run([negative, read, both, first, second, v], {x: [[1.0], [-2.0], [0.25]]})
    for want, have in zip(found["off"], found["always"]):
        np.testing.assert_allclose(have, want, rtol=1e-6)
