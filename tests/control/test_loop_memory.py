"""Loops that begin with computed values: what they store or hand to their gradients is not overwritten later."""
import numpy as np
import pytest

STARTS = {
    "given": (lambda tf, x: x, lambda x: x), "product": (lambda tf, x: x * 2.0, lambda x: x * 2.0),
    "tanh": (lambda tf, x: tf.tanh(x), np.tanh), "sum": (lambda tf, x: x + tf.reduce_sum(x), lambda x: x + x.sum()),
    "matmul": (lambda tf, x: tf.matmul(x[None], tf.ones([3, 3], tf.float64))[0], lambda x: x @ np.ones([3, 3])),
    "concat": (lambda tf, x: tf.concat([x[1:], x[:1]], 0), lambda x: np.roll(x, -1)),
    "reverse": (lambda tf, x: tf.reverse(tf.exp(x), [0]), lambda x: np.exp(x)[::-1]),
    "cumsum": (lambda tf, x: tf.cumsum(x), np.cumsum)}


def iterated(tf, start):
    return tf.while_loop(lambda k, a: k < 3, lambda k, a: (k + 1, a * a * 0.5), [0, start])[1]


def exchanged(tf, start):
    return tf.while_loop(lambda k, a, b: k < 3, lambda k, a, b: (k + 1, b, a * a * 0.5), [0, start, start * 3.0])[1]


def written(tf, start):
    array = tf.TensorArray(start.dtype, 3)
    return tf.while_loop(lambda k, a, t: k < 3, lambda k, a, t: (k + 1, a * a * 0.5, t.write(k, a)), [0, start, array])[2].stack()


def written_again(tf, start):
    array = tf.TensorArray(start.dtype, 3)
    return tf.while_loop(lambda k, a, t: k < 3, lambda k, a, t: (k + 1, a, t.write(k, a)), [0, start, array])[2].stack()


def scanned(tf, start):
    return tf.scan(lambda a, e: a * a * 0.5 * e, tf.ones([3, 3], start.dtype), start)


def folded(tf, start):
    return tf.foldl(lambda a, e: a * a * 0.5 * e, tf.ones([3, 3], start.dtype), start)


def numpy_steps(a):
    found = [a]
    for _ in range(3):
        found.append(found[-1] ** 2 * 0.5)
    return found


LOOPS = {iterated: lambda a: numpy_steps(a)[3], exchanged: lambda a: numpy_steps(3.0 * a)[1],
         written: lambda a: np.stack(numpy_steps(a)[:3]),
         written_again: lambda a: np.stack([a] * 3), scanned: lambda a: np.stack(numpy_steps(a)[1:]),
         folded: lambda a: numpy_steps(a)[3]}


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_loops_with_computed_starts(tf, numeric, loop, jit):
    data = np.array([0.5, 1.0, 1.5])
    for name, (start, in_numpy) in STARTS.items():
        def in_full(x, in_numpy=in_numpy):
            return LOOPS[loop](in_numpy(x))

        tf.reset_default_graph()
        x = tf.placeholder(tf.float64, [3])
        y = loop(tf, start(tf, x))
        first = tf.convert_to_tensor(tf.gradients(tf.reduce_sum(y * y), x)[0])
        second = tf.convert_to_tensor(tf.gradients(tf.reduce_sum(first * first), x)[0])
        after = [tf.tanh(x * k) for k in range(4)]          # which would lie where the start lay
        with tf.Session(jit=jit) as session:
            for _ in range(2):
                found = session.run([y, first, second, after], {x: data})
            np.testing.assert_allclose(found[0], in_full(data), rtol=1e-9, err_msg=name)
            np.testing.assert_allclose(found[1], numeric(lambda x, f=in_full: (f(x) ** 2).sum(), data), rtol=1e-3,
                                       atol=1e-3 * np.abs(found[1]).max(), err_msg=name)
            step = 1e-5
            differences = [session.run(first, {x: data + step * e}) - session.run(first, {x: data - step * e}) for e in np.eye(3)]
            hessian = np.array(differences) / (2 * step)
            np.testing.assert_allclose(found[2], 2.0 * hessian @ found[1], rtol=1e-4, atol=1e-4 * np.abs(found[2]).max(),
                                       err_msg=name)
