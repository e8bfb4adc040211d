"""``TFExampleDecoder``: items made of the features of an Example by handlers."""
from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from jitgraph.contrib.slim.data.datasets import DataDecoder
from jitgraph.control.conditionals import cond
from jitgraph.functions.higher_order import map_fn
from jitgraph.graph import dtypes
from jitgraph.graph.composite import SparseTensor
from jitgraph.ops.arrays.join import concat, stack
from jitgraph.ops.arrays.layout import transpose
from jitgraph.ops.arrays.shape import expand_dims, reshape
from jitgraph.ops.arrays.shape import shape as shape_of
from jitgraph.ops.arrays.slicing import slice as slice_of
from jitgraph.ops.choices.cases import case
from jitgraph.ops.elementwise.cast import cast
from jitgraph.ops.elementwise.compare import equal, logical_or
from jitgraph.ops.files.parsing import FixedLenFeature, parse_single_example
from jitgraph.ops.image.image_codecs import decode_image, decode_jpeg, is_jpeg
from jitgraph.ops.reduce.reductions import reduce_prod
from jitgraph.ops.sparse.sparse_functions import sparse_reshape, sparse_tensor_to_dense
from jitgraph.ops.strings.decode import decode_raw


class ItemHandler(abc.ABC):
    """Makes an item of the features `keys`, a name or a list of names.  A subclass overrides ``tensors_to_item``."""

    def __init__(self, keys: Any):
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Any:
        """The names of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """The item for {name: tensor or SparseTensor}."""


class ItemHandlerCallback(ItemHandler):
    """An item that ``func({name: tensor})`` makes."""

    def __init__(self, keys: Any, func: Callable):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """What the function makes."""
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Boxes [n, 4] of four features, by default ymin, xmin, ymax, xmax, each name after `prefix`.

    Raises ValueError for another number of them.
    """

    def __init__(self, keys: Any = None, prefix: str = ""):
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """The boxes."""
        sides = [keys_to_tensors[key] for key in self._keys]
        sides = [side.values if isinstance(side, SparseTensor) else side for side in sides]
        return transpose(concat([expand_dims(side, 0) for side in sides], 0))


def _dense(value: Any, default: Any = None) -> Any:
    if not isinstance(value, SparseTensor):
        return value
    return sparse_tensor_to_dense(value) if default is None else sparse_tensor_to_dense(value, default)


class TensorHandler(ItemHandler):
    """The feature `tensor_key` as a dense tensor, of the `shape` given or read from the features `shape_keys`.

    `default_value`: what a sparse one has elsewhere.  Raises ValueError for both shapes.
    """

    def __init__(self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(shape_keys or [])])

    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """The tensor."""
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            shape = reshape(stack([_dense(keys_to_tensors[key]) for key in self._shape_keys]), [-1])
        if isinstance(tensor, SparseTensor):
            if shape is not None:
                tensor = sparse_reshape(tensor, shape)
            return sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else reshape(tensor, shape)


class LookupTensor(TensorHandler):
    """The feature `tensor_key` looked up in `table`."""

    def __init__(self, tensor_key: str, table: Any, shape_keys: Any = None, shape: Any = None, default_value: Any = ""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """What stands in the table."""
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """The item of `handler`, or of `backup` where that is empty.  Raises ValueError for what is no ItemHandler."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler):
        for one, what in ((handler, "Primary"), (backup, "Backup")):
            if not isinstance(one, ItemHandler):
                raise ValueError(f"{what} handler is of type {type(one)} instead of ItemHandler")
        self._handler = handler
        self._backup = backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """The item."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return cond(equal(reduce_prod(shape_of(item)), 0), lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


class SparseTensorHandler(ItemHandler):
    """A SparseTensor of two features, the last indices and the values, of the `shape` given or of the feature `shape_key`.

    `densify`: whether it becomes dense, with `default_value` elsewhere.
    """

    def __init__(self, indices_key: str | None = None, values_key: str | None = None, shape_key: str | None = None,
                 shape: Any = None, densify: bool = False, default_value: Any = 0):
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """The SparseTensor, or a dense one."""
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        shape = _dense(keys_to_tensors[self._shape_key]) if self._shape_key else self._shape or indices.dense_shape
        rank = shape_of(indices.indices)[1]
        ids = cast(indices.values, dtypes.int64)
        kept = slice_of(indices.indices, [0, 0], stack([-1, rank - 1]))
        tensor = SparseTensor(concat([kept, reshape(ids, [-1, 1])], 1), values.values, shape)
        return sparse_tensor_to_dense(tensor, self._default_value) if self._densify else tensor


class Image(ItemHandler):
    """An image decoded from the feature `image_key` ("image/encoded"), whose kind `format_key` ("image/format") names.

    "raw" is bytes of `dtype`, anything else PNG, JPEG, GIF or BMP.  `shape`: what it is brought to; `repeated`: whether the
    feature holds several.
    """

    def __init__(self, image_key: str | None = None, format_key: str | None = None, shape: Any = None, channels: int = 3,
                 dtype: Any = dtypes.uint8, repeated: bool = False, dct_method: str = ""):
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: dict) -> Any:
        """The image, or a batch of them."""
        encoded, kind = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return map_fn(lambda one: self._decode(one, kind), encoded, dtype=self._dtype)
        return self._decode(encoded, kind)

    def _decode(self, encoded: Any, kind: Any) -> Any:
        def any_kind() -> Any:
            return cast(decode_image(encoded, channels=self._channels), self._dtype)

        def jpeg() -> Any:
            return cast(decode_jpeg(encoded, channels=self._channels, dct_method=self._dct_method), self._dtype)

        def compressed() -> Any:
            return cond(is_jpeg(encoded), jpeg, any_kind, name="cond_jpeg")

        is_raw = logical_or(equal(kind, "raw"), equal(kind, "RAW"))
        image = case([(is_raw, lambda: decode_raw(encoded, out_type=self._dtype))], default=compressed, exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else reshape(image, self._shape)


class TFExampleDecoder(DataDecoder):
    """Decodes Examples: `keys_to_features` as of ``tf.parse_single_example``, `items_to_handlers` {item: ItemHandler}."""

    def __init__(self, keys_to_features: dict, items_to_handlers: dict):
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list:
        """The names of the items."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: list | None = None) -> list:  # type: ignore[override]
        """The tensors of `items`, by default all, of a serialized Example, a string scalar."""
        example = parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, FixedLenFeature):
                example[key] = reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]
