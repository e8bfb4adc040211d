"""Input producers, readers and batches: what comes out, epoch by epoch."""

import gzip

import numpy as np
import pytest


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)


@pytest.fixture
def collect(tf):
    """collect(fetch): what a pipeline gives until its input is exhausted."""
    def _collect(fetch, limit=100):
        found = []
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            try:
                while len(found) < limit:
                    found.append(session.run(fetch))
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
        return found
    return _collect


def lists(values):
    return [value.tolist() for value in values]


def test_batches(tf, collect):
    x, y = tf.train.slice_input_producer([np.arange(5), np.arange(5) * 10], num_epochs=1, shuffle=False)
    both = tf.train.batch({"x": x, "y": y}, batch_size=2)
    assert [b["y"].tolist() for b in collect(both)] == [[0, 10], [20, 30]]


def test_epochs_and_the_rest(tf, collect):
    x, = tf.train.slice_input_producer([np.arange(3)], num_epochs=2, shuffle=False)
    assert lists(collect(tf.train.batch([x], 4, allow_smaller_final_batch=True))) == [[0, 1, 2, 0], [1, 2]]


def test_rows_of_a_batch_at_once(tf, collect):
    q = tf.train.range_input_producer(3, num_epochs=1, shuffle=False)
    n = q.dequeue()
    pair = tf.stack([n * 2, n * 2 + 1])
    assert lists(collect(tf.train.batch([pair], 3, enqueue_many=True))) == [[0, 1, 2], [3, 4, 5]]
    tf.reset_default_graph()
    q = tf.train.range_input_producer(3, num_epochs=1, shuffle=False)
    n = q.dequeue()
    pair = tf.stack([n * 2, n * 2 + 1])
    kept = tf.train.maybe_batch([pair], tf.greater(pair, 2), 3, enqueue_many=True)
    assert lists(collect(kept)) == [[3, 4, 5]]


def test_only_what_is_to_be_kept(tf, collect):
    n = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    assert lists(collect(tf.train.maybe_batch([n], tf.equal(n % 2, 0), 3))) == [[0, 2, 4]]


def test_padding(tf, collect):
    n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    row = tf.range(n)
    row.set_shape([None])
    assert lists(collect(tf.train.batch([row], 2, dynamic_pad=True))) == [[[0], [0]], [[0, 1, 0], [0, 1, 2]]]


def test_sparse_tensors(tf, collect):
    n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
    sparse = tf.SparseTensor(tf.expand_dims(tf.expand_dims(tf.cast(n, tf.int64), 0), 0), [n * 10], [4])
    got = collect(tf.train.batch([sparse], 2))
    assert [g.values.tolist() for g in got] == [[0, 10], [20, 30]]
    assert [g.indices.tolist() for g in got] == [[[0, 0], [1, 1]], [[0, 2], [1, 3]]]
    assert got[0].dense_shape.tolist() == [2, 4]


@pytest.mark.parametrize("each", [False, True], ids=["one answer", "an answer for each"])
def test_sparse_tensors_of_which_some_are_kept(tf, collect, each):
    n = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
    row = tf.expand_dims(tf.expand_dims(tf.cast(n, tf.int64), 0), 0)
    one = tf.SparseTensor(row, tf.expand_dims(n * 10, 0), [6])
    if each:
        numbers = tf.stack([n, n + 1])
        rows = tf.SparseTensor(tf.constant([[0, 0], [1, 1]], tf.int64), numbers * 10, [2, 6])
        batch = tf.train.maybe_batch([numbers, rows], tf.equal(numbers % 3, 0), 2, enqueue_many=True)
        expected = [[0, 3], [3, 6]]
    else:
        numbers, rows = tf.train.batch([n, one], 1)
        batch = tf.train.maybe_batch([numbers, rows], tf.equal(numbers[0] % 2, 0), 1, enqueue_many=True)
        expected = [[0], [2], [4]]
    got = collect(batch)
    assert [numbers.tolist() for numbers, _ in got] == expected
    assert [sparse.values.tolist() for _, sparse in got] == [[10 * number for number in numbers] for numbers in expected]


def test_shuffled_batches(tf, collect):
    x, = tf.train.slice_input_producer([np.arange(40)], num_epochs=1, shuffle=False)
    got = np.concatenate(collect(tf.train.shuffle_batch([x], 8, capacity=40, min_after_dequeue=20, seed=1)))
    assert sorted(got) == list(range(40)) and got.tolist() != list(range(40))


def test_joining_sources(tf, collect):
    sources = [[tf.train.range_input_producer(4, num_epochs=1, shuffle=False, name=f"p{k}").dequeue() + 10 * k]
               for k in range(2)]
    got = np.concatenate(collect(tf.train.batch_join(sources, 2, allow_smaller_final_batch=True)))
    assert sorted(got) == [0, 1, 2, 3, 10, 11, 12, 13]


def test_shuffled_input_is_a_permutation_per_epoch(tf, collect):
    got = collect(tf.train.range_input_producer(5, num_epochs=2, seed=4).dequeue())
    assert sorted(got[:5]) == sorted(got[5:]) == list(range(5))


def test_what_producers_and_batches_refuse(tf):
    for function, text in [(lambda: tf.train.string_input_producer([]), "non-null input tensor"),
                           (lambda: tf.train.batch([tf.placeholder(tf.int32)], 2), "Cannot infer Tensor's rank"),
                           (lambda: tf.train.batch([], 2), "Expected at least one tensor in batch"),
                           (lambda: tf.train.limit_epochs(tf.constant(1), 0), "must be > 0"),
                           (lambda: tf.train.input_producer(tf.placeholder(tf.int32)), "fully defined")]:
        with pytest.raises(ValueError, match=text):
            function()
    with pytest.raises(TypeError, match=r"int32 vs\. float32"):
        tf.train.batch_join([[tf.constant(1)], [tf.constant(1.0)]], 2)


# -- readers -------------------------------------------------------------------------------------------------------

def records(tf, reader, files, up_to=None):
    q = tf.FIFOQueue(99, tf.string, shapes=[[]])
    fetch = reader.read(q) if up_to is None else reader.read_up_to(q, up_to)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    found = []
    with tf.Session() as session:
        session.run(q.enqueue_many([list(map(str, files))]))
        session.run(q.close())
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                key, value = session.run(fetch)
                found.append((key, value) if up_to is None else value.tolist())
        found.append(session.run(counts))
        session.run(reader.reset())
        assert session.run(counts) == [0, 0]
    return found


def test_lines(tf, tmp_path):
    first, second, empty = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    first.write_bytes(b"1\n2\r\n3")
    second.write_bytes(b"\nx\n")
    empty.write_bytes(b"")
    got = records(tf, tf.TextLineReader(), [first, empty, second])
    assert [v for _, v in got[:-1]] == [b"1", b"2", b"3", b"", b"x"] and got[-1] == [5, 3]
    assert got[1][0] == f"{first}:2".encode()
    assert [v for _, v in records(tf, tf.TextLineReader(skip_header_lines=1), [first, second])[:-1]] == [b"2", b"3", b"x"]
    assert records(tf, tf.TextLineReader(), [first, second], up_to=2)[:-1] == [[b"1", b"2"], [b"3"], [b"", b"x"]]


def test_pieces_of_fixed_length(tf, tmp_path):
    plain, packed = tmp_path / "a", tmp_path / "b"
    plain.write_bytes(b"HDRabcdefghFT")
    packed.write_bytes(gzip.compress(b"HDRabcdefghFT"))
    sizes = {"record_bytes": 4, "header_bytes": 3, "footer_bytes": 2}
    assert [v for _, v in records(tf, tf.FixedLengthRecordReader(**sizes), [plain])[:-1]] == [b"abcd", b"efgh"]
    assert [v for _, v in records(tf, tf.FixedLengthRecordReader(**sizes, hop_bytes=2), [plain])[:-1]] == [
        b"abcd", b"cdef", b"efgh"]
    assert len(records(tf, tf.FixedLengthRecordReader(**sizes, encoding="GZIP"), [packed])) == 3


def test_tf_records(tf, tmp_path):
    path = str(tmp_path / "r")
    with tf.python_io.TFRecordWriter(path) as writer:
        for k in range(3):
            writer.write(b"rec%d" % k)
    got = records(tf, tf.TFRecordReader(), [path])
    assert got[:-1] == [(f"{path}:{20 * k}".encode(), b"rec%d" % k) for k in range(3)]
    (tmp_path / "bad").write_bytes(b"no record at all")
    q = tf.FIFOQueue(9, tf.string, shapes=[[]])
    _, value = tf.TFRecordReader().read(q)
    with tf.Session() as session:
        session.run(q.enqueue_many([[str(tmp_path / "bad"), str(tmp_path / "missing")]]))
        with pytest.raises(tf.errors.DataLossError):
            session.run(value)
        with pytest.raises(tf.errors.NotFoundError):
            session.run(value)


def test_whole_files_and_state(tf, tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path in paths:
        path.write_text(path.name)
    assert [v for _, v in records(tf, tf.WholeFileReader(), paths)[:-1]] == [b"a", b"b", b"c"]
    q, reader = tf.FIFOQueue(9, tf.string, shapes=[[]]), tf.IdentityReader()
    _, value = reader.read(q)
    given = tf.placeholder(tf.string, [])
    restore, produced = reader.restore_state(given), reader.num_records_produced()
    with tf.Session() as session:
        session.run(q.enqueue_many([["a", "b", "c"]]))
        session.run(value)
        state = session.run(reader.serialize_state())
        assert state == b'\x08\x01\x10\x01\x18\x01"\x01a'
        session.run(value)
        session.run(restore, {given: state})
        assert session.run(produced) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state"):
            session.run(restore, {given: b"junk"})
        with pytest.raises(tf.errors.UnimplementedError):
            session.run(tf.TextLineReader().serialize_state())


def test_files(tf, run, tmp_path):
    path = str(tmp_path / "folder" / "w.txt")
    run(tf.write_file(path, "hi"))
    assert run(tf.read_file(path)) == b"hi"
    assert run(tf.matching_files(str(tmp_path / "*" / "*.txt"))).tolist() == [path.encode()]
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        run(tf.read_file(path + "x"))
    names = tf.train.match_filenames_once(str(tmp_path / "folder" / "*"))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(names).tolist() == [path.encode()]


def test_a_producer_takes_the_names_of_files_from_the_variable_that_matched_them(tf, collect, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("")
    names = tf.train.match_filenames_once(str(tmp_path / "*"))
    got = collect(tf.train.string_input_producer(names, num_epochs=1, shuffle=False).dequeue())
    assert [str(name, "utf-8") for name in got] == [str(tmp_path / name) for name in "ab"]
