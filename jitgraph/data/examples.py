"""Whole pipelines from files: ``make_batched_features_dataset`` of Examples, ``CsvDataset`` of tables."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data import building, structure
from jitgraph.data.dataset import Dataset
from jitgraph.data.readers import TFRecordDataset
from jitgraph.data.transformations import parallel_interleave, parse_example_dataset, shuffle_and_repeat
from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant

_AUTOTUNE = -1
_CSV_BUFFER = 4 * 1024 * 1024


def make_batched_features_dataset(
        file_pattern: Any, batch_size: Any, features: Any, reader: Callable = TFRecordDataset, label_key: str | None = None,
        reader_args: Any = None, num_epochs: int | None = None, shuffle: bool = True, shuffle_buffer_size: int = 10000,
        shuffle_seed: int | None = None, prefetch_buffer_size: Any = None, reader_num_threads: int | None = None,
        parser_num_threads: int | None = None, sloppy_ordering: bool = False, drop_final_batch: bool = False) -> Dataset:
    """Batches of what ``tf.parse_example`` makes of the Examples in files: dictionaries, or pairs of them and a label.

    `file_pattern`: a pattern or a list of them; `reader`: a class of datasets of strings, made of a file's name and
    `reader_args`; `label_key`: the feature that is the label; `num_epochs`: how often, without end if None.  Raises ValueError
    if there is no feature `label_key`.
    """
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    threads, arguments = reader_num_threads or 1, reader_args or []
    if threads == _AUTOTUNE:
        dataset = names.interleave(lambda name: reader(name, *arguments), num_parallel_calls=threads)
    else:
        dataset = parallel_interleave(lambda name: reader(name, *arguments), threads, sloppy=sloppy_ordering)(names)
    if dataset.output_types == (dtypes.string, dtypes.string):
        dataset = dataset.map(lambda _, value: value)
    dataset = _repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = parse_example_dataset(features, parser_num_threads or 2)(dataset)
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(_AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def read_batch_features(file_pattern: Any, batch_size: Any, features: Any, reader: Callable = TFRecordDataset,
                        reader_args: Any = None, randomize_input: bool = True, num_epochs: int | None = None,
                        capacity: int = 10000) -> Any:
    """The tensors of one batch of what ``make_batched_features_dataset`` gives, from an iterator of its own."""
    dataset = make_batched_features_dataset(file_pattern, batch_size, features, reader=reader, reader_args=reader_args,
                                            shuffle=randomize_input, num_epochs=num_epochs, shuffle_buffer_size=capacity)
    return dataset.make_one_shot_iterator().get_next()


def _repeated(dataset: Dataset, epochs: int | None, shuffle: bool, buffer_size: int, seed: int | None) -> Dataset:
    if shuffle:
        return dataset.shuffle(buffer_size, seed) if epochs == 1 else shuffle_and_repeat(buffer_size, epochs, seed)(dataset)
    return dataset if epochs == 1 else dataset.repeat(epochs)


class CsvDataset(Dataset):
    """The rows of CSV files, as tuples of scalars.

    `record_defaults`: for each column a default, or a dtype for a column that has to be there; `header`: whether the first row
    of each file is left out; `select_cols`: numbers of the columns to read; `buffer_size`: nothing here.  Quoted fields may go
    over several lines.  Raises ValueError for a default of more than one element.  A run raises InvalidArgumentError for a row
    that does not suit, and goes on with the next.
    """

    _shown = "CsvDatasetV1"

    def __init__(self, filenames: Any, record_defaults: Any, compression_type: Any = None, buffer_size: Any = None,
                 header: bool = False, field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "",
                 select_cols: Any = None):
        names = convert_to_tensor(filenames, dtypes.string, "filenames")
        compression = building.optional(compression_type, "compression_type", "", dtypes.string)
        defaults = [constant([], dtype=default) if not isinstance(default, Tensor) and _is_dtype(default)
                    else convert_to_tensor(default) for default in record_defaults]
        spec = tuple(structure.tensor_structure(default.dtype, []) for default in defaults)
        super().__init__(raw.CSVDataset(
            names, compression, building.optional(buffer_size, "buffer_size", _CSV_BUFFER),
            convert_to_tensor(header, dtypes.bool_, "header"), convert_to_tensor(field_delim, dtypes.string, "field_delim"),
            convert_to_tensor(use_quote_delim, dtypes.bool_, "use_quote_delim"),
            building.optional(na_value, "na_value", "", dtypes.string), building.optional(select_cols, "select_cols", []),
            defaults, output_shapes=[()] * len(defaults)), spec)


def _is_dtype(value: Any) -> bool:
    return isinstance(value, (dtypes.DType, type))
