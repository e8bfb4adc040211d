"""What TensorFlow 1 keeps in ``tensorflow.python.tools``: functions on graph and checkpoint files."""
