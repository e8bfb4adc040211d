"""Rows of CSV files; what TensorFlow 1.15.5 gives for each text."""
import gzip

import pytest

from .draining import drained


def rows(tf, path, **arguments):
    iterator = tf.data.experimental.CsvDataset(path, **arguments).make_initializable_iterator()
    return drained(tf, iterator, iterator.initializer, tf.errors.InvalidArgumentError)


FEW, MORE, MISSING = "Expect 2 fields but have 1 in record", "Expect 2 fields but have more in record", \
    "Field 0 is required but missing in record!"
QUOTES, INSIDE = "Unquoted fields cannot have quotes inside", "Quote inside a string has to be escaped by another quote"


@pytest.mark.parametrize(("text", "expected"), [
    (b'1,"a\nb"\n2,"c""d"\r3,e\r\n', [(1, b"a\nb"), (2, b'c"d'), (3, b"e")]),
    (b"1,a\n\n1,2,3\n5\n6,x", [(1, b"a"), MISSING, MORE, FEW, (6, b"x")]),
    (b'1,a"b\n2,"a"b",\n3,x\n', [QUOTES, INSIDE, (3, b"x")]),
    (b'1,"ab"c\n2,x\n', ["Reached end of file without closing quoted field in record"]),
    (b'x,"ab', ["Field 0 in record is not a valid int32: x"]),
    (b"5000000000,a\n 7,\n", ["Field 0 in record is not a valid int32: 5000000000", (7, b"-")]),
    (b"", []),
])
def test_records(tf, tmp_path, text, expected):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    assert rows(tf, str(path), record_defaults=[tf.int32, ["-"]]) == expected


@pytest.mark.parametrize(("text", "arguments", "expected"), [
    (b"1,2,3\n4,5\n7\n8,9,10\n", {"record_defaults": [(0,)], "select_cols": [1]},
     [(2,), (5,), "Expect 1 fields but have 0 in record", (9,)]),
    (b'"a\nb"\n7\n', {"record_defaults": [[0]], "header": True}, [(7,)]),
    (b"NA;2\n1;NA\n", {"record_defaults": [[5], [6]], "na_value": "NA", "field_delim": ";"}, [(5, 2), (1, 6)]),
    (b'1,"x\ny"\n3,b', {"record_defaults": [[0], [""]], "use_quote_delim": False},
     [(1, b'"x'), 'Field 0 in record is not a valid int32: y"', (3, b"b")]),
])
def test_forms(tf, tmp_path, text, arguments, expected):
    (tmp_path / "table.csv").write_bytes(text)
    assert rows(tf, str(tmp_path / "table.csv"), **arguments) == expected
    with gzip.open(tmp_path / "table.gz", "wb") as file:
        file.write(text)
    assert rows(tf, str(tmp_path / "table.gz"), compression_type="GZIP", **arguments) == expected


@pytest.mark.parametrize(("arguments", "message"), [
    ({"field_delim": ";;"}, "field_delim should be only 1 char"),
    ({"select_cols": [1, 0]}, "select_cols should be strictly increasing indices"),
    ({"select_cols": [1]}, "select_cols should match output size"),
    ({"buffer_size": 0}, "buffer_size should be positive"),
    ({"compression_type": "LZ"}, "Unsupported compression_type: LZ."),
])
def test_what_it_refuses(tf, tmp_path, arguments, message):
    dataset = tf.data.experimental.CsvDataset(str(tmp_path / "none"), [tf.int32, tf.int32], **arguments)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(dataset.make_initializable_iterator().initializer)


def test_nodes(tf):
    dataset = tf.data.experimental.CsvDataset("table.csv", [tf.int32, [0.5]])
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        "filenames", "compression_type", "Const", "Const_1", "buffer_size", "header", "field_delim", "use_quote_delim",
        "na_value", "select_cols", "CSVDataset"]
    assert dataset.element_spec == (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32))
    with pytest.raises(ValueError, match="Shape of a default must be a length-0 or length-1 vector, or a scalar."):
        tf.data.experimental.CsvDataset("table.csv", [[1, 2]])


def test_a_header_that_is_not_there(tf, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "full").write_bytes(b"a\n7\n")
    names = [str(tmp_path / "empty"), str(tmp_path / "full")]
    assert rows(tf, names, record_defaults=[0], header=True) == ["Can't read header of file", (7,)]
