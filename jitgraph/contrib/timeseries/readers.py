"""Where series come from: arrays, lines of text, records."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitgraph.contrib.timeseries.continued_times import canonicalize_numpy_data
from jitgraph.contrib.timeseries.feature_keys import TrainEvalFeatures
from jitgraph.control.conditionals import cond
from jitgraph.control.while_loops import while_loop
from jitgraph.estimator.array_inputs import numpy_input_fn
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import public_convert_to_tensor as convert_to_tensor
from jitgraph.graph.scopes import control_dependencies
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.fill import zeros
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.join import stack
from jitgraph.ops.arrays.shape import reshape, squeeze
from jitgraph.ops.elementwise.compare import not_equal
from jitgraph.ops.files.parsing import parse_example
from jitgraph.ops.strings.decode import decode_csv
from jitgraph.resources.readers import TextLineReader, TFRecordReader
from jitgraph.tensor_arrays.tensor_array import TensorArray
from jitgraph.train.input_producers import string_input_producer
from jitgraph.variables.assignments import assign
from jitgraph.variables.variable import Variable
from jitgraph.variables.variable_collections import is_variable_initialized

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def limiter(name: str) -> Any:
    """A local variable, 0, that counts up to a limit."""
    return Variable(constant(0, dtype=dtypes.int64), name=name, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES])


class TimeSeriesReader:
    """Gives features of a series by name: in parts (``read``), or whole (``read_full``)."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError if the series is known to be shorter."""

    def read(self) -> dict:
        """Tensors [records, ...] with some records, one after the other, beginning anew at the end."""
        raise NotImplementedError

    def read_full(self) -> dict:
        """Tensors [series, ...] with all records."""
        raise NotImplementedError


class NumpyReader(TimeSeriesReader):
    """Reads arrays: `data` has times [series], values [series] or [series, features], and others [series, ...].

    At most `read_num_records_hint` records are read at once.  Raises ValueError for other shapes, and for lacking times or values.
    """

    def __init__(self, data: dict, read_num_records_hint: int = 4096):
        self._features = canonicalize_numpy_data(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError if the series is shorter."""
        length = self._features[_TIMES].shape[1]
        if length < minimum_dataset_size:
            raise ValueError(f"A TimeSeriesInputFn is configured to create windows of size {minimum_dataset_size}, but only "
                             f"{length} records were available in the dataset. Either decrease the window size or provide more "
                             "records.")

    def read(self) -> dict:
        """Tensors [records, ...]."""
        features = {key: np.squeeze(value, axis=0) for key, value in self._features.items()}
        found: dict = numpy_input_fn(x=features, batch_size=self._read_num_records_hint, num_epochs=None, shuffle=False)()
        return found

    def read_full(self) -> dict:
        """Tensors [series, ...]."""
        features = numpy_input_fn(x=self._features, batch_size=1, num_epochs=None, queue_capacity=2, shuffle=False)()
        return {name: squeeze(value, axis=0) for name, value in features.items()}


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """Reads records of files by a reader of TensorFlow; a subclass says by which, and what is in a record.

    `filenames` is a string or a list of them.  At most `read_num_records_hint` records are read at once.
    """

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096):
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    def _get_reader(self) -> Any:
        raise NotImplementedError

    def _process_records(self, lines: Any) -> dict:
        """The features [records, ...] of `lines` [records]."""
        raise NotImplementedError

    def _get_filename_queue(self, epoch_limit: int) -> tuple:
        """A queue of file names and the variable that ends it after `epoch_limit` rounds without a record."""
        rounds = limiter("epoch_limiter")
        names = reshape(convert_to_tensor(self._filenames), [-1])
        counted = cond(is_variable_initialized(rounds), lambda: rounds.count_up_to(epoch_limit),
                       lambda: constant(0, dtype=dtypes.int64))
        with control_dependencies([counted]):
            names = identity(names)
        return string_input_producer(names, shuffle=False, capacity=1), rounds

    def read(self) -> dict:
        """Tensors [records, ...]."""
        queue, rounds = self._get_filename_queue(epoch_limit=self._read_num_records_hint)
        reader = self._get_reader()
        with control_dependencies([assign(rounds, 0)]):
            _, records = reader.read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self) -> dict:
        """Tensors [series, ...]: reads until the first record comes again."""
        reader = self._get_reader()
        queue, rounds = self._get_filename_queue(epoch_limit=2)
        with control_dependencies([assign(rounds, 0)]):
            first_key, first_record = reader.read_up_to(queue, 1)

        def is_another(key: Any, *_: Any) -> Any:
            return not_equal(squeeze(key, axis=0), squeeze(first_key, axis=0))

        def read_next(_: Any, record: Any, index: Any, records: Any) -> tuple:
            next_key, next_record = reader.read_up_to(queue, 1)
            next_key.set_shape([1])
            next_record.set_shape([1])
            return next_key, next_record, index + 1, records.write(index, record)

        _, _, _, collected = while_loop(
            is_another, read_next,
            [constant([""]), first_record, 0, TensorArray(dtype=dtypes.string, size=0, dynamic_size=True)])
        records = collected.concat()
        with control_dependencies([records]):
            reset = reader.reset()
        with control_dependencies([reset]):
            records = identity(records)
        return self._process_records(records)


class CSVReader(ReaderBaseTimeSeriesParser):
    """Reads lines of numbers or strings with commas between them.

    `column_names` names the columns; those of the same name are the features of one array, and the times are one column.
    `column_dtypes`: int64 for times and float32 for all others, if None.  Raises ValueError for lacking times or values,
    several columns of times, and another number of dtypes than of names.
    """

    def __init__(self, filenames: Any, column_names: Sequence[str] = (_TIMES, _VALUES), column_dtypes: Any = None,
                 skip_header_lines: int | None = None, read_num_records_hint: int = 4096):
        _check_has(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError("If specified, the length of column_dtypes must match the length of column_names (got column_dtypes="
                             f"{column_dtypes} and column_names={column_names}).")
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(f"Got more than one times column ('{_TIMES}'), but exactly one is required.")
        self._column_names, self._column_dtypes = column_names, column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames=filenames, read_num_records_hint=read_num_records_hint)

    def _get_reader(self) -> Any:
        return TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines: Any) -> dict:
        if self._column_dtypes is None:
            defaults: list = [(zeros([], dtypes.int64),) if name == _TIMES else () for name in self._column_names]
        else:
            defaults = [(zeros([], dtype),) for dtype in self._column_dtypes]
        columns: dict[str, list] = {}
        for name, column in zip(self._column_names, decode_csv(lines, defaults)):
            columns.setdefault(name, []).append(column)
        return {name: found[0] if name == _TIMES else stack(found, axis=1) for name, found in columns.items()}


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """Reads ``tf.train.Example`` of TFRecord files; `features` is what ``tf.parse_example`` takes, of one record.

    Raises ValueError for lacking times or values.
    """

    def __init__(self, filenames: Any, features: dict):
        _check_has(features)
        self._features = features
        super().__init__(filenames=filenames)

    def _get_reader(self) -> Any:
        return TFRecordReader()

    def _process_records(self, lines: Any) -> dict:
        found: dict = parse_example(serialized=lines, features=self._features)
        return found


def _check_has(columns: Any) -> None:
    for key in (_TIMES, _VALUES):
        if key not in columns:
            raise ValueError(f"'{key}' is a required column.")
