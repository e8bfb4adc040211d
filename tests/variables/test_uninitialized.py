"""Resource variables without an initial value."""
import pytest

from jitgraph.variables.uninitialized import UninitializedVariable


def test_a_variable_gets_its_value_later(tf):
    v = UninitializedVariable("v", [2], tf.float32)
    assert [op.name for op in tf.get_default_graph().get_operations()] == ["v", "v/Read/ReadVariableOp"]
    assert tf.global_variables() == [v] and tf.trainable_variables() == [] and v.trainable
    v.initialize_by(v.assign([1.0, 2.0], read_value=False))
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(v)
        session.run(tf.global_variables_initializer())
        assert session.run(v).tolist() == [1.0, 2.0]
        for value in ([3.0, 4.0], [5.0, 6.0]):
            v.load(value, session)
            assert session.run(2 * v).tolist() == [2 * part for part in value]


def test_names_are_made_unique(tf):
    collections = [tf.GraphKeys.LOCAL_VARIABLES]
    names = [UninitializedVariable(name, [], tf.int32, collections=collections).name for name in ("v", "v", None)]
    assert names == ["v:0", "v_1:0", "Variable:0"] and len(tf.local_variables()) == 3 and tf.global_variables() == []


def test_zeros_are_given_to_what_has_no_value(tf):
    variable = tf.Variable(tf.ones([2, 3]))
    zeros = tf.contrib.framework.zero_initializer(variable)
    with tf.Session() as session:
        assert session.run(zeros).tolist() == [[0.0] * 3] * 2 and not session.run(variable).any()
        with pytest.raises(tf.errors.InvalidArgumentError, match="already initialized"):
            session.run(zeros)
