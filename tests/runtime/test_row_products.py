"""Products of a loop that do not wait for one another are made for many iterations at once."""
import numpy as np
import pytest

from jitgraph.runtime import row_products

RNG = np.random.RandomState(0)
STEPS, BATCH, SIZE = 11, 3, 64


@pytest.fixture
def made(monkeypatch):
    """The numbers of iterations for which products are made at once."""
    monkeypatch.setattr(row_products, "ROWS", 12)          # four iterations
    found = []
    multiply = row_products.RowsPlan.multiply
    monkeypatch.setattr(row_products.RowsPlan, "multiply",
                        lambda plan, sides, matrices: found.append(len(sides[0])) or multiply(plan, sides, matrices))
    return found


def network(tf, cell, lengths=None):
    """(outputs, gradients of the inputs and of all variables, inputs) of a recurrent network."""
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, STEPS, SIZE])
    outputs, _ = tf.nn.dynamic_rnn(cell(SIZE), x, lengths, dtype=tf.float32)
    return outputs, tf.gradients(tf.reduce_mean(tf.square(outputs)), [x, *tf.trainable_variables()]), x


def values(tf, fetches, feeds, jit):
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def compare(tf, fetches, feeds):
    wanted, found = (values(tf, fetches, feeds, jit) for jit in ("off", "always"))
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=0, atol=3e-6 * np.abs(a).max())


@pytest.mark.parametrize("cell", ["BasicRNNCell", "BasicLSTMCell", "GRUCell"])
@pytest.mark.parametrize("lengths", [None, [11, 0, 4]])
def test_the_inputs_half_of_a_recurrent_product(tf, made, cell, lengths):
    outputs, gradients, x = network(tf, getattr(tf.nn.rnn_cell, cell), lengths)
    compare(tf, [outputs, *gradients], {x: RNG.standard_normal((BATCH, STEPS, SIZE))})
    # forwards and, for the inputs' gradient, backwards; a GRU has two products with its inputs, whose gradients are one sum
    assert sorted(made) == sorted([4, 4, 3] * (3 if cell == "GRUCell" else 2))


def test_without_it_every_iteration_multiplies(tf, made, monkeypatch):
    monkeypatch.setenv("JITGRAPH_WITHOUT", "row_products")
    outputs, gradients, x = network(tf, tf.nn.rnn_cell.GRUCell)
    compare(tf, [outputs, *gradients], {x: RNG.standard_normal((BATCH, STEPS, SIZE))})
    assert not made


@pytest.mark.parametrize("resource", [False, True])
def test_a_matrix_that_the_loop_writes_is_multiplied_in_every_iteration(tf, made, resource):
    w = tf.Variable(RNG.standard_normal((SIZE, SIZE)).astype(np.float32), use_resource=resource)
    array = tf.TensorArray(tf.float32, STEPS, clear_after_read=False).unstack(
        RNG.standard_normal((STEPS, BATCH, SIZE)).astype(np.float32))

    def body(t, h):
        product = tf.matmul(array.read(t), w.read_value())
        with tf.control_dependencies([product]), tf.control_dependencies([w.assign(w * 0.5)]):
            return t + 1, h + product

    total = tf.while_loop(lambda t, h: t < STEPS, body, [tf.constant(0), tf.zeros([BATCH, SIZE])], parallel_iterations=1)[1]
    compare(tf, [total], {})
    assert not made


def test_variables_have_new_values_in_every_run(tf, made):
    w = tf.Variable(np.eye(SIZE, dtype=np.float32))
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(np.ones((2, BATCH, SIZE), np.float32))
    total = tf.while_loop(lambda t, h: t < 2, lambda t, h: (t + 1, tf.matmul(array.read(t), w) + h),
                          [tf.constant(0), tf.zeros([BATCH, SIZE])])[1]
    twice = w.assign(w * 2.0)
    with tf.Session(jit="always") as session:
        session.run(w.initializer)
        for scale in (1, 2, 4):
            assert (session.run(total) == 2 * scale).all()
            session.run(twice)
    assert made == [2] * 3


def test_elements_that_are_missing_or_of_other_sizes(tf, made):
    """An element that was never written is zero; elements with other numbers of rows are multiplied by themselves."""
    w = tf.Variable(np.eye(SIZE, dtype=np.float32))
    array = tf.TensorArray(tf.float32, 4, element_shape=[2, SIZE], clear_after_read=False).write(1, np.ones((2, SIZE), np.float32))
    ragged = tf.TensorArray(tf.float32, 4, element_shape=[None, SIZE], infer_shape=False, clear_after_read=False)
    for k in range(4):
        ragged = ragged.write(k, tf.placeholder_with_default(np.full((k + 1, SIZE), k, np.float32), [None, SIZE]))

    def body(t, total):
        product, other = tf.matmul(array.read(t), w), tf.matmul(ragged.read(t), w)
        return t + 1, total + tf.reduce_sum(product) + tf.reduce_sum(other)

    total = tf.while_loop(lambda t, total: t < 4, body, [tf.constant(0), 0.0])[1]
    compare(tf, [total], {})
    assert made == [1] * 8


def test_an_element_is_still_read_only_once(tf):
    w = tf.Variable(np.eye(SIZE, dtype=np.float32))
    array = tf.TensorArray(tf.float32, 2).unstack(np.ones((2, BATCH, SIZE), np.float32))
    loop = tf.while_loop(lambda t, h: t < 3, lambda t, h: (t + 1, h + tf.matmul(array.read(t % 2), w)),
                         [tf.constant(0), tf.zeros([BATCH, SIZE])])[1]
    for jit in ("off", "always"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not read index 0 twice"):
            values(tf, [loop], {}, jit)


def test_two_threads_run_one_loop(tf):
    from concurrent.futures import ThreadPoolExecutor

    outputs, gradients, x = network(tf, tf.nn.rnn_cell.GRUCell)
    feeds = [RNG.standard_normal((1 + k % 3, STEPS, SIZE)) for k in range(12)]
    with tf.Session(jit="always") as session, ThreadPoolExecutor(4) as pool:
        session.run(tf.global_variables_initializer())
        alone = [session.run([outputs, gradients[0]], {x: feed}) for feed in feeds]
        together = list(pool.map(lambda feed: session.run([outputs, gradients[0]], {x: feed}), feeds))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
