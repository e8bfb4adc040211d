"""Files of lines, records, comma-separated values and tables: without a last line end, compressed, cut off, damaged, empty."""
import os
import struct
import tempfile
import zlib

LINES = {"plain": b"a\nb\nc\n", "no end": b"a\nb", "windows": b"a\r\nb\r\n", "returns": b"a\rb\r", "empty": b"", "one end": b"\n",
         "two ends": b"\n\n", "mixed": b"a\r\nb\nc\rd", "a return": b"\r", "a return behind": b"a\nb\r",
         "odd": b"a\n\rb\n\r\rc\r\n\r\n"}
ROWS = {"plain": b"a,b\nc,d\n", "windows": b"a,b\r\nc,d\r\n", "quoted": b'"a,x","b""q"\n"c\nd",e\n',
    "an empty line": b"a,b\n\nc,d\n",
        "few": b"a\nb,c\n", "many": b"a,b,c\n", "a quote": b'a"b,c\nd,e\n', "not ended": b'"a,b\n', "empty": b"",
        "missing": b",\nNA,x"}
TABLES = {"plain": b"a\nb\nc\n", "no end": b"a\nb", "twice": b"a\nb\na\n", "empty": b"", "an empty line": b"a\n\nb\n",
    "windows": b"a\r\nb\r\n",
          "columns": b"a\t1\nb\t2\n", "a column": b"a\t1\nb\n", "a word": b"a\tx\n"}


def zipped(data):
    body = zlib.compress(data)
    return b"\x1f\x8b\x08\0\0\0\0\0\2\xff" + body[2:-4] + struct.pack("<II", zlib.crc32(data), len(data))


def records(tf, path):
    """Three records, and what becomes of them."""
    with tf.io.TFRecordWriter(path) as writer:
        for record in (b"hello", b"", b"x" * 20):
            writer.write(record)
    with open(path, "rb") as file:
        data = file.read()
    return {"whole": data, "cut": data[:-1], "without a sum": data[:-4], "cut in a header": data[:26], "cut in a length": data[:31],
            "a wrong length": data[:21] + b"\1" + data[22:], "a wrong byte": data[:14] + b"X" + data[15:], "more": data + b"a",
            "more than a header": data + b"a" * 12, "empty": b"", "a header": data[:12]}


def cases(tf):
    folder = tempfile.mkdtemp()
    found = {}

    def joined(data):
        return data.reduce(tf.constant(""), lambda before, text: tf.strings.join([before, text], "|"))

    def put(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def compressed(name, data):
        return {"": put(name, data), "ZLIB": put(name + ".z", zlib.compress(data)), "GZIP": put(name + ".gz", zipped(data))}.items()

    for name, data in LINES.items():
        for kind, path in compressed(f"lines {name}", data):
            found[f"lines {name} {kind}"] = lambda path=path, kind=kind: joined(tf.data.TextLineDataset(path, kind))
            for length, header, footer in ((1, 0, 0), (2, 0, 0), (1, 0, 1), (3, 0, 2)):
                if kind and len(data) < footer:         # an error that TensorFlow calls its own
                    continue
                found[f"of {length} bytes {name} {kind} {header} {footer}"] = lambda path=path, kind=kind, form=(length,
                    header, footer): (
                    joined(tf.data.FixedLengthRecordDataset(path, *form, compression_type=kind)))
    for name, data in records(tf, os.path.join(folder, "records")).items():
        for kind, path in compressed(f"records {name}", data):
            found[f"records {name} {kind}"] = lambda path=path, kind=kind: joined(tf.data.TFRecordDataset(path, kind))
    long = b"a\nb\n" * 1000
    odd = {"cut": (put("cut.gz", zipped(long)[:-12]), "GZIP"), "twice": (put("twice.gz", zipped(b"a\n") + zipped(b"b\n")), "GZIP"),
           "cut stream": (put("cut.z", zlib.compress(long)[:-8]), "ZLIB"), "not there": (folder + "/nothing", "")}
    for name, (path, kind) in odd.items():
        found[f"lines {name}"] = lambda path=path, kind=kind: joined(tf.data.TextLineDataset(path, kind))
        found[f"bytes {name}"] = lambda path=path, kind=kind: joined(tf.data.FixedLengthRecordDataset(path, 1,
            compression_type=kind))
    for name, data in ROWS.items():
        path = put(f"rows {name}", data)
        for header in (False, True):
            for quotes in (True, False):
                found[f"rows {name} {header} {quotes}"] = lambda path=path, header=header, quotes=quotes: joined(
                    tf.data.experimental.CsvDataset(path, [["X"], ["Y"]], header=header, use_quote_delim=quotes, na_value="NA").map(
                        lambda x, y: tf.strings.join([x, y], "~")))
    for name, data in TABLES.items():
        path = put(f"table {name}", data)
        for size in (None, 2):
            found[f"table {name} {size}"] = lambda path=path, size=size: looked_up(tf, tf.contrib.lookup.index_table_from_file(
                path, num_oov_buckets=2, vocab_size=size))
        found[f"table of columns {name}"] = lambda path=path: looked_up(tf, tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            path, tf.string, 0, tf.int64, 1), -1))
    found["an example in a list"] = lambda: tf.decode_json_example("[]")
    found["an example of nothing"] = lambda: tf.decode_json_example(" {} ")
    return found


def looked_up(tf, table):
    """The values of keys behind the making of the table, in one run."""
    with tf.control_dependencies([tf.tables_initializer()]):
        return table.lookup(tf.constant(["a", "b", "c", "", "a\r"])) + tf.constant(0, tf.int64)
