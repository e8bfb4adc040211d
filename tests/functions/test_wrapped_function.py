"""``tf.wrap_function``: code that builds graphs, as functions; the values are those of TensorFlow 1.15.5."""
import pytest

from jitgraph.functions.wrapped_function import UnliftableError, function_from_graph_def


def counted(tf):
    """A function that adds to a variable of its own."""

    def count(x, adds):
        total = tf.Variable(5.0, name="total")
        changed = total.assign_add(x) if adds else total.assign_sub(x)
        with tf.control_dependencies([changed]):
            return total.read_value()

    return count


def test_a_function_owns_its_variables(tf):
    add, subtract = (tf.wrap_function(counted(tf), [tf.TensorSpec([], tf.float32), adds]) for adds in (True, False))
    assert [v.name for v in tf.global_variables()] == ["total:0", "total_1:0"] == [v.name for v in tf.trainable_variables()]
    assert add.variables == add.graph.variables == tf.global_variables()[:1]
    assert add.graph.get_collection("variables") == add.variables and add.graph.name == "wrapped_function"
    more, less = add(tf.constant(1.0)), subtract(tf.constant(1.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(more), session.run(more), session.run(less)] == [6.0, 7.0, 4.0]


def test_only_what_the_results_need_is_run(tf):
    def f(x):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        v.assign_add(10.0)
        return x + v

    wrapped = tf.wrap_function(f, [tf.TensorSpec([], tf.float32)])
    assert tf.get_variable("v", []).name == "v_1:0"     # the scopes of the function are its own
    y = wrapped(tf.constant(2.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(y), session.run(y)] == [3.0, 3.0]


def test_gradients_flow_through_calls(tf):
    wrapped = tf.wrap_function(lambda x: tf.get_variable("w", initializer=3.0) * x ** 2, [tf.TensorSpec([None], tf.float32)])
    x = tf.constant([1.0, 2.0])
    y = wrapped(x)
    assert y.shape.as_list() == [2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dw, dx = session.run(tf.gradients(y, [wrapped.variables[0], x]))
        assert dw == 5.0 and dx.tolist() == [6.0, 12.0]


@pytest.fixture
def wrapped(tf):
    """z = 3 x + 1, and an operation that sets 3 to 10, which nothing needs."""

    def f(x):
        v = tf.get_variable("v", initializer=3.0)
        y = tf.multiply(x, v, name="y")
        tf.assign(v, 10.0, name="set")
        return {"z": tf.add(y, 1.0, name="z")}

    return tf.wrap_function(f, [tf.TensorSpec([None], tf.float32, name="inp")], name="f")


def test_parts_of_a_function(tf, wrapped):
    assert wrapped.graph.name == "wrapped_function_f"
    product, last = wrapped.prune(wrapped.inputs, "y:0"), wrapped.prune("y:0", "z:0", name="last")
    setter = wrapped.prune([], [op for op in wrapped.graph.get_operations() if op.type == "AssignVariableOp"])
    assert (product.graph.name, last.graph.name) == ("pruned", "last") and last.variables == wrapped.variables
    assert "z" not in [op.name for op in product.graph.get_operations()]
    assert [tensor.name for tensor in last.inputs[:1]] == ["y:0"] and setter.structured_outputs == [None]
    x = tf.constant([2.0])
    results = product(x), last(x), wrapped(x)["z"], product(inp=tf.constant([1.0]))
    both = wrapped.prune("inp:0", {"y": "y:0", "again": ["z"]})
    assert both.structured_outputs["again"] == [None] and both.output_dtypes["y"] == tf.float32
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(results) == ([6.0], [3.0], [7.0], [3.0])
        (done,) = [setter()]
        assert done == [None]


def test_a_pruned_operation_runs(tf, wrapped):
    (name,) = [op.name for op in wrapped.graph.get_operations() if op.type == "AssignVariableOp"]
    result, nothing = wrapped.prune("inp:0", ["y:0", name])(tf.constant([1.0]))
    assert nothing is None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(result)
        assert session.run(wrapped.variables[0]) == 10.0


def test_what_cannot_be_pruned(tf, wrapped):
    with pytest.raises(UnliftableError, match="Unable to lift tensor .*'z:0'.* because it depends transitively on placeholder .*inp"
                       r".* via at least one path, e.g.: z \(Add.*\) <- y \(Mul\) <- inp \(Placeholder\)"):
        wrapped.prune([], "z:0")
    with pytest.raises(ValueError, match="Feeds must be tensors"):
        wrapped.prune(["z"], "z:0")
    with pytest.raises(ValueError, match="is not an element of this graph"):
        wrapped.prune([tf.constant(1.0)], "z:0")
    with pytest.raises(KeyError, match="nope"):
        wrapped.prune(["nope:0"], "z:0")


def test_arguments_that_do_not_fit(tf, wrapped):
    with pytest.raises(NotImplementedError, match="Keyword arguments not supported when calling a wrap_function"):
        wrapped(inp=tf.ones([1]))
    with pytest.raises(ValueError, match="Expected shape .* but got shape"):
        wrapped(tf.constant(1.0))
    with pytest.raises(TypeError, match="must return zero or more Tensors"):
        tf.wrap_function(lambda x: tf.no_op(), [tf.TensorSpec([])])


def test_arguments_may_be_structures(tf):
    total = tf.wrap_function(lambda d, k: (d["a"] + d["b"] * k, None), [{"a": tf.TensorSpec([]), "b": tf.TensorSpec([])}, 2])
    result, nothing = total(tf.constant(1.0), tf.constant(3.0))
    with tf.Session() as session:
        assert session.run(result) == 7.0 and nothing is None


def test_control_flow_and_functions_inside(tf):
    twice = tf.function(lambda x: 2.0 * x)

    def f(x):
        def body(k, y):
            return k + 1, twice(y) + tf.cond(y > 5.0, lambda: x, lambda: 0.0)

        return tf.while_loop(lambda k, y: k < 3, body, (0, x))[1]

    wrapped = tf.wrap_function(f, [tf.TensorSpec([], tf.float32)])
    x = tf.constant(3.0)
    y = wrapped(x)
    with tf.Session() as session:
        assert session.run([y, tf.gradients(y, x)[0]]) == [33.0, 11.0]


def test_a_gradient_does_not_mind_writes_that_nothing_needs(tf, wrapped):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.gradients(wrapped(tf.constant([1.0, 2.0]))["z"], wrapped.variables)) == [3.0]


def test_a_graph_file_as_a_function(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.multiply(x, 2.0, name="y")
    definition = tf.get_default_graph().as_graph_def()
    tf.reset_default_graph()
    imported = tf.wrap_function(lambda: tf.import_graph_def(definition, name=""), [])
    y = imported.prune(imported.graph.as_graph_element("x:0"), imported.graph.as_graph_element("y:0"))(tf.constant([3.0]))
    again = function_from_graph_def(definition, "x:0", {"y": "y:0"})(tf.constant([4.0]))
    with tf.Session() as session:
        assert session.run([y, again]) == [[6.0], {"y": [8.0]}]


def test_arguments_whose_names_no_node_may_have(tf):
    @tf.function(autograph=False)
    def function(_, _left, right_, x):
        return right_ + x

    made = function.get_concrete_function(*[tf.TensorSpec([])] * 4)
    assert [tensor.name for tensor in made.inputs] == ["placeholder:0", "placeholder_1:0", "right_:0", "x:0"]   # as in TensorFlow
