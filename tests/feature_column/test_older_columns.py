"""Columns of a program's own that say what columns said before layers took them, as those of TensorFlow 1.10."""
import collections

import numpy as np
import pytest

from jitgraph import compat


@pytest.fixture
def fc():
    compat.install()
    from tensorflow.python.feature_column import feature_column

    yield feature_column
    compat.uninstall()


def test_columns_of_ones_own(tf, fc):
    class Twice(collections.namedtuple("Twice", ["key"]), fc._DenseColumn):
        name = property(lambda self: self.key + "_twice")
        _parse_example_spec = property(lambda self: {self.key: tf.FixedLenFeature([2], tf.float32)})
        _variable_shape = property(lambda self: tf.TensorShape([2]))

        def _transform_feature(self, inputs):
            return inputs.get(self.key) * 2.0

        def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
            return inputs.get(self)

    class Ids(collections.namedtuple("Ids", ["key"]), fc._CategoricalColumn):
        name = property(lambda self: self.key + "_ids")
        _num_buckets = property(lambda self: 3)

        def _transform_feature(self, inputs):
            return tf.contrib.layers.dense_to_sparse(inputs.get(self.key))

        def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
            return self.IdWeightPair(inputs.get(self), None)

    features = {"x": tf.constant([[1.0, 2.0]]), "y": tf.constant([[3.0]]), "i": tf.constant([[1]], tf.int64)}
    columns = [Twice("x"), tf.feature_column.numeric_column("y")]
    rows = tf.feature_column.input_layer(features, [*columns, tf.feature_column.indicator_column(Ids("i"))])
    sums = tf.feature_column.linear_model(features, [*columns, Ids("i")])
    assert tf.feature_column.make_parse_example_spec(columns[:1]) == {"x": tf.FixedLenFeature([2], tf.float32)}
    with pytest.raises(ValueError, match="must be a FeatureColumn"):
        fc.DenseFeatures(columns)(features)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(rows), [[0, 1, 0, 2, 4, 3]])
        np.testing.assert_array_equal(session.run(sums), [[0]])
    assert [v.op.name for v in tf.global_variables()] == [
        f"linear_model/{name}" for name in ("i_ids/weights", "x_twice/weights", "y/weights", "bias_weights")]


def test_kinds_of_columns_by_their_older_names(tf, fc):
    number = tf.feature_column.numeric_column("y")
    assert isinstance(number, fc._DenseColumn) and not isinstance(number, fc._CategoricalColumn)
    assert isinstance(tf.feature_column.bucketized_column(number, [1.0]), (fc._DenseColumn, fc._CategoricalColumn))
    cache = fc._LazyBuilder({"y": tf.constant([1.0, 2.0])})
    assert cache.get(number) is cache.get(number) and cache.get("y").shape == [2, 1]


def test_a_column_that_says_nothing(tf, fc):
    class Silent(fc._DenseColumn):
        name = "silent"

    with pytest.raises(NotImplementedError, match="Silent does not say get_dense_tensor"):
        tf.feature_column.input_layer({"y": tf.constant([1.0])}, [Silent()])


def test_variables_by_column_and_name(tf, fc):
    from tensorflow.python.feature_column.feature_column_v2 import _StateManagerImpl

    state, column = _StateManagerImpl(tf.layers.Layer(), trainable=False), tf.feature_column.numeric_column("y")
    made = state.create_variable(column, "w", [2])
    assert state.get_variable(column, "w") is made and not made.trainable
    with pytest.raises(ValueError, match="already exists"):
        state.create_variable(column, "w", [2])


def test_columns_by_the_functions_that_made_them_before_they_were_public(tf, fc):
    ids = fc._categorical_column_with_identity("i", 3)
    price = fc._bucketized_column(fc._numeric_column("y"), [1.0])
    weighted = fc._weighted_categorical_column(fc._categorical_column_with_vocabulary_list("w", ("a", "b")), "y")
    features = {"i": tf.constant([[2]], tf.int64), "y": tf.constant([[3.0]]), "w": tf.constant([["b"]])}
    made = fc._transform_features(features, [ids, price, fc._crossed_column([ids, "w"], 5)])
    rows = tf.feature_column.input_layer(features, [price, fc._indicator_column(ids), fc._indicator_column(weighted)])
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        np.testing.assert_array_equal(session.run(made[ids]).values, [2])
        np.testing.assert_array_equal(session.run(made[price]), [[1]])
        np.testing.assert_array_equal(session.run(rows), [[0, 0, 1, 0, 3, 0, 1]])
    with pytest.raises(ValueError, match="Duplicate feature column name"):
        fc._transform_features(features, [ids, ids])


def test_layers_of_columns_have_names_of_their_own(tf, fc):
    embedded = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("i", 3), 2)
    number = tf.feature_column.numeric_column("y", shape=2)
    features = {"i": tf.constant([[1]], tf.int64), "y": tf.constant([[1.0, 5.0]])}
    parts = {}
    layers = [fc.DenseFeatures([embedded, number]), fc.DenseFeatures([embedded]),
              fc.LinearModel([number]), fc.LinearModel([number])]
    assert layers[0].compute_output_shape((None, 7)) == (None, 4) and layers[0].weights == []
    layers[0](features, parts)
    for layer in layers[1:]:
        layer(features)
    assert [layer.name for layer in layers] == ["dense_features", "dense_features_1", "linear_model", "linear_model_1"]
    assert [v.op.name for layer in layers for v in layer.weights] == [
        "dense_features/i_embedding/embedding_weights", "dense_features_1/i_embedding/embedding_weights",
        "linear_model/y/weights", "linear_model/bias_weights", "linear_model_1/y/weights", "linear_model_1/bias_weights"]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(parts[number]), [[1, 5]])
