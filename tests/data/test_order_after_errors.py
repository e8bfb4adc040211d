"""What follows an element that failed: where the error stands, and which elements come after it."""
import numpy as np
import pytest

FAILED = "failed"


@pytest.fixture
def sequence(tf):
    def taken(dataset):
        found = []
        following = tf.data.make_one_shot_iterator(dataset).get_next()
        with tf.Session() as session:
            while len(found) < 30:
                try:
                    found.append(np.asarray(session.run(following)).tolist())
                except tf.errors.OutOfRangeError:
                    return found
                except tf.errors.InvalidArgumentError:
                    found.append(FAILED)
        raise AssertionError(f"no end: {found}")
    return taken


@pytest.fixture
def checked(tf):
    """1, 2, an error, 4, 5, an error, 7"""
    data = tf.data.Dataset.from_tensor_slices(np.array([1, 2, np.nan, 4, 5, np.nan, 7], np.float32))
    return data.map(lambda x: tf.check_numerics(x, "no number"))


@pytest.mark.parametrize("arguments, drop, expected", [
    ((2, None, 1), False, [[1, 2], FAILED, FAILED, [7]]), ((2, None, 1), True, [[1, 2], FAILED, FAILED]),
    ((2, 1, 1), False, [[1, 2], FAILED, FAILED, [4, 5], FAILED, FAILED, [7]]),
    ((3, 2, 1), True, [FAILED, FAILED, FAILED]), ((2, 2, 2), False, [FAILED, FAILED, [5, 7], [7]]),
    ((1, 3, 1), False, [[1], [4], [7]])])
def test_an_error_has_a_place_in_windows(sequence, checked, arguments, drop, expected):
    windows = checked.window(*arguments, drop_remainder=drop).flat_map(lambda window: window.batch(9))
    assert sequence(windows) == expected


def test_an_error_has_no_number_in_shards(sequence, checked):
    assert sequence(checked.shard(2, 1)) == [2, FAILED, 5, FAILED]
    assert sequence(checked.shard(3, 0)) == [1, FAILED, 5, FAILED]


@pytest.mark.parametrize("cycle, block, calls, expected", [
    (2, 1, None, [1, FAILED, FAILED, FAILED, 1, 3, 1, 3, 3]), (2, 1, 2, [1, FAILED, 1, FAILED, 1, FAILED, 3, 3, 3]),
    (2, 2, 2, [1, 1, FAILED, FAILED, 1, FAILED, 3, 3, 3])])
def test_an_error_is_one_of_a_block_where_datasets_are_read_ahead(tf, sequence, cycle, block, calls, expected):
    data = tf.data.Dataset.from_tensor_slices(np.array([1, np.nan, 3], np.float32))
    several = lambda x: tf.data.Dataset.from_tensors(x).repeat(3).map(lambda one: tf.check_numerics(one, "no number"))
    assert sequence(data.interleave(several, cycle, block, num_parallel_calls=calls)) == expected


def test_no_more_calls_than_datasets_in_turn(tf, sequence):
    data = tf.data.Dataset.range(3).interleave(lambda x: tf.data.Dataset.range(x), 1, num_parallel_calls=2)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_calls must less than or equal"):
        session.run(tf.data.make_initializable_iterator(data).initializer)


def test_groups_go_on_behind_an_error(tf, sequence, checked):
    reducer = tf.data.experimental.Reducer(lambda _: np.float32(0), lambda s, x: s + x, lambda s: s)
    groups = checked.apply(tf.data.experimental.group_by_reducer(lambda x: tf.cast(x, tf.int64) % 2, reducer))
    assert sequence(groups) == [FAILED, FAILED, 6, 13]
