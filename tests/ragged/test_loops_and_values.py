"""Ragged tensors as variables of ``tf.while_loop``, and their values as arguments."""
import pytest


def repeated(tf, ragged, body, **options):
    _, result = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, body(x)), [0, ragged], **options)
    return result


@pytest.fixture
def ragged(tf):
    return tf.ragged.constant([[1, 2], [3]])


def test_values_change_from_step_to_step(tf, ragged):
    deep = tf.ragged.constant([[[1, 2]], [[3], [4]]])
    with tf.Session() as session:
        assert session.run(repeated(tf, ragged, lambda x: x + 1)).to_list() == [[4, 5], [6]]
        assert session.run(repeated(tf, deep, lambda x: x * 2)).to_list() == [[[8, 16]], [[24], [32]]]


def test_invariants_leave_rows_and_lengths_open(tf, ragged):
    spec = tf.RaggedTensorSpec([None, None], tf.int32, 1)
    shapes = [tf.TensorShape([]), tf.TensorShape([None, None])]
    with tf.Session() as session:
        longer = repeated(tf, ragged, lambda x: tf.concat([x, x], 1), shape_invariants=[tf.TensorSpec([], tf.int32), spec])
        assert session.run(longer).to_list() == [[1, 2] * 8, [3] * 8]
        more = repeated(tf, ragged, lambda x: tf.concat([x, x], 0), shape_invariants=shapes)
        assert session.run(more).to_list() == [[1, 2], [3]] * 8
    with pytest.raises(ValueError, match=r"enters the loop with shape \(3,\), but has shape \(5,\)"):
        repeated(tf, ragged, lambda x: tf.concat([x, x], 0))        # the row splits: how many rows there are stays


def test_without_invariants_lengths_are_open_and_the_number_of_rows_stays(tf, ragged):
    deep = tf.ragged.constant([[[1], [2]], [[3]]])
    longer, deeper = (repeated(tf, value, lambda x: tf.concat([x, x], 1)) for value in (ragged, deep))
    assert longer.shape.as_list() == [2, None]
    assert deeper.shape.as_list() == [2, None, None]
    with tf.Session() as session:
        assert session.run(longer).to_list() == [[1, 2] * 8, [3] * 8]
        assert session.run(deeper).to_list() == [[[1], [2]] * 8, [[3]] * 8]


def test_gradients_flow_through_ragged_variables(tf):
    values, factor = tf.ragged.constant([[1.0, 2.0], [3.0]]), tf.constant(2.0)
    result = repeated(tf, values, lambda x: x * factor)
    with tf.Session() as session:
        assert session.run(tf.gradients(tf.reduce_sum(result.flat_values), factor)) == [72.0]


def test_functions_take_values_of_ragged_tensors(tf, ragged):
    with tf.Session() as session:
        value = session.run(ragged)
        found = session.run([tf.concat([value, value], 0), tf.reduce_sum(value, 1), tf.add(value, value), tf.gather(value, [1])])
    assert [one.to_list() if hasattr(one, "to_list") else one.tolist() for one in found] == [
        [[1, 2], [3], [1, 2], [3]], [3, 3], [[2, 4], [6]], [[3]]]


def test_keywords_may_give_what_is_ragged(tf):
    texts = tf.ragged.constant([["a1", "bc"], ["d"]])
    with tf.Session() as session:
        found = session.run([tf.strings.length(input=texts), tf.add_n(inputs=[tf.ragged.constant([[1], [2, 3]])] * 2),
                             tf.regex_replace(input=texts, pattern="[a-c]", rewrite="-")])
    assert [one.to_list() for one in found] == [[[2, 2], [1]], [[2], [4, 6]], [[b"-1", b"--"], [b"d"]]]
