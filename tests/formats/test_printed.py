"""What print() shows of graphs, nodes and operations is in TensorFlow's order."""
import re

import pytest


def keys(text):
    return re.findall(r'key: "(\w+)"', text)


@pytest.mark.parametrize("shown", [
    lambda op: str(op), lambda op: str(op.node_def), lambda op: str(op.graph.as_graph_def().node[-1]),
    lambda op: repr(op.node_def), lambda op: str(op.graph.as_graph_def()).rpartition("\nnode")[2]])
def test_attributes_are_sorted(tf, shown):
    x = tf.placeholder(tf.float32, [1, 4, 4, 1])
    pooled = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    assert keys(shown(pooled.op)) == ["T", "data_format", "ksize", "padding", "strides"]


def test_every_printed_map_is_sorted(tf):
    config = tf.ConfigProto(device_count={"GPU": 0, "CPU": 2, "A": 1})
    assert keys(str(config)) == ["A", "CPU", "GPU"]
    assert keys(str(tf.train.Features(feature={name: tf.train.Feature() for name in "badc"}))) == list("abcd")


def test_a_printed_graph(tf):
    """As TensorFlow 1.15 prints it."""
    x = tf.constant(1.0, name="x")
    tf.identity(x, name="y")
    assert str(tf.get_default_graph().as_graph_def()) == '''\
node {
  name: "x"
  op: "Const"
  attr {
    key: "dtype"
    value {
      type: DT_FLOAT
    }
  }
  attr {
    key: "value"
    value {
      tensor {
        dtype: DT_FLOAT
        tensor_shape {
        }
        float_val: 1.0
      }
    }
  }
}
node {
  name: "y"
  op: "Identity"
  input: "x"
  attr {
    key: "T"
    value {
      type: DT_FLOAT
    }
  }
}
versions {
  producer: 134
}
'''
