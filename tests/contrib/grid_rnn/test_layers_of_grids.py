"""A grid with layers in the place of cells begins with random kernels: TensorFlow fails without an initializer of its scope."""


def test_a_layer_begins_with_random_kernels(tf):
    cell = tf.contrib.grid_rnn.Grid2GRUCell(3, non_recurrent_fn=tf.tanh)
    y, state = cell(tf.ones([2, 4]), cell.zero_state(2, tf.float32))
    assert cell.output_size == (3,) and cell.state_size == (3,)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (found,), (one,) = session.run([y, state])
    assert found.shape == one.shape == (2, 3)
