"""tf.contrib.framework.RecordInput: records of many files in a random order, over and over."""
import pytest


@pytest.fixture
def files(tf, tmp_path):
    """The names of five files of one record each, and of one with twenty."""
    names = [str(tmp_path / f"{number}") for number in range(6)]
    for number, name in enumerate(names):
        with tf.io.TFRecordWriter(name) as writer:
            for record in [number] if number else range(20):
                writer.write(b"%d" % record)
    return names


def taken(tf, pattern, runs, **kwargs):
    records = tf.contrib.framework.RecordInput(pattern, **kwargs).get_yield_op()
    with tf.Session() as session:
        return [int(record) for _ in range(runs) for record in session.run(records)]


@pytest.mark.parametrize("kwargs, wanted", [
    ({}, [3, 1, 4, 5, 2, 4, 2, 1, 5, 3, 3, 1, 5, 4, 2]),
    ({"seed": 7}, [5, 3, 4, 1, 2, 2, 3, 4, 1, 5, 2, 5, 3, 4, 1]),
    ({"shift_ratio": 0.5}, [5, 2, 3, 1, 4, 5, 3, 4, 2, 1, 4, 2, 3, 1, 5])])
def test_each_epoch_has_another_order_of_files(tf, files, kwargs, wanted):
    """Numbers are TensorFlow 1.15.5's."""
    assert taken(tf, ",".join(files[1:]), 15, **kwargs) == wanted
    assert taken(tf, ",".join(files[1:]), 3, batch_size=5, **kwargs) == wanted


def test_records_come_by_sixteen_the_last_first(tf, files):
    assert taken(tf, files[0], 21) == [15, 16, 17, 18, 19, *range(14, -1, -1), 15]      # TensorFlow 1.15.5 gives these


def test_a_buffer_mixes_records(tf, files):
    """Numbers are TensorFlow 1.15.5's."""
    assert taken(tf, files[0], 20, buffer_size=100) == [9, 10, 8, 1, 11, 2, 6, 4, 18, 19, 14, 12, 15, 13, 7, 16, 5, 17, 0, 3]
    assert taken(tf, files[0], 20, buffer_size=100, seed=3) == [4, 9, 11, 13, 6, 8, 1, 10, 14, 2, 15, 18, 0, 16, 17, 12, 19, 3,
                                                                7, 5]


def test_all_records_come_in_each_epoch(tf, files):
    found = taken(tf, ",".join(files), 50, buffer_size=7, parallelism=3)
    assert sorted(found[:25]) == sorted(found[25:]) == sorted([*range(20), 1, 2, 3, 4, 5]) and found[:25] != found[25:]


def test_several_batches_are_lists_of_scalars(tf, files):
    batches = tf.contrib.framework.RecordInput(files[0], batches=2, batch_size=3, name="ri").get_yield_op()
    assert [[one.name for one in batch] for batch in batches] == [
        ["ri_1/Reshape:0", "ri_1/Reshape_2:0", "ri_1/Reshape_4:0"], ["ri_1/Reshape_1:0", "ri_1/Reshape_3:0", "ri_1/Reshape_5:0"]]
    with tf.Session() as session:
        assert session.run(batches) == [[b"15", b"17", b"19"], [b"16", b"18", b"14"]]


def test_errors(tf, files, tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="Found no files at .*nowhere"):
        taken(tf, str(tmp_path / "nowhere"), 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="have no records"):
        tf.io.TFRecordWriter(str(tmp_path / "empty")).close()
        taken(tf, str(tmp_path / "empty"), 1)
    (tmp_path / "damaged").write_bytes(b"these are no records")
    with pytest.raises(tf.errors.DataLossError):
        taken(tf, str(tmp_path / "damaged"), 1)
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        taken(tf, files[0], 1, compression_type="BZIP")
