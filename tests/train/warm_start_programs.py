"""Programs that start from checkpoints of other models, run here and by TensorFlow 1.15.

``python warm_start_programs.py`` under a Python with TensorFlow 1.15 prints what stands in data/tf115_warm_start.json.
"""
import json
import os
import tempfile

import numpy as np


def prepared(tf, folder):
    """A checkpoint with a matrix of words, and files of words."""
    for name, words in [("old", "apple banana cherry date"), ("new", "date fig apple grape"), ("short", "date")]:
        with open(os.path.join(folder, name), "w") as file:
            file.write("".join(word + "\n" for word in words.split()))
    with tf.Graph().as_default():
        tf.get_variable("emb", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
        tf.get_variable("out", initializer=np.arange(12, dtype=np.float32).reshape(3, 4))
        tf.get_variable("bias", initializer=np.float32([5, 6]))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return tf.train.Saver().save(session, os.path.join(folder, "model"))


def started(tf, checkpoint, make, *args, **kwargs):
    """The values of variables after their initializers, in the same graph, or the error."""
    with tf.Graph().as_default():
        try:
            shown = make()
            tf.train.warm_start(checkpoint, *args, **kwargs)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return [np.asarray(session.run(getattr(one, "as_tensor", lambda one=one: one)())).tolist() for one in shown]
        except Exception as error:
            return [type(error).__name__, str(getattr(error, "message", error)).replace(os.path.dirname(checkpoint), "F")[:60]]


def results(tf, folder):
    checkpoint = prepared(tf, folder)
    word = lambda name: os.path.join(folder, name)
    ones = tf.ones_initializer()

    def variables(rows=5, columns=6, name="emb", partitions=None):
        kwargs = {"partitioner": tf.fixed_size_partitioner(partitions)} if partitions else {}
        return [tf.get_variable(name, [rows, 2], **kwargs), tf.get_variable("out", [3, columns], initializer=ones)]

    def bias(trainable=True):
        return [tf.get_variable("bias", [2], trainable=trainable, initializer=tf.zeros_initializer())]
    info = lambda *args, **kwargs: tf.train.VocabInfo(word("new"), 4, 1, word("old"), *args, **kwargs)
    columns = tf.train.VocabInfo(word("new"), 4, 2, word("old"), axis=1, backup_initializer=ones)
    both = {"emb": info(), "out": columns}
    go = lambda *args, **kwargs: started(tf, checkpoint, *args, **kwargs)
    renamed = lambda: [tf.get_variable("other", [2], initializer=tf.zeros_initializer())]
    return {
        "plain": go(bias), "folder": started(tf, checkpoint, bias, ".*"),
        "not trainable": go(lambda: bias(False)), "by name": go(lambda: bias(False), ["bias"]), "none": go(bias, None),
        "other names": go(renamed, var_name_to_prev_var_name={"other": "bias"}),
        "rows and columns": go(variables, var_name_to_vocab_info=both),
        "parts": go(lambda: variables(partitions=2), var_name_to_vocab_info=both),
        "parts of one row": go(lambda: variables(partitions=5), var_name_to_vocab_info=both),
        "fewer old words": go(variables, var_name_to_vocab_info=dict(both, emb=info(2, ones))),
        "only those": go(lambda: variables() + bias(), None, var_name_to_vocab_info=both),
        "too many rows": go(lambda: variables(9), var_name_to_vocab_info=both),
        "other columns": go(lambda: variables(columns=5), var_name_to_vocab_info=both),
        "too few words": go(variables, var_name_to_vocab_info=dict(both, emb=tf.train.VocabInfo(word("short"), 4, 1, word("old")))),
        "no such tensor": go(renamed), "misspelled": go(bias, var_name_to_prev_var_name={"bais": "bias"}),
        "misspelled word": go(bias, var_name_to_vocab_info={"bais": info()}), "odd list": go(bias, [1]), "odd": go(bias, 5),
        "shape": go(lambda: [tf.get_variable("bias", [3])]),
    }


def result(tf):
    with tempfile.TemporaryDirectory() as folder:
        return json.loads(json.dumps(results(tf, folder)))


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    print("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in result(tensorflow).items()) + "\n}")
