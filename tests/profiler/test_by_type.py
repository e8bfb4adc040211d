"""tf.profiler.profile(cmd="op"): what TensorFlow 1.15.5 gives and prints for the same graph."""
import numpy as np
import pytest

# name, float_ops, total_float_ops, parameters, operations
_FLOPS = [("_TFProfRoot", 0, 20432, 0, []), ("Conv2D", 15552, 20432, 0, ["c1/Conv2D"]),
          ("MatMul", 2920, 4880, 0, ["MatMul", "d1/MatMul"])]
_REPORT = """
Doc:
op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes belonging to the same type are aggregated together.
flops: Number of float operations. Note: Please read the implementation for the math behind it.

Profile:
node name | # float_ops
Conv2D                   15.55k float_ops (100.00%, 80.58%)
MatMul                   2.92k float_ops (19.42%, 15.13%)
Add                        828 float_ops (4.29%, 4.29%)
"""


@pytest.fixture
def network(tf):
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    y = tf.nn.relu(tf.layers.conv2d(x, 4, 3, name="c1"))
    y = tf.layers.dense(tf.layers.flatten(y), 5, name="d1")
    return x, tf.reduce_mean(tf.matmul(y, tf.ones([5, 2])))


def _chain(node):
    found = []
    while True:
        found.append((node.name, node.float_ops, node.total_float_ops, node.parameters, [one.name for one in node.graph_nodes]))
        if not node.children:
            return found
        node, = node.children


def _profile(tf, builder, run_meta=None):
    return _chain(tf.profiler.profile(tf.get_default_graph(), run_meta=run_meta, cmd="op", options=builder.build()))


def test_types_follow_each_other(tf, network):
    builder = tf.profiler.ProfileOptionBuilder
    flops = builder.float_operation()
    found = _profile(tf, builder(flops).with_empty_output())
    assert found[:3] == _FLOPS and [one[1:3] for one in found[3:]] == [(828, 1960), (828, 1132), (298, 304), (4, 6), (2, 2)]
    shown = _profile(tf, builder(flops).with_empty_output().with_node_names(show_name_regexes=["Mat.*", "Mul", "Sub"]))
    assert [one[:3] for one in shown] == [("_TFProfRoot", 0, 3750), ("MatMul", 2920, 3750), ("Mul", 828, 830), ("Sub", 2, 2)]
    trained = _profile(tf, builder(builder.trainable_variables_parameter()).with_empty_output())
    assert trained == [("_TFProfRoot", 0, 0, 0, []),
                       ("VariableV2", 0, 0, 837, ["c1/bias", "c1/kernel", "d1/bias", "d1/kernel"])]


def test_report(tf, network, tmp_path):
    builder, path = tf.profiler.ProfileOptionBuilder, tmp_path / "report"
    _profile(tf, builder(builder.float_operation()).with_max_depth(2).with_file_output(str(path)))
    assert path.read_text() == _REPORT


def test_times_of_a_run(tf, network):
    x, y = network
    run_meta = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(y, {x: np.ones((2, 8, 8, 3))}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_meta)
    profiler = tf.profiler.Profiler(tf.get_default_graph())
    profiler.add_step(1, run_meta)
    builder = tf.profiler.ProfileOptionBuilder
    found = profiler.profile_operations(builder(builder.time_and_memory()).with_empty_output().build())
    assert found.total_exec_micros > 0 and found.children[0].exec_micros > 0
