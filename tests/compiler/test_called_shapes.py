"""What conditionals, calls and loops give has the sizes that their functions make it have: no plan ends there without need."""
import numpy as np
import pytest

RNG = np.random.RandomState(0)


def lengths_of_a_network(tf, x, flag):
    n = tf.where(flag, [1, 2, 3], [3, 1, 1])
    cell = tf.nn.rnn_cell.BasicLSTMCell(6, name="cell")
    outputs, _ = tf.nn.static_rnn(cell, [x, x * 2, x * 3], dtype=tf.float32, sequence_length=n[:tf.shape(x)[0]])
    return tf.add_n(outputs)


def normalised_as_fed(tf, x, flag):
    images = tf.reshape(x, [-1, 2, 1, 2])
    return tf.reshape(tf.layers.batch_normalization(images, training=flag, fused=True, name="norm"), [-1, 4])


def inside_one_another(tf, x, flag):
    return tf.cond(flag, lambda: tf.cond(x[0, 0] > 0, lambda: x * 2, lambda: tf.reverse(x, [0])), lambda: x - 1)


def a_loop_with_loose_shapes(tf, x, flag):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) + tf.cast(flag, tf.float32)), (0, x),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, None])))[1]


def a_function(tf, x, flag):
    return tf.contrib.eager.defun(lambda a: tf.tanh(a) * tf.cast(tf.shape(a)[0], tf.float32))(x)


def case(tf, x, flag):
    return tf.switch_case(tf.cast(flag, tf.int32), [lambda: x, lambda: x * 3])


KNOWN = [lengths_of_a_network, normalised_as_fed, inside_one_another, a_loop_with_loose_shapes, a_function, case]


def branches_that_do_not_agree(tf, x, flag):
    return tf.cond(flag, lambda: x[1:], lambda: x)


def a_loop_that_grows(tf, x, flag):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, x], 0)), (0, x),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 4])))[1]


def a_loop_that_hands_on_what_grows(tf, x, flag):
    def body(i, a, b):
        return i + 1, b, tf.concat([b, x], 0)

    free = tf.TensorShape([None, 4])
    return tf.while_loop(lambda i, *_: i < 4, body, (0, x, x), shape_invariants=(tf.TensorShape([]), free, free))[1]


def values_decide(tf, x, flag):
    return tf.cond(flag, lambda: tf.boolean_mask(x, x[:, 0] > 0), lambda: tf.boolean_mask(x, x[:, 0] > 9))


OPEN = [branches_that_do_not_agree, a_loop_that_grows, a_loop_that_hands_on_what_grows, values_decide]


@pytest.mark.parametrize("program", KNOWN + OPEN, ids=lambda p: p.__name__)
def test_the_plan_goes_on_where_the_sizes_are_known(tf, program):
    x, flag = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.bool, [])
    y = tf.exp(program(tf, x, flag) * 0.1) + 1
    fetches = [y, *(tf.gradients(y, x) if program is not a_loop_with_loose_shapes else ())]     # which takes values off lists
    feeds = [{x: RNG.standard_normal((rows, 4)), flag: on} for rows in (3, 2, 1) for on in (True, False)]
    with tf.Session(jit="off") as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(v) for v in tf.global_variables()]
        wanted = [session.run(fetches, feed) for feed in feeds]
    with tf.Session(jit="always") as session:
        for variable, value in zip(tf.global_variables(), values):
            variable.load(value, session)
        for feed, want in zip(feeds, wanted):
            for a, b in zip(session.run(fetches, feed), want):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        ends = [compiled.program.rest for plan in session.plans for compiled in plan.compiled]
    assert any(ends) == (program in OPEN)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_what_a_branch_that_is_not_taken_would_refuse_does_not_matter(tf, jit):
    x, flag = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.bool, [])
    v = tf.Variable(tf.ones([3, 4]), validate_shape=False, name="v")
    y = tf.cond(flag, lambda: x * 2, lambda: x + v) + 1         # no value, or rows that do not fit
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            assert session.run(y, {x: np.ones((2, 4)), flag: True}).tolist() == [[3] * 4] * 2
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(y, {x: np.ones((3, 4)), flag: False})
        session.run(v.initializer)
        assert session.run(y, {x: np.ones((3, 4)), flag: False}).tolist() == [[3] * 4] * 3
        assert session.run(y, {x: np.ones((2, 4)), flag: True}).tolist() == [[3] * 4] * 2
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {x: np.ones((2, 4)), flag: False})
