"""Small programs with savers, whose nodes are compared with those that TensorFlow 1.15.5 builds for them.

Each function takes the API module and builds into the default graph.  The expected nodes are in data/tf115_savers.json;
``python tests/train/saver_programs.py > tests/train/data/tf115_savers.json`` under TensorFlow 1.15 writes them anew.
"""
import json
import re


def _both_kinds(tf):
    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable(3, name="b", use_resource=True)
    return a, b


def plain(tf):
    _both_kinds(tf)
    tf.train.Saver()
    tf.train.Saver(name="mine", filename="file")


def renamed(tf):
    a, b = _both_kinds(tf)
    tf.train.Saver({"y": a, "x/z": b})
    tf.train.Saver([b])


def reshaped(tf):
    _both_kinds(tf)
    tf.Variable(tf.placeholder_with_default([1.0], [None]), name="c", validate_shape=False)
    tf.train.Saver(reshape=True)


def partitioned(tf):
    p = tf.get_variable("e", [10, 4], partitioner=tf.fixed_size_partitioner(3))
    tf.get_variable("r", [10, 4], partitioner=tf.fixed_size_partitioner(2, axis=1), use_resource=True)
    tf.train.Saver()
    tf.train.Saver({"table": p})
    tf.train.Saver({"table": list(p)}, restore_sequentially=True)


def partitioned_and_reshaped(tf):
    tf.get_variable("e", [10, 4], partitioner=tf.fixed_size_partitioner(2))
    tf.get_variable("r", [10, 4], partitioner=tf.fixed_size_partitioner(2), use_resource=True)
    tf.train.Saver(reshape=True)


def sharded(tf):
    with tf.device("/cpu:0"):
        tf.Variable([1.0, 2.0], name="a")
        tf.Variable([1.0], name="r", use_resource=True)
    with tf.device("/job:ps/task:1/gpu:1"):
        tf.Variable(3, name="b")
    tf.Variable(4, name="c")
    tf.train.Saver(sharded=True)


def placed(tf):
    with tf.device("/job:ps/task:1/gpu:1"):
        a = tf.Variable(3, name="a")
        tf.Variable(4, name="b", use_resource=True)
    with tf.device("/job:w"), tf.name_scope("outer"), tf.control_dependencies([a.initializer]):
        tf.train.Saver()


def old_format(tf):
    tf.Variable([1.0, 2.0], name="a")
    tf.get_variable("e", [10, 4], partitioner=tf.fixed_size_partitioner(2))
    tf.train.Saver(write_version=tf.train.SaverDef.V1)
    tf.train.Saver(write_version=tf.train.SaverDef.V1, sharded=True)


def saveable_objects(tf):
    saveable = _saveable_class(tf)
    counter = tf.Variable(0, name="counter")
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable(counter, "things"))
    tf.train.Saver()
    tf.train.Saver([saveable(counter, "other"), counter])


def _saveable_class(tf):
    base = tf.contrib.saver_base if hasattr(tf.contrib, "saver_base") else _base(tf)

    class Two(base):
        """Two tensors under one name."""

        def __init__(self, variable, name):
            spec = base.SaveSpec
            super().__init__(variable, [spec(variable * 2, "", name + "-double"), spec(variable + 1, "", name + "-next")],
                             name)

        def restore(self, restored_tensors, restored_shapes):
            return tf.assign(self.op, restored_tensors[1] - 1)

    return Two


def _base(tf):
    if hasattr(tf, "__path__") and tf.__name__ == "tensorflow":
        from tensorflow.python.training import saver
    else:
        from jitgraph.train import saver
    base = saver.BaseSaverBuilder.SaveableObject
    base.SaveSpec = saver.BaseSaverBuilder.SaveSpec
    return base


PROGRAMS = [plain, renamed, reshaped, partitioned, partitioned_and_reshaped, sharded, placed, old_format,
            saveable_objects]


def _text(attr):
    """An attribute as one line of text; the random part of the name of a temporary folder is masked."""
    return re.sub("_temp_[0-9a-f]{32}", "_temp_X", " ".join(str(attr).split()))


def nodes_of(tf, program):
    """The nodes of a program that belong to savers: [name, op, inputs, device, {attribute: text}]."""
    with tf.Graph().as_default() as graph:
        program(tf)
        nodes = []
        for node in graph.as_graph_def().node:
            if re.match("(outer/)?(save|mine)", node.name):
                attrs = {key: _text(node.attr[key]) for key in sorted(node.attr)}
                nodes.append([node.name, node.op, list(node.input), node.device, attrs])
        return nodes


if __name__ == "__main__":
    import tensorflow

    print(json.dumps({p.__name__: nodes_of(tensorflow, p) for p in PROGRAMS}, indent=0, sort_keys=True))
