"""Reductions of tensors of several devices; the errors are those of TensorFlow 1.15."""
import numpy as np
import pytest


@pytest.fixture
def sums(tf):
    return tf.contrib.all_reduce


@pytest.mark.parametrize("halved", [False, True])
def test_every_device_gets_the_sum(tf, sums, halved):
    given = [tf.constant([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0, 30.0])]
    un_op, wanted = ((lambda x: x / 2, [5.5, 11.0, 16.5]) if halved else (None, [11.0, 22.0, 33.0]))
    made = [sums.build_ring_all_reduce(given, 1, 1, [0, 1], tf.add, un_op),
            sums.build_recursive_hd_all_reduce(given, tf.add, un_op),
            sums.build_shuffle_all_reduce(given, ["/cpu:0"], tf.add_n, un_op),
            sums.build_shuffle_then_ring(given, ["/cpu:0"], 1, tf.add_n, tf.add, un_op),
            sums.build_shuffle_then_shuffle(given, ["/cpu:0"], ["/cpu:0"], tf.add_n, un_op),
            sums.build_nccl_all_reduce(given, tf.add, un_op), sums.build_nccl_then_ring(given, 1, tf.add, un_op),
            sums.build_nccl_then_recursive_hd(given, tf.add, un_op),
            sums.build_nccl_then_shuffle(given, ["/cpu:0"], tf.add, tf.add_n, un_op)]
    with tf.Session() as session:
        for results in session.run(made):
            assert len(results) == 2
            for result in results:
                np.testing.assert_array_equal(result, np.array(wanted, np.float32))


def test_what_does_not_go_together(tf, sums):
    a = tf.constant([1.0, 2.0])
    for message, build in (("length 2 or longer", lambda: sums.build_ring_all_reduce([a], 1, 1, [0], tf.add)),
                           ("power of 2", lambda: sums.build_recursive_hd_all_reduce([a, a, a], tf.add)),
                           ("not compatible", lambda: sums.build_shuffle_all_reduce([a, a[:1]], ["/cpu:0"], tf.add_n))):
        with pytest.raises(ValueError, match=message):
            build()
