"""``tf.train.do_quantize_training_on_graphdef``; the nodes and values are those of TensorFlow 1.15.5."""
import numpy as np
import pytest


@pytest.fixture
def network(tf):
    """Two layers, the first with the range of its activation function, and a saver."""
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    w = tf.get_variable("w", initializer=np.arange(12, dtype=np.float32).reshape(3, 4) / 7 - 0.5, use_resource=False)
    h = tf.nn.relu6(tf.matmul(x, w, name="m"), name="h")
    y = tf.matmul(h, tf.ones([4, 2], name="c"), name="m2")
    tf.gradients(y, w)
    tf.train.Saver()
    return tf.get_default_graph().as_graph_def()


def test_inputs_of_products_are_rounded(tf, network):
    made = {node.name: node for node in tf.train.do_quantize_training_on_graphdef(network, 4).node}
    rounded = "QuantizeAndDequantizeV2"
    assert list(made["m"].input) == [f"x/{rounded}", f"w/read/{rounded}"]
    assert list(made["m2"].input) == [f"h/{rounded}", f"c/{rounded}"]
    assert list(made[f"h/{rounded}"].input) == ["h", "h/InputMin", "h/InputMax"]
    assert (made[f"h/{rounded}"].attr["signed_input"].b, made[f"x/{rounded}"].attr["signed_input"].b) == (False, True)
    assert {node.attr["num_bits"].i for node in made.values() if node.op == rounded} == {4}
    assert not [name for name in made if name.startswith("gradients") and rounded in name]
    assert "x/Min/Variable" in made["save/SaveV2"].input and len(made["save/restore_all"].input) == 7


def test_ranges_follow_what_comes(tf, network):
    definition = tf.train.do_quantize_training_on_graphdef(network, 4)
    tf.reset_default_graph()
    tf.import_graph_def(definition, name="")
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.Session() as session:
        session.run("w/Assign")
        found = [session.run("m2:0", {"x:0": rows * k})[:, 0].tolist() for k in (1, 2, 3)]
        assert session.run("x/Max/Variable:0") == pytest.approx(6.017994)       # 6, then a thousandth nearer to 12, to 18
    np.testing.assert_allclose(found, [[12.4, 17.6], [19.6, 16.4], [19.2, 16.4]], rtol=1e-6)


def test_what_cannot_be_rewritten(tf, network):
    with pytest.raises(tf.errors.OutOfRangeError, match=r"num_bits should be in range \[1, 63\] but is: 64"):
        tf.train.do_quantize_training_on_graphdef(network, 64)
    tf.reset_default_graph()
    x, y, z = (tf.placeholder(tf.float32, [2, 2], name=name) for name in "xyz")
    tf.matmul(tf.matmul(x, y), z)
    with pytest.raises(tf.errors.UnimplementedError, match="Found an unknown op: .* with type: .*; Unknown ops are considered"):
        tf.train.do_quantize_training_on_graphdef(tf.get_default_graph().as_graph_def(), 8)
