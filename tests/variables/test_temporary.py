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
