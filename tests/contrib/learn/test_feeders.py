"""Feeders of ``tf.contrib.learn``: what they feed of arrays and iterators, and how TensorFlow's modules name them."""
import numpy as np
import pytest

import jitgraph.compat
from jitgraph.contrib.learn import fed


@pytest.fixture(autouse=True)
def hook():
    jitgraph.compat.install()
    yield
    jitgraph.compat.uninstall()


def fed_by(feeder, count=1):
    feeder.input_builder()
    batch = feeder.get_feed_dict_fn()
    return [{name.partition(":")[0]: value.tolist() for name, value in batch().items()} for _ in range(count)]


@pytest.mark.parametrize("classes, labels, fed_labels, dtype", [
    (None, [1.0, 2.0, 3.0], [1.0, 2.0], np.float64), (0, [[1], [2], [3]], [1.0, 2.0], np.float32),
    (4, [1, 2, 3], [[0, 1, 0, 0], [0, 0, 1, 0]], np.int64),
    (3, [[0, 1], [1, 1], [2, 0]], [[[1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 1, 0]]], np.int64)])
def test_labels_are_fed_as_their_classes_ask(tf, classes, labels, fed_labels, dtype):
    feeder = fed.DataFeeder(np.array([[1, 2], [3, 4], [5, 6]], np.int16), np.array(labels), classes, batch_size=2)
    assert (feeder.input_shape, feeder.input_dtype, feeder.output_dtype) == ([2, 2], np.int16, dtype)
    assert fed_by(feeder) == [{"input": [[1, 2], [3, 4]], "output": fed_labels}]
    assert feeder.get_feed_params()["batch_size"] == 2


def test_the_order_of_batches_is_that_of_tensorflow(tf):
    feeder = fed.DataFeeder(np.arange(5), None, 0, batch_size=2, epochs=1)
    assert fed_by(feeder, 3) == [{"input": [[1], [4]]}, {"input": [[2], [0]]}, {"input": [[3]]}]
    with pytest.raises(StopIteration):
        feeder.get_feed_dict_fn()()
    assert feeder.get_feed_params() == {"epoch": 1, "offset": 0, "batch_size": 2}


def test_dictionaries_and_the_epoch_are_fed(tf):
    x, y = np.array([[1.0, 2.0]], np.float32), np.array([2])
    feeder = fed.DataFeeder({"a": x}, {"b": y, "c": y}, {"b": 3})
    assert feeder.output_dtype == {"b": np.float32, "c": np.int64} and feeder.output_shape == {"b": [1, 3], "c": [1]}
    epoch = feeder.make_epoch_variable()
    feeder.input_builder()
    assert {name: np.asarray(value).tolist() for name, value in feeder.get_feed_dict_fn()().items()} == {
        "input_a:0": [[1.0, 2.0]], "output_b:0": [[0.0, 0.0, 1.0]], "output_c:0": [2], epoch.name: [0]}


def test_iterators_are_fed_until_they_end(tf):
    feeder = fed.setup_train_data_feeder(iter(np.arange(6.0).reshape(3, 2)), iter([[1], [0], [2]]), 3, batch_size=2)
    assert isinstance(feeder, fed.StreamingDataFeeder) and feeder.output_shape == [2, 3]
    assert fed_by(feeder, 2) == [{"input": [[0.0, 1.0], [2.0, 3.0]], "output": [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]},
                                 {"input": [[4.0, 5.0]], "output": [[0.0, 0.0, 1.0]]}]
    with pytest.raises(StopIteration):
        feeder.get_feed_dict_fn()()
    with pytest.raises(ValueError, match="Both x and y should be iterators"):
        fed.setup_train_data_feeder(iter([1]), [1], None)


def test_parts_to_predict_on():
    parts = fed.setup_predict_data_feeder(np.arange(5), 2)
    assert [part.tolist() for part in parts] == [[[0], [1]], [[2], [3]], [[4]]]
    parts = fed.setup_predict_data_feeder(iter([[1, 2], [3, 4], [5, 6]]), 2)
    assert [part.tolist() for part in parts] == [[[1, 2], [3, 4]], [[5, 6]]]
    with pytest.raises(ValueError, match="Invalid batch_size -1"):
        fed.setup_predict_data_feeder(np.arange(5), -1)


def test_modules_of_learn_are_where_programs_import_them():
    from tensorflow.contrib.learn.python.learn import run_config
    from tensorflow.contrib.learn.python.learn.learn_io import data_feeder

    brought: dict = {}
    exec("from tensorflow.contrib.learn.python.learn.learn_io import *", brought)
    assert brought["data_feeder"] is data_feeder and data_feeder.setup_train_data_feeder is fed.setup_train_data_feeder
    assert {"numpy_input_fn", "HAS_PANDAS", "HAS_DASK"} <= set(brought)
    assert run_config.RunConfig is jitgraph.contrib.learn.RunConfig


def test_what_is_trained_and_evaluated_says_so(tf):
    learn = tf.contrib.learn
    with pytest.raises(TypeError, match="abstract"):
        learn.Trainable()

    class Model(learn.Evaluable, learn.Trainable):
        model_dir = "here"

        def fit(self, *args, **kwargs):
            return self

        def evaluate(self, *args, **kwargs):
            return {}

    assert Model().fit().evaluate() == {}
