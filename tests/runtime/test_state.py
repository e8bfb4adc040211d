"""What a session keeps between runs: variables by shared name, tensors under handles; reading what has no value yet."""
import pytest

from jitgraph.variables import reference_ops as state
from jitgraph.variables import resource_ops as resource

BOTH = pytest.mark.parametrize("jit", ["off", "always"])


@BOTH
def test_operations_of_one_shared_name_are_one_variable(tf, jit):
    a = state.variable_v2(shape=[2], dtype=tf.float32, shared_name="s", name="a")
    b = state.variable_v2(shape=[2], dtype=tf.float32, shared_name="s", name="b")
    first = tf.assign(a, [1.0, 2.0])
    before, added, after, replaced, last = (
        b + 0.0, tf.assign_add(b, [10.0, 10.0]), a + 0.0, tf.assign(a, [7.0, 7.0]), b * 2.0)
    with tf.Session(jit=jit) as sess:
        sess.run(first.op)
        for start in ([1.0, 2.0], [7.0, 7.0]):      # all in one run, in the order in which the operations were made
            found = [value.tolist() for value in sess.run([before, added, after, replaced, last])]
            more = [x + 10.0 for x in start]
            assert found == [start, more, more, [7.0, 7.0], [14.0, 14.0]]
        assert sess.run(b).tolist() == [7.0, 7.0]


@BOTH
def test_handles_of_one_shared_name_are_one_variable(tf, jit):
    a, b = (resource.var_handle_op(shape=[], dtype=tf.float32, shared_name="s", name=name) for name in "ab")

    def read(handle):
        return resource.read_variable_op(handle, dtype=tf.float32) + 0.0

    start = resource.assign_variable_op(a, tf.constant(1.0))
    before, add, after = read(b), resource.assign_add_variable_op(b, tf.constant(10.0)), read(a)
    with tf.Session(jit=jit) as sess:
        sess.run(start)
        assert sess.run([before, add, after]) == [1.0, None, 11.0]
        assert sess.run([before, add, after]) == [11.0, None, 21.0]


def writes_and_gathers(tf, a):
    gradient, rows = tf.constant([1.0, 1.0]), tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([2]))
    plain, adagrad = tf.train.GradientDescentOptimizer(1.0), tf.train.AdagradOptimizer(1.0)
    finds = [tf.gather(a, [0]), tf.gather_nd(a, [[0]]), tf.nn.embedding_lookup(a, [0]), a.assign_add([1.0, 1.0]),
             a.assign_sub([1.0, 1.0]), tf.scatter_add(a, [0], [1.0]), tf.scatter_max(a, [0], [1.0]),
             tf.scatter_nd_update(a, [[0]], [1.0]), a[0:1].assign([1.0]), plain.apply_gradients([(rows, a)])]
    steps = [plain.apply_gradients([(gradient, a)]), adagrad.apply_gradients([(gradient, a)]),
             adagrad.apply_gradients([(rows, a)])]
    return finds, steps


@BOTH
@pytest.mark.parametrize("use_resource", [False, True])
def test_nothing_works_on_a_variable_without_value(tf, jit, use_resource):
    """The classes are those of TensorFlow 1.15, which tells reading a resource variable from all else done to it."""
    a = tf.Variable([1.0, 2.0], name="a", use_resource=use_resource)
    reads = [a, a + 1.0, a.read_value(), a[0], tf.identity(a), tf.shape_n([a, a])[0], tf.assert_variables_initialized([a]),
             tf.gradients(tf.reduce_sum(a * a), a)[0]]
    finds, steps = writes_and_gathers(tf, a)
    precondition = (tf.errors.FailedPreconditionError,
                    "Error while reading resource variable a from Container: localhost. This could mean that the variable "
                    "was uninitialized." if use_resource else "Attempting to use uninitialized value a")
    expected = [(reads, *precondition), (finds, *precondition), (steps, *precondition)]
    if use_resource:
        expected[1:] = [(finds, tf.errors.NotFoundError, "Resource localhost/a does not exist"),
                        (steps, tf.errors.InternalError, "Invalid variable reference")]
    with tf.Session(jit=jit) as sess:
        for tensors, error, text in expected:
            for tensor in tensors:
                with pytest.raises(error, match=text):
                    sess.run(tensor)
        assert not sess.run(tf.is_variable_initialized(a))
        assert sess.run(a.initialized_value()).tolist() == [1.0, 2.0]
        assert sess.run(tf.report_uninitialized_variables([])).tolist() == []
        assert sess.run(tf.report_uninitialized_variables([a])).tolist() == [b"a"]


def test_asserting_that_variables_are_initialized(tf):
    a = tf.Variable(1.0)
    check = tf.assert_variables_initialized([a])
    with tf.Session(jit="off") as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(check)
        sess.run(a.initializer)
        assert sess.run(check) == 0


def test_tensors_stay_under_their_handles(tf):
    with tf.Session() as sess:
        handle = sess.run(tf.get_session_handle(tf.constant([1.0, 2.0]) * 2.0))
        assert type(handle).__name__ == "TensorHandle"
        assert handle.handle.startswith("GetSessionHandle;0;/job:localhost") and handle.eval().tolist() == [2.0, 4.0]
        holder, value = tf.get_session_tensor(handle.handle, tf.float32)
        assert (holder.dtype, value.op.type) == (tf.string, "GetSessionTensor")
        assert sess.run(value + 1.0, {holder: handle.handle}).tolist() == [3.0, 5.0]
        x = tf.placeholder(tf.float32, [2])
        assert sess.run(x * 3.0, {x: handle}).tolist() == [6.0, 12.0]       # fed for the value
        holder_of_old, delete = tf.delete_session_tensor(handle.handle)
        sess.run(delete, {holder_of_old: handle.handle})
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            sess.run(value, {holder: handle.handle})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Failed to delete a tensor with handle"):
            handle.delete()
        number = sess.run(tf.get_session_handle(tf.constant(3)))
        assert number.eval() == 3
        number.delete()
        with pytest.raises(TypeError, match="may have already been deleted"):
            number.eval()


def test_batches_of_rows_are_replaced(tf):
    v = tf.Variable([[1, 2, 3], [4, 5, 6]])
    update = tf.batch_scatter_update(v, [[0, 2], [1, 0]], [[10, 30], [50, 40]])
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(update).tolist() == [[10, 2, 30], [40, 50, 6]]
        assert sess.run(v.batch_scatter_update(tf.IndexedSlices(tf.constant([[7]]), tf.constant([[1]])))).tolist() == \
            [[10, 7, 30], [40, 50, 6]]


@BOTH
@pytest.mark.parametrize("use_resource", [False, True])
def test_no_assignment_changes_or_stretches_a_shape(tf, jit, use_resource):
    """A value of another size is refused when it comes to light, and leaves the variable as it was."""
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    unknown, vector = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None])
    writes = [tf.assign(v, unknown), v.assign(vector * 2.0), v.assign_add(vector), v.assign_sub(unknown + 1.0)]
    with tf.Session(jit=jit) as sess:
        sess.run(v.initializer)
        for write in writes:
            for value in ([1.0, 2.0, 3.0], [1.0]):
                with pytest.raises(tf.errors.InvalidArgumentError):
                    sess.run(write, {unknown: value, vector: value})
                assert sess.run(v).tolist() == [1.0, 2.0]
        assert sess.run(writes[2], {vector: [1.0, 1.0]}).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("jit", ["off", "always", "auto"])
@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_without_a_value_have_no_shape(tf, jit, use_resource):
    v, w = tf.Variable(tf.zeros([3]), use_resource=use_resource), tf.Variable(1.0)
    check = tf.assert_variables_initialized([v, w])
    with tf.Session(jit=jit) as session:
        for _ in range(3):
            with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
                session.run(check)
        session.run(tf.global_variables_initializer())
        assert session.run(check).tolist() == [1, 0]


def test_a_handle_that_is_a_resource_is_one_too(tf):
    with tf.Session() as sess:
        handle = sess.run(tf.raw_ops.GetSessionHandleV2(value=tf.constant([1.0, 2.0])))
        assert type(handle).__name__ == "TensorHandle" and handle.eval().tolist() == [1.0, 2.0]
        handle.delete()
        with pytest.raises(TypeError, match="may have already been deleted"):
            handle.eval()
