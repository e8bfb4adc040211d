"""Sums of products over a loop's iterations are collected; variables that nothing looks at are left out."""
import numpy as np
import pytest

from jitgraph.runtime import functions, product_sums

RNG = np.random.RandomState(0)
STEPS, BATCH, SIZE = 40, 16, 64


@pytest.fixture
def additions(monkeypatch):
    """The numbers of pairs of each long product that is added."""
    monkeypatch.setattr(product_sums, "TERMS", 512)        # fewer than the iterations below have
    found = []
    add = product_sums.ProductPlan.add
    monkeypatch.setattr(product_sums.ProductPlan, "add",
                        lambda product, total, sides: found.append(len(sides[0])) or add(product, total, sides))
    return found


def recurrent(tf, weights_first, batch=BATCH):
    """(loss, gradient of the weights, inputs) of a recurrent network."""
    x = tf.placeholder(tf.float32, [STEPS, SIZE, batch] if weights_first else [STEPS, batch, SIZE])
    w = tf.Variable(RNG.standard_normal((SIZE, SIZE)).astype(np.float32) / 10)

    def cell(t, h):
        product = tf.matmul(w, h) if weights_first else tf.matmul(h, w)
        return t + 1, tf.tanh(product + x[t])

    start = tf.zeros_like(x[0])
    loss = tf.reduce_mean(tf.square(tf.while_loop(lambda t, h: t < STEPS, cell, [tf.constant(0), start])[1]))
    return loss, tf.gradients(loss, w)[0], x


def values(tf, fetches, feeds, jit):
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.mark.parametrize("weights_first", [False, True])
@pytest.mark.parametrize("batch", [BATCH, None])
def test_the_gradient_of_recurrent_weights(tf, additions, weights_first, batch):
    loss, gradient, x = recurrent(tf, weights_first, batch)
    feed = {x: RNG.standard_normal((STEPS, SIZE, BATCH) if weights_first else (STEPS, BATCH, SIZE))}
    wanted = values(tf, [loss, gradient], feed, "off")
    assert not additions, "the reference adds every product by itself"
    found = values(tf, [loss, gradient], feed, "always")
    each = product_sums.TERMS // BATCH
    assert additions == [each, STEPS - each]
    np.testing.assert_allclose(found[1], wanted[1], rtol=0, atol=2e-5 * np.abs(wanted[1]).max())


def test_without_it_every_product_is_added_by_itself(tf, additions, monkeypatch):
    monkeypatch.setenv("JITGRAPH_WITHOUT", "product_sums")
    _, gradient, x = recurrent(tf, False)
    values(tf, gradient, {x: np.ones((STEPS, BATCH, SIZE))}, "always")
    assert not additions


@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_total_that_the_condition_looks_at_is_up_to_date(tf, additions, jit):
    x = tf.placeholder(tf.float32, [None, SIZE])
    total = tf.while_loop(lambda total: tf.reduce_max(total) < 500.0,
                          lambda total: [total + tf.matmul(x, x, transpose_a=True)], [tf.zeros([SIZE, SIZE])])
    assert (values(tf, total, {x: np.ones((3, SIZE))}, jit) == 501).all() and not additions


@pytest.mark.parametrize("jit", ["off", "always"])
def test_factors_that_do_not_fit_are_an_error(tf, jit):
    x, y = tf.placeholder(tf.float32, [None, SIZE]), tf.placeholder(tf.float32, [None, SIZE])
    total = tf.while_loop(lambda i, total: i < 3, lambda i, total: (i + 1, total + tf.matmul(x, y, transpose_a=True)),
                          [tf.constant(0), tf.zeros([SIZE, SIZE])])[1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix size-incompatible|MatMul"):
        values(tf, total, {x: np.ones((3, SIZE)), y: np.ones((4, SIZE))}, jit)


def test_variables_that_nothing_looks_at_are_left_out(tf):
    x = tf.placeholder(tf.float32, [4])
    result = tf.while_loop(lambda i, a, b, c: i < 5, lambda i, a, b, c: (i + 1, a + x, tf.exp(b) * a, c + 1.0),
                           [tf.constant(0), x, x, x])
    with tf.Session(jit="always") as session:
        assert (session.run(result[1], {x: np.ones(4)}) == 6).all()
        loop, = (caller for caller in session._state.functions.values() if isinstance(caller, functions.LoopCaller))
        assert len(loop.call.division.fetches) == 2
        assert (session.run(result[3], {x: np.ones(4)}) == 6).all()         # another run looks at other variables
