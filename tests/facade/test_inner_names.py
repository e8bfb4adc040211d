"""Names beside the public ones that libraries use: of graphs, tensors, and TensorFlow's inner modules."""
import numpy as np
import pytest

from jitgraph import compat
from jitgraph.declare.op import OpDef  # noqa: F401  (operators are installed)


@pytest.fixture
def tensorflow():
    compat.install()
    yield
    compat.uninstall()


def test_what_a_graph_keeps(tf):
    graph = tf.get_default_graph()
    assert graph._collections == {} and graph._gradient_override_map == {} and graph._last_id == 0
    tf.add_to_collection("a", 1)
    tf.constant(1.0)
    assert type(graph._collections) is dict and graph._collections == {"a": [1]} and graph._last_id == 1
    with graph.gradient_override_map({"Square": "Mine"}):
        assert graph._gradient_override_map == {"Square": "Mine"}
    graph.get_collection_ref("b").append(2)
    assert graph._collections["b"] == [2] and graph.get_collection("b") == [2]


def test_tensors_are_told_apart(tf, tensorflow):
    from tensorflow.python.framework import ops

    sparse = tf.SparseTensor([[0]], [1.0], [2])
    assert all(isinstance(t, ops._TensorLike) for t in (tf.constant(1), sparse, tf.IndexedSlices([1.0], [0])))
    assert ops.is_dense_tensor_like(tf.constant(1)) and ops.is_dense_tensor_like(tf.Variable(1))
    assert not any(ops.is_dense_tensor_like(t) for t in (1, sparse, np.ones(2)))
    assert ops.Tensor is tf.Tensor and ops.convert_to_tensor is tf.convert_to_tensor


@pytest.mark.parametrize("make", ["constant", "Variable"])
def test_references_are_keys(tf, make):
    x, y = getattr(tf, make)(1.0), getattr(tf, make)(1.0)
    found = {x.experimental_ref(): "x", y.experimental_ref(): "y"}
    assert found[x.experimental_ref()] == "x" and next(iter(found)).deref() is x


def test_overloadable_operators(tf):
    operators = tf.Tensor.OVERLOADABLE_OPERATORS
    assert len(operators) == 34 and {"__add__", "__rmatmul__", "__getitem__", "__eq__", "__invert__"} <= operators
    assert all(hasattr(tf.Tensor, name) for name in operators)


def test_a_tensor_is_no_bool_in_python_2_either(tf):
    with pytest.raises(TypeError, match="Python `bool`"):
        tf.constant(True).__nonzero__()


def test_traceback_with_start_lines(tf):
    def made():
        return tf.constant(1.0)

    frames = made().op.traceback_with_start_lines
    filename, line, name, text, start = frames[-1]
    assert type(frames) is tuple
    assert (filename, name, text) == (__file__, "made", "return tf.constant(1.0)") and line == start + 1


@pytest.mark.parametrize("value", [None, 3, (1.0,), [1, None]])
def test_what_is_no_tensor_is_its_own_static_value(tf, value):
    assert tf.get_static_value(value) is value and len(tf.get_default_graph().get_operations()) == 0


def test_a_variable_without_initial_value(tf, tensorflow):
    from tensorflow.python.ops import state_ops

    ref = state_ops.variable_op_v2([2], tf.float32, name="v")
    assert ref.op.type == "VariableV2" and ref.shape == (2,) and ref.op.name == "v" and state_ops.assign is tf.assign
    with tf.Session() as session:
        assert session.run(tf.assign(ref, [1.0, 2.0])).tolist() == [1, 2]


def test_assign_moving_average(tf, tensorflow):
    from tensorflow.python.training import moving_averages

    v, w = tf.Variable(1.0), tf.Variable(0.0)
    plain = moving_averages.assign_moving_average(v, 2.0, 0.9, zero_debias=False)
    corrected = moving_averages.assign_moving_average(w, 2.0, 0.9)
    assert (plain.op.type, corrected.op.type, corrected.op.name) == ("AssignSub", "Assign", "AssignMovingAvg_1")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([plain, corrected]) == pytest.approx([1.1, 2.0])


def test_local_devices(tensorflow):
    from tensorflow.python.client import device_lib

    device, = device_lib.list_local_devices()
    assert (device.name, device.device_type) == ("/device:CPU:0", "CPU") and device.memory_limit > 2**20


def test_names_that_slim_uses(tf, tensorflow):
    """tf_slim, the package that tf.contrib.slim became, is written upon TensorFlow's inner modules."""
    from tensorflow.python.keras.engine import input_spec
    from tensorflow.python.layers import convolutional, core, normalization
    from tensorflow.python.ops import gradients_impl, variable_scope
    from tensorflow.python.training import evaluation
    from tensorflow.python.util import deprecation

    assert input_spec.InputSpec is tf.layers.InputSpec
    assert convolutional.Convolution2DTranspose is convolutional.Deconv2D is tf.layers.Conv2DTranspose
    assert convolutional.convolution1d is tf.layers.conv1d and core.FullyConnected is tf.layers.Dense
    assert normalization.BatchNorm is tf.layers.BatchNormalization
    assert evaluation._StopAfterNEvalsHook is tf.contrib.training.StopAfterNEvalsHook
    assert evaluation._evaluate_once is tf.contrib.training.evaluate_once
    v = variable_scope.variable([1.0], name="v", trainable=False)
    assert v.op.name == "v" and tf.trainable_variables() == []
    assert gradients_impl.gradients_v2(v * 2.0, [v])[0].shape == [1]
    assert deprecation.deprecated_argument_lookup("new", None, "old", 3) == 3
    assert deprecation.deprecated_argument_lookup("new", 2, "old", None) == 2
    with pytest.raises(ValueError, match="Cannot specify both 'old' and 'new'"):
        deprecation.deprecated_argument_lookup("new", 2, "old", 3)


def test_names_of_metrics_of_ones_own(tf, tensorflow):
    from tensorflow.python.ops import metrics_impl

    labels, predictions = tf.constant([0, 1, 1]), tf.constant([[0.2], [0.4], [0.9]])
    predictions, labels, weights = metrics_impl._remove_squeezable_dimensions(predictions, labels, tf.ones([3, 1]))
    assert predictions.shape == labels.shape == weights.shape == [3]
    values, updates = metrics_impl._confusion_matrix_at_thresholds(labels, predictions, [0.3, 0.5], weights, ("tp", "fp"))
    assert sorted(values) == ["fp", "tp"]
    with pytest.raises(ValueError, match="Invalid key: t"):
        metrics_impl._confusion_matrix_at_thresholds(labels, predictions, [0.3], includes=("t",))
    metrics_impl._streaming_sparse_average_precision_at_top_k(predictions_idx=[[1, 0]], labels=np.array([[1]]), name="p")
    total = metrics_impl._aggregate_variable(values["tp"], ["kept"])
    assert tf.get_collection("kept") == [total]
    none = metrics_impl._safe_scalar_div(tf.constant(1.0), tf.constant(0.0), "none")
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates)
        assert session.run(total).tolist() == [2.0, 1.0] and session.run(none) == 0


def test_a_writer_of_events_without_a_thread(tf, tensorflow, tmp_path):
    """As the loggers of reinforcement learning write scalars: pywrap_tensorflow.EventsWriter."""
    from tensorflow.core.util import event_pb2
    from tensorflow.python import pywrap_tensorflow
    from tensorflow.python.util import compat

    writer = pywrap_tensorflow.EventsWriter(compat.as_bytes(str(tmp_path / "events")))
    summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=2.0)])
    writer.WriteEvent(event_pb2.Event(wall_time=1.0, step=3, summary=summary))
    assert writer.Flush() and writer.Close()
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    found = list(tf.train.summary_iterator(str(path)))
    assert found[0].file_version and (found[1].step, found[1].summary.value[0].tag) == (3, "loss")
    assert writer.InitWithSuffix(b".v2") and writer.FileName().endswith(b".v2")
    assert not pywrap_tensorflow.EventsWriter(str(tmp_path / "none" / "events")).Init()


def test_silence_about_old_names(tf, tensorflow):
    from tensorflow.python.util import deprecation, module_wrapper

    deprecation._PRINT_DEPRECATION_WARNINGS = False
    module_wrapper._PER_MODULE_WARNING_LIMIT = 0
    assert deprecation.deprecated is tf.contrib.framework.deprecated


def test_inputs_are_of_the_graph_that_is_passed_in(tf, tensorflow):
    from tensorflow.python.framework import ops

    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        values = [tf.constant(0.0), tf.constant(1.0)]
    for find in (ops._get_graph_from_inputs, tf.contrib.framework.get_graph_from_inputs):
        assert find(values) is find(values, first) is first and find([], second) is second
        with pytest.raises(ValueError, match="is not from the passed-in graph"):
            find(values, second)
        with pytest.raises(TypeError, match="Input graph needs to be a Graph: 1"):
            find(values, 1)


def test_modules_that_hold_public_names(tf, tensorflow):
    from tensorflow.contrib.tfprof import tfprof_logger
    from tensorflow.python.compiler.xla import xla
    from tensorflow.python.data.util import nest
    from tensorflow.python.ops import clustering_ops, data_flow_ops, gen_sdca_ops

    assert tfprof_logger.write_op_log is tf.profiler.write_op_log and xla.compile is tf.contrib.compiler.xla.compile
    assert nest.map_structure_up_to((1, 2), lambda one: one[0], ([3], [4])) == (3, 4)
    assert nest.flatten(([1, 2], {"b": 3, "a": [4]})) == [[1, 2], [4], 3] and not nest.is_sequence([1])
    assert nest.pack_sequence_as((1, {"a": 2}), [[3], 4]) == ([3], {"a": 4})
    assert nest.map_structure(lambda a, b: a + b, ([1], 2), ([3], 4)) == ([1, 3], 6)
    for wrong in (lambda: nest.assert_same_structure((1, 2), (1, (2,))), lambda: nest.pack_sequence_as((1, 2), [3]),
                  lambda: nest.pack_sequence_as(1, [2, 3])):
        with pytest.raises(ValueError):
            wrong()
    assert clustering_ops.KMEANS_PLUS_PLUS_INIT == "kmeans_plus_plus" and gen_sdca_ops.sdca_optimizer_v2
    assert data_flow_ops.StagingArea is tf.contrib.staging.StagingArea and data_flow_ops.FIFOQueue is tf.FIFOQueue


def test_classes_are_not_hidden_by_the_ops_of_their_names(tf, tensorflow):
    from tensorflow.python.ops import array_ops, gen_io_ops, io_ops, math_ops, resource_variable_ops

    assert io_ops.TextLineReader is tf.TextLineReader and io_ops.TFRecordReader is tf.TFRecordReader
    assert array_ops.TensorArray is math_ops.TensorArray is tf.TensorArray
    assert gen_io_ops.TextLineReader is tf.raw_ops.TextLineReader
    assert resource_variable_ops.var_is_initialized_op and io_ops.restore_v2


def test_packages_of_contrib_hand_on_the_modules_that_they_import(tf):
    assert tf.contrib.slim.init_ops.zeros_initializer is tf.zeros_initializer
    assert tf.contrib.layers.array_ops.placeholder is tf.placeholder
    with pytest.raises(AttributeError, match="tf.contrib.slim.nonsense is not in jitgraph"):
        _ = tf.contrib.slim.nonsense


def test_modules_of_contrib_are_reached_through_their_packages(tf):
    assert tf.contrib.slim.vs.get_variable is tf.get_variable and tf.contrib.slim.vars_.Variable is tf.Variable
    assert tf.contrib.slim.loss_ops.hinge_loss is tf.contrib.losses.hinge_loss
    assert tf.contrib.slim.encoders.bow_encoder is tf.contrib.layers.bow_encoder
    assert tf.contrib.slim.lookup.HashTable is tf.contrib.lookup.HashTable
    assert tf.contrib.grid_rnn.layers.conv2d is tf.contrib.layers.conv2d
    assert tf.contrib.specs.specs_ops.Cr is tf.contrib.specs.Cr and tf.contrib.specs.summaries.tf_num_params
    with pytest.raises(AttributeError):
        tf.contrib.crf.vs


def test_layers_of_contrib_choose_by_what_is_known(tf, tensorflow):
    from tensorflow.contrib.layers.python.layers import utils

    assert utils.smart_cond(True, lambda: 1, lambda: 2) == 1 and utils.smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2
    assert utils.constant_value(tf.placeholder(tf.bool, [])) is None
    with pytest.raises(ValueError, match="n must be a positive integer"):
        utils.n_positive_integers("3", [1])


def test_the_debugger_can_be_imported_and_says_what_there_is(tf, tensorflow):
    from tensorflow.python import debug as tf_debug
    from tensorflow.python.debug import DumpingDebugWrapperSession
    from tensorflow.python.debug.lib.debug_data import has_inf_or_nan
    from tensorflow.python.debug.wrappers import hooks

    class Own(DumpingDebugWrapperSession):
        pass

    assert hooks.LocalCLIDebugHook is tf_debug.LocalCLIDebugHook and has_inf_or_nan is tf_debug.has_inf_or_nan
    for make in (Own, tf_debug.LocalCLIDebugWrapperSession, hooks.LocalCLIDebugHook):
        with pytest.raises(NotImplementedError, match="debugger.*add_check_numerics_ops"):
            make(tf.Session())
    assert not hasattr(tf_debug, "nothing")
