"""Models of linear and hidden layers: what their constructors refuse."""
import numpy as np
import pytest


@pytest.mark.parametrize("make", [
    lambda learn: learn.DNNLinearCombinedClassifier(dnn_hidden_units=[3]),
    lambda learn: learn.DNNLinearCombinedClassifier(linear_feature_columns=[], dnn_feature_columns=[], dnn_hidden_units=[3]),
    lambda learn: learn.DNNLinearCombinedRegressor(dnn_hidden_units=[3]),
    lambda learn: learn.DNNLinearCombinedEstimator(learn.multi_class_head(2), dnn_hidden_units=[3])])
def test_a_model_without_columns(tf, make):
    with pytest.raises(ValueError, match="Either linear_feature_columns or dnn_feature_columns must be defined"):
        make(tf.contrib.learn)


def test_a_linear_model_with_a_head_takes_no_dual_optimizer(tf):
    learn, age = tf.contrib.learn, tf.contrib.layers.real_valued_column("age")
    with pytest.raises(ValueError, match="does not support SDCA optimizer"):
        learn.LinearEstimator(head=learn.regression_head(), feature_columns=[age],
                              optimizer=tf.contrib.linear_optimizer.SDCAOptimizer("id"))


def with_embedding(tf, kind, multiplier):
    """(an estimator of a kind, trained by one step, the change of the table of its embedding)"""
    layers, learn = tf.contrib.layers, tf.contrib.learn
    column = layers.embedding_column(layers.sparse_column_with_hash_bucket("words", 5), 2,
                                     initializer=tf.constant_initializer(0.5))
    age = layers.real_valued_column("age")
    named = {"config": learn.RunConfig(tf_random_seed=1), "embedding_lr_multipliers": {column: multiplier}}
    deep = {"feature_columns": [column, age], "hidden_units": [3], "optimizer": lambda: tf.train.GradientDescentOptimizer(0.5)}
    both = {"linear_feature_columns": [age], **{f"dnn_{name}": value for name, value in deep.items()}}
    head = (learn.multi_class_head(2),) if kind.endswith("Estimator") else ()
    estimator = getattr(learn, kind)(*head, **(both if "Combined" in kind else deep), **named)

    def two_examples():
        words = tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1])
        return {"age": tf.constant([[1.0], [2.0]]), "words": words}, tf.constant([[1], [0]])

    estimator.fit(input_fn=two_examples, steps=1)
    return estimator.get_variable_value("dnn/input_from_feature_columns/words_embedding/weights") - 0.5


@pytest.mark.parametrize("kind", [f"{model}{task}" for model in ("DNN", "DNNLinearCombined")
                                  for task in ("Classifier", "Regressor", "Estimator")])
def test_gradients_of_embeddings_are_multiplied(tf, kind):
    once = with_embedding(tf, kind, 1.0)
    assert (once != 0).any()
    np.testing.assert_allclose(with_embedding(tf, kind, 4.0), 4 * once, rtol=1e-5)
    assert (with_embedding(tf, kind, 0.0) == 0).all()


def test_only_embeddings_of_the_model_have_multipliers(tf):
    layers = tf.contrib.layers
    age, words = layers.real_valued_column("age"), layers.sparse_column_with_hash_bucket("words", 5)

    def an_example():
        return {"age": tf.constant([[1.0]])}, tf.constant([[1]])

    for column, message in [(age, "only be defined for embedding columns"),
                            (layers.embedding_column(words, 2), "Couldn't find a variable for column")]:
        estimator = tf.contrib.learn.DNNClassifier([3], [age], embedding_lr_multipliers={column: 2.0})
        with pytest.raises(ValueError, match=message):
            estimator.fit(input_fn=an_example, steps=1)
