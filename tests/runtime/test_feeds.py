"""Feeds of any tensor: what is fed stays, whatever else is asked of its operation."""
import numpy as np
import pytest

from tests.ops import harness

BOTH = pytest.mark.parametrize("jit", ["off", "always"])
SEVERAL = [op for op in harness.all_ops() if harness.samples_of(op) is not None and not op.stream and not harness.on_variables(op)
           and (len(op.outputs) > 1 or any(arg.is_list for arg in op.outputs))]


@BOTH
@pytest.mark.parametrize("opdef", [pytest.param(op, id=op.type) for op in SEVERAL])
def test_one_output_is_fed_and_the_others_are_computed(tf, opdef, jit):
    dtype = harness.dtypes_of(opdef)[0]
    for case in harness.cases(opdef, dtype)[:2]:
        tf.reset_default_graph()
        feeds: dict = {}
        outputs = harness.build(tf, case, "known", feeds)
        if len(outputs) < 2 or any(t.dtype.name in ("variant", "resource") for t in outputs):
            continue
        copies = [tf.identity(t) for t in outputs]
        with tf.Session(jit=jit) as session:
            computed = session.run(outputs, feeds)
            for k, tensor in enumerate(outputs):
                fed = np.full_like(computed[k], b"fed" if tensor.dtype == tf.string else 1)
                found = session.run(copies, {**feeds, tensor: fed})
                np.testing.assert_array_equal(found[k], fed)
                for j in set(range(len(outputs))) - {k}:
                    np.testing.assert_array_equal(found[j], computed[j])


@BOTH
def test_a_fed_output_may_have_another_size(tf, jit):
    x = tf.placeholder(tf.float32, [None])
    values, places = tf.unique(x)
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            found = session.run([values * 2.0, tf.shape(values), places], {x: [5.0, 5.0, 6.0], values: [1.0, 2.0, 3.0]})
            assert [f.tolist() for f in found] == [[2.0, 4.0, 6.0], [3], [0, 0, 1]]


@BOTH
def test_a_constant_may_be_fed_beside_what_is_folded(tf, jit):
    first, second = tf.split(tf.constant([1, 2, 3, 4]), 2)
    with tf.Session(jit=jit) as session:
        found = session.run([first + 0, tf.reshape(second, [2]) + 0], {first: [2, 1]})
        assert [f.tolist() for f in found] == [[2, 1], [3, 4]]


@BOTH
@pytest.mark.parametrize("use_resource", [False, True])
def test_an_operation_runs_for_control_edges_though_its_value_is_fed(tf, jit, use_resource):
    v, calls = tf.Variable(1.0, use_resource=use_resource), []
    queue = tf.FIFOQueue(9, [tf.float32, tf.float32], [[], []])
    fill = queue.enqueue_many([[1.0] * 5, [2.0] * 5])
    first, second = queue.dequeue()
    called = tf.py_func(lambda: calls.append(1) or (np.float32(1), np.float32(2)), [], [tf.float32] * 2)
    added = [tf.assign_add(v, 1.0)] if not use_resource else []
    with tf.control_dependencies([first, *called[:1], *(added or [v.assign_add(1.0)])]):
        y = tf.constant(3.0) + 0.0
    with tf.Session(jit=jit) as session:
        session.run([v.initializer, fill])
        assert session.run([y, second], {first: 5.0, called[0]: 6.0, **dict.fromkeys(added, 9.0)}) == [3.0, 2.0]
        assert (session.run([v, queue.size()]), calls) == ([2.0, 4], [1])
        assert session.run([first, *called[:1]], {first: 5.0, called[0]: 6.0}) == [5.0, 6.0]      # nobody waits for them
        assert (session.run([v, queue.size()]), calls) == ([2.0, 4], [1])


def test_partial_runs_keep_what_was_fed(tf):
    x = tf.placeholder(tf.float32, [4])
    first, second = tf.split(x, 2)
    found = [first + 0.0, second + 0.0]
    with tf.Session() as session:
        handle = session.partial_run_setup(found, [x, first])
        assert session.partial_run(handle, found[1], {x: [1.0, 2.0, 3.0, 4.0], first: [9.0, 9.0]}).tolist() == [3.0, 4.0]
        assert session.partial_run(handle, found[0]).tolist() == [9.0, 9.0]


def test_forbidding_a_feed_or_a_fetch_counts_for_what_has_run_before(tf):
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    z = y * 2.0
    with tf.Session() as session:
        call, fetch = session.make_callable(z, [y]), session.make_callable(y, [x])
        assert (session.run(z, {y: 1.0}), session.run(y, {x: 1.0}), call(1.0), fetch(1.0)) == (2.0, 2.0, 2.0, 2.0)
        handle = session.partial_run_setup(z, [y])
        tf.get_default_graph().prevent_feeding(y)
        for run in (lambda: session.run(z, {y: 1.0}), lambda: session.run(z, {"add:0": 1.0}), lambda: call(1.0),
                    lambda: session.make_callable(z, [y])(1.0), lambda: session.partial_run(handle, z, {y: 1.0})):
            with pytest.raises(ValueError, match="may not be fed"):
                run()
        assert fetch(2.0) == 3.0
        tf.get_default_graph().prevent_fetching(y.op)
        for run in (lambda: session.run(y, {x: 1.0}), lambda: session.run(y.op, {x: 1.0}), lambda: fetch(1.0)):
            with pytest.raises(ValueError, match="not fetchable"):
                run()
        assert session.run(z, {x: 1.0}) == 4.0


def test_callables_see_what_changes_in_the_graph(tf):
    x, y = tf.constant(1.0), tf.constant(2.0)
    z = x + 3.0
    with tf.Session() as session:
        call = session.make_callable(z)
        assert [call(), call()] == [4.0, 4.0]
        z.op._update_input(0, y)
        assert [call(), session.run(z)] == [5.0, 5.0]


@pytest.mark.parametrize("keys", [(True, 1, 1.0), (0.0, -0.0, False, 0), ((1,), (True,)), ("a", b"a")])
def test_the_keys_of_a_result_are_those_that_were_asked_for(tf, keys):
    y = tf.constant(1.0) + 1.0
    with tf.Session() as session:
        for key in keys:
            for found in (session.run({key: y}), session.run([{key: y}])[0], session.run({"in": {key: y}})["in"]):
                assert [(repr(k), type(k)) for k in found] == [(repr(key), type(key))]


def test_texts_of_every_kind_of_array(tf):
    """From arrays of str (as UTF-8), of bytes, of objects, and lists, in first and later runs; what is neither is refused."""
    x = tf.placeholder(tf.string)
    same = tf.identity(x)
    with tf.Session() as session:
        def found(value):
            return np.array(session.run(same, {x: value}), object).tolist()

        assert found(np.array([["é", ""], ["b\0c", "d\0"]])) == [["é".encode(), b""], [b"b\0c", b"d"]]      # NumPy drops zeros
        assert found(np.array([b"a\0", b"\0b"])) == [b"a", b"\0b"]
        assert found(np.array(["a\0", b"b\0", np.str_("c"), np.bytes_(b"d")], object)) == [b"a\0", b"b\0", b"c", b"d"]
        assert found([]) == [] and found(np.array("é")) == "é".encode()
        for wrong, kind in ((np.array(["a", 1], object), "int"), (np.arange(2), "int64"), ([b"a", None], "NoneType")):
            with pytest.raises(tf.errors.InternalError, match=f"Unsupported object type {kind}"):
                found(wrong)


def test_a_callable_takes_sparse_tensors(tf):
    sparse, factor = tf.sparse_placeholder(tf.int64), tf.placeholder(tf.int64, [])
    dense = tf.sparse_tensor_to_dense(sparse) * factor
    with tf.Session() as session:
        call = session.make_callable(dense, [sparse, factor])
        for fed in (tf.SparseTensorValue([[0, 1]], [2], [1, 3]), ([[0, 1]], [2], [1, 3])):
            assert call(fed, 5).tolist() == [[0, 10, 0]]
        with pytest.raises(TypeError, match="takes 2 feed values, got 1"):
            call(tf.SparseTensorValue([[0, 1]], [2], [1, 3]))
        slices = tf.IndexedSlices(tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None]))
        assert session.make_callable(tf.convert_to_tensor(slices.values), [slices])(([1.0, 2.0], [0, 3])).tolist() == [1, 2]


@pytest.mark.parametrize("state", [lambda tensor, shape: setattr(tensor, "_shape_val", shape),
                                   lambda tensor, shape: tensor.__dict__.update(_shape_val=shape)])
def test_a_graph_written_for_one_image_takes_batches(tf, state):
    """As the scripts of the Frechet Inception distance make it."""
    with tf.Graph().as_default() as written:
        image = tf.placeholder(tf.float32, [4, 4, 3], name="image")
        filters = tf.constant(np.arange(6, dtype=np.float32).reshape(1, 1, 3, 2))
        maps = tf.nn.conv2d(tf.expand_dims(image, 0, name="images"), filters, [1, 1, 1, 1], "SAME")
        tf.reshape(tf.nn.avg_pool(maps, [1, 4, 4, 1], [1, 1, 1, 1], "VALID"), [-1, 2], name="features")
    x = np.random.RandomState(0).rand(5, 4, 4, 3)
    tf.import_graph_def(written.as_graph_def(), name="net")
    with tf.Session() as session:
        one = session.run("net/features:0", {"net/images:0": x[:1]})        # a plan for what the file says
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run("net/features:0", {"net/images:0": x})
        for op in tf.get_default_graph().get_operations():
            for tensor in op.outputs:
                sizes = tensor.shape.as_list()
                state(tensor, tf.TensorShape([None if k == 0 and size == 1 else size for k, size in enumerate(sizes)]))
        features = session.run("net/features:0", {"net/images:0": x})
        np.testing.assert_allclose(features, x.mean((1, 2)) @ np.arange(6).reshape(3, 2), rtol=1e-5)
        np.testing.assert_allclose(session.run("net/features:0", {"net/image:0": x[0]}), one, rtol=1e-6)
        assert tf.get_default_graph().get_tensor_by_name("net/images:0").shape.as_list() == [None, 4, 4, 3]
