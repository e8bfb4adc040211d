"""How embeddings are trained on TPUs: values that programs hand to an estimator which takes no notice of them."""


def test_what_is_left_out_has_the_values_of_tensorflow(tf):
    columns = [tf.feature_column.numeric_column("x"), tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_identity("i", 3), 2)]
    parameters = tf.tpu.experimental
    given = parameters.AdagradParameters(0.1)
    spec = tf.estimator.tpu.experimental.EmbeddingConfigSpec(columns, given)
    assert spec == (columns, given, None, False, None, None, None, "div")
    bounds = {"clip_weight_min": None, "clip_weight_max": None}
    assert vars(given) == {"learning_rate": 0.1, "use_gradient_accumulation": True, "initial_accumulator": 0.1, **bounds}
    assert vars(parameters.AdamParameters(0.1, 0.5)) == {
        "learning_rate": 0.1, "use_gradient_accumulation": True, "beta1": 0.5, "beta2": 0.999, "epsilon": 1e-08, "lazy_adam": True,
        "sum_inside_sqrt": True, **bounds}
    assert vars(parameters.StochasticGradientDescentParameters(0.1, -1.0)) == {
        "learning_rate": 0.1, "use_gradient_accumulation": False, "clip_weight_min": -1.0, "clip_weight_max": None}
