"""TFRecord files: TensorFlow's are read, ours have its bytes, damage is told at its record."""
import contextlib
from pathlib import Path

import numpy as np
import pytest

from jitgraph.formats import records

FIXTURES = Path(__file__).parent.parent / "fixtures" / "tfrecord"


def path_of(name):
    return str(FIXTURES / f"{name}.tfrecord")


def read(name, options=None):
    return list(records.tf_record_iterator(path_of(name), options))


def test_examples(tf):
    expected = np.load(FIXTURES / "expected.npz")
    examples = [tf.train.Example.FromString(data) for data in read("examples_plain")]
    assert len(examples) == 20
    column = [list(e.features.feature["x"].float_list.value) for e in examples]
    np.testing.assert_array_equal(np.array(column, np.float32), expected["x"])
    assert [e.features.feature["id"].int64_list.value[0] for e in examples] == expected["id"].ravel().tolist()
    assert [e.features.feature["name"].bytes_list.value[0] for e in examples] == expected["name"].ravel().tolist()


@pytest.mark.parametrize("kind, options", [
    ("gzip", records.TFRecordOptions(records.TFRecordCompressionType.GZIP)), ("zlib", "ZLIB")])
def test_compressed_files(kind, options):
    assert read(f"examples_{kind}", options) == read("examples_plain")


def test_records_of_any_length():
    assert [len(record) for record in read("raw_bytes")] == [0, 1, 1000, 256]


def test_written_files_have_the_bytes_of_tensorflow(tmp_path):
    with records.TFRecordWriter(tmp_path / "out") as writer:
        for record in read("examples_plain"):
            writer.write(record)
    assert (tmp_path / "out").read_bytes() == Path(path_of("examples_plain")).read_bytes()


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB"])
def test_what_is_written_is_read(tmp_path, kind):
    data = [b"", b"x" * 100000, b"y"]
    writer = records.TFRecordWriter(str(tmp_path / "out"), records.TFRecordOptions(kind, compression_level=3))
    for record in data:
        writer.write(record)
        writer.flush()
    writer.close()
    assert list(records.tf_record_iterator(str(tmp_path / "out"), kind)) == data


@pytest.mark.parametrize("name, count, message", [
    ("corrupt_data_crc", 0, "corrupted record at 12"), ("truncated", 19, "truncated record at 2973"),
    ("examples_gzip", 0, r"read it with TFRecordOptions\('GZIP'\)"), ("examples_zlib", 0, "'ZLIB'")])
def test_damage_is_told_after_the_good_records(tf, name, count, message):
    found = []
    with pytest.raises(tf.errors.DataLossError, match=message):
        found.extend(record for record in records.tf_record_iterator(path_of(name)))
    found.clear()
    iterator = records.tf_record_iterator(path_of(name))
    with pytest.raises(tf.errors.DataLossError):
        for record in iterator:
            found.append(record)
    assert len(found) == count


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_compressed_files_that_are_cut_off(tf, tmp_path, kind):
    """As in TensorFlow 1.15: what the stream holds counts, and only a record that is cut off is an error."""
    data = Path(path_of(f"examples_{kind.lower()}")).read_bytes()
    for length, count, damaged in ((1, 0, False), (5, 0, False), (len(data) // 2, 6, True), (len(data) - 1, 20, False)):
        (tmp_path / "cut").write_bytes(data[:length])
        with pytest.raises(tf.errors.DataLossError) if damaged else contextlib.nullcontext():
            list(records.tf_record_iterator(str(tmp_path / "cut"), kind))
        iterator = records.tf_record_iterator(str(tmp_path / "cut"), kind)
        assert len([next(iterator) for _ in range(count)]) == count
        if not damaged:
            assert next(iterator, None) is None


def test_every_flipped_byte_is_noticed(tf, tmp_path):
    data = Path(path_of("raw_bytes")).read_bytes()[:60]
    expected = read("raw_bytes")
    for position in range(len(data)):
        (tmp_path / "bad").write_bytes(data[:position] + bytes([data[position] ^ 16]) + data[position + 1:])
        found = []
        with pytest.raises(tf.errors.DataLossError):
            for record in records.tf_record_iterator(tmp_path / "bad"):
                found.append(record)
        assert found == expected[:len(found)]


def test_wrong_use(tf, tmp_path):
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "out"))
    with pytest.raises(TypeError, match="expected bytes, str found"):
        writer.write("text")
    writer.close()
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="previously closed"):
        writer.write(b"late")
    with pytest.raises(tf.errors.NotFoundError):
        tf.python_io.TFRecordWriter(str(tmp_path / "no" / "folder"))
    with pytest.raises(tf.errors.NotFoundError):
        next(tf.python_io.tf_record_iterator(str(tmp_path / "absent")))
    with pytest.raises(ValueError, match='Not a valid compression_type: "FOO"'):
        tf.python_io.TFRecordOptions("FOO")
    options = tf.python_io.TFRecordOptions
    assert options.get_compression_type_string(options(tf.python_io.TFRecordCompressionType.ZLIB)) == "ZLIB"
