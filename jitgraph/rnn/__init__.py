"""Recurrent networks: the cells of ``tf.nn.rnn_cell``, and the functions of ``tf.nn`` that run them over sequences."""
