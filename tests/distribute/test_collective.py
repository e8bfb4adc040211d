"""What devices of a group do together, for a group of one."""
import numpy as np
import pytest

X = np.arange(6, dtype=np.float32).reshape(2, 3)
GROUP = {"group_size": 1, "group_key": 1, "instance_key": 2}


@pytest.mark.parametrize("make", [
    lambda raw: raw.CollectiveReduce(X, merge_op="Add", final_op="Div", subdiv_offsets=[0], **GROUP),
    lambda raw: raw.CollectiveGather(X, shape=[2, 3], **GROUP),
    lambda raw: raw.CollectiveBcastSend(X, shape=[2, 3], **GROUP),
    lambda raw: raw.CrossReplicaSum(X, [[0]]),
    lambda raw: raw.CollectivePermute(X, [[0, 0]]),
    lambda raw: raw.AllToAll(X, [[0]], concat_dimension=0, split_dimension=1, split_count=1),
    lambda raw: raw.NcclAllReduce(X, reduction="sum", num_devices=1, shared_name="a"),
    lambda raw: raw.NcclBroadcast(X, shape=[2, 3]),
])
def test_a_group_of_one_has_its_own(tf, make):
    y = make(tf.raw_ops)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), X)
    assert y.shape.as_list() == [2, 3]


@pytest.mark.parametrize("how, wanted", [("sum", 3 * X), ("prod", 2 * X * X), ("min", X), ("max", 2 * X)])
def test_reduce_puts_all_tensors_together(tf, how, wanted):
    inputs = [tf.constant(X), tf.constant(2 * X)]
    y = tf.raw_ops.NcclReduce(inputs, reduction=how)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), wanted)
    if how == "sum":
        with tf.Session() as session:
            for got in session.run(tf.gradients(y * y, inputs)):
                np.testing.assert_array_equal(got, 6 * X)
    else:
        with pytest.raises(LookupError, match="No gradient defined for NcclReduce except sum"):
            tf.gradients(y, inputs)


def test_nobody_sends_to_this_replica(tf):
    with tf.Session() as session:
        assert not session.run(tf.raw_ops.CollectivePermute(X, np.zeros((0, 2), np.int32))).any()


@pytest.mark.parametrize("make, error", [
    (lambda raw: raw.CollectiveReduce(X, merge_op="Add", final_op="Id", subdiv_offsets=[0], **{**GROUP, "group_size": 2}),
     "UnimplementedError"),
    (lambda raw: raw.CollectiveReduce(X, merge_op="Add", final_op="Id", subdiv_offsets=[0], **{**GROUP, "group_size": 0}),
     "InternalError"),
    (lambda raw: raw.CollectiveBcastSend(X, shape=[3, 3], **GROUP), "InternalError"),
    (lambda raw: raw.CollectiveBcastRecv(T="float32", shape=[3, 3], **GROUP), "UnimplementedError"),
    (lambda raw: raw.NcclAllReduce(X, reduction="sum", num_devices=2, shared_name="a"), "UnimplementedError"),
])
def test_larger_groups_are_refused(tf, make, error):
    with tf.Session() as session, pytest.raises(getattr(tf.errors, error)):
        session.run(make(tf.raw_ops))
