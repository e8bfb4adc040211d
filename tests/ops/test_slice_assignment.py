"""``x[...].assign(value)``: what may be put where."""
import numpy as np
import pytest


def test_a_part_of_a_tensor_is_not_assigned_to(tf):
    x = tf.constant([1, 2, 3])
    for part in (x[:2], tf.strided_slice(x, [0], [2])):
        for assign in (part.assign, lambda value, part=part: tf.assign(part, value)):
            with pytest.raises(ValueError, match="Sliced assignment is only supported for variables"):
                assign([1, 2])


@pytest.mark.parametrize("use_resource", [False, True])
def test_nothing_is_put_into_a_part_of_no_elements(tf, use_resource):
    """Whatever the value: TensorFlow does not look at its shape then."""
    start = np.arange(10).reshape(2, 5)
    v = tf.get_variable("v", initializer=start, use_resource=use_resource)
    with tf.Session() as session:
        session.run(v.initializer)
        for value in (np.zeros([1, 0], int), np.zeros([3, 0], int), np.zeros([4], int)):
            np.testing.assert_array_equal(session.run(v[0:0, 0:0].assign(value)), start)
        with pytest.raises(tf.errors.UnimplementedError, match=r"sliced l-value shape \[5\] does not match"):
            session.run(v[0].assign(np.zeros([1, 5], int)))


@pytest.mark.parametrize("use_resource", [False, True])
def test_strided_slices_of_variables_are_assigned_to(tf, use_resource):
    v = tf.get_variable("v", initializer=np.arange(6), use_resource=use_resource)
    changed = tf.strided_slice(tf.convert_to_tensor(v), [1], [5], [2], var=v).assign([10, 20])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(changed).tolist() == [0, 10, 2, 20, 4, 5]
