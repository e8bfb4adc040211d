"""Datasets, and what gives their items as tensors."""
from __future__ import annotations

import abc
from typing import Any

from jitgraph.contrib.slim.data.readers import parallel_read


class Dataset:
    """Where examples are (`data_sources`), what reads and decodes them, how many there are, and what their items mean.

    Further keywords become attributes.
    """

    def __init__(self, data_sources: Any, reader: Any, decoder: Any, num_samples: int, items_to_descriptions: dict, **kwargs: Any):
        self.__dict__.update(data_sources=data_sources, reader=reader, decoder=decoder, num_samples=num_samples,
                             items_to_descriptions=items_to_descriptions, **kwargs)


class DataDecoder(abc.ABC):
    """Makes items of what a reader read.  A subclass overrides both methods."""

    @abc.abstractmethod
    def decode(self, data: Any, items: list) -> list:
        """The tensors of `items`, a list of names, in `data`."""

    @abc.abstractmethod
    def list_items(self) -> list:
        """The names of the items."""


class DataProvider(abc.ABC):  # noqa: B024
    """Gives tensors by the names of items."""

    def __init__(self, items_to_tensors: dict, num_samples: int | None):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: list) -> list:
        """The tensors of `items`.  Raises ValueError for other names, and for what is no list."""
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        valid = self.list_items()
        for item in items:
            if item not in valid:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {valid}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Any:
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int | None:
        """The number of examples."""
        return self._num_samples


class DatasetDataProvider(DataProvider):
    """The items of the next example of a Dataset, read by `num_readers` threads; see ``parallel_read``.

    `record_key`: the item that is the key of the record.  Raises ValueError if there is such an item already.
    """

    def __init__(self, dataset: Any, num_readers: int = 1, reader_kwargs: dict | None = None, shuffle: bool = True,
                 num_epochs: int | None = None, common_queue_capacity: int = 256, common_queue_min: int = 128,
                 record_key: str = "record_key", seed: int | None = None, scope: str | None = None):
        key, data = parallel_read(dataset.data_sources, reader_class=dataset.reader, num_epochs=num_epochs,
                                  num_readers=num_readers, reader_kwargs=reader_kwargs, shuffle=shuffle,
                                  capacity=common_queue_capacity, min_after_dequeue=common_queue_min, seed=seed, scope=scope)
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(data, items)))
        if record_key in tensors:
            raise ValueError(f"The item name used for `record_key` cannot also be used for a dataset item: {record_key}")
        super().__init__({**tensors, record_key: key}, dataset.num_samples)
