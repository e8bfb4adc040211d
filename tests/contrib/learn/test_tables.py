"""Tables of pandas as arrays: what is no table is handed on, columns of words are refused."""
import numpy as np
import pytest


class DataFrame:
    """As much of pandas' class as is asked of it."""

    def __init__(self, columns):
        self._columns = {name: np.array(values) for name, values in columns.items()}
        self.columns = list(columns)
        self.values = np.stack(list(self._columns.values()), 1)

    def __iter__(self):
        return iter(self.columns)

    def __getitem__(self, name):
        return self._columns[name]


def test_a_table_of_numbers_becomes_floats(tf):
    found = tf.contrib.learn.extract_pandas_data(DataFrame({"a": [1, 2], "b": [3, 4]}))
    assert found.dtype == np.float64 and found.tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_a_column_of_words_is_refused(tf):
    with pytest.raises(ValueError, match="must be int, float, or bool. Found: 'a' type='str"):
        tf.contrib.learn.extract_pandas_data(DataFrame({"a": ["1", "2"], "b": ["x", "y"]}))


def test_labels_are_one_column(tf):
    assert tf.contrib.learn.extract_pandas_labels(DataFrame({"a": [1, 2]})).tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="Only one column for labels is allowed"):
        tf.contrib.learn.extract_pandas_labels(DataFrame({"a": [1], "b": [2]}))


def test_what_is_no_table_is_handed_on(tf):
    array = np.ones(3)
    learn = tf.contrib.learn
    assert all(extract(array) is array for extract in (learn.extract_pandas_data, learn.extract_pandas_matrix,
                                                       learn.extract_pandas_labels))
