"""Variables made of parts: assignments to all of them, and parts that do not belong together."""
import numpy as np
import pytest


def parts_of(tf, values, name):
    """A partitioned variable of two parts along the first axis."""
    return tf.get_variable(name, initializer=tf.constant(values), partitioner=tf.fixed_size_partitioner(2))


def test_assigning_to_all_parts(tf):
    one, other = parts_of(tf, [1.0, 2.0, 3.0], "one"), parts_of(tf, [10.0, 20.0, 30.0], "other")
    steps = [one.assign([7.0, 8.0, 9.0] * tf.ones([3])), one.assign_add(tf.constant([1.0, 1.0, 1.0])),
             one.assign_sub(other), one.assign([tf.constant([0.0, 1.0]), tf.constant([2.0])])]
    expected = [[7, 8, 9], [8, 9, 10], [-2, -11, -20], [0, 1, 2]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step, values in zip(steps, expected):
            assert len(step) == 2
            np.testing.assert_array_equal(np.concatenate(session.run(step)), values)
            np.testing.assert_array_equal(session.run(one.as_tensor()), values)
        operations = one.assign_add(other, read_value=False)
        assert all(isinstance(operation, tf.Operation) for operation in operations)
        session.run(operations)
        np.testing.assert_array_equal(session.run(one.as_tensor()), [10, 21, 32])


def test_pieces_that_are_too_few(tf):
    with pytest.raises(ValueError, match="has 2 parts, but 1 pieces"):
        parts_of(tf, [1.0, 2.0], "v").assign([tf.constant([1.0])])


@pytest.mark.parametrize("change, error, message", [
    ({"variable_list": []}, ValueError, "may not be empty"), ({"variable_list": 3}, TypeError, "variable_list is not a list"),
    ({"partitions": 2}, TypeError, "partitions is not a list"), ({"partitions": [0]}, ValueError, "must be positive"),
    ({"partitions": [2, 1]}, ValueError, "len"), ({"shape": [5]}, ValueError, "full shapes must match")])
def test_parts_that_do_not_belong_together(tf, change, error, message):
    arguments = {"name": "v", "shape": [2], "dtype": tf.float32, "variable_list": list(parts_of(tf, [1.0, 2.0], "v")),
                 "partitions": [2]}
    with pytest.raises(error, match=message):
        type(parts_of(tf, [1.0, 2.0], "w"))(**{**arguments, **change})


def test_a_variable_that_is_no_part(tf):
    with pytest.raises(ValueError, match="save_slice_info"):
        type(parts_of(tf, [1.0, 2.0], "w"))("v", [2], tf.float32, [tf.Variable([1.0, 2.0])], [1])
