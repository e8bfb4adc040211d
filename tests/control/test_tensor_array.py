"""TensorArray: all methods, shapes, and the errors of runs; the values behind it."""
import numpy as np
import pytest

from jitgraph.tensor_arrays.host_values import PersistentList, Stack


def test_methods(tf, run):
    x = tf.placeholder(tf.float32, [3, 2])
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    ta = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
    pieces = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False).split(x, [1, 2])
    found = run({"stack": ta.stack(), "read": ta.read(1), "gather": ta.gather([2, 0]), "size": ta.size(),
                 "concat": ta.identity().concat(), "piece": pieces.read(1), "pieces": pieces.concat(),
                 "scatter": tf.TensorArray(tf.float32, 3).scatter([2, 0, 1], x).stack(),
                 "written": ta.grad("losses").write(0, [1.0, 2.0]).write(0, [1.0, 1.0]).read(0),
                 "strings": tf.TensorArray(tf.string, 2).write(1, "b").write(0, "a").stack(),
                 "empty": tf.TensorArray(tf.float32, 0, element_shape=[2]).stack()}, {x: value})
    assert found["stack"].tolist() == value.tolist() and found["read"].tolist() == [2, 3] and found["size"] == 3
    assert found["gather"].tolist() == value[[2, 0]].tolist() and found["concat"].tolist() == value.ravel().tolist()
    assert found["piece"].tolist() == value[1:].tolist() and found["pieces"].tolist() == value.tolist()
    assert found["scatter"].tolist() == value[[1, 2, 0]].tolist() and found["written"].tolist() == [2, 3]
    assert found["strings"].tolist() == [b"a", b"b"] and found["empty"].shape == (0, 2)
    with tf.Session() as session:
        assert session.run(ta.close()) is None


def test_sizes_grow_on_demand(tf, run):
    ta = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    _, ta = tf.while_loop(lambda i, _: i < 5, lambda i, ta: (i + 1, ta.write(i * 2, i)), (0, ta))
    assert run(ta.stack()).tolist() == [0, 0, 1, 0, 2, 0, 3, 0, 4]
    assert run(ta.size()) == 9


def test_an_array_is_a_value(tf, run):
    base = tf.TensorArray(tf.float32, 2, clear_after_read=False).write(0, 1.0)
    one, two = base.write(1, 2.0), base.write(1, 3.0)
    assert [v.tolist() for v in run([one.stack(), two.stack()])] == [[1, 2], [1, 3]]
    chosen = tf.cond(tf.constant(False), lambda: one, lambda: two)
    assert isinstance(chosen, tf.TensorArray) and run(chosen.read(1)) == 3.0


def test_static_shapes(tf):
    ta = tf.TensorArray(tf.float32, 4)
    assert ta.element_shape.ndims is None and ta.dtype == tf.float32 and not ta.dynamic_size
    ta = ta.write(0, tf.ones([2, 3]))
    assert ta.element_shape.as_list() == [2, 3] and ta.read(0).shape.as_list() == [2, 3]
    assert ta.stack().shape.as_list() == ta.gather([0]).shape.as_list() == [None, 2, 3]      # as in TensorFlow 1.15
    assert ta.concat().shape.as_list() == [None, 3]
    assert tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1.0]).read(0).shape.ndims is None
    with pytest.raises(ValueError, match=r"Inconsistent shapes: saw \(\) but expected \(2, 3\)"):
        ta.write(1, 1.0)


def test_the_gradient_of_a_loss_over_stacked_elements_counts_as_in_tensorflow(tf):
    """Where sizes are not known, a product sums its gradients over what was broadcast; seeds of later operations follow from it."""
    v = tf.Variable(tf.ones([4, 5]))
    written = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, v)), [0, tf.TensorArray(tf.float32, 4)])[1]
    loss = tf.reduce_sum(tf.ones([4, 4, 5]) * written.stack())
    graph = tf.get_default_graph()
    before = graph._last_id
    tf.gradients(loss, v)
    assert (before, graph._last_id - before) == (36, 60)


@pytest.mark.parametrize("make, kind, text", [
    (lambda tf, t: tf.TensorArray(t), ValueError, "Size must be provided"),
    (lambda tf, t: tf.TensorArray(t, 2, clear_after_read=3), TypeError, "Expected bool"),
    (lambda tf, t: tf.TensorArray(t, handle=3), TypeError, "Handle must be a Tensor"),
    (lambda tf, t: tf.TensorArray(t, 2, handle=tf.TensorArray(t, 2).handle), ValueError, "both a handle and size"),
    (lambda tf, t: tf.TensorArray(t, 2, tensor_array_name=3), TypeError, "Expected string"),
])
def test_wrong_arguments(tf, make, kind, text):
    with pytest.raises(kind, match=text):
        make(tf, tf.float32)


def _twice(tf, ta):
    ta = ta.write(0, 1.0)
    return [ta.read(0), ta.read(0)]


def _read_then_write(tf, ta):
    first = ta.write(0, 1.0)
    seen = first.read(0)
    with tf.control_dependencies([seen]):
        return [seen, first.write(0, 2.0).flow]


@pytest.mark.parametrize("make, text", [
    (_twice, "Could not read index 0 twice"),
    (_read_then_write, "because it has already been read"),
    (lambda tf, ta: ta.read(1), "element shape is not fully defined"),
    (lambda tf, ta: ta.write(0, 1.0).read(5), "Tried to read from index 5 but array size is: 3"),
    (lambda tf, ta: ta.write(5, 1.0).flow, "Tried to write to index 5 but array is not resizeable and size is: 3"),
    (lambda tf, ta: ta.write(-1, 1.0).flow, "Tried to write to index -1"),
    (lambda tf, ta: ta.write(1, 1.0).write(1, 2.0).flow, "already been written to"),
    (lambda tf, ta: ta.write(1, tf.constant(1)).flow, "is trying to write dtype int32"),
    (lambda tf, ta: ta.unstack([1.0, 2.0, 3.0, 4.0]).flow, "Max scatter index must be < array size"),
    (lambda tf, ta: ta.unstack([1.0, 2.0, 3.0]).gather([7]), "Tried to read from index 7"),
    (lambda tf, ta: ta.unstack([1.0, 2.0, 3.0]).concat(), "Did you mean to call pack"),
    (lambda tf, ta: ta.split([1.0, 2.0], [1, 2]).flow, "Expected sum of lengths"),
    (lambda tf, ta: ta.split([1.0, 2.0], [1, 1]).flow, "not equal to the size of lengths"),
    (lambda tf, ta: tf.TensorArray(tf.float32, -1).flow, "Size should be >= 0"),
])
def test_errors_of_runs(tf, run, make, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(make(tf, tf.TensorArray(tf.float32, 3)))


def test_errors_in_a_loop_name_the_node(tf, run):
    ta = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
    _, y = tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, y + ta.read(i, name="reading")), (0, 0.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="while/reading"):
        run(y)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("read", ["implicit", "identity", "read_value", "add_n"])
def test_a_loop_writes_the_value_of_a_variable(tf, run, resource, read):
    v = tf.Variable([1.0, 2.0], use_resource=resource)
    value = {"implicit": lambda: v, "identity": lambda: tf.identity(v), "read_value": v.read_value,
             "add_n": lambda: tf.add_n([v])}[read]
    ta = tf.TensorArray(tf.float32, 3)
    _, ta = tf.while_loop(lambda i, _: i < 3, lambda i, ta: (i + 1, ta.write(i, value())), (0, ta))
    scanned = tf.scan(lambda *_: value(), tf.zeros([3, 1]), tf.zeros([2]))
    assert all(x.tolist() == [[1, 2]] * 3 for x in run([ta.stack(), scanned], {}))


def test_elements_that_were_not_written_are_zeros_if_their_shape_is_known(tf, run):
    assert run(tf.TensorArray(tf.float32, 3, element_shape=[2]).read(1)).tolist() == [0, 0]
    assert run(tf.TensorArray(tf.float32, 2).write(0, 1.0).stack()).tolist() == [1, 0]


def test_elements_do_not_share_memory_with_what_was_written(tf):
    x = tf.placeholder(tf.float32, [2, 2])
    rows = tf.TensorArray(tf.float32, 2).unstack(x * 1.0)
    out = tf.TensorArray(tf.float32, 2)
    _, out = tf.while_loop(lambda i, _: i < 2, lambda i, o: (i + 1, o.write(i, rows.read(i) + 1.0)), (0, out))
    with tf.Session(jit="always") as session:
        y = out.stack()
        first = session.run(y, {x: np.zeros((2, 2))})
        session.run(y, {x: np.ones((2, 2))})
        assert not (first - 1).any()


def test_all_versions_of_a_persistent_list_stay(rng):
    versions, models = [PersistentList([0] * 4)], [[0] * 4]
    for step in range(300):
        k = rng.randint(len(versions))
        position = rng.randint(len(models[k]) + 1)
        versions.append(versions[k].replaced(position, step))
        model = list(models[k])
        model[position:position + 1] = [step]
        models.append(model)
        check = rng.randint(len(versions))
        assert list(versions[check].items()) == models[check] and versions[check].size == len(models[check])
    for version, model in zip(versions, models):
        assert [version[i] for i in range(version.size)] == model


def test_stacks_are_values():
    a = Stack().push(np.float32(1)).push(np.float32(2))
    rest, top = a.pop()
    assert top == 2 and rest.push(np.float32(5)).pop()[1] == 5 and a.pop()[1] == 2 and a.size == 2
    assert (a + a).pop()[1] == 4
    with pytest.raises(IndexError):
        Stack().pop()


def test_a_fetched_flow_is_a_number(tf, run):
    array = tf.TensorArray(tf.float32, 2).write(0, 1.0)
    loop = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a.write(i, 1.0)), (0, tf.TensorArray(tf.float32, 2)))[1]
    assert run([array.flow, loop.flow]) == [0.0, 0.0]


@pytest.mark.parametrize("jit", ["off", "always"])
def test_reads_that_nobody_uses_clear_too(tf, jit):
    def again(first, second, clear=True):
        array = tf.TensorArray(tf.float32, 3, clear_after_read=clear).unstack([1.0, 2.0, 3.0])
        with tf.control_dependencies([first(array)]):
            return second(array)

    def read(array):
        return array.read(tf.placeholder_with_default(1, []))

    def rows(array):
        return array.gather([0, 1])

    twice = [again(first, second) for first in (read, rows, lambda a: a.stack()) for second in (read, rows, lambda a: a.stack())]
    kept = [again(read, read, clear=False), again(rows, lambda a: a.stack(), clear=False)]
    write = again(read, lambda a: a.write(1, 5.0).read(0))
    with tf.Session(jit=jit) as session:
        for tensor in twice:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"Could not read index \d twice because it was cleared"):
                session.run(tensor)
        assert [value.tolist() for value in session.run(kept)] == [2.0, [1.0, 2.0, 3.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="index 1 because it has already been read"):
            session.run(write)


def test_the_gradient_array_has_a_shape_before_that_of_the_elements(tf):
    array = tf.TensorArray(tf.float32, 2, element_shape=[2], clear_after_read=False)
    array = array.write(0, tf.ones([2])).write(1, tf.ones([2]))
    handle, flow = tf.raw_ops.TensorArrayGradWithShape(handle=array.handle, flow_in=array.flow, shape_to_prepend=[4], source="g")
    written = tf.raw_ops.TensorArrayWriteV3(handle=handle, index=1, value=tf.ones([4, 2]), flow_in=flow)
    read = [tf.raw_ops.TensorArrayReadV3(handle=handle, index=k, flow_in=written, dtype=tf.float32) for k in (0, 1)]
    with tf.Session() as session:
        assert [one.tolist() for one in session.run(read)] == [[[0.0] * 2] * 4, [[1.0] * 2] * 4]
