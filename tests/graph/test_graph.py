"""Graphs: lookup and its errors, collections, per-thread defaults, finalizing, changes of existing nodes."""
import threading

import pytest


@pytest.mark.parametrize("call, error, text", [
    (lambda g: g.get_tensor_by_name("c"), ValueError,
     "The name 'c' refers to an Operation, not a Tensor. Tensor names must be of the form "
     '"<op_name>:<output_index>".'),
    (lambda g: g.get_tensor_by_name("d"), ValueError, "looks like an (invalid) Operation name, not a Tensor"),
    (lambda g: g.get_tensor_by_name("c:5"), KeyError, "exists but only has 1 outputs."),
    (lambda g: g.get_tensor_by_name("d:0"), KeyError, "The operation, 'd', does not exist in the graph."),
    (lambda g: g.get_tensor_by_name("c:x"), ValueError, "looks a like a Tensor name, but is not a valid one"),
    (lambda g: g.get_tensor_by_name(3), TypeError, "Tensor names are strings (or similar), not int."),
    (lambda g: g.get_operation_by_name("d"), KeyError, "The name 'd' refers to an Operation not in the graph."),
    (lambda g: g.get_operation_by_name("c:0"), ValueError, "Name 'c:0' appears to refer to a Tensor, not a Operation."),
    (lambda g: g.get_operation_by_name(3), TypeError, "Operation names are strings (or similar), not int."),
    (lambda g: g.as_graph_element(3), TypeError, "Can not convert a int into a Tensor or Operation."),
    (lambda g: g.as_graph_element("c", False, False), ValueError, "can't both be False"),
])
def test_lookup_errors_are_tensorflows(tf, call, error, text):
    tf.constant(1, name="c")
    with pytest.raises(error) as caught:
        call(tf.get_default_graph())
    assert text in str(caught.value)


def test_variables_are_graph_elements(tf):
    v = tf.Variable(1.0, name="v")
    assert tf.get_default_graph().as_graph_element(v).name == "v:0"


def test_elements_of_other_graphs(tf):
    with tf.Graph().as_default():
        foreign = tf.constant(1)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        tf.get_default_graph().as_graph_element(foreign)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        tf.get_default_graph().as_graph_element(foreign.op)


def test_each_thread_has_a_default_graph_of_its_own(tf):
    outer, found = tf.get_default_graph(), []

    def look():
        found.append(tf.get_default_graph())
        tf.constant(1, name="there")
        found.append(tf.get_default_graph())

    with tf.Graph().as_default() as inner:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert found[0] is found[1] and found[0] not in (outer, inner)
    assert [op.name for op in found[0].get_operations()] == ["there"]
    assert outer.get_operations() == inner.get_operations() == []


def test_a_graph_cannot_be_reset_inside_a_block(tf):
    with tf.Graph().as_default(), pytest.raises(AssertionError, match="nested graphs"):
        tf.reset_default_graph()


def test_nodes_made_in_several_threads_get_distinct_names(tf):
    graph = tf.get_default_graph()

    def make():
        with graph.as_default():
            for _ in range(50):
                tf.constant(1)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({op.name for op in graph.get_operations()}) == 200 == graph.version
    assert [op._id for op in graph.get_operations()] == list(range(200))


def test_a_finalized_graph_refuses_nodes_and_collections(tf):
    graph = tf.get_default_graph()
    graph.finalize()
    for call in (lambda: tf.constant(1), lambda: tf.add_to_collection("k", 1), tf.no_op):
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            call()


def test_changes_of_existing_nodes_are_counted(tf):
    graph = tf.get_default_graph()
    a, b = tf.constant(1.0), tf.constant(2.0)
    c = a + a
    before = graph.mutations
    c.op._update_input(1, b)
    c.op._add_control_input(b.op)
    assert graph.mutations == before + 2
    assert c.op.inputs == [a, b] and c.op.control_inputs == [b.op]
    assert a.consumers() == [c.op] and b.consumers() == [c.op]
    both = tf.add_n([a, b, a])
    assert a.consumers() == [c.op, both.op, both.op]      # as often as it is taken
    both.op._update_input(0, b)
    assert a.consumers() == [c.op, both.op] and b.consumers() == [c.op, both.op, both.op]
    graph.mutations = before + 2
    tf.constant(3.0)
    assert graph.mutations == before + 2


def test_attributes_of_operations(tf):
    x = tf.placeholder(tf.float32, [2, None], name="x")
    assert x.op.get_attr("dtype") == tf.float32
    assert [d.size for d in x.op.get_attr("shape").dim] == [2, -1]
    assert tf.Variable(1.0).op.get_attr("shared_name") == b""
    with pytest.raises(ValueError, match="Operation 'x' has no attr named 'nope'"):
        x.op.get_attr("nope")
    x.op._set_attr("_note", [b"one", b"two"])
    assert x.op.get_attr("_note") == [b"one", b"two"]


def test_set_shape_conflicts_name_both_shapes(tf):
    x = tf.placeholder(tf.float32, [2, 3])
    with pytest.raises(ValueError, match=r"Dimension 0 in both shapes must be equal, but are 2 and 4. Shapes are \[2"):
        x.set_shape([4, 3])


def test_errors_of_shapes_name_the_op_the_shapes_and_the_line(tf):
    with pytest.raises(ValueError) as caught:
        tf.ones([3, 2]) + tf.ones([3, 4])
    text = str(caught.value)
    assert "Dimensions must be equal, but are 2 and 4 for 'add' (op: 'AddV2') with input shapes: [3,2], [3,4]." in text
    assert "test_graph.py:" in text


def test_the_site_is_the_users_line(tf):
    x = tf.constant(1.0)
    y = x + 1.0
    assert y.op.site[0].endswith("test_graph.py") and y.op.site[1] == x.op.site[1] + 1
    filename, _, function, line = y.op.traceback[-1]
    assert filename == y.op.site[0] and function == "test_the_site_is_the_users_line" and line == "y = x + 1.0"


def test_collections_by_scope_and_by_reference(tf):
    with tf.name_scope("a"):
        x = tf.constant(1)
    tf.add_to_collections(["k", "l", "k"], x)
    tf.add_to_collection("k", "no name")
    assert tf.get_collection("k", "a/") == [x] and tf.get_collection("k", "b") == []
    assert tf.get_collection("l") == [x]
    assert set(tf.get_default_graph().get_all_collection_keys()) >= {"k", "l"}
    tf.get_default_graph().clear_collection("k")
    assert tf.get_collection("k") == []


def test_gradient_override_and_attributes_mark_the_nodes_inside(tf):
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"Square": "Other"}), graph._attr_scope({"_mark": True}):
        inside = tf.square(tf.constant(1.0))
    outside = tf.square(tf.constant(1.0))
    assert inside.op.get_attr("_gradient_op_type") == b"Other" and inside.op.get_attr("_mark") is True
    with pytest.raises(ValueError):
        outside.op.get_attr("_gradient_op_type")


def test_init_scope_leaves_control_dependencies(tf):
    a = tf.constant(1.0)
    with tf.control_dependencies([a]):
        with tf.init_scope():
            free = tf.no_op()
        bound = tf.no_op()
    assert free.control_inputs == [] and bound.control_inputs == [a.op]


def test_nothing_is_read_for_a_control_edge_to_a_resource_variable(tf):
    variable = tf.Variable(1.0, use_resource=True)
    changed = variable.assign_add(1.0)
    before = len(tf.get_default_graph().get_operations())
    with tf.control_dependencies([variable, changed]):
        waiting = tf.no_op()
    assert sorted(op.type for op in waiting.control_inputs) == ["AssignAddVariableOp", "VarHandleOp"]
    assert len(tf.get_default_graph().get_operations()) == before + 1


def test_building_is_quick(tf):
    """15,000 nodes in well under 0.6 s; the bound here is wide and in CPU time, as test machines are busy."""
    import time

    x = tf.placeholder(tf.float32, [128])
    y = x
    start = time.process_time()
    for _ in range(15000):
        y = tf.add(y, x)
    assert time.process_time() - start < 4.0


def test_control_inputs_come_in_a_list(tf):
    a = tf.constant(1.0)
    for alone in (a, a.op):
        with pytest.raises(TypeError):
            tf.control_dependencies(alone)
    with tf.control_dependencies([a]) as entered:
        assert entered is None


def test_a_default_name_is_a_string(tf):
    with pytest.raises(TypeError, match="`default_name` type .* is not a string type"):
        tf.name_scope("x", [tf.constant(1)])


def test_each_thread_has_its_own_name_and_variable_scope(tf):
    graph, found = tf.get_default_graph(), []

    def build():
        with graph.as_default(), tf.variable_scope("t"):
            found.extend([tf.get_variable("v", [1]).name, tf.constant(1, name="c").name])

    with tf.variable_scope("main"):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
        found.append(tf.constant(1, name="c").name)
    assert found == ["t/v:0", "t/c:0", "main/c:0"]


def test_inputs_and_outputs_as_libraries_know_them(tf):
    """Gradients that save memory take ``_outputs`` of operations that the graph editor copied."""
    x = tf.placeholder(tf.float32)
    y = tf.multiply(x, 2.0)
    assert y.op._outputs == [y]
    assert y.op._inputs[0] is x


def test_inputs_are_replaced_by_what_fits(tf):
    x, y = tf.placeholder(tf.int32, [3, 1]), tf.placeholder(tf.int32)
    op = (x + y).op
    op._update_input(0, tf.constant([[1], [2], [3]]))
    op._update_input(1, tf.constant([1, 2]))
    for index, tensor, error, message in (
            (2, x, tf.errors.OutOfRangeError, r"Input index \[2\] is greater than the number of total inputs \[2\]"),
            (0, tf.zeros([2, 2], tf.int32), tf.errors.InvalidArgumentError, r"incompatible shapes: \[2,2\] and \[3,1\]"),
            (1, tf.constant([1.0, 2.0]), tf.errors.InvalidArgumentError, "was passed float32 from Const.* with expected int32")):
        with pytest.raises(error, match=message):
            op._update_input(index, tensor)
    assert tf.Session().run(op.outputs[0]).tolist() == [[2, 3], [3, 4], [4, 5]]
