"""TensorFlow's files: checkpoints, records, meta graphs, and graphs read from GraphDefs."""
