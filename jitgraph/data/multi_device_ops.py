"""Iterators that deal the elements of one dataset to several devices, as nodes."""
from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from jitgraph.data import iterator_host
from jitgraph.data.declaring import TESTS
from jitgraph.data.source_host import Element, Source
from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.graph.errors import InvalidArgumentError
from jitgraph.resources import shared

_SHAPED = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1"
PRESENT = 0             # an incarnation that is the present one, whichever that is


class Dealer(iterator_host.Iterator):
    """An iterator whose elements go to `devices` in turn; what one has not taken yet waits."""

    def __init__(self, name: str, types: list, shapes: list, devices: int):
        super().__init__(name, types, shapes)
        self.waiting: list[deque[Element]] = [deque() for _ in range(devices)]
        self.turn = self.incarnation = 0

    def deal(self, source: Source, state: Any) -> int:
        """Starts a new iteration; gives its number, from 1 on."""
        self.begin(source, state)
        self.turn, self.incarnation = 0, self.incarnation + 1
        for waiting in self.waiting:
            waiting.clear()
        return self.incarnation

    def next_for(self, device: int, incarnation: int) -> Element:
        """The next element of a device.  Raises InvalidArgumentError for a device that there is not, or a past iteration."""
        if not 0 <= device < len(self.waiting):
            raise InvalidArgumentError(None, None, f"shard_num must be in [0, {len(self.waiting)}), got {device}")
        if incarnation not in (PRESENT, self.incarnation):
            raise InvalidArgumentError(None, None, f"Invalid incarnation id. Provided: {incarnation}; Expected: {self.incarnation}")
        while not self.waiting[device]:
            element, turn = self.next(), self.turn
            self.turn = (turn + 1) % len(self.waiting)
            self.waiting[turn].append(element)
        return self.waiting[device].popleft()


@op(f"MultiDeviceIterator(; devices: list(string) >= 1, shared_name: string, container: string, {_SHAPED}) -> handle: resource",
    shape=shape_rules.scalar, stateful=True, host=True, context=("state", "op"), tested_in=TESTS)
def multi_device_iterator(state, op):
    """An iterator that MultiDeviceIteratorInit begins."""
    attrs = op.attrs
    types, shapes = list(attrs["output_types"]), list(attrs["output_shapes"])
    return shared(state, op, "iterator", lambda: Dealer(attrs["shared_name"] or op.name, types, shapes, len(attrs["devices"])))


@op("MultiDeviceIteratorInit(dataset: variant, multi_device_iterator: resource, max_buffer_size: int64) -> incarnation_id: int64",
    shape=shape_rules.scalar, stateful=True, host=True, context=("state",), tested_in=TESTS)
def multi_device_iterator_init(dataset, multi_device_iterator, max_buffer_size, state):
    """Begins an iteration over a dataset; its number.  What a device leaves waits for it, however much that is."""
    return np.array(multi_device_iterator[()].deal(dataset[()], state), np.int64)


@op("MultiDeviceIteratorGetNextFromShard(multi_device_iterator: resource, shard_num: int32, incarnation_id: int64; "
    f"{_SHAPED}) -> components: [output_types]", shape=lambda c: list(c.attrs["output_shapes"]), stateful=True, host=True,
    context=("state",), tested_in=TESTS)
def multi_device_iterator_get_next_from_shard(multi_device_iterator, shard_num, incarnation_id, state):
    """The next element of the device `shard_num`; of the present iteration where `incarnation_id` is 0."""
    return list(multi_device_iterator[()].next_for(int(shard_num), int(incarnation_id)))
