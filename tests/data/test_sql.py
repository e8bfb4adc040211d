"""Rows of SQLite databases: what TensorFlow 1.15 gives for the same queries."""
import sqlite3

import pytest


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "rows.db")
    connection = sqlite3.connect(path)
    connection.execute("create table t (name text, n integer, x real, b blob, big integer)")
    connection.executemany("insert into t values (?, ?, ?, ?, ?)", [
        ("a", 1, 1.5, b"zz", 2 ** 40), ("bö", -3, 2.25, b"\x00\x01", 5), (None, None, None, None, None)])
    connection.commit()
    connection.close()
    return path


def rows(tf, path, query, types, driver="sqlite"):
    following = tf.data.experimental.SqlDataset(driver, path, query, types).make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        try:
            while True:
                found.append(tuple(value.item() if hasattr(value, "item") else value for value in session.run(following)))
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.parametrize(("query", "types", "wanted"), [
    ("select name, n from t", "string int32", [(b"a", 1), ("bö".encode(), -3), (b"", 0)]),
    ("select x, big from t", "float64 int64", [(1.5, 2 ** 40), (2.25, 5), (0.0, 0)]),
    ("select n, n from t where n is not null", "int8 bool", [(1, True), (-3, True)]),
    ("select n, n from t where n < 0", "uint8 uint16", [(253, 65533)]),
    ("select big from t", "int32", [(0,), (5,), (0,)]),
    ("select name from t", "int32", [(0,), (0,), (0,)]),
    ("select x, x from t", "int32 string", [(1, b"1.5"), (2, b"2.25"), (0, b"")]),
    ("select n, b from t", "float64 string", [(1.0, b"zz"), (-3.0, b"\x00\x01"), (0.0, b"")])])
def test_columns_are_converted_as_sqlite_does(tf, database, query, types, wanted):
    assert rows(tf, database, query, tuple(map(tf.as_dtype, types.split()))) == wanted


def test_what_is_no_query_leaves_nothing_behind(tf, database):
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of columns in query \\(0\\)"):
        rows(tf, database, "insert into t (n) values (7)", (tf.int32,))
    assert rows(tf, database, "select n from t where n = 7", (tf.int32,)) == []


def test_elements_are_nested_as_the_types(tf, database):
    dataset = tf.data.experimental.SqlDataset("sqlite", database, "select name, n from t", {"a": tf.string, "b": tf.int32})
    assert dataset.element_spec == {"a": tf.TensorSpec([], tf.string), "b": tf.TensorSpec([], tf.int32)}
    value = dataset.skip(1).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(value) == {"a": "bö".encode(), "b": -3}


def test_queries_are_tensors(tf, database):
    query = tf.placeholder(tf.string, [])
    iterator = tf.data.experimental.SqlDataset("sqlite", database, query, (tf.int32,)).make_initializable_iterator()
    value = iterator.get_next()
    with tf.Session() as session:
        for order, first in (("asc", -3), ("desc", 1)):
            session.run(iterator.initializer, {query: f"select n from t where n is not null order by n {order}"})
            assert session.run(value) == (first,)


@pytest.mark.parametrize(("query", "types", "error", "message"), [
    ("select nothing from t", "string", "UnknownError", "Prepare\\(\\) failed"),
    ("select name, n from t", "string", "InvalidArgumentError", "number of columns in query \\(2\\)"),
    ("select x from t", "float32", "InvalidArgumentError", "must be one of: DT_STRING")])
def test_refused(tf, database, query, types, error, message):
    with pytest.raises(getattr(tf.errors, error), match=message):
        rows(tf, database, query, tuple(map(tf.as_dtype, types.split())))


def test_other_drivers(tf, database):
    with pytest.raises(tf.errors.InvalidArgumentError, match="The database type, mysql, is not supported"):
        rows(tf, database, "select n from t", (tf.int32,), driver="mysql")


@pytest.mark.parametrize("taken, closes", [(1, True), (3, True), (4, False)])
def test_others_may_write_again(tf, database, taken, closes):
    """Once all rows are read, or the session is closed, though the iterator is still there."""
    dataset = tf.data.experimental.SqlDataset("sqlite", database, "select n from t where n is not null", tf.int32)
    iterator = dataset.repeat(2).make_initializable_iterator()
    following = iterator.get_next()
    session = tf.Session()
    session.run(iterator.initializer)
    for _ in range(taken):
        session.run(following)
    if closes:
        session.close()
    else:
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
    connection = sqlite3.connect(database, timeout=0)
    connection.execute("delete from t")
    connection.commit()
    connection.close()
