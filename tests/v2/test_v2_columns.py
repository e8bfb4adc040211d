"""``tf.compat.v2.feature_column.shared_embeddings``: columns of layers that look up one variable."""
import pytest

from jitgraph.feature_column.dense_rows import DenseFeatures


@pytest.fixture
def columns(tf):
    one, two = (tf.feature_column.categorical_column_with_identity(key, 3) for key in "ab")
    return tf.compat.v2.feature_column.shared_embeddings(
        [one, two], 2, combiner="sum", initializer=lambda shape, **_: tf.reshape(tf.range(6.0), shape))


def test_one_variable_is_looked_up_for_both(tf, columns):
    """Names and numbers that TensorFlow 1.15.5 gives."""
    features = {"a": tf.constant([[0, 2], [1, 1]], tf.int64), "b": tf.constant([[2, 2], [0, 1]], tf.int64)}
    rows = DenseFeatures(columns)(features)
    assert [variable.name for variable in tf.global_variables()] == ["a_b_shared_embedding:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(rows).tolist() == [[4, 6, 8, 10], [4, 6, 2, 4]]


def test_each_graph_has_a_variable_of_its_own(tf, columns):
    weights = columns[0].shared_embedding_column_creator
    first = weights.embedding_weights
    with tf.Graph().as_default():
        second = weights.embedding_weights
    assert first is weights.embedding_weights and second is not first and second.graph is not first.graph


def test_a_vocabulary_file_takes_its_dtype_before_the_default(tf, tmp_path):
    (tmp_path / "words.txt").write_text("x\ny\n")
    column = tf.compat.v2.feature_column.categorical_column_with_vocabulary_file(
        "w", str(tmp_path / "words.txt"), 2, tf.string, None, 3)
    assert (column.num_oov_buckets, column.default_value, column.num_buckets) == (3, -1, 5)


def test_parsing_is_told_of_columns_that_layers_take(tf, columns):
    assert tf.compat.v2.feature_column.make_parse_example_spec(columns) == {key: tf.VarLenFeature(tf.int64) for key in "ab"}
    with pytest.raises(ValueError, match="must be _FeatureColumn instances"):
        tf.feature_column.make_parse_example_spec(columns)
    older = tf.feature_column.shared_embedding_columns([column.categorical_column for column in columns], 2)
    with pytest.raises(ValueError, match="must be FeatureColumn instances"):
        tf.compat.v2.feature_column.make_parse_example_spec(older)
