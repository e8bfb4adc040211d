"""Parameters of estimators, as scikit-learn asks for them."""
import pytest


def test_parameters_are_read_and_set(tf, tmp_path):
    estimator = tf.contrib.learn.Estimator(lambda features, labels, params: None, model_dir=str(tmp_path), params={"a": 1})
    assert estimator.get_params() == {"params": {"a": 1}}
    assert estimator.set_params(params={"a": 2}) is estimator and estimator.params == {"a": 2}
    assert tf.contrib.learn.SKCompat(estimator).get_params() == {}
    with pytest.raises(ValueError, match="Invalid parameter foo for estimator Estimator"):
        estimator.set_params(foo=1)


def test_the_first_graph_is_saved_as_it_is(tf, tmp_path):
    from jitgraph.contrib.learn.exported import GraphRewriteSpec

    estimator = tf.contrib.learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")], model_dir=str(tmp_path))
    estimator.fit(input_fn=lambda: ({"x": tf.constant([[1.0]])}, tf.constant([[2.0]])), steps=1)
    specs = [GraphRewriteSpec(("serve",), ("strip_unused_nodes",))]
    with pytest.raises(ValueError, match="must specify no transforms"):
        estimator.export_savedmodel(str(tmp_path), lambda: None, graph_rewrite_specs=specs)
