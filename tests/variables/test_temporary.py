"""References that are passed on, and variables that last for one run."""
import pytest


def test_a_reference_passed_on_is_the_variable_itself(tf):
    v = tf.Variable([1.0, 2.0], use_resource=False)
    through = tf.raw_ops.RefIdentity(input=tf.raw_ops.DebugGradientRefIdentity(input=v._ref()))
    more = tf.assign_add(through, [1.0, 1.0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(more).tolist() == [2.0, 3.0]
        assert session.run(v).tolist() == [2.0, 3.0]


def test_who_uses_a_reference_passed_on_sees_what_was_written_since(tf):
    v = tf.Variable([1.0, 2.0], use_resource=False)
    through = tf.raw_ops.RefIdentity(input=tf.raw_ops.RefIdentity(input=v._ref()))
    with tf.control_dependencies([tf.assign(v, [9.0, 9.0])]):
        fetches = through * 2.0, through + 0.0
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            for _ in range(2):
                session.run(v.initializer)
                assert [a.tolist() for a in session.run(fetches)] == [[18.0, 18.0], [9.0, 9.0]]
            assert session.run(through, {v: [3.0, 3.0]}).tolist() == [3.0, 3.0]


def test_a_gradient_goes_through_a_reference(tf):
    v = tf.Variable([1.0, 2.0], use_resource=False)
    r = tf.raw_ops.RefIdentity(input=v._ref())
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(tf.gradients(r * r, v)[0]).tolist() == [2.0, 4.0]


def _temporary(tf, name, asked):
    ref = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name=name, name="temporary")
    total = tf.assign_add(tf.raw_ops.Assign(ref=ref, value=[1.0, 2.0]), [3.0, 3.0])
    return tf.raw_ops.DestroyTemporaryVariable(ref=total, var_name=asked)


@pytest.mark.parametrize("name, asked", [("t", "t"), ("", "temporary")])
def test_each_run_has_its_temporary_variable(tf, name, asked):
    last = _temporary(tf, name, asked)
    assert last.shape.as_list() == [2]
    with tf.Session() as session:
        assert [session.run(last).tolist() for _ in range(3)] == [[4.0, 5.0]] * 3


def test_another_name_is_not_found(tf):
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="other"):
        session.run(_temporary(tf, "t", "other"))


def _selected(tf, index, sizes=(2, 2)):
    """A RefSelect of variables full of 1, 2, ... and the variables."""
    variables = [tf.Variable([k + 1.0] * size, use_resource=False) for k, size in enumerate(sizes)]
    return tf.raw_ops.RefSelect(index=index, inputs=[v._ref() for v in variables]), variables


def test_a_selected_reference_is_the_variable_itself(tf):
    ref, (first, second) = _selected(tf, 1)
    assert (ref.dtype, ref.shape.as_list(), ref.name) == (tf.as_dtype("float32_ref"), [2], "RefSelect:0")
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
            session.run(second.initializer)
            session.run(ref)                                        # the other one has no value
        session.run(first.initializer)
        assert session.run(ref).tolist() == [2.0, 2.0]
        assert session.run(tf.assign(ref, [5.0, 6.0])).tolist() == [5.0, 6.0]
        assert session.run(tf.scatter_add(ref, [1], [10.0])).tolist() == [5.0, 16.0]
        inner = tf.raw_ops.RefSelect(index=0, inputs=[ref, first._ref()])
        assert session.run(tf.assign_add(inner, [1.0, 1.0])).tolist() == [6.0, 17.0]
        assert session.run([first, second])[0].tolist() == [1.0, 1.0]
        assert session.run(second).tolist() == [6.0, 17.0]


@pytest.mark.parametrize("jit", ["auto", "always", "off"])
def test_a_reference_is_selected_in_a_run(tf, monkeypatch, jit):
    monkeypatch.setenv("JITGRAPH_JIT", jit)
    index = tf.placeholder(tf.int32)
    ref, _ = _selected(tf, index, (2, 3))
    assert ref.shape.ndims is None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            assert [session.run(ref * 2, {index: k}).tolist() for k in range(2)] == [[2.0, 2.0], [4.0, 4.0, 4.0]]
        for outside in (2, -1):
            with pytest.raises(tf.errors.InvalidArgumentError, match=rf"Index must be in the range \[0, 2\) but got {outside}"):
                session.run(ref, {index: outside})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Index must be a scalar, but it has shape \[1\]"):
            session.run(ref, {index: [1]})


@pytest.mark.parametrize("index", [2, -1])
def test_nothing_is_written_through_an_index_out_of_range(tf, index):
    ref, variables = _selected(tf, index)
    update = tf.assign(ref, [7.0, 7.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Index must be in the range"):
            session.run(update)
        assert [value.tolist() for value in session.run(variables)] == [[1.0, 1.0], [2.0, 2.0]]


WRITES = {      # what writes through a reference to [1, 1] or [2, 2]; what is there then
    "assign": (lambda tf, ref: tf.assign(ref, [7.0, 8.0]), ([7.0, 8.0], [7.0, 8.0])),
    "assign_add": (lambda tf, ref: tf.assign_add(ref, [7.0, 8.0]), ([8.0, 9.0], [9.0, 10.0])),
    "scatter_add": (lambda tf, ref: tf.scatter_add(ref, [1], [10.0]), ([1.0, 11.0], [2.0, 12.0])),
    "descent": (lambda tf, ref: tf.raw_ops.ApplyGradientDescent(var=ref, alpha=0.5, delta=[1.0, 1.0]), ([0.5, 0.5], [1.5, 1.5])),
    "handed_on": (lambda tf, ref: tf.assign(tf.raw_ops.RefIdentity(input=ref), [5.0, 5.0]), ([5.0, 5.0], [5.0, 5.0])),
    "twice": (lambda tf, ref: tf.assign_add(tf.assign_add(ref, [1.0, 2.0]), [1.0, 2.0]), ([3.0, 5.0], [4.0, 6.0])),
}


@pytest.mark.parametrize("jit", ["auto", "always", "off"])
@pytest.mark.parametrize("write", list(WRITES))
def test_a_run_chooses_the_variable_that_is_written(tf, write, jit):
    function, found = WRITES[write]
    index = tf.placeholder(tf.int32, [])
    ref, variables = _selected(tf, index % 3)
    update = function(tf, ref)
    with tf.Session(jit=jit) as session:
        for k in (0, 1, 4, 3):
            session.run(tf.global_variables_initializer())
            assert session.run(update, {index: k}).tolist() == found[k % 3]
            wanted = [[1.0, 1.0], [2.0, 2.0]]
            wanted[k % 3] = found[k % 3]
            assert [value.tolist() for value in session.run(variables)] == wanted
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Index must be in the range \[0, 2\) but got 2"):
            session.run(update, {index: 2})
        assert [value.tolist() for value in session.run(variables)] == wanted


@pytest.mark.parametrize("jit", ["auto", "always", "off"])
def test_a_run_chooses_the_variable_that_is_given_another_shape(tf, jit):
    index = tf.placeholder(tf.int32, [])
    ref, variables = _selected(tf, index, (2, 3))
    checked, free = (tf.assign(ref, [7.0, 8.0], validate_shape=valid) for valid in (True, False))
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(checked, {index: 0}).tolist() == [7.0, 8.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Assign requires shapes of both tensors to match"):
            session.run(checked, {index: 1})
        session.run(free, {index: 1})
        assert [value.tolist() for value in session.run(variables)] == [[7.0, 8.0], [7.0, 8.0]]


@pytest.mark.parametrize("jit", ["auto", "always", "off"])
def test_each_round_of_a_loop_chooses_a_variable(tf, jit):
    variables = [tf.Variable([k + 1.0, 0.0], use_resource=False) for k in range(2)]

    def body(i):
        ref = tf.raw_ops.RefSelect(index=i % 2, inputs=[v._ref() for v in variables])
        with tf.control_dependencies([tf.assign_add(ref, [1.0, 10.0])]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 5, body, [0])
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        for rounds in (1, 2):
            assert session.run(loop) == 5
            first, second = session.run(variables)
            assert first.tolist() == [1 + 3 * rounds, 30 * rounds] and second.tolist() == [2 + 2 * rounds, 20 * rounds]


def test_what_is_selected_has_a_number_and_is_a_reference(tf):
    with pytest.raises(TypeError, match="be a mutable tensor"):
        tf.raw_ops.RefSelect(index=0, inputs=[tf.constant(1.0), tf.constant(2.0)])
    with pytest.raises(ValueError, match="length 0 shorter than minimum length 1"):
        tf.raw_ops.RefSelect(index=0, inputs=[])
    with pytest.raises(ValueError, match="must be rank 0 but is rank 1"):
        _selected(tf, [0, 1])
    ref, variables = _selected(tf, 0)
    with pytest.raises(LookupError, match=r"No gradient defined for operation 'RefSelect.*op type: RefSelect"):
        tf.gradients(ref * 2, variables)
