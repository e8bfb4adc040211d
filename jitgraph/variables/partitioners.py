"""Variables in several parts: partitioners for ``tf.get_variable``, and the object that stands for all parts."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.graph import dtypes
from jitgraph.graph.convert import convert_to_tensor, register_tensor_conversion_function
from jitgraph.graph.dtypes import DType
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import control_dependencies, name_scope
from jitgraph.graph.shapes import TensorShape, as_shape
from jitgraph.graph.tensor import Tensor
from jitgraph.variables.save_slices import SaveSliceInfo


class PartitionInfo:
    """What an initializer is told of the part it makes: ``full_shape``, and ``var_offset`` of the part in it."""

    def __init__(self, full_shape: list, var_offset: list):
        for offset, size in zip(var_offset, full_shape):
            if not 0 <= offset < size:
                raise ValueError(f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                                 f"var_offset={var_offset}, full_shape={full_shape}")
        self.full_shape = full_shape
        self.var_offset = var_offset

    def single_offset(self, shape: list) -> int:
        """The offset in the one dimension that is cut."""
        index = self.single_slice_dim(shape)
        return 0 if index is None else self.var_offset[index]

    def single_slice_dim(self, shape: list) -> int | None:
        """The one dimension that is cut, None if none is.  Raises ValueError if several are."""
        cut = [i for i, (part, full) in enumerate(zip(shape, self.full_shape)) if part != full]
        if len(cut) > 1:
            raise ValueError(f"Cannot use single_slice_dim() with shape {shape} and full_shape {self.full_shape}")
        return cut[0] if cut else None


class PartitionedVariable:
    """A variable made of parts along one axis.  Usable as a tensor (the parts joined); iterating gives the parts."""

    def __init__(self, name: str, shape: Any, dtype: DType, variable_list: list, partitions: list):
        _check_parts(shape, variable_list, partitions)
        self._name = name
        self._shape = as_shape(shape)
        self._dtype = dtype
        self._variable_list = sorted(variable_list, key=lambda v: v._save_slice_info.var_offset)
        self._partitions = partitions
        self._as_tensor_cache: Tensor | None = None
        for variable in self._variable_list:
            variable._save_slice_info.full_name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of all parts together."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape of all parts together."""
        return self._shape

    def _get_variable_list(self) -> list:
        return self._variable_list

    def _get_partitions(self) -> list:
        return self._partitions

    def _partition_axes(self) -> list:
        return [i for i, count in enumerate(self._partitions) if count > 1] or [0]

    def _concat(self) -> Tensor:
        from jitgraph.ops.arrays.join import concat

        identity = lookup("Identity").builder
        if len(self._variable_list) == 1:
            with name_scope(None):
                return identity(self._variable_list[0], name=self._name)
        with name_scope(self._name + "/ConcatPartitions/"):
            joined = concat(self._variable_list, self._partition_axes()[0])
        with name_scope(None):
            return identity(joined, name=self._name)

    def as_tensor(self) -> Tensor:
        """All parts joined, as a new node."""
        with control_dependencies(None):
            return self._concat()

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list:
        """Assigns to each part its piece of `value`; the list of the assignments, operations with ``read_value=False``.

        `value`: a tensor of the whole shape, a list of the pieces, or another partitioned variable.
        """
        return self._of_parts("assign", value, use_locking, name, read_value)

    def assign_add(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list:
        """Adds to each part its piece of `value`, as ``assign`` says."""
        return self._of_parts("assign_add", value, use_locking, name, read_value)

    def assign_sub(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> list:
        """Takes from each part its piece of `value`, as ``assign`` says."""
        return self._of_parts("assign_sub", value, use_locking, name, read_value)

    def _of_parts(self, method: str, value: Any, use_locking: bool, name: str | None, read_value: bool) -> list:
        found = [getattr(part, method)(piece, use_locking=use_locking, name=name, read_value=read_value)
                 for part, piece in zip(self._variable_list, self._pieces(value))]
        return found if read_value else [getattr(one, "op", one) for one in found]

    def _pieces(self, value: Any) -> list:
        from jitgraph.ops.arrays.join import split

        if isinstance(value, (list, PartitionedVariable)):
            if len(value) != len(self._variable_list):
                raise ValueError(f"{self._name} has {len(self._variable_list)} parts, but {len(value)} pieces are given")
            return list(value)
        axis = self._partition_axes()[0]
        sizes = [v.get_shape().as_list()[axis] for v in self._variable_list]
        return split(convert_to_tensor(value, self._dtype), sizes, axis)

    @property
    def initializer(self) -> Any:
        """An operation that initializes all parts."""
        from jitgraph.control.order_ops import group

        return group(*[v.initializer for v in self._variable_list])

    def __iter__(self) -> Iterator:
        return iter(self._variable_list)

    def __len__(self) -> int:
        return len(self._variable_list)

    def __repr__(self) -> str:
        return f"<tf.PartitionedVariable '{self._name}' shape={self._shape} parts={len(self)}>"


def _check_parts(shape: Any, parts: Any, partitions: Any) -> None:
    """Raises TypeError for what is no list, ValueError for parts that are not those of a variable of `shape`."""
    for what, value in (("variable_list", parts), ("partitions", partitions)):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{what} is not a list or tuple: {value}")
    if not all(count >= 1 for count in partitions):
        raise ValueError(f"partition values must be positive: {partitions}")
    if not parts:
        raise ValueError("variable_list may not be empty")
    if any(part._save_slice_info is None for part in parts):
        raise ValueError(f"All variables must have a save_slice_info available: {[part.name for part in parts]}")
    sizes = as_shape(shape).as_list()
    if len(sizes) != len(partitions):
        raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
    full = [list(part._save_slice_info.full_shape) for part in parts]
    if any(one != sizes for one in full):
        raise ValueError(f"All variables' full shapes must match shape: {shape}; but full shapes were: {full}")


def _to_tensor(value: PartitionedVariable, dtype: DType | None = None, name: str | None = None,
               as_ref: bool = False) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
                         f"'{value.dtype.name}'")
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)


def _cut(size: int, count: int) -> list[tuple[int, int]]:
    """(offset, length) of `count` nearly equal pieces of `size`, the longer ones first."""
    base, extra = divmod(size, count)
    pieces, offset = [], 0
    for i in range(count):
        length = base + (i < extra)
        pieces.append((offset, length))
        offset += length
    return pieces


def get_partitioned(store: Any, name: str, options: dict[str, Any]) -> PartitionedVariable:
    """The partitioned variable `name`: shared or made, part by part, as ``tf.get_variable`` says."""
    from jitgraph.ops.arrays.slicing import slice

    if f"{name}/part_0" not in store.variables and name in store.variables:
        raise ValueError(f"A partitioner was provided, but an unpartitioned version of the variable was found: {name}. "
                         "Perhaps a variable of the same name was already created without partitioning?")
    shape, initializer = as_shape(options["shape"]), options["initializer"]
    if initializer is not None and not callable(initializer):
        shape = shape.merge_with(np.shape(initializer) if not isinstance(initializer, Tensor) else initializer.shape)
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable ({name}) must be fully defined, but instead was "
                         f"{shape}.")
    partitions = _call(options["partitioner"], shape, options["dtype"])
    if name in store.partitioned:
        return _share(store.partitioned[name], options, shape, partitions)
    if options["reuse"] is True:
        raise ValueError(f"PartitionedVariable {name} does not exist, or was not created with tf.get_variable(). Did you "
                         "mean to set reuse=False or reuse=tf.AUTO_REUSE in VarScope?")
    axis = next((i for i, count in enumerate(partitions) if count > 1), 0)
    full, parts = shape.as_list(), []
    for i, (offset, length) in enumerate(_cut(full[axis], partitions[axis])):
        part_shape = [length if d == axis else size for d, size in enumerate(full)]
        part_offset = [offset if d == axis else 0 for d in range(len(full))]
        part_options = dict(options, partition_info=PartitionInfo(full, part_offset), shape=part_shape)
        if initializer is not None and not callable(initializer):
            with name_scope(f"{name}/part_{i}/PartitionedInitializer"):
                part_options["initializer"] = slice(convert_to_tensor(initializer), part_offset, part_shape)
            part_options["shape"] = None
        part_options.pop("partitioner")
        with name_scope(None):
            part = store.get(f"{name}/part_{i}", part_options)
        part._set_save_slice_info(SaveSliceInfo(name, full, part_offset, part_shape))
        parts.append(part)
    variable = PartitionedVariable(name, shape, options["dtype"], parts, partitions)
    store.partitioned[name] = variable
    return variable


def _share(found: PartitionedVariable, options: dict[str, Any], shape: TensorShape,
           partitions: list[int]) -> PartitionedVariable:
    """The variable that is there.  Raises ValueError if it may not be shared, or is not what is asked for."""
    name = found.name
    if not options["reuse"]:
        raise ValueError(f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
                         "reuse=tf.AUTO_REUSE in VarScope?")
    if not shape.is_compatible_with(found.get_shape()):
        raise ValueError(f"Trying to reuse partitioned variable {name}, but specified shape {shape} and found shape "
                         f"{found.get_shape()}.")
    if not options["dtype"].is_compatible_with(found.dtype):
        raise ValueError(f"Trying to reuse partitioned variable {name}, but specified dtype {options['dtype'].name} and "
                         f"found dtype {found.dtype.name}.")
    if found._get_partitions() != partitions:
        raise ValueError(f"Trying to reuse partitioned variable {name}, but specified partitions {partitions} and found "
                         f"partitions {found._get_partitions()}.")
    return found


def _call(partitioner: Callable, shape: TensorShape, dtype: DType) -> list[int]:
    """The numbers of parts per dimension.  Raises ValueError for an answer that does not suit the shape."""
    answer = partitioner(shape=shape, dtype=dtype)
    if not isinstance(answer, (list, tuple)) or len(answer) != shape.ndims:
        raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {answer} "
                         f"vs. {shape}")
    partitions = [int(n) for n in answer]
    if any(n < 1 for n in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(n > 1 for n in partitions) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: "
                         f"{partitions}")
    return partitions


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Callable:
    """A partitioner that cuts `axis` into `num_shards` parts."""

    def partitioner(shape: TensorShape, **unused: Any) -> list[int]:
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, shape.as_list()[axis])
        return partitions

    return partitioner


def _element_bytes(dtype: DType, bytes_per_string: int) -> int:
    return bytes_per_string if dtype.base_dtype is dtypes.string else dtype.size


def variable_axis_size_partitioner(max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16,
                                   max_shards: int | None = None) -> Callable:
    """A partitioner that cuts `axis` so that no part has more than `max_shard_bytes` (nor more than `max_shards`)."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        sizes = shape.as_list()
        if axis >= len(sizes):
            raise ValueError(f"Can not partition variable along axis {axis} when shape is only {shape}")
        row_bytes = shape.num_elements() // max(sizes[axis], 1) * _element_bytes(dtype, bytes_per_string_element)
        rows = max(1, max_shard_bytes // max(row_bytes, 1))
        count = max(1, math.ceil(sizes[axis] / rows))
        partitions = [1] * len(sizes)
        partitions[axis] = min(max_shards, count) if max_shards else count
        return partitions

    return partitioner


def min_max_variable_partitioner(max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10,
                                 bytes_per_string_element: int = 16) -> Callable:
    """A partitioner that cuts `axis` into at most `max_partitions` parts of at least `min_slice_size` bytes."""

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        sizes = shape.as_list()
        total = math.prod(sizes) * _element_bytes(dtype, bytes_per_string_element)
        partitions = [1] * len(sizes)
        partitions[axis] = max(1, min(sizes[axis], max_partitions, math.ceil(total / min_slice_size)))
        return partitions

    return partitioner
