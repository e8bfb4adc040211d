"""Names of ``tensorflow.python``'s framework, eager, grappler and util modules that programs import."""
import collections
import json

import numpy as np
import pytest

from jitgraph import compat


@pytest.fixture(autouse=True)
def tensorflow():
    compat.install()
    yield
    compat.uninstall()


def test_a_registry_has_each_name_once():
    from tensorflow.python.framework.registry import Registry

    registry = Registry("model")
    registry.register(dict)
    registry.register(3, "three")
    assert list(registry.list()) == ["dict", "three"] and registry.lookup("dict") is dict and registry.lookup(b"three") == 3
    with pytest.raises(KeyError, match=r"Registering two model with name 'dict'! .*test_framework_modules.py:22"):
        registry.register(dict)
    with pytest.raises(LookupError, match="model registry has no entry for: four"):
        registry.lookup("four")


def test_op_defs_and_nodes_by_names(tf):
    from tensorflow.core.framework.op_def_pb2 import OpList
    from tensorflow.python.framework import op_def_registry
    from tensorflow.python.framework.op_def_library import OpDefLibrary

    definition = op_def_registry.get_registered_ops()["MatMul"]
    assert [arg.name for arg in definition.input_arg] == ["a", "b"] and definition.output_arg[0].name == "product"
    op_def_registry.register_op_list(OpList(op=[definition]))
    library = OpDefLibrary()
    library.add_op_list(OpList(op=[definition]))
    product = library.apply_op("MatMul", name="m", a=[[2.0]], b=[[3.0]], transpose_a=False, transpose_b=True)
    assert product.op.name == "m" and product.op.get_attr("transpose_b")
    with pytest.raises(TypeError, match="No argument for attr transpose_b"):
        library.apply_op("MatMul", a=[[1.0]], b=[[2.0]], transpose_a=False)
    with pytest.raises(RuntimeError, match="Unrecognized Op name Add"):
        library.apply_op("Add", x=1, y=2)


def test_what_is_written_in_order_acts_in_order(tf):
    from tensorflow.python.framework import auto_control_deps

    counter = tf.Variable(0.0, use_resource=True)

    @auto_control_deps.automatic_control_dependencies
    def twice(step):
        counter.assign_add(step)
        between = counter.read_value()
        counter.assign_add(step)
        return between, counter.read_value()

    results = twice(tf.constant(2.0))
    with auto_control_deps.AutomaticControlDependencies() as block:
        write = counter.assign(7.0)
        marked = block.mark_as_return(tf.constant(1.0))
    assert write.op in block.ops_which_must_run and write.op in marked.op.control_inputs
    assert auto_control_deps.op_is_stateful(write.op) and not auto_control_deps.op_is_stateful(marked.op)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(results) == (2.0, 4.0) and session.run([marked]) == [1.0] and session.run(counter) == 7.0


@pytest.mark.parametrize("several", [False, True])
def test_what_stands_in_branches_acts_in_order_too(tf, several):
    from tensorflow.python.framework import auto_control_deps

    counter = tf.Variable(1.0, use_resource=True)
    which = tf.placeholder(tf.int32)

    def inner():
        return tf.cond(tf.equal(which, 1), lambda: counter.assign(counter * 2), lambda: counter.assign(counter * 3))

    def add():
        counter.assign_add(4.0)
        return 0.0

    with auto_control_deps.AutomaticControlDependencies() as block:
        counter.assign_add(1.0)
        if several:
            tf.case([(tf.equal(which, 0), add)], default=lambda: (inner(), 1.0)[1])
        else:
            tf.cond(tf.equal(which, 0), add, lambda: (inner(), 1.0)[1])
        counter.assign_sub(0.5)
        after = block.mark_as_return(counter.read_value())
    later = tf.cond(tf.equal(which, 0), add, lambda: 1.0)      # outside, it does only what is asked for
    for _ in range(2):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert [session.run(after, {which: n}) for n in (0, 1, 2)] == [5.5, 12.5, 40.0]
            session.run(later, {which: 0})
            assert session.run(counter) == 40.0


def test_signatures_of_training_and_cases_known_early(tf):
    from tensorflow.python.framework import smart_cond
    from tensorflow.python.saved_model import signature_constants, signature_def_utils_impl

    x, loss = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [])
    signature = signature_def_utils_impl.supervised_train_signature_def({"x": x}, {"loss": loss})
    assert signature.method_name == signature_constants.SUPERVISED_TRAIN_METHOD_NAME and signature.inputs["x"].name == x.name
    assert smart_cond.smart_case([(False, lambda: 1), (True, lambda: 2)], exclusive=True) == 2


def test_bounds_of_a_spec(tf):
    from tensorflow.python.framework.tensor_spec import BoundedTensorSpec

    spec = BoundedTensorSpec((2, 3), tf.float32, 0, (1, 2, 3))
    assert spec == BoundedTensorSpec((2, 3), tf.float32, 1e-9, (1, 2, 3)) and hash(spec) == hash(
        BoundedTensorSpec((2, 3), tf.float32, 1e-9, (1, 2, 3)))
    assert spec != BoundedTensorSpec((2, 3), tf.float32, 0.1, (1, 2, 3)) and spec != tf.TensorSpec((2, 3), tf.float32)
    with pytest.raises(ValueError, match="read-only"):
        spec.maximum[0] = 5
    for bounds, which in (((0, 0), 1), "minimum"), ((0, (1, 1)), "maximum"):
        with pytest.raises(ValueError, match=f"{which} is not compatible with shape"):
            BoundedTensorSpec((2, 3), tf.float32, *bounds)


def test_specs_of_own_types_differ_by_what_they_serialize(tf):
    from tensorflow.python.framework.type_spec import TypeSpec

    class Pair(TypeSpec):
        def __init__(self, *parts):
            self.parts = parts

        def _serialize(self):
            return self.parts

    shape = tf.TensorShape([2, None])
    same = [lambda: Pair(shape, "a"), lambda: Pair({"k": [1, (2,)]}), lambda: Pair(np.array([[1, 2]])),
            lambda: Pair(tf.TensorSpec([2], tf.int32))]
    for i, one in enumerate(same):
        assert [one() == other() for other in same] == [i == j for j in range(len(same))] and hash(one()) == hash(one())
    assert Pair(shape) != Pair(tf.TensorShape([2, 3])) and Pair([1]) != Pair((1,)) and Pair(np.array([1])) != Pair(np.array([2]))


def test_a_graph_of_a_function(tf):
    from tensorflow.python.framework import func_graph

    weight = tf.Variable(2.0, use_resource=True, name="w")
    made = func_graph.func_graph_from_py_func("f", lambda x: {"a": x * weight, "b": None}, [tf.TensorSpec([2], tf.float32)], {})
    assert made.name == "f" and made.structured_outputs == {"a": made.outputs[0], "b": None}
    assert made.external_captures == [weight.handle] and made.variables == [weight]
    assert isinstance(made, func_graph.FuncGraph) and not isinstance(tf.get_default_graph(), func_graph.FuncGraph)
    own, outer = func_graph.FuncGraph("g"), tf.constant(3.0)
    with own.as_default():
        inner = own.capture(outer)
    assert inner.graph is own and func_graph.maybe_captured(inner) is outer and own.outer_graph is tf.get_default_graph()
    asked = []
    tf.cond(tf.placeholder(tf.bool, []), lambda: asked.append(tf.get_default_graph()) or 1, lambda: 2)
    assert not isinstance(asked[0], func_graph.FuncGraph)       # the branches of a conditional are no functions


def test_functions_without_variables_are_of_constants(tf):
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    weight = tf.Variable(2.0, use_resource=True)
    plain = tf.function(lambda x: x * 3.0).get_concrete_function(tf.TensorSpec([2], tf.float32, name="x"))
    frozen = convert_variables_to_constants_v2(plain)
    assert [node.op for node in frozen.graph.as_graph_def().node] == ["Placeholder", "Const", "Mul", "Identity"]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(frozen(tf.constant([1.0, 2.0])))[0], [3, 6])
    with pytest.raises(NotImplementedError, match="convert_variables_to_constants"):
        convert_variables_to_constants_v2(tf.function(lambda x: x * weight).get_concrete_function(tf.constant(1.0)))


@pytest.mark.parametrize("optimizers, left", [([], {"c": "Const", "p": "Placeholder", "mul": "Mul", "d": "Identity"}), (
    ["pruning"], {"a": "Const", "b": "Const", "c": "Add", "p": "Placeholder", "mul": "Mul", "d": "Identity"})])
def test_a_graph_is_pruned_and_folded(tf, optimizers, left):
    from tensorflow.python.grappler import tf_optimizer

    c, p = tf.add(tf.constant(1.0, name="a"), tf.constant(2.0, name="b"), name="c"), tf.placeholder(tf.float32, name="p")
    d = tf.identity(c * p, name="d")
    tf.identity(p, name="unused")
    with pytest.raises(tf.errors.InvalidArgumentError, match="train_op"):
        tf_optimizer.OptimizeGraph(tf.ConfigProto(), tf.train.export_meta_graph())
    tf.add_to_collection("train_op", d)
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.optimizers.extend(optimizers)
    found = tf_optimizer.OptimizeGraph(config, tf.train.export_meta_graph())
    assert {node.name: node.op for node in found.node} == left
    assert not optimizers or tf.make_ndarray(found.node[0].attr["value"].tensor) == 1


def test_what_json_cannot_write(tf):
    from tensorflow.python.util.serialization import get_json_type

    values = [tf.Dimension(3), tf.TensorShape([1, None]), np.float32(3), np.arange(2), get_json_type, collections.UserDict(a=1)]
    assert json.loads(json.dumps(values, default=get_json_type)) == [3, [1, None], 3.0, [0, 1], "get_json_type", {"a": 1}]
    assert get_json_type(tf.layers.Flatten(name="f"))["class_name"] == "Flatten"
    with pytest.raises(TypeError, match="Not JSON Serializable"):
        get_json_type(1j)


@pytest.mark.parametrize("maker, value, found", [
    ("bool", True, True), ("int", 3.0, 3), ("float", 2, 2.0), ("str", "a", b"a"), ("type", "float32", 1),
    ("shape", [None, 2], [None, 2]),
    ("shape", None, None), ("bool", 1, "bool"), ("int", "a", "int"), ("float", "a", "float"), ("str", 3, "string"),
    ("type", "f", "DataType"), ("tensor", 1, "TensorProto")])
def test_arguments_of_ops_are_checked(tf, maker, value, found):
    from tensorflow.python.eager import execute, tape

    make = getattr(execute, f"make_{maker}")
    if isinstance(found, str):
        with pytest.raises(TypeError, match=rf"{found} .*for argument 'x'"):
            make(value, "x")
    else:
        assert make(value, "x") == found
    assert not tape.could_possibly_record() and not tape.should_record([])


def test_attributes_that_are_not_saved(tf):
    from tensorflow.python.training.tracking import base, data_structures, tracking

    class Kept(tracking.AutoTrackable):
        @base.no_automatic_dependency_tracking
        def __init__(self):
            self.hidden = tf.Variable(1.0)

    kept = Kept()
    kept.shown, kept.wrapped = tf.Variable(2.0), data_structures.NoDependency(tf.Variable(3.0))
    with base.no_automatic_dependency_tracking_scope(kept):
        kept.later = tf.Variable(4.0)
    assert [name for name, _ in kept._checkpoint_dependencies] == ["shown"] and isinstance(kept.wrapped, tf.Variable)
    assert isinstance(kept.shown, base.Trackable) and isinstance(tf.train.AdamOptimizer(), base.Trackable)
    assert not isinstance([], base.Trackable) and not isinstance(3, base.Trackable)
    assert data_structures.sticky_attribute_assignment(kept, "q", 3) == 3


def test_saveables_of_python_and_of_tensors(tf, tmp_path):
    from tensorflow.python.training.tracking import base

    text = base.PythonStringStateSaveable("text", lambda: "hello")
    saver = tf.train.Saver([tf.Variable(5.0, name="five"), text, base.NoRestoreSaveable(tf.constant(3.0), "three")])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "model"))
        saver.restore(session, path)
    assert [name for name, _ in tf.train.list_variables(path)] == ["five", "text", "three"]
    assert tf.train.load_variable(path, "three") == 3 and text.feed_dict_additions() == {text.op: "hello"}


def test_functions_and_their_code(tf):
    from tensorflow.python.util import function_utils

    def named(x):
        return x

    assert function_utils.get_func_name(named) == "named" and function_utils.get_func_name(lambda: 1) == "<lambda>"
    assert function_utils.get_func_code(named) is named.__code__ and function_utils.get_func_code(dict) is None
    for ask in (function_utils.get_func_name, function_utils.get_func_code):
        with pytest.raises(ValueError, match="must be callable"):
            ask(3)


def test_kinds_of_nodes_of_control_flow(tf):
    from tensorflow.python.ops import control_flow_util

    given = {"IsSwitch": tf.raw_ops.Switch(data=1.0, pred=True)[0], "IsMerge": tf.raw_ops.Merge(inputs=[1.0, 2.0])[0],
             "IsLoopEnter": tf.raw_ops.Enter(data=1.0, frame_name="f"), "IsLoopExit": tf.raw_ops.Exit(data=1.0)}
    for asked in given:
        assert [name for name, tensor in given.items() if getattr(control_flow_util, asked)(tensor.op)] == [asked]
    constant = tf.raw_ops.Enter(data=1.0, frame_name="f", is_constant=True)
    assert control_flow_util.IsLoopConstantEnter(constant.op)
    assert not control_flow_util.IsLoopConstantEnter(given["IsLoopEnter"].op)


def test_names_that_stand_elsewhere_too(tf):
    from tensorflow.python.distribute import cross_device_ops, distribution_strategy_context
    from tensorflow.python.framework import errors_impl, tensor_spec
    from tensorflow.python.ops import init_ops, template
    from tensorflow.python.training import checkpoint_utils

    assert tensor_spec.BoundedTensorSpec is tf.contrib.framework.BoundedTensorSpec
    assert init_ops.convolutional_orthogonal_2d is tf.contrib.framework.convolutional_orthogonal_2d
    assert checkpoint_utils.wait_for_new_checkpoint is tf.contrib.training.wait_for_new_checkpoint
    assert cross_device_ops.AllReduceCrossDeviceOps is tf.contrib.distribute.AllReduceCrossDeviceOps
    assert callable(distribution_strategy_context.get_cross_replica_context)
    assert isinstance(template.make_template("t", int), template.Template)
    with pytest.raises(errors_impl.OperatorNotAllowedInGraphError):
        bool(tf.constant(True))
