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


def own(tf, bases):
    """A column of a program's own that says everything by the newer and by the older names."""
    class Own(*bases, collections.namedtuple("Own", ["key"])):
        name = property(lambda self: self.key + "_own")
        parents = property(lambda self: [self.key])
        parse_example_spec = property(lambda self: {self.key: tf.FixedLenFeature([1], tf.float32)})
        variable_shape = property(lambda self: tf.TensorShape([2]))
        _parse_example_spec, _variable_shape, _is_v2_column = parse_example_spec, variable_shape, True

        def create_state(self, manager):
            manager.add_resource(self, "layer", tf.layers.Dense(2, name="own", trainable=manager._trainable))

        def transform_feature(self, cache, manager):
            return cache.get(self.key, manager)

        def get_dense_tensor(self, cache, manager):
            return manager.get_resource(self, "layer")(cache.get(self, manager))

        def _transform_feature(self, inputs):
            return inputs.get(self.key)

        def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
            return tf.layers.Dense(2, name="own")(inputs.get(self))

    return Own("x")


@pytest.mark.parametrize("reverse", [False, True])
def test_a_column_that_is_both_newer_and_older(tf, fc, reverse):
    """As those of tensorflow_hub: `class TextColumn(_DenseColumn, DenseColumn)`, whose module is a resource."""
    column = own(tf, (fc.DenseColumn, fc._DenseColumn)[::-1 if reverse else 1])
    features = {"x": tf.constant([[1.0], [3.0]])}
    rows = [tf.feature_column.input_layer(features, [column]), fc.DenseFeatures([column])(features)]
    assert tf.feature_column.make_parse_example_spec([column]) == tf.compat.v2.feature_column.make_parse_example_spec([column])
    assert [v.op.name for v in tf.global_variables()] == ["input_layer/x_own/own/kernel", "input_layer/x_own/own/bias",
                                                          "own/kernel", "own/bias"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        kernels = session.run([v for v in tf.global_variables() if "kernel" in v.op.name])
        for row, kernel in zip(session.run(rows), kernels):
            np.testing.assert_array_equal(row, np.array([[1], [3]], np.float32) * kernel)


def test_a_column_that_is_only_one_of_them_is_taken_by_its_own_kind(tf, fc):
    newer, older, features = own(tf, (fc.DenseColumn,)), own(tf, (fc._DenseColumn,)), {"x": tf.constant([[1.0], [3.0]])}
    assert fc.DenseFeatures([newer])(features).shape == tf.feature_column.input_layer(features, [older]).shape
    with pytest.raises(ValueError, match="must be a _FeatureColumn"):
        tf.feature_column.input_layer(features, [newer])
    with pytest.raises(ValueError, match="must be a FeatureColumn"):
        fc.DenseFeatures([older])(features)
    with pytest.raises(ValueError, match="must be _FeatureColumn instances"):
        tf.feature_column.make_parse_example_spec([newer])
    with pytest.raises(ValueError, match="must be FeatureColumn instances"):
        tf.compat.v2.feature_column.make_parse_example_spec([older])


def test_ready_columns_are_of_the_kinds_that_take_them(tf, fc):
    kinds = (fc._FeatureColumn, fc._DenseColumn, fc._CategoricalColumn, fc._SequenceDenseColumn,
             fc.FeatureColumn, fc.DenseColumn, fc.CategoricalColumn, fc.SequenceDenseColumn)
    ids = [tf.feature_column.categorical_column_with_identity(key, 3) for key in "ab"]
    number = tf.feature_column.numeric_column("y")
    columns = [number, tf.feature_column.bucketized_column(number, [1.0]), ids[0],
               tf.feature_column.shared_embedding_columns(ids, 2)[0]]
    assert ["".join(str(int(isinstance(column, kind))) for kind in kinds) for column in columns] == [
        "11001100", "11101110", "10101010", "11010000"]
    assert not isinstance(number, type(own(tf, (fc.DenseColumn,))))


def test_a_layer_that_is_refused_takes_no_name(tf, fc):
    column = fc.numeric_column("a")
    for columns in ([column, column], [fc.categorical_column_with_identity("i", 3)], []):
        with pytest.raises(ValueError):
            fc.input_layer({"a": tf.constant([[1.0]])}, columns)
    assert fc.input_layer({"a": tf.constant([[1.0]])}, [column]).name == "input_layer/concat/concat:0"
