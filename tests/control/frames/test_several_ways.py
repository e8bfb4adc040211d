"""A Merge of several Switches, each with a decision of its own: programs choose one of several ways so."""
import numpy as np
import pytest


@pytest.fixture
def which(tf):
    return tf.placeholder(tf.int32, [])


def chosen(tf, x, function, which, count):
    """function(x, number) for the one of `count` numbers that `which` is, and the number (slim's preprocessing does it so)."""
    return tf.raw_ops.Merge(inputs=[function(tf.raw_ops.Switch(data=x, pred=tf.equal(which, number))[1], number)
                                    for number in range(count)])


def test_only_the_way_that_is_chosen_runs(tf, which):
    ran = tf.Variable([0, 0, 0, 0])
    def way(x, number):
        with tf.control_dependencies([tf.scatter_add(ran, number, tf.cast(x[0], tf.int32))]):
            return tf.reduce_sum(x) if number == 2 else x * (number + 1.0)
    value, number = chosen(tf, tf.constant([1.0, 2.0]), way, which, 4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([value, number], {which: k}) for k in range(4)]
        assert [one.tolist() for one, _ in found] == [[1.0, 2.0], [2.0, 4.0], 3.0, [4.0, 8.0]]
        assert [int(number) for _, number in found] == [0, 1, 2, 3] and session.run(ran).tolist() == [1, 1, 1, 1]


def test_ways_may_branch_again_and_follow_each_other(tf, which):
    x = tf.constant([1.0, 2.0])
    first, _ = chosen(tf, x, lambda x, k: tf.cond(x[0] > 0.0, lambda: x + k, lambda: x), which, 3)
    second, _ = chosen(tf, first, lambda x, k: x * (10.0 ** k), which, 3)
    gradient, = tf.gradients(second, x)
    with tf.Session() as session:
        assert session.run(second, {which: 2}).tolist() == [300.0, 400.0]
        np.testing.assert_allclose(session.run(gradient, {which: 1}), [10.0, 10.0])


def test_no_way_is_an_error_for_who_looks(tf, which):
    value, _ = chosen(tf, tf.constant(1.0), lambda x, k: x, which, 2)
    with tf.Session() as session:
        assert session.run(value, {which: 1}) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            session.run(value, {which: 2})


def test_several_tensors_go_the_same_way(tf, which):
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    ways = []
    for number in range(3):
        a, b = (tf.raw_ops.Switch(data=data, pred=tf.equal(which, number))[1] for data in (x, y))
        ways.append((a * b + number, tf.reduce_sum(a) - b))
    first, second = (tf.raw_ops.Merge(inputs=list(parts))[0] for parts in zip(*ways))
    with tf.Session() as session:
        assert [one.tolist() for one in session.run([first, second], {which: 2})] == [[5.0, 8.0], 0.0]
        assert session.run(first, {which: 0}).tolist() == [3.0, 6.0]
