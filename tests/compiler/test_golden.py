"""Golden kernels: the text that typical graphs are compiled to.  `pytest --update` accepts a change."""
import pytest

import jitgraph as tf
from jitgraph import compiler


def adam():
    v = tf.get_variable("v", [4], initializer=tf.zeros_initializer())
    optimizer = tf.train.AdamOptimizer(0.1)
    return [], [optimizer.apply_gradients([(tf.placeholder(tf.float32, [4]), v)])]


CASES = {
    "elementwise": lambda: ([tf.sigmoid(2.0 * tf.placeholder(tf.float32, [None]) + 1.0)], []),
    "softmax": lambda: ([tf.nn.softmax(tf.placeholder(tf.float32, [None, 10]))], []),
    "layernorm": lambda: ([normalised(tf.placeholder(tf.float32, [None, 8]))], []),
    "column_mean": lambda: ([tf.reduce_mean(tf.placeholder(tf.float32, [None, 5]), 0)], []),
    "sum_all": lambda: ([tf.reduce_sum(tf.square(tf.placeholder(tf.float32, [None])))], []),
    "gather": lambda: ([tf.gather(tf.placeholder(tf.float32, [9, 4]), tf.placeholder(tf.int32, [None])) * 2.0], []),
    "dense_relu": lambda: ([tf.nn.relu(tf.matmul(tf.placeholder(tf.float32, [None, 3]), tf.ones([3, 5])) + 1.0)], []),
    "argmax": lambda: ([tf.argmax(tf.placeholder(tf.float32, [None, 10]), 1)], []),
    "integer_division": lambda: ([tf.placeholder(tf.int32, [None]) // 3], []),
    "adam": adam,
}


def normalised(x):
    mean = tf.reduce_mean(x, 1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), 1, keepdims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-5)


@pytest.mark.parametrize("name", sorted(CASES))
def test_kernel_text(tf, golden, name):
    fetches, targets = CASES[name]()
    graph = tf.get_default_graph()
    feeds = {op.outputs[0]: tuple(6 if d is None else d for d in op.outputs[0].shape.as_list())
             for op in graph.get_operations() if op.type == "Placeholder"}
    program = compiler.compile(graph, fetches, targets, feeds)
    texts = [step[0].source for step in program.layout.steps if isinstance(step, tuple)]
    golden(f"{name}.py.txt", "\n".join(texts))
