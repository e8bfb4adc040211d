"""Tables of two reserved keys stand in places that TensorFlow reads from checkpoints; the numbers are those of TensorFlow 1.15."""
import numpy as np
import pytest


def table(tf, key_dtype, empty, deleted, buckets=8):
    return tf.contrib.lookup.MutableDenseHashTable(key_dtype, tf.int64, -1, empty, deleted, initial_num_buckets=buckets)


def test_places_of_numbers(tf):
    numbers = table(tf, tf.int64, 0, -9)
    with tf.Session() as session:
        session.run(numbers.insert(tf.constant([11, 12, 3, 19], tf.int64), tf.constant([0, 1, 2, 3], tf.int64)))
        keys, values = session.run(numbers.export())
        assert keys.tolist() == [[0], [19], [0], [11], [12], [0], [3], [0]]
        assert values.tolist() == [[0], [3], [0], [0], [1], [0], [2], [0]]
        session.run(numbers.insert(tf.constant([27, 5, 100, -4], tf.int64), tf.constant([100, 101, 102, 103], tf.int64)))
        session.run(numbers.erase(tf.constant([12, 1], tf.int64)))
        keys, values = session.run(numbers.export())
        assert keys[:, 0].tolist() == [0, 0, 0, 19, 3, 5, 0, 100, 0, 0, 0, 11, -9, -4, 27, 0]
        assert values[:, 0].tolist() == [0, 0, 0, 3, 2, 101, 0, 102, 0, 0, 0, 0, 1, 103, 100, 0]
        assert session.run(numbers.size()) == 7


def test_places_of_strings_and_of_vectors(tf):
    strings, vectors = table(tf, tf.string, "", "gone"), table(tf, tf.int64, [0, 0], [-1, -1])
    with tf.Session() as session:
        session.run(strings.insert(tf.constant(["a", "bc", "longer than eight"]), tf.constant([0, 1, 2], tf.int64)))
        assert session.run(strings.export())[0][:, 0].tolist() == [b""] * 4 + [b"a", b"longer than eight", b"bc", b""]
        for keys in ([[1, 2], [3, 4]], [[5, 6], [7, 8], [9, 10], [11, 12], [13, 14]]):
            session.run(vectors.insert(tf.constant(keys, tf.int64), tf.range(len(keys), dtype=tf.int64)))
        assert session.run(vectors.export())[0][:, 1].tolist() == [0, 0, 0, 2, 6, 0, 10, 4, 12, 14, 0, 0, 0, 0, 0, 8]


def test_places_come_back_from_checkpoints(tf, tmp_path):
    kept = table(tf, tf.string, "", "gone")
    found, size, export, saver = kept.lookup(tf.constant(["a", "b", "c"])), kept.size(), kept.export(), tf.train.Saver()
    with tf.Session() as session:
        session.run(kept.insert(tf.constant(["a", "b", "c"]), tf.constant([1, 2, 3], tf.int64)))
        session.run(kept.erase(tf.constant(["b"])))
        path, before = saver.save(session, str(tmp_path / "model")), session.run(export)
    with tf.Session() as session:
        session.run(kept.insert(tf.constant(["b", "z"]), tf.constant([8, 9], tf.int64)))
        saver.restore(session, path)
        assert session.run(found).tolist() == [1, -1, 3] and session.run(size) == 2
        for mine, theirs in zip(session.run(export), before):
            np.testing.assert_array_equal(mine, theirs)


def test_entries_alone_are_read_too(tf):
    numbers = table(tf, tf.int64, 0, -9)
    fill = tf.raw_ops.LookupTableImportV2(table_handle=numbers.resource_handle, keys=tf.constant([5, -9, 7], tf.int64),
                                          values=tf.constant([1, 2, 3], tf.int64))
    with tf.Session() as session:
        session.run(fill)
        assert session.run(numbers.lookup(tf.constant([5, 7, 1], tf.int64))).tolist() == [1, 3, -1]
        assert session.run(numbers.size()) == 2


def test_the_number_of_places(tf):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="at least 4 and a power of 2, got: 6"):
        session.run(table(tf, tf.int64, 0, -9, 6).size())
