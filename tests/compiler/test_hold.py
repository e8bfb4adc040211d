"""A read that comes with a variable is the buffer that the variable has when the run begins, as in TensorFlow 1.15."""
import pytest

pytestmark = pytest.mark.parametrize("jit", ["off", "always", "auto"])

OLD, SAME, MORE, OTHER = [1.0, 2.0, 3.0, 4.0], [9.0, 8.0, 7.0, 6.0], [9.0, 8.0, 7.0, 6.0, 5.0], [[9.0, 8.0], [7.0, 6.0]]
SEEN = [(SAME, SAME), (MORE, OLD), (OTHER, SAME), (5.0, OLD), (SAME, SAME)]        # what is assigned -> what the read gives


def _variable(tf):
    return tf.Variable(OLD, validate_shape=False, use_resource=False), tf.placeholder(tf.float32)


def _runs(tf, jit, v, fetches, x, check):
    with tf.Session(jit=jit) as session:
        for value, seen in SEEN * 2:
            session.run(v.initializer)
            check(value, seen, session.run(fetches, {x: value}))


def test_what_uses_a_read_after_a_write_of_another_size_has_the_old_value(tf, jit):
    v, x = _variable(tf)
    with tf.control_dependencies([tf.assign(v, x, validate_shape=False)]):
        fetches = v * 1.0, tf.shape(v), v.read_value()

    def check(value, seen, found):
        assert [a.tolist() for a in found] == [seen, [4], value]
    _runs(tf, jit, v, fetches, x, check)


def test_a_read_keeps_what_was_written_into_its_buffer_before_that_was_replaced(tf, jit):
    v, x = _variable(tf)
    with tf.control_dependencies([tf.assign(v, x, validate_shape=False)]):
        twice = tf.assign(v, tf.stack([x, x]), validate_shape=False)
    with tf.control_dependencies([twice]):
        fetches = v * 1.0, twice + 0.0

    def check(value, seen, found):
        assert [a.tolist() for a in found] == [seen, [value, value]]
    _runs(tf, jit, v, fetches, x, check)


def test_a_variable_that_grows_inside_of_a_branch_gets_its_old_elements_back(tf, jit):
    v, n = tf.Variable([1.0, 2.0, 3.0], validate_shape=False, use_resource=False), tf.placeholder(tf.int32)

    def grow():
        new, old = tf.zeros([n]), v.value()
        with tf.control_dependencies([tf.assign(v, new, validate_shape=False)]):
            copied = v[:3].assign(old[:3])
        with tf.control_dependencies([copied]):
            return tf.no_op()

    ops = grow(), tf.cond(n > 0, grow, tf.no_op)
    with tf.Session(jit=jit) as session:
        for size in (5, 3, 6, 5):
            for op in ops:
                session.run(v.initializer)
                session.run(op, {n: size})
                assert session.run(v).tolist() == [0.0] * 3 if size == 3 else [1.0, 2.0, 3.0] + [0.0] * (size - 3)
