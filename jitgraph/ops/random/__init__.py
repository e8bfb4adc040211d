"""Random numbers, bit for bit TensorFlow's."""
