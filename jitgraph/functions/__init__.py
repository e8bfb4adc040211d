"""``tf.function`` and ``Defun``: Python functions that become functions of the graph, which nodes call."""
