"""What layers have of Keras: a layer that is just called is connected to nothing, and a module holds its variables."""
import pytest


@pytest.mark.parametrize("name, text", [
    ("input", "not connected, no input to return"), ("output", "has no inbound nodes"),
    ("input_mask", "not connected, no input to return"), ("output_mask", "has no inbound nodes"),
    ("input_shape", "has never been called"), ("output_shape", "has never been called")])
def test_a_called_layer_is_in_no_network(tf, name, text):
    layer = tf.layers.Dense(3)
    layer(tf.ones([2, 4]))
    with pytest.raises(AttributeError, match=text):
        getattr(layer, name)


@pytest.mark.parametrize("name", ["input", "input_mask", "input_shape", "output", "output_mask", "output_shape"])
def test_it_has_no_nodes(tf, name):
    layer = tf.layers.Dense(3)
    layer(tf.ones([2, 4]))
    assert layer.inbound_nodes == layer.outbound_nodes == layer.metrics == [] and layer.dynamic is False
    with pytest.raises(RuntimeError, match="has never been called"):
        getattr(layer, f"get_{name}_at")(0)


def test_masks_and_signatures(tf):
    assert tf.layers.Dense(3).compute_mask(1.0, mask=True) is True and tf.layers.Flatten().compute_mask(1.0) is None
    with pytest.raises(TypeError, match="does not support masking, but was passed an input_mask"):
        tf.layers.Conv2D(1, 1).compute_mask(1.0, mask=True)
    signature = tf.layers.Dense(3).compute_output_signature(tf.TensorSpec([2, 4], tf.float64))
    assert signature == tf.TensorSpec([2, 3], tf.float64)
    with pytest.raises(TypeError, match="Only TensorSpec signature types"):
        tf.layers.Dense(3).compute_output_signature(3)


def test_metrics_are_those_of_tf_metrics(tf):
    layer = tf.layers.Dense(3)
    with pytest.raises(ValueError, match="only `mean`"):
        layer.add_metric(1.0, aggregation="max")
    with pytest.raises(ValueError, match="provide a name"):
        layer.add_metric(1.0)
    with pytest.raises(NotImplementedError, match=r"tf\.metrics\.mean"):
        layer.add_metric(1.0, "mean", "m")


def test_a_module_finds_the_variables_of_layers_that_it_holds(tf):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.dense, self.rest = tf.layers.Dense(2), [tf.layers.BatchNormalization()]

    model = Model()
    model.rest[0](model.dense(tf.ones([1, 3])))
    assert isinstance(model.dense, tf.Module) and model.submodules == (model.dense, *model.rest)
    assert [v.op.name.rpartition("/")[2] for v in model.variables] == [
        "kernel", "bias", "moving_mean", "moving_variance", "gamma", "beta"]        # TensorFlow's order
    assert [v.op.name.rpartition("/")[2] for v in model.trainable_variables] == ["kernel", "bias", "gamma", "beta"]
