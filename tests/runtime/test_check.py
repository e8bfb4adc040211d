"""JITGRAPH_CHECK: it names what is compiled wrongly, and no rounding, however much of it is left when terms cancel."""

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.runtime import check, reference

XS = np.linspace(-3, 3, 101).astype("f")


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("JITGRAPH_CHECK", "1")
    tf.reset_default_graph()


def exp_less_itself(x):
    return (tf.exp(x) - tf.placeholder_with_default(np.exp(XS.astype("d")).astype("f"), [101])) * 1e6


def polynomial(x):
    terms = [1e6 * (x - 1.0) ** 5, -1e6 * x ** 5, 5e6 * x ** 4, -1e7 * x ** 3, 1e7 * x ** 2, -5e6 * x]
    return tf.square(tf.add_n(terms) + 1e6)


def looped(x):
    return tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, exp_less_itself(x) + a), [0, x])[1]


PROGRAMS = {
    "a difference": exp_less_itself,
    "a polynomial": polynomial,
    "a sum": lambda x: tf.reduce_sum(exp_less_itself(x)),
    "a product": lambda x: tf.matmul(exp_less_itself(x)[None], tf.sin(x)[:, None] * 1e3),
    "what is made of it": lambda x: tf.argmax(tf.floor(exp_less_itself(x))),
    "a branch": lambda x: tf.cond(x[0] < 0, lambda: exp_less_itself(x), lambda: x),
    "a loop": looped,
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_cancels_is_no_difference(what):
    x = tf.placeholder(tf.float32, [101])
    y = PROGRAMS[what](x)
    with tf.Session() as session:
        for _ in range(2):
            session.run(y, {x: XS})


def test_nor_is_a_variable_that_takes_such_a_value():
    x = tf.placeholder(tf.float32, [101])
    v = tf.Variable(tf.zeros([101]), use_resource=True)
    step = v.assign_sub(exp_less_itself(x))
    with tf.control_dependencies([step]):
        y = tf.reduce_sum(v.read_value())
    with tf.Session() as session:
        session.run(v.initializer)
        for _ in range(2):
            session.run(y, {x: XS})


@pytest.mark.parametrize("wrong", ["Sin", "Mul", "Sum"])
@pytest.mark.parametrize("size", [0.01, 1.0])
def test_a_wrong_value_is_named(monkeypatch, wrong, size):
    """The reference stands for what is wrong here; for the check they are alike."""
    x = tf.placeholder(tf.float32, [101])
    y = tf.reduce_sum(tf.sin(x) * exp_less_itself(x))
    step = reference.Steps.step

    def changed(self, op):
        step(self, op)
        if op.type == wrong:
            self.values.update((t, np.asarray(self.values[t] * (1 + size) + size)) for t in op.outputs)

    monkeypatch.setattr(reference.Steps, "step", changed)
    with tf.Session() as session, pytest.raises(tf.errors.InternalError, match="JITGRAPH_CHECK") as caught:
        session.run(y, {x: XS})
    assert caught.value.op.type == wrong


def test_a_copy_of_the_state_leaves_it_alone():
    v = tf.Variable(1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        twin = check.copied(session._state)
        twin.assign(v.op, np.float32(7.0))
        assert session.run(v) == 1.0
