"""Training with masks that are set after each step; TensorFlow 1.15's own ``train`` ends in a TypeError."""
import numpy as np


def test_train_prunes_what_it_trains(tf):
    pruning = tf.contrib.model_pruning
    rows, labels = np.random.RandomState(0).randn(2, 16, 5).astype("f"), np.zeros((16, 1), "f")
    loss = tf.losses.mean_squared_error(labels, pruning.masked_fully_connected(rows[0], 1, activation_fn=None))
    step = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    spec = pruning.get_pruning_hparams().parse("pruning_frequency=1,sparsity_function_end_step=5,target_sparsity=0.6")
    update = pruning.Pruning(spec).conditional_mask_update_op()
    sparsity, zeros = pruning.get_weight_sparsity()[0], []

    def train_step(session, *arguments):
        zeros.append(float(session.run(sparsity)))
        return tf.contrib.slim.learning.train_step(session, *arguments)

    last = pruning.train(step, None, update, train_step, number_of_steps=8)
    assert np.isfinite(last)
    assert zeros[0] == 0 and zeros == sorted(zeros)
    np.testing.assert_allclose(zeros[-1], 0.6)


def test_the_sparsity_of_one_weight(tf):
    pruning = tf.contrib.model_pruning
    weights = [tf.get_variable(name, initializer=np.arange(1, 11, dtype="f")) for name in ("one", "other")]
    for weight in weights:
        pruning.apply_mask(weight, weight.op.name)
    tf.train.create_global_step()
    spec = pruning.get_pruning_hparams().parse("weight_sparsity_map=[one:0.2],target_sparsity=0.5")
    update = pruning.Pruning(spec, sparsity=tf.constant(0.5)).mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        assert [list(mask).count(0) for mask in session.run(pruning.get_masks())] == [2, 5]
