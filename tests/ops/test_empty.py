"""Tensors without elements, whose sizes before the run nobody knows: shapes are TensorFlow's, compiled and by reference."""
import numpy as np
import pytest

SHAPES = [(0,), (4, 0), (0, 4), (4, 0, 2), (0, 0), (2, 3, 0)]


def results(tf, make, shape, jit):
    x = tf.placeholder(tf.float32, [None] * len(shape))
    with tf.Session(jit=jit) as session:
        return session.run(make(tf, x, shape), {x: np.zeros(shape)})


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("jit", ["always", "off"])
class TestShapes:
    def test_dynamic_stitch(self, tf, shape, jit):
        found = results(tf, lambda tf, x, s: tf.dynamic_stitch([np.arange(s[0]), [1, 0]], [x, tf.ones([2, *s[1:]])]), shape, jit)
        assert found.shape == (max(shape[0], 2), *shape[1:])
        assert (found[:2] == 1).all()

    def test_dynamic_stitch_of_it_alone(self, tf, shape, jit):
        assert results(tf, lambda tf, x, s: tf.dynamic_stitch([np.arange(s[0])], [x]), shape, jit).shape == shape

    def test_reductions(self, tf, shape, jit):
        for axis in range(len(shape)):
            found = results(tf, lambda tf, x, s, axis=axis: [
                tf.tanh(tf.reduce_sum(x, axis)), tf.reduce_logsumexp(x, axis),
                tf.tanh(tf.reduce_sum(tf.tile(x, [2] * len(s)), axis))], shape, jit)
            rest = shape[:axis] + shape[axis + 1:]
            assert [f.shape for f in found] == [rest, rest, tuple(2 * d for d in rest)]
            assert not found[0].any() and np.isneginf(found[1][found[1] != 0]).all()

    def test_unstack(self, tf, shape, jit):
        assert len(tf.unstack(tf.zeros(shape))) == shape[0]


@pytest.mark.parametrize("shape, wanted, expected", [
    ((0,), [0, -1, 3], (0, 0, 3)), ((3, 0), [-1, 2, 0], (1, 2, 0)), ((0, 0), [0, -1], (0, 1)), ((0, 3), [-1, 0], (3, 0)),
    ((0, 5), [-1, 5], (0, 5)), ((0, 5), [2, -1], (2, 0))])
@pytest.mark.parametrize("jit", ["always", "off"])
def test_reshape_by_a_size_of_0(tf, shape, wanted, expected, jit):
    assert results(tf, lambda tf, x, s: tf.reshape(x, wanted), shape, jit).shape == expected


@pytest.mark.parametrize("jit", ["always", "off"])
def test_the_diagonal_of_nothing(tf, jit):
    assert results(tf, lambda tf, x, s: tf.diag_part(x), (0, 0), jit).shape == (0,)
