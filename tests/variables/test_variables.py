"""Variables of both kinds, scopes, partitions: structure and errors.  What they do in a run is tested elsewhere."""
import numpy as np
import pytest

from jitgraph.variables.resource_variables import ResourceVariable


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_look_alike(tf, use_resource):
    v = tf.Variable([[1.0, 2.0]], name="v", use_resource=use_resource)
    assert isinstance(v, tf.Variable) and isinstance(v, ResourceVariable) == use_resource
    assert (v.name, v.op.name, v.initializer.name) == ("v:0", "v", "v/Assign")
    assert v.shape.as_list() == [1, 2] and v.dtype.base_dtype == tf.float32 and v.trainable
    assert (v + 1.0).shape.as_list() == [1, 2] and (1.0 - v).dtype == tf.float32
    assert tf.global_variables() == [v] and v == v and v != 1
    proto = v.to_proto()
    assert proto.variable_name == "v:0" and proto.is_resource == use_resource
    again = tf.Variable.from_proto(proto)
    assert again.name == v.name and isinstance(again, ResourceVariable) == use_resource
    assert again.initializer is v.initializer and again.initial_value is v.initial_value


@pytest.mark.parametrize("call, error, text", [
    (lambda tf: tf.Variable(), ValueError, "initial_value must be specified."),
    (lambda tf: tf.Variable(tf.placeholder(tf.float32)), ValueError, "initial_value must have a shape specified"),
    (lambda tf: tf.Variable(1.0, collections="variables"), ValueError, "must be a list, tuple, or set"),
    (lambda tf: tf.assign(tf.Variable(1.0), tf.constant(1)), TypeError,
     "Input 'value' of 'Assign' Op has type int32 that does not match type float32 of argument 'ref'."),
    (lambda tf: tf.assign(tf.Variable([1.0, 2.0]), [1.0, 2.0, 3.0]), ValueError,
     "Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are [2] and [3]. for 'Assign' (op: 'Assign')"),
    (lambda tf: tf.assign(tf.constant(1.0), 2.0), AttributeError, "'Tensor' object has no attribute 'assign'"),
    (lambda tf: tf.scatter_add(tf.Variable([1.0]), [0], [[1.0, 2.0]]), ValueError, "Must have updates.shape = "),
    (lambda tf: tf.Variable(1.0).count_up_to(3), TypeError, "not in list of allowed values: int32, int64"),
    (lambda tf: tf.get_variable("v"), ValueError, "The initializer passed is not valid."),
    (lambda tf: tf.get_variable("v", [2], initializer=tf.zeros([2])), ValueError,
     "If initializer is a constant, do not specify shape."),
    (lambda tf: tf.variable_scope(None), TypeError, "If default_name is None then name_or_scope is required"),
    (lambda tf: tf.variable_scope("s", reuse="yes").__enter__(), ValueError,
     "The reuse parameter must be True or False"),
    (lambda tf: iter(tf.Variable(1.0)), TypeError, "'Variable' object is not iterable."),
    (lambda tf: np.asarray(tf.Variable(1.0), np.float32), NotImplementedError, "NumPy functions do not join the graph"),
])
def test_errors(tf, call, error, text):
    with pytest.raises(error) as caught:
        call(tf)
    assert text in str(caught.value)


def test_sharing_errors_say_what_was_found(tf):
    with tf.variable_scope("s"):
        tf.get_variable("w", [2])
        with pytest.raises(ValueError, match=r"Variable s/w already exists, disallowed.*reuse=tf.AUTO_REUSE in "
                                             r"VarScope\? Originally defined at:\n\n  File .*test_variables.py"):
            tf.get_variable("w", [2])
    with tf.variable_scope("s", reuse=True):
        for arguments, text in [(("x", [2]), "Variable s/x does not exist, or was not created with tf.get_variable()."),
                                (("w", [3]), "share variable s/w, but specified shape (3,) and found shape (2,)."),
                                (("w", [2], tf.int32), "specified dtype int32 and found dtype float32_ref.")]:
            with pytest.raises(ValueError) as caught:
                tf.get_variable(*arguments)
            assert text in str(caught.value)


def test_a_failed_scope_is_left(tf):
    for bad in ({"reuse": 3}, {"reuse": True, "default_name": "d"}):
        with pytest.raises(ValueError), tf.variable_scope(None if "default_name" in bad else "s", **bad):
            pass
    assert tf.get_variable_scope().name == "" and tf.constant(1, name="k").name == "k:0"


def test_scope_defaults_are_inherited_and_overridden(tf):
    with tf.variable_scope("s", dtype=tf.float64, initializer=tf.ones_initializer(), use_resource=True):
        assert tf.get_variable("a", [1]).dtype == tf.float64
        with tf.variable_scope("t", use_resource=False) as scope:
            assert scope.initializer is not None
            assert not isinstance(tf.get_variable("b", [1]), ResourceVariable)
        assert isinstance(tf.Variable(1.0), ResourceVariable)


def test_a_variable_scope_decorates_functions(tf):
    @tf.variable_scope("s", reuse=tf.AUTO_REUSE)
    def layer():
        return tf.get_variable("w", [1])

    assert layer() is layer() and layer().name == "s/w:0"


def test_regularizers_and_constraints(tf):
    def halve(v):
        return v * 0.5

    v = tf.get_variable("v", [2], regularizer=tf.reduce_sum, constraint=halve)
    assert v.constraint is halve
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.op.name for loss in losses] == ["v/Regularizer/Sum"]
    with tf.variable_scope("s", regularizer=tf.reduce_sum), tf.variable_scope("t", regularizer=tf.no_regularizer):
        tf.get_variable("w", [2])
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1


def test_partitions_know_their_place(tf):
    w = tf.get_variable("w", [10, 4], partitioner=tf.fixed_size_partitioner(3))
    assert len(w) == 3 and w.shape.as_list() == [10, 4]
    assert [v.name for v in w] == ["w/part_0:0", "w/part_1:0", "w/part_2:0"]
    assert [v.shape.as_list() for v in w] == [[4, 4], [3, 4], [3, 4]]
    assert [v._save_slice_info.spec for v in w] == ["10 4 0,4:0,4", "10 4 4,3:0,4", "10 4 7,3:0,4"]
    with pytest.raises(ValueError, match="a partitioned version of the variable was found"):
        tf.get_variable("w", [10, 4])
    with pytest.raises(ValueError, match="only slice a variable along one dimension"):
        tf.get_variable("x", [4, 4], partitioner=lambda **_: [2, 2])


@pytest.mark.parametrize("partitioner, expected", [
    (lambda tf: tf.variable_axis_size_partitioner(64), [4, 1]),
    (lambda tf: tf.variable_axis_size_partitioner(64, max_shards=2), [2, 1]),
    (lambda tf: tf.min_max_variable_partitioner(8, min_slice_size=100), [3, 1]),
    (lambda tf: tf.min_max_variable_partitioner(2, axis=1, min_slice_size=1), [1, 2])])
def test_partitioners(tf, partitioner, expected):
    assert partitioner(tf)(shape=tf.TensorShape([16, 4]), dtype=tf.float32) == expected


def test_assigning_to_a_part_of_a_resource_variable(tf):
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=True)
    op = v[1:].assign([7.0, 8.0]).op
    assert op.type == "ResourceStridedSliceAssign" and op.inputs[0] is v.handle


def test_templates_refuse_new_variables_later(tf):
    t = tf.make_template("t", lambda: tf.Variable(1.0))
    t()
    with pytest.raises(ValueError, match="New variable created when calling a template after the first time"):
        t()


def test_initializers_state_their_arguments(tf):
    init = tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=3)
    assert tf.variance_scaling_initializer.from_config(init.get_config()).get_config() == init.get_config()
    for arguments in ({"scale": 0}, {"mode": "x"}, {"distribution": "x"}):
        with pytest.raises(ValueError):
            tf.variance_scaling_initializer(**arguments)
    with pytest.raises(ValueError, match="floating point"):
        tf.random_normal_initializer(dtype=tf.int32)
    with pytest.raises(TypeError, match="Invalid type for initial value"):
        tf.constant_initializer(tf.zeros([1]))


def test_scopes_do_not_hand_on_their_constraint(tf):
    with tf.variable_scope("a", constraint=tf.abs) as a:
        own = tf.get_variable("own", [1])
        with tf.variable_scope("b"):
            inner = tf.get_variable("inner", [1])
    with tf.variable_scope(a):
        again = tf.get_variable("again", [1])
    assert [v.constraint for v in (own, inner, again)] == [tf.abs, None, None]


def test_slots_keep_their_names(tf):
    v = tf.Variable(1.0, name="v")
    average, momentum = tf.train.ExponentialMovingAverage(0.5), tf.train.MomentumOptimizer(0.1, 0.9)
    average.apply([v])
    momentum.minimize(v * v)
    assert average.average(v).name == "v/ExponentialMovingAverage:0"
    assert [slot.name for slot in momentum.variables()] == ["v/Momentum:0"]


def test_sharing_a_partitioned_variable(tf):
    """The answers of TensorFlow 1.15, in the words of its errors."""
    def get(shape=(5, 4), parts=3, name="v"):
        return tf.get_variable(name, shape, partitioner=tf.fixed_size_partitioner(parts))

    v = get()
    with pytest.raises(ValueError, match="Partitioned variable with name v already exists"):
        get()
    tf.get_variable_scope().reuse_variables()
    assert get() is v and tf.get_variable("v", [5, 4]) is v
    with pytest.raises(ValueError, match=r"specified partitions \[2, 1\] and found partitions \[3, 1\]"):
        get(parts=2)
    with pytest.raises(ValueError, match=r"specified shape \(5, 5\) and found shape \(5, 4\)"):
        get(shape=(5, 5))
    with pytest.raises(ValueError, match="PartitionedVariable nov does not exist"):
        get(name="nov")


@pytest.mark.parametrize("partitioner, error", [
    (lambda **_: [2, 2], "Can only slice a variable along one dimension"),
    (lambda **_: [9, 1], "Expected 0 <= offset < shape but found offset=5, shape=5"),
    (lambda **_: [1], "does not match the Variable's rank"), (lambda **_: "x", "does not match the Variable's rank"),
    (lambda **_: [0, 1], "zero partitions for some axes"), (3, "Partitioner must be callable, but received: 3")])
def test_partitioners_that_do_not_suit(tf, partitioner, error):
    with pytest.raises(ValueError, match=error):
        tf.get_variable("v", [5, 4], partitioner=partitioner)
    assert tf.get_variable("scalar", [], partitioner=tf.fixed_size_partitioner(1)).name == "scalar:0"


def test_variables_created_in_parts(tf):
    values = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    parts = tf.create_partitioned_variables([4, 6], [2, 1], values)
    assert [v.name for v in parts] == ["PartitionedVariable/part_0:0", "PartitionedVariable/part_1:0"]
    assert [v._get_save_slice_info().spec for v in parts] == ["4 6 0,2:0,6", "4 6 2,2:0,6"]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert np.concatenate(sess.run(parts)).tolist() == values.tolist()
    with pytest.raises(ValueError, match="must have the length"):
        tf.create_partitioned_variables([4, 6], [2], tf.ones_initializer())


def test_a_template_knows_its_parts(tf):
    def layer(x):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        return x * w * tf.get_variable("frozen", [], trainable=False)

    t = tf.make_template("t", layer, custom_getter_=lambda getter, *args, **kwargs: getter(*args, **kwargs))
    assert t.variables == [] and t.var_scope is None
    first, second = t(1.0), t(2.0)
    assert t.func is layer and t.var_scope is t.variable_scope and [first.op.name, second.op.name] == ["t/mul_1", "t_1/mul_1"]
    assert [v.op.name for v in t.weights] == ["t/w", "t/frozen"]
    assert [v.op.name for v in t.trainable_weights] == ["t/w"]
    assert [v.op.name for v in t.non_trainable_variables] == ["t/frozen"]


def test_shapes_stated_for_variables(tf):
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2], use_resource=True)
    assert v.shape.as_list() == [None, 2]
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v.assign([[1.0, 2.0], [3.0, 4.0]]) * 2.0).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    with pytest.raises(ValueError, match="is not compatible with the explicitly supplied `shape` argument"):
        tf.Variable(1.0, shape=[1], use_resource=True)
    with pytest.raises(ValueError):
        tf.Variable(1.0, shape=[1])
    with pytest.raises(TypeError, match="not allowed"):
        bool(v)


def test_variables_filtered_and_set_by_name(tf):
    framework = tf.contrib.framework
    for scope in ("a", "a/b", "c"):
        with tf.variable_scope(scope):
            tf.get_variable("v", [2])

    def names(variables):
        return [v.op.name for v in variables]

    assert names(framework.get_variables_to_restore(include=["a"], exclude=["a/b"])) == ["a/v"]
    assert names(framework.get_variables_to_restore()) == ["a/v", "a/b/v", "c/v"]
    assert names(framework.filter_variables(tf.global_variables(), ["b", "c"], ["^c"])) == ["a/b/v"]
    assert names([framework.local_variable(1.0)]) == ["Variable"] and names(tf.local_variables()) == ["Variable"]
    model = framework.model_variable("m", [2])
    assert names(tf.model_variables()) == ["m"] and names([framework.get_unique_variable("m")]) == ["m"]
    with pytest.raises(ValueError, match="Couldn't find variable zz"):
        framework.get_unique_variable("zz")
    operation, feeds = framework.assign_from_values({"m": np.array([5.0, 6.0])})
    assert [place.op.name for place in feeds] == ["placeholder/m"]
    with tf.Session() as sess:
        sess.run(operation, feeds)
        assert sess.run(model).tolist() == [5.0, 6.0]
    with pytest.raises(ValueError, match="Variable q wasn't found"):
        framework.assign_from_values({"q": np.zeros(1)})


def test_initial_values_have_the_dtype_that_is_stated(tf):
    assert tf.get_variable("a", initializer=np.float64([1, 2])).dtype.base_dtype is tf.float64
    with pytest.raises(ValueError, match="Initializer type '<dtype: 'float64'>' and explicit dtype '<dtype: 'float32'>'"):
        tf.get_variable("b", dtype=tf.float32, initializer=np.float64([1, 2]))
    with pytest.raises(ValueError, match="don't match"):
        tf.get_variable("c", dtype=tf.int32, initializer=1.5)


def test_the_functions_that_add_to_a_resource_variable_drop_the_name(tf):
    """As TensorFlow's do, while those of the variable, and tf.assign, keep it."""
    v = tf.get_variable("v", [2], use_resource=True)
    found = [tf.assign_add(v, [1.0, 2.0], name="a"), tf.assign_sub(v, [1.0, 2.0], name="b"), tf.assign(v, [1.0, 2.0], name="c"),
             v.assign_add([1.0, 2.0], name="d")]
    assert [one.op.name for one in found] == ["AssignAddVariableOp", "AssignSubVariableOp", "c", "d"]


def test_errors_of_templates_say_where_these_were_made(tf):
    def builds(width):
        raise ValueError(f"no {width}", 3)

    made = tf.make_template("made", builds)
    for _ in range(2):
        with pytest.raises(ValueError) as raised:
            made(5)
        assert raised.value.args[0].startswith("no 5\n\noriginally defined at:\n")
        assert 'made = tf.make_template("made", builds)' in raised.value.args[0] and raised.value.args[1:] == (3,)


@pytest.mark.parametrize("use_resource", [False, True])
def test_numpy_takes_a_variable_for_an_object(tf, use_resource):
    """As TensorFlow's: libraries ask for the dtype of the array to tell numbers from variables."""
    variable = tf.Variable(2.0, use_resource=use_resource)
    assert np.array(variable).dtype == object and np.array(variable).item() is variable
    assert (np.float32([1, 2]) * variable).shape == (2,)
    with pytest.raises(NotImplementedError, match="Cannot convert the variable Variable:0 to a numpy array"):
        np.asarray(variable, np.float32)


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("start", [[0], [0, 3]])
def test_a_variable_without_elements_grows(tf, start, jit):
    """Made with validate_shape=False, as metrics that collect what they see are; TensorFlow states its sizes of 0 even so."""
    v = tf.Variable(np.zeros(start, np.float32), use_resource=True, validate_shape=False)
    x = tf.placeholder(tf.float32)
    grown, doubled = v.assign(x), v + v
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        for rows in (2, 3):
            value = np.ones([rows, *start[1:]], np.float32)
            session.run(grown.op, {x: value})
            np.testing.assert_array_equal(session.run(doubled), value * 2)
        with pytest.raises(ValueError, match="incompatible"):
            v.assign(np.float32(1))


def test_scopes_are_left_in_order(tf):
    with tf.variable_scope("a"):
        inner = tf.variable_scope("b")
        inner.__enter__()
        with tf.variable_scope("c"), pytest.raises(RuntimeError, match="Improper nesting of variable_scope"):
            inner.__exit__(None, None, None)
        assert tf.get_variable("v", []).name == "a/b/v:0"
        inner.__exit__(None, None, None)
    assert tf.get_variable("v", []).name == "v:0"


def test_a_custom_getter_is_a_function(tf):
    with tf.variable_scope("a", custom_getter=3), pytest.raises(ValueError, match="custom_getter which is not callable: 3"):
        tf.get_variable("v", [])
    with pytest.raises(ValueError, match="custom_getter which is not callable"):
        tf.get_variable("v", [], custom_getter=3)


@pytest.mark.parametrize("scatter", [
    lambda tf, v: tf.scatter_update(v, [0, 1], np.zeros([3, 2], np.float32)),
    lambda tf, v: tf.scatter_add(v, [0, 1], np.zeros([2, 3], np.float32)), lambda tf, v: tf.scatter_mul(v, [0, 1], [1.0, 2.0]),
    lambda tf, v: tf.scatter_nd_add(v, [[0], [1]], np.zeros([3, 2], np.float32)),
    lambda tf, v: v.scatter_sub(tf.IndexedSlices(np.zeros([3, 2], np.float32), [0, 1]))])
@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_that_do_not_fit_are_refused_when_the_graph_is_built(tf, scatter, use_resource):
    v = tf.get_variable("v", [4, 2], use_resource=use_resource)
    with pytest.raises(ValueError, match="updates.shape|both shapes must be equal"):
        scatter(tf, v)


def test_a_scope_that_is_entered_again_takes_its_name_from_later_ones(tf):
    with tf.variable_scope("outer"), tf.variable_scope(None, default_name="in") as scope:
        pass
    with tf.variable_scope(scope):
        pass
    with tf.variable_scope("outer"), tf.variable_scope(None, default_name="in") as later:
        assert later.name == "outer/in_1"
