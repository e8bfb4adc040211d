"""Lookup tables: filling, finding, buckets, files, changes, checkpoints."""

import numpy as np
import pytest


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)


@pytest.fixture
def filled(tf):
    """filled(fetch): the value in a new session whose tables are filled."""
    def _filled(fetch, feeds=None):
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            return session.run(fetch, feeds)
    return _filled


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("emerson\nlake\npalmer\n")
    return str(path)


def test_a_table_of_tensors(tf, filled):
    lookup = tf.contrib.lookup
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    keys = tf.placeholder(tf.string)
    found = table.lookup(keys)
    assert (table.name, table.init.name, found.op.name) == (
        "hash_table", "key_value_init/LookupTableImportV2", "hash_table_Lookup/LookupTableFindV2")
    assert filled(found, {keys: [["b", "z"]]}).tolist() == [[2, -1]] and filled(table.size()) == 2
    assert [part.tolist() for part in filled(table.export())] == [[b"a", b"b"], [1, 2]]
    sparse = filled(table.lookup(tf.SparseTensor([[0, 1]], ["a"], [1, 2])))
    assert sparse.values.tolist() == [1] and sparse.dense_shape.tolist() == [1, 2]
    with pytest.raises(TypeError, match="Keys must be dtype <dtype: 'string'>"):
        table.lookup(tf.constant([1]))


def test_a_table_has_to_be_filled(tf):
    lookup = tf.lookup
    table = lookup.StaticHashTable(lookup.KeyValueTensorInitializer([1, 2], ["x", "y"], key_dtype=tf.int64), "?")
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            session.run(table.lookup(tf.constant([1], tf.int64)))
        session.run([tf.tables_initializer()] * 2)
        assert session.run(table.lookup(tf.constant([1, 5], tf.int64))).tolist() == [b"x", b"?"]


def test_two_values_for_a_key_are_refused(tf, filled):
    make = tf.contrib.lookup.KeyValueTensorInitializer
    table = tf.contrib.lookup.HashTable(make(["a", "a"], [1, 1]), -1)
    assert filled(table.size()) == 1
    tf.contrib.lookup.HashTable(make(["a", "a"], [1, 2]), -1)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Key a has 1 and trying to add value 2"):
        filled(tf.constant(0))
    with pytest.raises(ValueError, match="Dimension 0"):
        tf.contrib.lookup.HashTable(make(["a", "b"], [1]), -1)


@pytest.mark.parametrize("make", [
    lambda tf: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([], [], tf.string, tf.int64), -1),
    lambda tf: tf.contrib.lookup.index_table_from_tensor(tf.constant([], tf.int64), num_oov_buckets=1, dtype=tf.int64),
    lambda tf: tf.contrib.lookup.index_to_string_table_from_tensor([])])
def test_a_table_that_is_filled_once_is_not_empty(tf, make):
    make(tf)
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="keys and values cannot be empty tensors"):
                session.run(tf.tables_initializer())


def test_a_mutable_table_may_be_given_no_entries(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    with tf.Session() as session:
        session.run(table.insert(tf.constant([], tf.string), tf.constant([], tf.int64)))
        assert session.run(table.size()) == 0


def test_words_to_ids(tf, filled):
    lookup = tf.contrib.lookup
    words = tf.constant(["l", "and", "e", "zz", "qq"])
    for buckets, ids in [(0, [1, -1, 0, -1, -1]), (1, [1, 3, 0, 3, 3]), (5, [1, 5, 0, 5, 4])]:
        assert filled(lookup.index_table_from_tensor(["e", "l", "p"], buckets).lookup(words)).tolist() == ids
    numbers = lookup.index_table_from_tensor([10, 20], dtype=tf.int64, num_oov_buckets=3)
    assert filled(numbers.lookup(tf.constant([20, 7, 8, 9], tf.int64))).tolist() == [1, 3, 3, 4]
    for arguments, error, message in [((None,), ValueError, "mapping must be"), ((["a"], -1), ValueError, "greater or equal")]:
        with pytest.raises(error, match=message):
            lookup.index_table_from_tensor(*arguments)
    with pytest.raises(TypeError, match="Only integer and string"):
        lookup.index_table_from_tensor([1.0], dtype=tf.float32)


def test_ids_to_words(tf, filled, words):
    ids = tf.constant([1, 9], tf.int64)
    lookup = tf.contrib.lookup
    assert filled(lookup.index_to_string_table_from_tensor(["e", "l"], "?").lookup(ids)).tolist() == [b"l", b"?"]
    assert filled(lookup.index_to_string_table_from_file(words, default_value="?").lookup(ids)).tolist() == [b"lake", b"?"]
    assert filled(lookup.index_to_string(ids, ["e", "l"])).tolist() == [b"l", b"UNK"]
    assert filled(lookup.string_to_index(tf.constant(["l", "x"]), ["e", "l"])).tolist() == [1, -1]


def test_files(tf, filled, words, tmp_path):
    lookup = tf.contrib.lookup
    table = lookup.index_table_from_file(words, num_oov_buckets=1)
    assert filled(table.lookup(tf.constant(["lake", "x"]))).tolist() == [1, 3]
    assert tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)[0].op.type == "Const"
    short = lookup.index_table_from_file(words, vocab_size=2, default_value=-3)
    assert filled(short.lookup(tf.constant(["lake", "palmer"]))).tolist() == [1, -3]
    pairs = tmp_path / "pairs"
    pairs.write_text("a\t1\nb\t2\n")
    table = lookup.HashTable(lookup.TextFileInitializer(str(pairs), tf.string, 0, tf.int64, 1), -1)
    assert filled(table.lookup(tf.constant(["b", "q"]))).tolist() == [2, -1]
    lines = lookup.TextFileInitializer(str(pairs), tf.int64, lookup.TextFileIndex.LINE_NUMBER, tf.string,
                                       lookup.TextFileIndex.WHOLE_LINE)
    assert filled(lookup.HashTable(lines, "d").lookup(tf.constant([1, 5], tf.int64))).tolist() == [b"b\t2", b"d"]


@pytest.mark.parametrize("make, error, message", [
    (lambda l, tf, p: l.HashTable(l.TextFileInitializer(p, tf.string, 0, tf.int64, 1), -1), "InvalidArgumentError", "columns"),
    (lambda l, tf, p: l.index_table_from_file(p + "x"), "NotFoundError", "No such file"),
    (lambda l, tf, p: l.index_table_from_file(p, vocab_size=5), "InvalidArgumentError", "expected 5 but got 3")])
def test_files_that_do_not_suit(tf, filled, words, make, error, message):
    make(tf.contrib.lookup, tf, words)
    with pytest.raises(getattr(tf.errors, error), match=message):
        filled(tf.constant(0))


def test_mutable_table(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="m")
    keys = tf.constant(["a", "b", "c"])
    find, size = table.lookup(keys), table.size()
    assert table.insert(keys, tf.constant([1, 2, 3], tf.int64)).name == "m_lookup_table_insert/LookupTableInsertV2"
    with tf.Session() as session:
        session.run(table.insert(keys, tf.constant([1, 2, 3], tf.int64)))
        session.run(table.insert(["a"], tf.constant([9], tf.int64)))
        session.run(table.remove(tf.constant(["b", "zz"])))
        assert session.run(find).tolist() == [9, -1, 3] and session.run(size) == 2


def test_mutable_table_of_vectors(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    keys = tf.constant([1, 2], tf.int64)
    with tf.Session() as session:
        session.run(table.insert(keys, [[1.0, 2.0], [3.0, 4.0]]))
        found = table.lookup(tf.constant([[2, 7]], tf.int64))
        assert found.shape.as_list() == [1, 2, 2] and session.run(found).tolist() == [[[3, 4], [0, 0]]]


def test_dense_table_reserves_two_keys(tf):
    table = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-9)
    keys = tf.constant([11, 12], tf.int64)
    with tf.Session() as session:
        session.run(table.insert(keys, tf.constant([0, 1], tf.int64)))
        session.run(table.erase(tf.constant([12], tf.int64)))
        assert session.run(table.lookup(keys)).tolist() == [0, -1] and session.run(table.size()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key as a table key"):
            session.run(table.insert(tf.constant([0], tf.int64), tf.constant([5], tf.int64)))


def test_tables_in_checkpoints(tf, tmp_path):
    table, v = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="t"), tf.Variable(1.0)
    keys = tf.constant(["a", "b"])
    find, saver = table.lookup(keys), tf.train.Saver()
    with tf.Session() as session:
        session.run([v.initializer, table.insert(keys, tf.constant([5, 6], tf.int64))])
        path = saver.save(session, str(tmp_path / "model"))
    assert {"t-keys", "t-values"} <= {name for name, _ in tf.train.list_variables(path)}
    with tf.Session() as session:
        session.run(table.insert(["z"], tf.constant([1], tf.int64)))
        saver.restore(session, path)
        assert session.run(find).tolist() == [5, 6] and session.run(table.size()) == 2


def test_sessions_have_tables_of_their_own(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, -1)
    key = tf.constant([1], tf.int64)
    with tf.Session() as one, tf.Session() as other:
        one.run(table.insert(key, key))
        assert one.run(table.lookup(key)).tolist() == [1] and other.run(table.lookup(key)).tolist() == [-1]


def test_a_lookup_feeds_an_embedding(tf, filled):
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=1)
    words = tf.placeholder(tf.string, [None])
    rows = tf.gather(tf.constant(np.eye(3, dtype=np.float32)), table.lookup(words))
    assert filled(tf.reduce_sum(rows, 0), {words: ["b", "x", "b"]}).tolist() == [0, 2, 1]


def test_nothing_flows_back_through_a_table(tf):
    default = tf.constant(2.0)
    table = tf.contrib.lookup.MutableDenseHashTable(tf.int64, tf.float32, default, empty_key=-1, deleted_key=-2)
    found = table.lookup(tf.constant([5], tf.int64))
    assert tf.gradients(found * 3.0, [default]) == [None]


def test_one_file_and_dtypes_that_are_dtypes(tf):
    lookup = tf.contrib.lookup
    with pytest.raises(ValueError, match="rank 0 but is rank 1 for filename"):
        lookup.HashTable(lookup.TextFileInitializer(tf.constant(["a", "b"]), tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                                    lookup.TextFileIndex.LINE_NUMBER), -1)
    with pytest.raises(TypeError, match="to a TensorFlow DType"):
        lookup.KeyValueTensorInitializer(["a"], [1], [tf.string], tf.int64)


PAIRS = {
    "static": "int32 int32, int32 string, int32 float32, int64 bool -, string bool, string string, int32 int64 -, int32 bool -, "
              "float32 int64 -, int64 uint8 -, int16 int64 -",
    "mutable": "int32 int32, int32 string -, int64 string, string string -, string bool, int64 bool -, int32 int64 -",
    "dense": "int32 float64, int64 bool, int64 string -, string int64, int32 int64 -",
}


@pytest.mark.parametrize(("kind", "pair"), [(kind, pair) for kind, pairs in PAIRS.items() for pair in pairs.split(", ")])
def test_there_are_tables_of_these_dtypes(tf, kind, pair):
    """A minus stands after those for which TensorFlow 1.15 has no kernel."""
    key, value, *none = pair.split()
    keys, values = ({"string": ["a", "b"], "bool": [True, False]}.get(name, [1, 2]) for name in (key, value))
    if kind == "static":
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values, key, value), values[0])
        fill = table.initializer
    else:
        reserved = {"empty_key": "", "deleted_key": "-"} if key == "string" else {"empty_key": 0, "deleted_key": 9}
        table = tf.contrib.lookup.MutableHashTable(tf.as_dtype(key), tf.as_dtype(value), values[0]) if kind == "mutable" else \
            tf.contrib.lookup.MutableDenseHashTable(tf.as_dtype(key), tf.as_dtype(value), values[0], **reserved)
        fill = table.insert(tf.constant(keys, key), tf.constant(values, value))
    found = table.lookup(tf.constant(keys[1:], key))
    with tf.Session() as session:
        if none:
            with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered"):
                session.run(fill)
            return
        session.run(fill)
        assert session.run(found).tolist() == [values[1].encode() if value == "string" else values[1]]


def test_vocabularies_are_of_int64_or_strings(tf):
    with pytest.raises(TypeError, match="Invalid key dtype"):
        tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer([1, 2], [0, 1], tf.int32, tf.int64), 1)


@pytest.mark.parametrize("keys, values", [(["a"], [1, 2]), ([["a"]], [1]), (["a", "b"], [1])])
def test_each_key_needs_a_value(tf, keys, values):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    fill = table.insert(keys, tf.constant(values, tf.int64))
    assert type(table.export()) is tuple
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape"):
        session.run(fill)


@pytest.mark.parametrize("keys, values", [([[1]], [[2]]), (1, 2), ([1, 2], [1, 2, 3])])
def test_static_tables_take_vectors(tf, keys, values):
    with pytest.raises(ValueError):
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
