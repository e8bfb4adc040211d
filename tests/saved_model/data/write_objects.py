"""Writes the folders beside it: a model as TensorFlow saves it.

    python write_objects.py tf115_objects       # by TensorFlow 1.15.5, in a session
    python write_objects.py tf221_objects       # by TensorFlow 2.21, eagerly
"""
import os
import sys

import tensorflow.compat.v1 as tf


class Model(tf.Module):
    def __init__(self, words):
        super().__init__()
        self.w = tf.Variable([[2.0], [3.0]], name="w", use_resource=True)
        self.parts = [tf.Variable(5.0, name="p", use_resource=True, trainable=False)]
        self.named = {"w": self.w}
        self.table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            words, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        return {"y": tf.matmul(x, self.w)}

    @tf.function
    def scale(self, x, k=2, both=None):
        return [x * self.parts[0] * k, both]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def ids(self, words):
        return self.table.lookup(words)


def write(folder):
    with open("words.txt", "w") as file:
        file.write("a\nb\n")
    model = Model("words.txt")
    model.scale(tf.constant(3.0))
    model.scale(tf.constant([1.0, 2.0]), 3, both=tf.constant(1))
    if tf.executing_eagerly():
        import tensorflow

        tensorflow.saved_model.save(model, folder, model.__call__)
    else:
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            tf.saved_model.save(model, folder, model.__call__)
    os.remove("words.txt")


os.chdir(os.path.dirname(os.path.abspath(__file__)))
write(sys.argv[1])
