"""Strings that are looked at in another order: reversed, transposed, every second one."""
import numpy as np
import pytest

WORDS = np.array([[b"a", b"bb"], [b"ccc", b"dddd"], [b"eeeee", b"f" * 6]], object)
lengths = np.vectorize(len)


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("source", ["constant", "fed", "variable", "py_func"])
def test_views_of_strings(tf, jit, source):
    """They are read where they lie, of constants as of what is fed: a read elsewhere ended the process."""
    fed = tf.placeholder(tf.string, [3, 2])
    made = {"constant": lambda: tf.constant(WORDS), "fed": lambda: fed, "variable": lambda: tf.Variable(WORDS),
            "py_func": lambda: tf.ensure_shape(tf.py_func(lambda: WORDS.copy("F"), [], tf.string), [3, 2])}
    words = tf.convert_to_tensor(made[source]())
    found = [tf.strings.length(words[::-1, ::-1]), tf.strings.length(tf.transpose(words)[::-1]), words[::-2], words[:, ::-1]]
    wanted = [lengths(WORDS[::-1, ::-1]), lengths(WORDS.T[::-1]), WORDS[::-2], WORDS[:, ::-1]]
    turned = WORDS[::-1].copy()[::-1]           # the same words, in memory from the last to the first
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            for value, expected in zip(session.run(found, {fed: turned}), wanted):
                assert value.tolist() == expected.tolist()
