"""Op types of graph files that are older than TensorFlow 1.15."""
