"""A program whose objects are saved and restored by names of attributes; it runs under TensorFlow 1.15 too.

    python object_programs.py write FOLDER      writes FOLDER/ckpt-1 and FOLDER/ckpt-2 and prints what they hold
    python object_programs.py read FOLDER       reads FOLDER/ckpt-2 and prints the values of the variables
"""
import json
import sys

import numpy as np


def objects(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__(name="model")
            self.w = tf.get_variable("some/w", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=True)
            self.layers = [tf.get_variable("b%d" % k, initializer=[float(k)], use_resource=True) for k in range(2)]  # noqa: UP031
            self.named = {"one": tf.get_variable("one", initializer=1, trainable=False), "text": "no variable"}

    model = Model()
    optimizer = tf.train.AdamOptimizer(0.1)
    momentum = tf.train.MomentumOptimizer(0.1, 0.9)
    loss = tf.reduce_sum(tf.square(model.w)) + tf.reduce_sum(model.layers[0] * model.layers[1])
    steps = [optimizer.minimize(loss), momentum.minimize(loss, var_list=[model.w])]
    step = tf.train.get_or_create_global_step()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, momentum=momentum, step=step, plain=model.w)
    return checkpoint, steps, tf.assign_add(step, 1)


def holdings(tf, path):
    """{name: values or text} of a checkpoint; the graph of objects as its message."""
    reader = tf.train.NewCheckpointReader(path)
    found = {}
    for name in sorted(reader.get_variable_to_shape_map()):
        value = reader.get_tensor(name)
        if name != "_CHECKPOINTABLE_OBJECT_GRAPH":
            found[name] = np.asarray(value).astype(float).round(5).ravel().tolist()
    return found


def write(tf, folder):
    tf.reset_default_graph()
    checkpoint, steps, count = objects(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = checkpoint.save(folder + "/ckpt", session=session)
        session.run(steps)
        session.run(count)
        second = checkpoint.save(folder + "/ckpt")
    assert (first, second) == (folder + "/ckpt-1", folder + "/ckpt-2")
    assert tf.train.latest_checkpoint(folder) == second
    return holdings(tf, second)


def read(tf, folder):
    tf.reset_default_graph()
    checkpoint, _, _ = objects(tf)
    with tf.Session() as session:
        status = checkpoint.restore(folder + "/ckpt-2")
        status.assert_consumed().run_restore_ops(session)
        return {v.op.name: np.asarray(session.run(v)).astype(float).round(5).ravel().tolist() for v in tf.global_variables()}


if __name__ == "__main__":
    import tensorflow

    tensorflow.compat.v1.logging.set_verbosity("ERROR")
    print("RESULT" + json.dumps({"write": write, "read": read}[sys.argv[1]](tensorflow, sys.argv[2]), sort_keys=True))
