"""Sizes that only the run knows, and that are negative: an error of the run, in every mode, and nothing is drawn."""
import numpy as np
import pytest

STATED = {
    "fill": lambda tf, n: tf.fill(n, 1.0),
    "zeros": lambda tf, n: tf.zeros(n),
    "ones": lambda tf, n: tf.ones(n, tf.int32),
    "broadcast_to": lambda tf, n: tf.broadcast_to(1.0, n),
    "random_normal": lambda tf, n: tf.random_normal(n),
    "random_uniform": lambda tf, n: tf.random_uniform(n),
    "random_uniform_int": lambda tf, n: tf.random_uniform(n, 0, 9, tf.int32),
    "truncated_normal": lambda tf, n: tf.truncated_normal(n),
    "random_gamma": lambda tf, n: tf.random_gamma(n, 1.0),
    "random_poisson": lambda tf, n: tf.random_poisson(1.0, n),
    "stateless_uniform": lambda tf, n: tf.random.stateless_uniform(n, [1, 2]),
    "stateless_normal": lambda tf, n: tf.random.stateless_normal(n, [1, 2]),
    "scatter_nd": lambda tf, n: tf.scatter_nd([[0]], tf.ones([1]), n),
    "sparse_to_dense": lambda tf, n: tf.sparse_to_dense([0], n, 1.0),
}
COUNTED = {
    "eye": lambda tf, n: tf.eye(n),
    "one_hot": lambda tf, n: tf.one_hot([0, 1], n),
    "unsorted_segment_sum": lambda tf, n: tf.unsorted_segment_sum([1.0], [0], n),
    "conv2d_transpose": lambda tf, n: tf.nn.conv2d_transpose(tf.ones([2, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [n, 4, 4, 1],
                                                             [1, 2, 2, 1]),
    "multinomial": lambda tf, n: tf.multinomial(tf.ones([1, 2]), n),
    "linspace": lambda tf, n: tf.linspace(0.0, 1.0, n),
    "tile": lambda tf, n: tf.tile([1.0], [n]),
    **{name: lambda tf, n, make=make: make(tf, tf.stack([n])) for name, make in STATED.items()},
}


@pytest.fixture(params=["always", "off", "auto"])
def session(tf, request):
    with tf.Session(jit=request.param) as session:
        yield session


@pytest.mark.parametrize("name", list(STATED))
@pytest.mark.parametrize("size", [-1, -2])
def test_a_vector_of_sizes_that_is_fed(tf, session, name, size):
    n = tf.placeholder(tf.int32, [1])
    y = STATED[name](tf, n)
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Dimension {size} must be >= 0"):
            session.run(y, {n: [size]})
    assert session.run(y, {n: [3]}).shape == (3,)


@pytest.mark.parametrize("name", list(COUNTED))
def test_a_size_that_is_computed_of_another(tf, session, name):
    x = tf.placeholder(tf.float32, [None])
    y = COUNTED[name](tf, tf.shape(x)[0] - 5)
    for rows in (4, 3, 0, 4):
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(y, {x: np.zeros(rows)})
    session.run(y, {x: np.zeros(7)})


@pytest.mark.parametrize("name", [name for name in STATED if name.startswith("random") or name == "truncated_normal"])
def test_what_fails_draws_nothing(tf, session, name):
    tf.set_random_seed(3)
    n = tf.placeholder(tf.int32, [1])
    y = STATED[name](tf, n)
    wanted = [session.run(y, {n: [4]}).tolist() for _ in range(2)]
    with tf.Session(jit=session.plans[0].jit) as other:
        found = [other.run(y, {n: [4]}).tolist()]
        with pytest.raises(tf.errors.InvalidArgumentError):
            other.run(y, {n: [-1]})
        found.append(other.run(y, {n: [4]}).tolist())
    assert found == wanted


def test_a_size_that_the_graph_states(tf):
    with pytest.raises(ValueError, match="Fill dimensions must be >= 0"):
        tf.fill([-1], 1.0)
    assert tf.random_normal([-1]).shape.as_list() == [None] and tf.broadcast_to(1.0, [-1]).shape.as_list() == [None]
    assert tf.reshape(tf.zeros([6]), [-1, 2]).shape.as_list() == [3, 2]
