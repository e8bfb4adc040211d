"""``make_csv_dataset``: batches of columns from CSV files, whose names and types are looked up in the files."""
from __future__ import annotations

import collections
import csv
import gzip
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.data.dataset import Dataset
from jitgraph.data.examples import CsvDataset, _repeated
from jitgraph.data.transformations import ignore_errors as without_errors
from jitgraph.data.transformations import parallel_interleave
from jitgraph.filesystem.gfile import GFile, Glob
from jitgraph.graph import dtypes
from jitgraph.graph.constant_value import constant_value
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant

_AUTOTUNE = -1
_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def make_csv_dataset(file_pattern: Any, batch_size: Any, column_names: Any = None, column_defaults: Any = None,
                     label_name: str | None = None, select_columns: Any = None, field_delim: str = ",",
                     use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: int | None = None,
                     shuffle: bool = True, shuffle_buffer_size: int = 10000, shuffle_seed: int | None = None,
                     prefetch_buffer_size: Any = None, num_parallel_reads: int | None = None, sloppy: bool = False,
                     num_rows_for_inference: int | None = 100, compression_type: Any = None,
                     ignore_errors: bool = False) -> Dataset:
    """Batches of rows of CSV files as ordered dictionaries of columns; with `label_name` pairs of these and that column.

    `column_names` are those of the first line without them, `column_defaults` (values, or dtypes of columns that have to be
    there) follow from the first `num_rows_for_inference` rows: int32, int64, float32, float64 or string, whichever holds all.
    `num_epochs` None: without end.  Raises ValueError if there are no files, headers differ, names are there twice, or the
    numbers of columns differ.
    """
    reads = 1 if num_parallel_reads is None else num_parallel_reads
    files = _files(file_pattern)
    dataset = Dataset.from_tensor_slices(files)
    dataset = dataset.shuffle(len(files), shuffle_seed) if shuffle else dataset
    opener = _opener(compression_type) if column_names is None or column_defaults is None else None
    rows = _Rows(files, opener, field_delim, use_quote_delim)
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = rows.names()
    column_names = list(column_names)
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    places = None if select_columns is None else _places(select_columns, column_names)
    if column_defaults is not None:
        defaults = [constant([], dtype=one) if not isinstance(one, Tensor) and one in _TYPES else one for one in column_defaults]
    else:
        defaults = rows.defaults(len(column_names), na_value, header, num_rows_for_inference, places)
    if places is not None and len(defaults) != len(places):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    if places is not None and len(column_names) > len(places):
        column_names = [column_names[place] for place in places]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def of_file(name: Any) -> Dataset:
        made: Dataset = CsvDataset(name, defaults, compression_type, field_delim=field_delim, use_quote_delim=use_quote_delim,
                                   na_value=na_value, select_cols=places, header=header)
        return without_errors()(made) if ignore_errors else made

    def named(*columns: Any) -> Any:
        features = collections.OrderedDict(zip(column_names, columns))
        return features if label_name is None else (features, features.pop(label_name))

    if reads == _AUTOTUNE:
        dataset = dataset.interleave(of_file, num_parallel_calls=reads)
    else:
        dataset = parallel_interleave(of_file, reads, sloppy=sloppy)(dataset)
    dataset = _repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return dataset.prefetch(_AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _files(pattern: Any) -> list[str]:
    patterns = list(pattern) if isinstance(pattern, (list, tuple)) else [pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    found = [name for one in patterns for name in sorted(Glob(one))]
    if not found:
        raise ValueError(f"No files match {pattern}.")
    return sorted(found)


def _opener(compression: Any) -> Callable:
    if compression is None:
        return lambda name: GFile(name, "r")
    value = constant_value(convert_to_tensor(compression))
    if value is None:
        raise ValueError("Received unkown compression_type")
    text = value.item().decode() if isinstance(value.item(), bytes) else str(value.item())
    if text == "GZIP":
        return lambda name: gzip.open(name, "rt")
    if text == "ZLIB":
        raise ValueError(f"compression_type ({compression}) is not supported for probing columns")
    if text:
        raise ValueError(f"compression_type ({compression}) is not supported")
    return lambda name: GFile(name, "r")


def _places(columns: Any, names: list[str]) -> list[int]:
    """The numbers of columns that are given by name or number, in order.  Raises ValueError for unknown and repeated ones."""
    known = {name: place for place, name in enumerate(names)}
    found = []
    for one in columns:
        if isinstance(one, int):
            if not 0 <= one < len(names):
                raise ValueError(f"Column index {one} specified in `select_columns` out of valid range.")
            found.append(one)
        elif one not in known:
            raise ValueError(f"Value '{one}' specified in `select_columns` not a valid index or column name.")
        else:
            found.append(known[one])
    found.sort()
    if len(found) != len(set(found)):
        raise ValueError("`select_columns` contains duplicate columns")
    return found


class _Rows:
    """The rows of files, read beforehand."""

    def __init__(self, files: list[str], opener: Callable | None, delimiter: str, quoted: bool):
        self._files, self._opener = files, opener
        self._form: dict[str, Any] = {"delimiter": delimiter, "quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE}

    def _of(self, name: str) -> Iterator[list[str]]:
        assert self._opener is not None
        with self._opener(name) as file:
            yield from csv.reader(file, **self._form)

    def names(self) -> list[str]:
        """The names of the columns.  Raises ValueError if the files have different ones, or one is empty."""
        found: list[str] | None = None
        for name in self._files:
            first = next(self._of(name), None)
            if first is None:
                raise ValueError(f"Received StopIteration when reading the header line of {name}.  Empty file?")
            if found is not None and first != found:
                raise ValueError("Files have different column names in the header row.")
            found = first
        return found or []

    def defaults(self, columns: int, na_value: str, header: bool, count: int | None, places: list[int] | None) -> list:
        """What stands for a missing value in each column: 0 or "" of the narrowest type that holds those there."""
        chosen = range(columns) if places is None else places
        types: list[int | None] = [None] * len(chosen)
        seen = 0
        for name in self._files:
            for number, row in enumerate(self._of(name)):
                if header and number == 0:
                    continue
                if len(row) != columns:
                    raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
                for k, place in enumerate(chosen):
                    types[k] = _wider(row[place], types[k], na_value)
                seen += 1
                if count is not None and seen >= count:
                    break
            if count is not None and seen >= count:
                break
        kinds = [dtypes.string if one is None else _ORDER[one] for one in types]
        return [constant([0 if kind != dtypes.string else ""], dtype=kind) for kind in kinds]


_ORDER = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string]


def _wider(text: str, known: int | None, na_value: str) -> int | None:
    """The place in ``_ORDER`` of the narrowest type, no narrower than `known`, that holds a text; `known` for a missing value."""
    if text in ("", na_value):
        return known
    for place in range(known or 0, len(_ORDER) - 1):
        if _holds(_ORDER[place], text):
            return place
    return len(_ORDER) - 1


def _holds(dtype: Any, text: str) -> bool:
    try:
        if dtype in (dtypes.int32, dtypes.int64):
            return dtype.min <= int(text) <= dtype.max
        value = float(text)
    except ValueError:
        return False
    return dtype == dtypes.float64 or not np.isfinite(value) or abs(value) <= float(dtypes.float32.max)
