"""``MultiDeviceIterator``: the elements of one dataset, dealt to several devices in turn."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data import structure
from jitgraph.data.multi_device_ops import PRESENT
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import device as device_scope


class MultiDeviceIterator:
    """An iterator that gives element k of `dataset` to device ``k % len(devices)``.

    `devices`: their names; `max_buffer_size`, `prefetch_buffer_size`: elements that TensorFlow keeps ready (here what was taken
    for a device waits, however much that is); `source_device`: where the dataset is.
    """

    def __init__(self, dataset: Any, devices: Sequence[str], max_buffer_size: int = 1, prefetch_buffer_size: int = 1,
                 source_device: str = "/cpu:0"):
        self._spec, self._devices = dataset.element_spec, list(devices)
        with device_scope(source_device):
            self._resource = raw.MultiDeviceIterator(devices=self._devices, shared_name="", container="",
                                                     **structure.flat_attributes(self._spec))
            source = dataset._apply_options()._variant_tensor
            self._begun = raw.MultiDeviceIteratorInit(source, self._resource, max_buffer_size)

    @property
    def initializer(self) -> Operation:
        """The operation that begins the iteration."""
        op: Operation = self._begun.op
        return op

    @property
    def element_spec(self) -> Any:
        """The structure of the elements."""
        return self._spec

    def get_next(self, device: str | None = None) -> Any:
        """The next element of a device, or without one a list of those of all devices.

        A run raises OutOfRangeError at the end of the dataset.  Raises ValueError for a device that is none of them.
        """
        if device is not None:
            return self._next(self._devices.index(device))
        return [self._next(k) for k in range(len(self._devices))]

    def _next(self, number: int) -> Any:
        with device_scope(self._devices[number]):
            found = raw.MultiDeviceIteratorGetNextFromShard(self._resource, number, PRESENT, name="IteratorGetNext",
                                                            **structure.flat_attributes(self._spec))
            return structure.from_tensors(self._spec, found)
