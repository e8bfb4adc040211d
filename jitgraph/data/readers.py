"""Datasets of files: ``tf.data.TextLineDataset``, ``TFRecordDataset``, ``FixedLengthRecordDataset``."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data import building, structure
from jitgraph.data.dataset import Dataset
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.arrays.shape import reshape, shape
from jitgraph.ops.checks.assertion import Assert
from jitgraph.ops.elementwise.arithmetic import maximum
from jitgraph.ops.elementwise.compare import greater
from jitgraph.ops.strings.string_split import reduce_join

_BUFFER = 256 * 1024


class _Files(Dataset):
    """A dataset of what `read` makes of each of some files, or of a dataset of their names."""

    def _open(self, filenames: Any, read: Callable, parallel: Any) -> None:
        if isinstance(filenames, Dataset):
            if filenames.output_types != dtypes.string:
                raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
            if not filenames.output_shapes.is_compatible_with([]):
                raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
        else:
            names = reshape(convert_to_tensor(filenames, dtypes.string), [-1], name="flat_filenames")
            filenames = Dataset.from_tensor_slices(names)
        spec = structure.tensor_structure(dtypes.string, [])

        def one(filename: Any) -> Dataset:
            return Dataset(read(convert_to_tensor(filename, dtypes.string, "filename")), spec)

        if parallel is None:
            made = filenames.flat_map(one)
        elif isinstance(parallel, int) and parallel == -1:
            made = filenames.interleave(one, num_parallel_calls=parallel)
        else:
            made = building.parallel_interleave(filenames, one, parallel, 1)
        super().__init__(made._variant_tensor, spec, made._inputs, made._functions)


def _compression(compression_type: Any) -> Any:
    return building.optional(compression_type, "compression_type", "", dtypes.string)


class TextLineDataset(_Files):
    """The lines of text files, without line ends.

    `filenames`: a string tensor or a dataset of strings; `compression_type`: "", "ZLIB" or "GZIP"; `num_parallel_reads`:
    how many files are read in turn.  A run raises NotFoundError for a file that is not there.
    """

    _shown = "TextLineDatasetV1"

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None):
        self._open(filenames, lambda name: raw.TextLineDataset(
            name, _compression(compression_type), building.optional(buffer_size, "buffer_size", _BUFFER)), num_parallel_reads)


class TFRecordDataset(_Files):
    """The records of TFRecord files, as strings.  The arguments are those of TextLineDataset.

    A run raises NotFoundError for a file that is not there, DataLossError for a damaged one.
    """

    _shown = "TFRecordDatasetV1"

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None):
        self._open(filenames, lambda name: raw.TFRecordDataset(
            name, _compression(compression_type), building.optional(buffer_size, "buffer_size", _BUFFER)), num_parallel_reads)


class FixedLengthRecordDataset(_Files):
    """Pieces of `record_bytes` bytes, between a header and a footer of the files, as strings.

    A run raises NotFoundError for a file that is not there, InvalidArgumentError for one that the pieces do not fill.
    """

    _shown = "FixedLengthRecordDatasetV1"

    def __init__(self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None,
                 buffer_size: Any = None, compression_type: Any = None, num_parallel_reads: Any = None):
        def read(name: Any) -> Any:
            length = building.number(record_bytes, "record_bytes")
            header = building.optional(header_bytes, "header_bytes")
            footer = building.optional(footer_bytes, "footer_bytes")
            buffer = building.optional(buffer_size, "buffer_size", _BUFFER)
            return raw.FixedLengthRecordDatasetV2(name, header, length, footer, buffer, _compression(compression_type))

        self._open(filenames, read, num_parallel_reads)


class SqlDataset(Dataset):
    """The rows of a query, nested as `output_types`: strings, ints, bools and float64 scalars, converted as SQLite does.

    `driver_name`: "sqlite"; `data_source_name`: the file.  A run raises InvalidArgumentError for another driver, other numbers
    of columns and other dtypes, UnknownError for a query that SQLite does not understand.
    """

    _shown = "SqlDatasetV1"

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any):
        given = [convert_to_tensor(one, dtypes.string, name) for one, name in (
            (driver_name, "driver_name"), (data_source_name, "data_source_name"), (query, "query"))]
        spec = structure.map_structure(lambda dtype: structure.tensor_structure(dtype, []), output_types)
        super().__init__(raw.SqlDataset(*given, **structure.flat_attributes(spec)), spec)


def list_files(file_pattern: Any, shuffle: bool | None, seed: Any) -> Dataset:
    """See ``Dataset.list_files``."""
    with name_scope("list_files", None, []):
        shuffle = True if shuffle is None else shuffle
        pattern = convert_to_tensor(file_pattern, dtypes.string, "file_pattern")
        found = raw.MatchingFiles(pattern)
        some = greater(shape(found)[0], 0, name="match_not_empty")
        message = raw.Add("No files matched pattern: ", reduce_join(pattern, separator=", "), name="message")
        with control_dependencies([Assert(some, [message], summarize=1, name="assert_not_empty")]):
            found = identity(found)
        names = Dataset.from_tensor_slices(found)
        if shuffle:
            return names.shuffle(maximum(shape(found, out_type=dtypes.int64)[0], 1), seed=seed)
        return names


class LMDBDataset(Dataset):
    """The pairs (key, value) of LMDB databases, by keys; `filenames`: files, or folders that hold them.

    A run raises InvalidArgumentError for a file that is none, ImportError without the package ``lmdb``.
    """

    def __init__(self, filenames: Any):
        spec = (structure.tensor_structure(dtypes.string, []),) * 2
        names = convert_to_tensor(filenames, dtypes.string, "filenames")
        super().__init__(raw.LMDBDataset(names, **structure.flat_attributes(spec)), spec)
