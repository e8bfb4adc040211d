"""Datasets of files: what is not the rule."""
import contextlib

import pytest


def test_an_iterator_made_anew_caches_in_the_file_of_the_one_before(tf, tmp_path):
    """One that has not come to its end holds the lock only as long as it lasts."""
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3).cache(str(tmp_path / "cached")))
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(following) == 0
        session.run(iterator.initializer)
        assert [session.run(following) for _ in range(3)] == [0, 1, 2]


def test_two_iterators_at_once_cannot_cache_in_one_file(tf, tmp_path):
    dataset = tf.data.Dataset.range(3).cache(str(tmp_path / "cached"))
    first, second = (tf.data.make_one_shot_iterator(dataset).get_next() for _ in range(2))
    with tf.Session() as session:
        session.run(first)
        with pytest.raises(tf.errors.AlreadyExistsError, match="concurrent caching iterator"):
            session.run(second)
    assert [path.suffix for path in tmp_path.iterdir()] == []


def test_records_of_an_unknown_compression_are_read_as_they_are(tf, tmp_path):
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(b"one")
    following = tf.data.make_one_shot_iterator(tf.data.TFRecordDataset(path, "gzip")).get_next()
    with tf.Session() as session:
        assert session.run(following) == b"one"


@pytest.mark.parametrize("count", [0, -2])
def test_shuffle_and_repeat_without_a_count_that_makes_sense(tf, count):
    dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.shuffle_and_repeat(4, count=count))
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="count must be greater than zero"):
        session.run(following)


def test_the_node_that_matches_patterns_goes_pattern_by_pattern(tf, tmp_path, monkeypatch):
    """As TensorFlow 1.15: sorted for each pattern, without folders; none at all is an error."""
    monkeypatch.chdir(tmp_path)
    for name in ("b1", "a1", "c2", "d/a1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)

    def matched(patterns):
        found = tf.raw_ops.MatchingFilesDataset(patterns=patterns)
        iterator = tf.data.make_initializable_iterator(tf.data.experimental.from_variant(found, tf.TensorSpec([], tf.string)))
        following, names = iterator.get_next(), []
        with tf.Session() as session:
            session.run(iterator.initializer)
            with contextlib.suppress(tf.errors.OutOfRangeError):
                while True:
                    names.append(session.run(following))
        return names

    assert matched("*") == [b"./a1", b"./b1", b"./c2"]
    assert matched(["c*", "a*"]) == [b"./c2", b"./a1"]
    assert matched(["nope", "*/a1"]) == [b"./d/a1"]
    with pytest.raises(tf.errors.NotFoundError, match="Don't find any matched files"):
        matched(["nope*"])


@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_file_of_cached_elements_that_is_cut_off(tf, tmp_path, left):
    """Nothing is lost in silence, wherever it is cut: behind a whole record, too."""
    dataset = tf.data.Dataset.range(4).cache(str(tmp_path / "cached"))
    get_next = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        assert [session.run(get_next) for _ in range(4)] == [0, 1, 2, 3]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(get_next)
    file = tmp_path / "cached.cache"
    records = list(tf.python_io.tf_record_iterator(str(file)))
    with tf.python_io.TFRecordWriter(str(file)) as writer:
        for record in records[:left]:
            writer.write(record)
    again = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session, pytest.raises(tf.errors.DataLossError, match="cut off"):
        session.run(again)


def test_elements_that_are_strings_come_out_of_the_cache_whole(tf, tmp_path):
    dataset = tf.data.Dataset.from_tensor_slices(["a", "bcd"]).cache(str(tmp_path / "cached")).map(lambda x: x + "-")
    for _ in range(2):
        get_next = tf.data.make_one_shot_iterator(dataset).get_next()
        with tf.Session() as session:
            assert [session.run(get_next) for _ in range(2)] == [b"a-", b"bcd-"]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(get_next)
