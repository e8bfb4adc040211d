"""Gradients that a tf.function takes of its own loop: they make nodes that the loop, an earlier node, takes."""
import pytest

LOOPS = {
    "squares": (lambda tf, x: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * y), [0, x])[1], 1024.0),
    "powers": (lambda tf, x: tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * x), [0, 1.0])[1], 12.0),
    "sums": (lambda tf, x: tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y + tf.square(x)), [0, 0.0])[1], 8.0),
    "branches": (lambda tf, x: tf.while_loop(lambda i, _: i < 4, lambda i, y: (i + 1, tf.cond(
        tf.equal(i % 2, 0), lambda: y * x, lambda: y + x)), [0, 1.0])[1], 9.0),
}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", LOOPS)
def test_of_an_argument(tf, name, jit):
    loop, expected = LOOPS[name]

    @tf.function
    def slope(x):
        return tf.gradients(loop(tf, x), x)[0]

    with tf.Session(jit=jit) as session:
        assert session.run(slope(tf.constant(2.0))) == expected


@pytest.mark.parametrize("jit", ["off", "always"])
def test_of_a_variable_in_a_function_that_the_loop_calls(tf, jit):
    v = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)
    inner = tf.function(lambda x, var: x + tf.reduce_sum(var))

    @tf.function
    def slope(var):
        result = tf.while_loop(lambda i, _: i < 2, lambda i, x: (i + 1, inner(x, var)), [0, 0.0])[1]
        return tf.gradients(result, var)[0]

    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        assert session.run(slope(v)).tolist() == [2, 2, 2]


def test_a_gradient_that_is_only_waited_for(tf):
    @tf.function
    def waits():
        x = tf.constant(2.0)
        with tf.control_dependencies(tf.gradients(LOOPS["squares"][0](tf, x), x)):
            return tf.constant(5)

    with tf.Session() as session:
        assert session.run(waits()) == 5
