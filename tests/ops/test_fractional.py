"""Draws that depend on the runs before: pooling with fixed windows, classes learned from those that were true."""
import numpy as np
import pytest

TRUE = np.array([[1, 4], [3, 0], [7, 7]])

# what TensorFlow 1.15 draws in three runs of one session, with operation seed 42 and graph seed 5
LEARNED = [[8, 1, 7, 2], [1, 7, 2, 4], [3, 1, 7, 2], [7, 4, 0, 1]]


def test_fixed_windows_are_those_of_every_run(tf):
    x = tf.random.stateless_normal([1, 9, 9, 1], [1, 2])
    fixed = tf.nn.fractional_max_pool(x, [1.0, 1.4, 1.6, 1.0], deterministic=True, seed=3)
    free = tf.nn.fractional_max_pool(x, [1.0, 1.4, 1.6, 1.0])
    with tf.Session() as session:
        first, *others = [session.run(fixed) for _ in range(3)]
        for one in others:
            np.testing.assert_array_equal(one.row_pooling_sequence, first.row_pooling_sequence)
            np.testing.assert_array_equal(one.output, first.output)
        assert len({tuple(session.run(free.row_pooling_sequence)) for _ in range(20)}) > 1


def test_classes_are_learned_from_those_that_were_true(tf):
    tf.set_random_seed(5)
    drawn = tf.nn.learned_unigram_candidate_sampler(TRUE, 2, 4, True, 9, 42)
    with tf.Session() as session:
        runs = [session.run(drawn) for _ in range(4)]
    assert [run[0].tolist() for run in runs] == LEARNED
    np.testing.assert_allclose(runs[3][2], [0.7769865, 0.5514402, 0.5514402, 0.5514402], rtol=1e-6)
    with tf.Session() as session:               # another session has seen nothing
        assert session.run(drawn[0]).tolist() == LEARNED[0]


def test_a_class_beyond_the_range_is_refused(tf):
    drawn = tf.nn.learned_unigram_candidate_sampler(TRUE, 2, 4, True, 6)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(drawn)


def test_a_quantized_activation_is_cut_off_at_both_ends(tf):
    """TensorFlow 1.15 has no kernel of this op."""
    levels = tf.bitcast(tf.constant([0, 60, 100, 140, 255], tf.uint8), tf.quint8)
    values, low, high = tf.nn.quantized_relu_x(levels, 1.5, -1.0, 3.0)
    with tf.Session() as session:
        found = session.run([tf.bitcast(values, tf.uint8), low, high])
    assert found[0].tolist() == [64, 64, 100, 140, 160] and found[1:] == [-1.0, 3.0]
