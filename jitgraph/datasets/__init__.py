"""The data sets of TensorFlow's tutorials: MNIST, and small tables of numbers.

They are NumPy arrays in the memory of the program, `tf.examples.tutorials.mnist` and `tf.contrib.learn.datasets`; what
streams through a graph is `tf.data`.
"""
