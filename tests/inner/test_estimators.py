"""Names of tensorflow_estimator's modules: heads, and model functions that programs put their own around."""
import numpy as np
import pytest

from jitgraph import compat


@pytest.fixture(autouse=True)
def tensorflow():
    compat.install()
    yield
    compat.uninstall()


def _input():
    import jitgraph as tf

    return tf.data.Dataset.from_tensors(({"x": np.float32([[1], [2], [3], [4]])}, np.int64([[0], [1], [0], [1]]))).repeat()


def _trained(tf, estimator):
    estimator.train(_input, steps=3)
    return estimator.evaluate(_input, steps=1)


@pytest.mark.parametrize("module, function, ready, arguments", [
    ("dnn", "_dnn_model_fn", "DNNClassifier", {"hidden_units": [3], "feature_columns": ["x"]}),
    ("linear", "_linear_model_fn", "LinearClassifier", {"feature_columns": ["x"], "optimizer": "Ftrl", "partitioner": None}),
    ("dnn_linear_combined", "_dnn_linear_combined_model_fn", "DNNLinearCombinedClassifier",
     {"linear_feature_columns": ["x"], "dnn_feature_columns": ["x"], "dnn_hidden_units": [3]}),
    ("baseline", "_baseline_model_fn", "BaselineClassifier", {"optimizer": "Ftrl"})])
def test_a_model_function_around_that_of_a_ready_model_learns_what_it_learns(tf, tmp_path, module, function, ready, arguments):
    from tensorflow_estimator.python.estimator.canned import baseline, dnn, dnn_linear_combined, head, linear

    modules = {"dnn": dnn, "linear": linear, "dnn_linear_combined": dnn_linear_combined, "baseline": baseline}
    model_function = getattr(modules[module], function)
    columns = [tf.feature_column.numeric_column("x")]
    arguments = {key: columns if key.endswith("columns") else value for key, value in arguments.items()}

    def model_fn(features, labels, mode, config):
        binary = head._binary_logistic_head_with_sigmoid_cross_entropy_loss(loss_reduction=tf.losses.Reduction.SUM)
        return model_function(features=features, labels=labels, mode=mode, head=binary, config=config, **arguments)

    config = tf.estimator.RunConfig(tf_random_seed=1)
    own = tf.estimator.Estimator(model_fn, str(tmp_path / "own"), config)
    other = getattr(tf.estimator, ready)(model_dir=str(tmp_path / "ready"), config=config, **arguments)
    assert _trained(tf, own) == _trained(tf, other)


def test_the_other_names(tf):
    from tensorflow.python.estimator import training, util
    from tensorflow.python.estimator.canned import boosted_trees, head, optimizers
    from tensorflow_estimator.python.estimator.estimator import EstimatorV2

    assert EstimatorV2 is tf.estimator.Estimator
    assert isinstance(head._multi_class_head_with_softmax_cross_entropy_loss(3), head._Head)
    assert head._regression_head(label_dimension=2).logits_dimension == 2
    assert boosted_trees._create_classification_head(2).logits_dimension == 1
    for wrong in (lambda: boosted_trees._create_classification_head(3), lambda: boosted_trees._create_regression_head(2)):
        with pytest.raises(ValueError, match="For now only"):
            wrong()
    assert isinstance(optimizers.get_optimizer_instance("Adam", 0.1), tf.train.AdamOptimizer)
    features, labels, hooks = util.parse_input_fn_result(_input())
    assert features["x"].shape.as_list() == [4, 1] and labels.dtype == tf.int64
    assert [type(hook) for hook in hooks] == [util._DatasetInitializerHook]
    from tensorflow.core.kernels.boosted_trees import boosted_trees_pb2
    from tensorflow.python.estimator import model_fn
    from tensorflow.python.estimator.export import export_lib

    assert boosted_trees_pb2.TreeEnsemble().trees == [] and model_fn.LOSS_METRIC_KEY == "loss"
    assert issubclass(tf.contrib.tpu.TPUEstimatorSpec, model_fn._TPUEstimatorSpec)
    assert export_lib.build_supervised_input_receiver_fn_from_input_fn(_input)().features["x"].dtype == tf.float32
    assert training._EvalResult(training._EvalStatus.EVALUATED).metrics is None


def test_the_fraction_of_zeros(tf, run):
    from tensorflow_estimator.python.estimator.canned import linear

    parts = [tf.constant([0.0, 1.0, 0.0]), [tf.constant([0, 2, 3]), tf.constant([], tf.float32)]]
    assert run(linear._compute_fraction_of_zero(parts)) == 0.5


def test_an_own_head(tf, run):
    from tensorflow.python.estimator.canned.head import LossSpec, _Head

    class Distance(_Head):
        logits_dimension = 1

        def create_loss(self, features, mode, logits, labels):
            unreduced = tf.abs(logits - labels)
            return LossSpec(tf.reduce_sum(unreduced), unreduced, tf.constant(1.0), labels)

        def predicted(self, logits):
            return logits, {"predictions": logits}

        def _metrics(self, predictions, loss, labels, regularization_loss):
            return {}

    logits, labels = tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [1.0]])
    spec = Distance().create_estimator_spec({}, tf.estimator.ModeKeys.EVAL, logits, labels)
    assert run(spec.loss) == 3.0


def test_an_evaluator_needs_an_eval_spec(tf):
    from tensorflow.python.estimator.training import TrainSpec, _TrainingExecutor

    estimator = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")])
    with pytest.raises(TypeError, match="`eval_spec` must have type"):
        _TrainingExecutor(estimator, TrainSpec(_input, max_steps=1), None).run_evaluator()


def test_a_head_takes_labels_that_are_arrays(tf, run):
    head = tf.contrib.estimator.multi_label_head(2)
    logits, labels = np.float32([[-1.0, 1.0], [-1.5, 1.5]]), np.array([[1, 0], [1, 1]], np.int64)
    spec = head.create_estimator_spec({"x": np.float32([[1.0]])}, tf.estimator.ModeKeys.EVAL, logits, labels)
    assert run(spec.loss) == pytest.approx(np.mean(np.log1p(np.exp([[1.0, 1.0], [1.5, -1.5]]))))
