"""Names of contrib that stand beside its public functions."""
import numpy as np
import pytest


@pytest.mark.parametrize("structure, goes, found", [
    ([1, (2, 3), [4]], lambda s: not isinstance(s, tuple), [True, False, [True]]), ([1, 2], lambda s: False, False),
    ({"a": [1, 2], "b": (3,)}, lambda s: True, {"a": [True, True], "b": (True,)}), (3, lambda s: True, True),
    ([3, (4,)], lambda s: [True, False] if isinstance(s, list) else True, [True, False])])
def test_how_far_a_function_goes_down(tf, structure, goes, found):
    assert tf.contrib.framework.nest.get_traverse_shallow_structure(goes, structure) == found


@pytest.mark.parametrize("structure, goes, error, text", [
    ([3], lambda s: 1, TypeError, "non-bool scalar: 1"), (3, lambda s: [True], TypeError, "for non-structure: 3"),
    ([3, 4], lambda s: [True], ValueError, "length"), ([3, 4], lambda s: [True, 3], TypeError, "depth=1|for non-structure")])
def test_what_it_may_answer(tf, structure, goes, error, text):
    with pytest.raises(error, match=text):
        tf.contrib.framework.nest.get_traverse_shallow_structure(goes, structure)


@pytest.mark.parametrize("function, given, found", [
    (lambda a, b: 1, 2, None), (lambda a, b: 1, 3, "exactly 2 arguments"), (lambda a, b=1: 1, 0, "at least 1 argument"),
    (lambda a, b=1: 1, 3, "at most 2 arguments"), (lambda *a: 1, 7, None)])
def test_numbers_of_arguments(tf, function, given, found):
    assert tf.contrib.compiler.xla.check_function_argument_count(function, given, None) == found


def test_model_functions_are_compiled_as_they_are(tf):
    def model(features, labels, mode):
        return features

    xla = tf.contrib.compiler.xla
    assert xla.estimator_model_fn(model) is xla.estimator_model_fn()(model) is model


def test_variables_of_a_scope_are_dependencies(tf):
    class Model(tf.contrib.checkpoint.Checkpointable):
        pass

    model = Model()
    with tf.variable_scope("scope") as model.variable_scope, tf.contrib.checkpoint.capture_dependencies(model):
        made = tf.get_variable("v", [2])
        tf.Variable(1.0, name="own")
        with tf.variable_scope("inner"):
            inner = tf.get_variable("z", [1])
    assert model._checkpoint_dependencies == [("v", made), ("inner/z", inner)]


@pytest.mark.parametrize("combiner, found", [(None, [4, 5]), ("mean", [4, 5]), ("sum", [8, 10])])
def test_embeddings_by_servers(tf, combiner, found):
    ids = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([0, 3], tf.int64), [1, 2])
    tables = [tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[5.0, 6.0], [7.0, 8.0]])]
    rows = tf.contrib.slim.embedding_lookup_sparse_with_distributed_aggregation(tables, ids, None, combiner=combiner)
    safe = tf.contrib.layers.safe_embedding_lookup_sparse(tables, ids, combiner=combiner, partition_strategy="mod")
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run([rows, safe]), [[found], [found]])


def test_tables_of_dask(tf):
    class Series:
        """What a table of dask has: its values are computed when they are asked for."""

        __module__ = "dask.dataframe"

        def compute(self):
            return [1, 2]

    assert tf.contrib.learn.extract_dask_data(Series()) == tf.contrib.learn.io.extract_dask_labels(Series()) == [1, 2]
    assert tf.contrib.learn.extract_dask_data([3]) == [3]


def test_files_by_a_shared_queue(tf, tmp_path):
    (tmp_path / "lines.txt").write_text("a\nb\n")
    _, batch = tf.contrib.learn.read_keyed_batch_examples_shared_queue(
        str(tmp_path / "*.txt"), 2, tf.TextLineReader, randomize_input=False, num_epochs=1)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        threads = tf.train.start_queue_runners(session)
        assert sorted(session.run(batch)) == [b"a", b"b"] and threads


def test_modules_of_learn_are_reached_through_its_packages(tf):
    learn = tf.contrib.learn
    assert learn.preprocessing.text.VocabularyProcessor is learn.preprocessing.VocabularyProcessor
    assert learn.io.generator_io.generator_input_fn is learn.io.generator_input_fn
    assert callable(learn.ops.seq2seq_ops.rnn_seq2seq)
    with pytest.raises(AttributeError, match="learn.io.nope is not in jitgraph"):
        _ = learn.io.nope


def test_advice_by_the_older_name(tf):
    analyzer = tf.contrib.tfprof.model_analyzer
    found = analyzer.advise(tf.get_default_graph(), tfprof_options={"OperationChecker": {}})
    assert list(found.checkers) == ["OperationChecker"]
    assert sorted(analyzer.ALL_ADVICE) == ["AcceleratorUtilizationChecker", "ExpensiveOperationChecker", "JobChecker",
                                           "OperationChecker"]


def test_modules_of_optimizer_v2_hold_its_own_optimizers(tf):
    from jitgraph import compat

    compat.install()
    from tensorflow.contrib.optimizer_v2 import adam, optimizer_v2

    assert adam.AdamOptimizer is tf.contrib.optimizer_v2.AdamOptimizer
    assert optimizer_v2.OptimizerV2 is tf.contrib.optimizer_v2.OptimizerV2
