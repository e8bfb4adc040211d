"""The nodes of a saver: ``save/Const`` takes the prefix, ``save/control_dependency`` writes, ``save/restore_all`` reads."""
from __future__ import annotations

import uuid
from typing import Any

import numpy as np

from jitgraph.control.order_ops import group, with_dependencies
from jitgraph.graph.devices import DeviceSpec, device_string
from jitgraph.graph.operation import Operation
from jitgraph.graph.registry import lookup
from jitgraph.graph.scopes import control_dependencies, device, name_scope
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import identity, placeholder_with_default
from jitgraph.ops.arrays.shape import shape
from jitgraph.ops.files import save_restore
from jitgraph.protobuf import messages
from jitgraph.variables import saveables


def on_host(place: str) -> str:
    """The host's processor on the machine of a device."""
    return DeviceSpec.from_string(place or "").replace(device_type="CPU", device_index=0).to_string()


def _texts(values: list[str]) -> np.ndarray:
    return np.array([value.encode() for value in values], object)


Saveable = saveables.SaveableObject


class BaseSaverBuilder:
    """Makes the nodes of a saver; a subclass may save or restore in another way."""

    # where programs look for them
    SaveSpec = saveables.SaveSpec
    SaveableObject = saveables.SaveableObject
    VariableSaveable = saveables.ReferenceVariableSaveable
    ResourceVariableSaveable = saveables.ResourceVariableSaveable

    def __init__(self, write_version: int = messages.SaverDef.V2):
        self._write_version = write_version

    # -- the ops

    def save_op(self, filename_tensor: Tensor, items: list[Saveable]) -> Operation:
        """The operation that writes `items` to one file or prefix."""
        specs = [spec for saveable in items for spec in saveable.specs]
        tensors = [spec.tensor for spec in specs]
        names, slices = _texts([spec.name for spec in specs]), _texts([spec.slice_spec for spec in specs])
        if self._write_version == messages.SaverDef.V2:
            return save_restore.save_v2(filename_tensor, names, slices, tensors)
        if self._write_version == messages.SaverDef.V1:
            return save_restore.save_slices(filename_tensor, names, slices, tensors, name="save")
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def bulk_restore(self, filename_tensor: Tensor, items: list[Saveable], preferred_shard: int,
                     restore_sequentially: bool) -> list[Tensor]:
        """The tensors of all specs, read by one operation."""
        specs = [spec for saveable in items for spec in saveable.specs]
        with device("cpu:0"):
            return list(save_restore.restore_v2(
                filename_tensor, _texts([spec.name for spec in specs]), _texts([spec.slice_spec for spec in specs]),
                dtypes=[spec.dtype.base_dtype for spec in specs]))

    def sharded_filename(self, filename_tensor: Tensor, shard: int, num_shards: Tensor) -> Tensor:
        """The prefix of one shard."""
        return save_restore.sharded_filename(filename_tensor, shard, num_shards)

    # -- saving

    def _add_save_ops(self, filename_tensor: Tensor, items: list[Saveable]) -> Tensor:
        return with_dependencies([self.save_op(filename_tensor, items)], filename_tensor)

    def _add_sharded_save_ops(self, filename_tensor: Tensor, per_device: list) -> Tensor:
        if self._write_version == messages.SaverDef.V2:
            return self._add_sharded_save_ops_v2(filename_tensor, per_device)
        num_shards = constant(len(per_device), name="num_shards")
        saved = []
        for shard, (place, items) in enumerate(per_device):
            with device(place or None):
                saved.append(self._add_save_ops(self.sharded_filename(filename_tensor, shard, num_shards), items))
        with control_dependencies([tensor.op for tensor in saved]):
            return save_restore.sharded_filespec(filename_tensor, num_shards)

    def _add_sharded_save_ops_v2(self, prefix: Tensor, per_device: list) -> Tensor:
        """Each device writes into a temporary folder beside the prefix; then the parts become one checkpoint."""
        suffix = constant(f"_temp_{uuid.uuid4().hex}/part", name="StringJoin/inputs_1")
        temporary = lookup("StringJoin").builder([prefix, suffix])
        num_shards = constant(len(per_device), name="num_shards")
        prefixes, saved, place = [], [], ""
        for shard, (place, items) in enumerate(per_device):
            with device(on_host(place)):
                prefixes.append(self.sharded_filename(temporary, shard, num_shards))
                saved.append(self._add_save_ops(prefixes[-1], items))
        with control_dependencies([tensor.op for tensor in saved]), device(on_host(place)):
            merge = save_restore.merge_v2_checkpoints(prefixes, prefix, delete_old_dirs=True)
            with control_dependencies([merge]):
                return identity(prefix)

    # -- restoring

    def _add_restore_ops(self, filename_tensor: Tensor, items: list[Saveable], restore_sequentially: bool,
                         reshape: bool, preferred_shard: int = -1, name: str = "restore_all") -> Operation:
        tensors = self.bulk_restore(filename_tensor, items, preferred_shard, restore_sequentially)
        assigned, position = [], 0
        for saveable in items:
            shapes = [_shape_of(spec.tensor) for spec in saveable.specs] if reshape else None
            end = position + len(saveable.specs)
            assigned.append(saveable.restore(tensors[position:end], shapes))
            position = end
        return group(*assigned, name=name)

    def _add_sharded_restore_ops(self, filename_tensor: Tensor, per_device: list, restore_sequentially: bool,
                                 reshape: bool) -> Operation:
        restored = []
        for shard, (place, items) in enumerate(per_device):
            with device(place or None):
                restored.append(self._add_restore_ops(filename_tensor, items, restore_sequentially, reshape, shard,
                                                      "restore_shard"))
        return group(*restored, name="restore_all")

    # -- all of it

    def build(self, names_to_saveables: Any, reshape: bool = False, sharded: bool = False, max_to_keep: int = 5,
              keep_checkpoint_every_n_hours: float = 10000.0, name: str | None = None,
              restore_sequentially: bool = False, filename: str = "model") -> Any:
        """Adds the nodes to the default graph; returns their SaverDef.  See ``tf.train.Saver`` for the arguments."""
        found = saveables.saveable_objects(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in found]):
            default = placeholder_with_default(filename or "model", shape=(), name="filename")
            prefix = placeholder_with_default(default, shape=(), name="Const")
            if sharded:
                per_device = _by_device(found)
                saved = self._add_sharded_save_ops(prefix, per_device)
                restored = self._add_sharded_restore_ops(prefix, per_device, restore_sequentially, reshape)
            else:
                saved = self._add_save_ops(prefix, found)
                restored = self._add_restore_ops(prefix, found, restore_sequentially, reshape)
        return messages.SaverDef(
            filename_tensor_name=prefix.name, save_tensor_name=saved.name, restore_op_name=restored.name,
            max_to_keep=max_to_keep, sharded=sharded, keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version)


BulkSaverBuilder = BaseSaverBuilder


def _shape_of(tensor: Any) -> Any:
    """The static shape if it is known, else a tensor of the shape at run time."""
    static = tensor.get_shape()
    return static if static.is_fully_defined() else shape(tensor)


def _by_device(items: list[Saveable]) -> list[tuple[str, list[Saveable]]]:
    """(device, its saveables), sorted by device.  Raises ValueError for an object with tensors on several."""
    found: dict[str, list[Saveable]] = {}
    for saveable in items:
        # of a resource variable, the device is that of its value on the host, which a node of its own brings there
        places = {device_string(spec.tensor.device or "") for spec in saveable.specs}
        if len(places) != 1:
            raise ValueError(f"specs of saveable {saveable.name} are not all on one device: {sorted(places)}")
        found.setdefault(places.pop(), []).append(saveable)
    return sorted(found.items())


