"""Datasets of tensors, numbers and files as nodes."""
from __future__ import annotations

import functools

import numpy as np

from jitgraph.app import logs
from jitgraph.data import file_host
from jitgraph.data.declaring import as_arrays, dataset_op
from jitgraph.data.order_host import Randoms
from jitgraph.data.simple_host import Counting, One, Slices, SparseSlices
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import TypeSet
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.graph.texts import as_text

_CSV = TypeSet(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


@dataset_op("TensorDataset(components: [Toutput_types]; Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1)",
            stateful=True)
def tensor_dataset(components):
    """A dataset of one element."""
    return One(tuple(as_arrays(components)))


@dataset_op("TensorSliceDataset(components: [Toutput_types]; Toutput_types: list(type) >= 1, output_shapes: list(shape) >= 1)",
            stateful=True)
def tensor_slice_dataset(components):
    """A dataset of the slices of tensors along their first dimension."""
    arrays = as_arrays(components)
    for number, array in enumerate(arrays):
        if not array.ndim:
            raise InvalidArgumentError(None, None, "All components must be at least 1-dimensional")
        if len(array) != len(arrays[0]):
            raise InvalidArgumentError(None, None, f"All components must have the same size in the 0th dimension: component 0 has "
                                                   f"{len(arrays[0])}, component {number} has {len(array)}")
    return Slices(arrays)


@dataset_op("SparseTensorSliceDataset(indices: int64, values: Tvalues, dense_shape: int64)", stateful=True)
def sparse_tensor_slice_dataset(indices, values, dense_shape):
    """A dataset of the rows of a sparse tensor."""
    return SparseSlices(indices, values, dense_shape)


@dataset_op("RangeDataset(start: int64, stop: int64, step: int64; ...)", stateful=True)
def range_dataset(start, stop, step):
    """A dataset of numbers."""
    return Counting(start, stop, step)


@dataset_op("RandomDataset(seed: int64, seed2: int64; ...)", stateful=True)
def random_dataset(seed, seed2):
    """A dataset of random numbers."""
    return Randoms(seed, seed2)


def _text(value):
    return file_host.check_compression(as_text(value))


def _names(filenames):
    return np.array(filenames, object)


def _check_buffer(size):
    if size < 0:
        raise InvalidArgumentError(None, None, f"`buffer_size` must be >= 0 (0 == default), got {size}")


@dataset_op("TextLineDataset(filenames: string, compression_type: string, buffer_size: int64)", stateful=True)
def text_line_dataset(filenames, compression_type, buffer_size):
    """A dataset of the lines of files."""
    _check_buffer(buffer_size)
    return file_host.Files(_names(filenames), functools.partial(file_host.lines, compression=_text(compression_type)))


@dataset_op("TFRecordDataset(filenames: string, compression_type: string, buffer_size: int64)", stateful=True)
def tf_record_dataset(filenames, compression_type, buffer_size):
    """A dataset of the records of TFRecord files, which are read as they are if `compression_type` is none that there is."""
    _check_buffer(buffer_size)
    compression = as_text(compression_type)
    if compression not in file_host.COMPRESSIONS:
        logs.error("Unsupported compression_type:%s. No compression will be used.", compression)
        compression = ""
    return file_host.Files(_names(filenames), functools.partial(file_host.records, compression=compression))


@dataset_op("FixedLengthRecordDatasetV2(filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, "
            "buffer_size: int64, compression_type: string)", stateful=True)
def fixed_length_record_dataset_v2(filenames, header_bytes, record_bytes, footer_bytes, buffer_size, compression_type):
    """A dataset of pieces of equal length of files."""
    sizes = (("header_bytes", header_bytes, 0), ("record_bytes", record_bytes, 1), ("footer_bytes", footer_bytes, 0))
    _check_buffer(buffer_size)
    for name, value, least in sizes:
        if value < least:
            raise InvalidArgumentError(None, None, f"`{name}` must be >{'=' if not least else ''} 0")
    return file_host.Files(_names(filenames), functools.partial(
        file_host.fixed_length, compression=_text(compression_type), header=header_bytes, length=record_bytes, footer=footer_bytes))


@dataset_op("FixedLengthRecordDataset(filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, "
            "buffer_size: int64)", stateful=True)
def fixed_length_record_dataset(filenames, header_bytes, record_bytes, footer_bytes, buffer_size):
    """FixedLengthRecordDatasetV2 of files that are not compressed."""
    return file_host.Files(_names(filenames), functools.partial(
        file_host.fixed_length, compression="", header=header_bytes, length=record_bytes, footer=footer_bytes))


@dataset_op("SqlDataset(driver_name: string, data_source_name: string, query: string; ...)", stateful=True)
def sql_dataset(driver_name, data_source_name, query, output_types):
    """A dataset of the rows of a query."""
    from jitgraph.data.sql_host import Rows  # with it comes SQLite

    driver, path, text = (as_text(one) for one in (driver_name, data_source_name, query))
    if driver != "sqlite":
        raise InvalidArgumentError(None, None, f"The database type, {driver}, is not supported by SqlDataset. The set of supported "
                                               "databases is: {'sqlite'}.")
    return Rows(path, text, list(output_types))


@dataset_op("LMDBDataset(filenames: string; ...)", stateful=True)
def lmdb_dataset(filenames):
    """A dataset of the pairs of LMDB databases."""
    return file_host.Databases(_names(filenames))


def _one_default_at_most(c):
    shape_rules.with_rank_at_most(c.shapes[0], 1)
    for default in c.shapes[8:]:
        if default is not None and len(default) > 1 or default and (default[0] or 0) > 1:
            raise ValueError("Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return ()


@dataset_op("CSVDataset(filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
            "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: [output_types]; "
            "output_types: list(type) >= 1, output_shapes: list(shape) >= 1)", stateful=True,
            shape=_one_default_at_most, output_types=_CSV)
def csv_dataset(filenames, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value, select_cols,
                record_defaults, output_types):
    """A dataset of the rows of CSV files."""
    from jitgraph.data.csv_host import CsvRows, Form

    columns = np.ravel(select_cols).tolist()
    if compression_type not in (b"", b"GZIP", b"ZLIB"):
        raise InvalidArgumentError(None, None, f"Unsupported compression_type: {compression_type.decode()}.")
    if buffer_size <= 0:
        raise InvalidArgumentError(None, None, "buffer_size should be positive")
    if len(field_delim) != 1:
        raise InvalidArgumentError(None, None, "field_delim should be only 1 char")
    if any(b <= a for a, b in zip([-1, *columns], columns)):
        raise InvalidArgumentError(None, None, "select_cols should be strictly increasing indices")
    if columns and len(columns) != len(output_types):
        raise InvalidArgumentError(None, None, "select_cols should match output size")
    form = Form(field_delim, use_quote_delim, na_value, columns, as_arrays(record_defaults), output_types)
    return CsvRows(_names(filenames), compression_type.decode(), header, form)
