"""tf.contrib.tfprof.model_analyzer: tf.profiler.profile by its older name."""


def test_parameters_and_arithmetic(tf, capsys):
    analyzer = tf.contrib.tfprof.model_analyzer
    x = tf.placeholder(tf.float32, [4, 3])
    tf.layers.dense(x, 5, name="dense")
    found = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    assert found.total_parameters == 20 and "dense/kernel (3x5, 15/15 params)" in capsys.readouterr().out
    found = analyzer.print_model_analysis(tf.get_default_graph(), tfprof_options=analyzer.FLOAT_OPS_OPTIONS)
    assert found.total_float_ops == 171        # as TensorFlow 1.15.5 gives
