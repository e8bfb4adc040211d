"""What is known of the elements of TensorArrays before a run: how many there are, and their shape, through loops and branches."""
import numpy as np
import pytest


def _run(tf, fetches, feeds):
    """What a run gives, by reference and compiled, and the programs of the latter's plan."""
    found = []
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            session.run(tf.global_variables_initializer())
            found.append([session.run(fetches, feed) for feed in feeds])
            programs = [c.program for c in session.plans[1].compiled] if jit == "always" else []
    for expected, got in zip(*found):
        for a, b in zip(expected, got):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
    return found[1], programs


def test_a_range_of_a_fed_size_is_no_end_of_a_plan(tf):
    x = tf.placeholder(tf.float32, [None, 3])
    rows = tf.range(tf.shape(x)[0])
    picked = tf.gather_nd(x, tf.stack([rows, rows % 3], axis=1))
    found, programs = _run(tf, [picked], [{x: np.arange(12).reshape(4, 3)}, {x: np.arange(15).reshape(5, 3)}])
    assert found[0][0].tolist() == [0, 4, 8, 9]
    assert not any(program.rest for program in programs)


@pytest.mark.parametrize("lengths", [True, False])
def test_training_a_recurrent_network_of_fed_sizes_is_one_program(tf, lengths):
    tf.set_random_seed(1)
    x, steps = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*[tf.nn.rnn_cell.GRUCell(4) for _ in range(2)], x, steps if lengths else None,
                                                 dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(tf.concat(outputs, 2) - 0.3))
    weights = tf.trainable_variables()
    step = tf.gradients(loss, weights)
    feeds = [{x: np.sin(np.arange(b * t * 3)).reshape(b, t, 3), steps: np.arange(b) % t + 1} for b, t in ((2, 5), (4, 3), (3, 1))]
    _, programs = _run(tf, [loss, *step], feeds)
    assert not any(program.rest for program in programs)


def test_elements_of_two_shapes_have_none_that_is_known(tf):
    x = tf.placeholder(tf.float32, [None])
    array = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False)
    array = array.write(0, x).write(1, x[1:])
    found, _ = _run(tf, [array.read(1), array.read(0)], [{x: [1, 2, 3]}])
    assert [f.tolist() for f in found[0]] == [[2, 3], [1, 2, 3]]


def test_elements_of_a_loop_whose_shapes_grow_are_read_as_they_are(tf):
    x = tf.placeholder(tf.float32, [None])

    def body(k, row, array):
        return k + 1, tf.concat([row, row[:1]], 0), array.write(k, row)

    array = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False)
    shapes = [tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape(None)]
    _, _, array = tf.while_loop(lambda k, *_: k < 3, body, [0, x, array], shapes)
    found, _ = _run(tf, [array.read(k) for k in range(3)], [{x: [1, 2]}])
    assert [len(f) for f in found[0]] == [2, 3, 4]


def test_a_loop_may_end_with_another_array_than_it_began_with(tf):
    x = tf.placeholder(tf.float32, [None, 2])
    count = tf.shape(x)[0]
    first, second = (tf.TensorArray(tf.float32, n, infer_shape=False, clear_after_read=False) for n in (count, count + 1))
    first, second = first.unstack(x), second.unstack(tf.concat([x, x[:1]], 0))
    flows = tf.while_loop(lambda k, a: k < 1, lambda k, a: (k + 1, second.flow), [0, first.flow])
    array = tf.TensorArray(tf.float32, handle=second.handle, flow=flows[1], infer_shape=False)
    found, _ = _run(tf, [array.size(), array.gather([2, 0])], [{x: [[1, 2], [3, 4]]}])
    assert found[0][0] == 3
    assert found[0][1].tolist() == [[1, 2], [1, 2]]


def test_a_growing_array_has_as_many_elements_as_were_written(tf):
    x, most = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    array = tf.TensorArray(tf.float32, tf.shape(x)[0], dynamic_size=True, element_shape=[None])
    _, array = tf.while_loop(lambda k, a: k < most, lambda k, a: (k + 1, a.write(k, x * tf.cast(k, tf.float32))), [0, array])
    found, _ = _run(tf, [array.size(), array.stack()], [{x: [1, 2], most: 5}, {x: [1, 2], most: 2}])
    assert [f[0] for f in found] == [5, 2]
    assert found[0][1].shape == (5, 2)


def test_branches_that_write_alike_leave_the_shape_known(tf):
    x, flag = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.bool, [])
    array = tf.TensorArray(tf.float32, tf.shape(x)[0], infer_shape=False)
    array = array.unstack(x)
    flow = tf.cond(flag, lambda: array.flow, lambda: tf.TensorArray(
        tf.float32, handle=array.handle, flow=array.flow, infer_shape=False).flow)
    after = tf.TensorArray(tf.float32, handle=array.handle, flow=flow, infer_shape=False)
    found, programs = _run(tf, [after.stack() * 2], [{x: [[1, 2], [3, 4]], flag: True}])
    assert found[0][0].tolist() == [[2, 4], [6, 8]]
    assert not any(program.rest for program in programs)


@pytest.mark.parametrize("jit", ["off", "always"])
def test_an_array_without_elements_has_no_shape_to_stack(tf, jit):
    x = tf.placeholder(tf.float32, [None, None])
    array = tf.TensorArray(tf.float32, tf.shape(x)[0], element_shape=[None])
    _, array = tf.while_loop(lambda k, a: k < 0, lambda k, a: (k + 1, a.write(k, x[0])), [0, array])
    with tf.Session(jit=jit) as session, pytest.raises(tf.errors.UnimplementedError, match="zero-size"):
        session.run(array.stack(), {x: np.zeros((0, 2))})


def test_a_branch_that_can_only_fail_has_no_say(tf):
    """tf.contrib.crf squeezes sequences of one step in a branch of its own, which longer ones never take."""
    x, lengths = tf.placeholder(tf.float32, [None, None, 3]), tf.placeholder(tf.int32, [None])
    labels = tf.placeholder(tf.int32, [None, None])
    likelihood, transitions = tf.contrib.crf.crf_log_likelihood(x, labels, lengths, tf.ones([3, 3]))
    fetches = [likelihood, *tf.gradients(likelihood, [x, transitions])]
    feeds = [{x: np.sin(np.arange(2 * t * 3)).reshape(2, t, 3), labels: np.arange(2 * t).reshape(2, t) % 3,
              lengths: [t, (t + 1) // 2]} for t in (5, 3, 1)]
    _, programs = _run(tf, fetches, feeds)
    assert not any(program.rest for program in programs)


def test_a_branch_that_fails_says_so_where_it_is_taken(tf):
    x, flag = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.bool, [])
    y = tf.cond(flag, lambda: x[:, 0], lambda: tf.squeeze(x, [0])) * 2.0
    with tf.Session(jit="always") as session:
        assert session.run(y, {x: [[1, 2], [3, 4]], flag: True}).tolist() == [2, 6]
        with pytest.raises(tf.errors.InvalidArgumentError, match="squeeze"):
            session.run(y, {x: [[1, 2], [3, 4]], flag: False})
        assert session.run(y, {x: [[1, 2]], flag: False}).tolist() == [2, 4]
        assert session.run(y, {x: [[1, 2], [3, 4], [5, 6]], flag: True}).tolist() == [2, 6, 10]
