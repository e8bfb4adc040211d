"""Elements at indices of several dimensions, in kernels: gather_nd, scatter_nd, tensor_scatter_*, gather with batch_dims."""
import numpy as np
import pytest

RNG = np.random.RandomState(0)
FED = RNG.standard_normal((4, 5, 3)).astype(np.float32)
AT = np.array([[0, 1], [3, 4], [0, 1], [2, 0]])


def of_params(tf, x, i):
    return tf.gather_nd(x, i)


def added(tf, x, i):
    return tf.scatter_nd(i, tf.gather_nd(x, i) * 2.0, tf.shape(x, out_type=i.dtype))


def table_added(tf, x, i):
    return tf.tensor_scatter_add(x, i, tf.gather_nd(x, i) * 2.0)


def table_subtracted(tf, x, i):
    return tf.tensor_scatter_sub(x, i, tf.gather_nd(x, i) * 2.0)


WAYS = [of_params, added, table_added, table_subtracted]


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("shape", [[4, 5, 3], [None, 5, 3], [None, None, None]], ids=["known", "open", "unknown"])
@pytest.mark.parametrize("way", WAYS)
def test_kernels_find_positions(tf, agree, host_steps, way, shape, index):
    x, i = tf.placeholder(tf.float32, shape), tf.placeholder(index, [None, 2])
    y = way(tf, x, i)
    feeds = {x: FED, i: AT.astype(index)}
    fetches = [y, *tf.gradients(tf.square(y), [x])]
    agree(fetches, feeds, np.float32)
    assert not host_steps(fetches, feeds)


def test_each_element_of_a_batch_has_its_own_indices(tf, agree, host_steps):
    x, i = tf.placeholder(tf.float32, [None, 5, 3]), tf.placeholder(tf.int32, [None, 2, 2])
    y = tf.gather(x, i, batch_dims=1)
    feeds = {x: FED, i: RNG.randint(0, 5, (4, 2, 2))}
    agree([y, *tf.gradients(tf.square(y), [x])], feeds, np.float32)
    assert not host_steps([y], feeds)
    with tf.Session(jit="always") as session:
        np.testing.assert_array_equal(session.run(y, feeds)[1, 0], FED[1][feeds[i][1, 0]])


@pytest.mark.parametrize("wrong", [[3, 5], [0, -1], [4, 0], [-1, 4]])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_part_out_of_range_is_told_though_all_rows_have_such_a_number(tf, jit, way, wrong):
    x, i = tf.placeholder(tf.float32, [None, 5, 3]), tf.placeholder(tf.int32, [None, 2])
    y = way(tf, x, i)
    with tf.Session(jit=jit) as session:
        session.run(y, {x: FED, i: AT})
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[1\] = \[{wrong[0]}, {wrong[1]}\] does not index into"):
            session.run(y, {x: FED, i: [[0, 0], wrong]})


@pytest.mark.parametrize("jit", ["off", "always"])
def test_a_pairs_index_out_of_range_is_told(tf, jit):
    x, i = tf.placeholder(tf.float32, [None, 5, 3]), tf.placeholder(tf.int32, [4, 1])
    y = tf.gather(x, i, batch_dims=1)
    with tf.Session(jit=jit) as session:
        session.run(y, {x: FED, i: [[0], [1], [4], [2]]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1,0\] = 5 is not in \[0, 5\)"):
            session.run(y, {x: FED, i: [[0], [5], [4], [2]]})
