"""Arrays and tables as input: ``tf.contrib.learn.io.numpy_input_fn``, ``pandas_input_fn`` and ``extract_pandas_*``."""
from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.framework.deprecation import deprecated
from jitgraph.estimator import array_inputs

_NUMBERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool"}


@deprecated(None, "Use tf.compat.v1.estimator.inputs.numpy_input_fn.")
def numpy_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1, shuffle: bool = True,
                   queue_capacity: int = 1000, num_threads: int = 1) -> Callable:
    """``tf.estimator.inputs.numpy_input_fn``, which shuffles by default."""
    return array_inputs.numpy_input_fn(x=x, y=y, batch_size=batch_size, shuffle=shuffle, num_epochs=num_epochs,
                                       queue_capacity=queue_capacity, num_threads=num_threads)


@deprecated(None, "Please use tf.compat.v1.estimator.inputs.pandas_input_fn")
def pandas_input_fn(x: Any, y: Any = None, batch_size: int = 128, num_epochs: int | None = 1, shuffle: bool = True,
                    queue_capacity: int = 1000, num_threads: int = 1, target_column: str = "target") -> Callable:
    """``tf.estimator.inputs.pandas_input_fn``, which shuffles by default."""
    return array_inputs.pandas_input_fn(x=x, y=y, batch_size=batch_size, shuffle=shuffle, num_epochs=num_epochs,
                                        queue_capacity=queue_capacity, num_threads=num_threads, target_column=target_column)


def _is_frame(data: Any) -> bool:
    return type(data).__name__ == "DataFrame" and hasattr(data, "columns")


def _check(data: Any, what: str, pattern: str) -> None:
    bad = [pattern.format(column, data[column].dtype.name) for column in data if data[column].dtype.name not in _NUMBERS]
    if bad:
        raise ValueError(f"Data types for extracting {what} must be int, float, or bool. Found: {', '.join(bad)}")


def frame_data(data: Any) -> Any:
    """The numbers of a DataFrame as float64 [rows, columns]; other data as they are.  Raises ValueError for other columns."""
    if not _is_frame(data):
        return data
    _check(data, "pandas data", "'{}' type='{}'")
    return data.values.astype("float")


def frame_matrix(data: Any) -> Any:
    """The values of a DataFrame; other data as they are."""
    return data.values if _is_frame(data) else data


def frame_labels(labels: Any) -> Any:
    """The values of a DataFrame of one column of numbers; other labels as they are.  Raises ValueError for other columns."""
    if not _is_frame(labels):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check(labels, "labels", "'{}' type={}")
    return labels.values


_directly = deprecated(None, "Please access pandas data directly.")


@_directly
def extract_pandas_data(data: Any) -> Any:
    """The numbers of a DataFrame as float64 [rows, columns]; other data as they are.  Raises ValueError for other columns."""
    return frame_data(data)


@_directly
def extract_pandas_matrix(data: Any) -> Any:
    """The values of a DataFrame; other data as they are."""
    return frame_matrix(data)


@_directly
def extract_pandas_labels(labels: Any) -> Any:
    """The values of a DataFrame of one column of numbers; other labels as they are.  Raises ValueError for other columns."""
    return frame_labels(labels)


HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_DASK = False            # data frames of Dask are not taken: ``compute()`` makes them pandas's


def _computed(data: Any) -> Any:
    """The table that one of dask stands for; anything else as it is."""
    return data.compute() if type(data).__module__.partition(".")[0] in ("dask", "dask_expr") else data


@deprecated(None, "Please feed input to tf.data to support dask.")
def extract_dask_data(data: Any) -> Any:
    """The values of a table of dask, as pandas has them; anything else as it is."""
    return _computed(data)


@deprecated(None, "Please feed input to tf.data to support dask.")
def extract_dask_labels(labels: Any) -> Any:
    """The column of labels of dask, as pandas has it; anything else as it is.  Raises ValueError for several columns."""
    found = _computed(labels)
    if _is_frame(found) and found is not labels:
        if len(found.columns) > 1:
            raise ValueError("Only one column for labels is allowed.")
        return found[found.columns[0]]
    return found
