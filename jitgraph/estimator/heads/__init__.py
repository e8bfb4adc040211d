"""The heads of ``tf.estimator`` whose losses, predictions and metrics are methods."""
