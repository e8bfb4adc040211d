"""tf.data.experimental.parallel_interleave gives the order that TensorFlow 1.15.5 gives where elements are at hand."""
import numpy as np
import pytest


def _given(tf, lengths, cycle, block, bad=-1):
    """Element i of dataset k is 10 k + i; `bad` fails, which is an "E"."""
    def numbers(base, length):
        def one(i):
            with tf.control_dependencies([tf.assert_none_equal(base + i, np.int64(bad))]):
                return base + i
        return tf.data.Dataset.range(length).map(one)

    bases = 10 * np.arange(len(lengths), dtype=np.int64)
    interleaved = tf.data.experimental.parallel_interleave(numbers, cycle_length=cycle, block_length=block)
    dataset = tf.data.Dataset.from_tensor_slices((bases, np.array(lengths, np.int64))).apply(interleaved)
    following, found = tf.data.make_one_shot_iterator(dataset).get_next(), []
    with tf.Session() as session:
        while len(found) < 60:
            try:
                found.append(int(session.run(following)))
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.InvalidArgumentError:
                found.append("E")
    raise AssertionError(f"no end: {found}")


@pytest.mark.parametrize("lengths, cycle, block, bad, expected", [
    ((1, 2, 3, 4, 5), 3, 2, -1, [0, 10, 11, 20, 21, 30, 31, 22, 32, 40, 41, 33, 42, 43, 44]),
    ((1, 2, 3, 4, 5), 9, 2, -1, [0, 10, 20, 21, 30, 31, 40, 41, 11, 22, 32, 33, 42, 43, 44]),
    ((3, 0, 2), 2, 1, -1, [0, 1, 20, 2, 21]),
    ((3, 3), 2, 2, 11, [0, 1, 10, "E", 2, 12])])
def test_order(tf, lengths, cycle, block, bad, expected):
    assert _given(tf, lengths, cycle, block, bad) == expected
