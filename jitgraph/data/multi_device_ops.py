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
from jitgraph.resources import handle, shared

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


@op(f"AnonymousMultiDeviceIterator(; devices: list(string) >= 1, {_SHAPED}) -> handle: resource, deleter: variant",
    shape=lambda c: [(), ()], stateful=True, host=True, context=("op",), tested_in=TESTS)
def anonymous_multi_device_iterator(op):
    """A MultiDeviceIterator that each run makes anew, and what DeleteMultiDeviceIterator takes."""
    types, shapes = list(op.attrs["output_types"]), list(op.attrs["output_shapes"])
    return handle(Dealer(op.name, types, shapes, len(op.attrs["devices"]))), handle(None)


@op("DeleteMultiDeviceIterator(multi_device_iterator: resource, iterators: N*resource, deleter: variant; N: int >= 0)",
    shape=shape_rules.no_outputs, stateful=True, host=True, tested_in=TESTS)
def delete_multi_device_iterator(multi_device_iterator, iterators, deleter):
    """Ends the threads of a MultiDeviceIterator."""
    multi_device_iterator[()].close()
    return ()


_TEXTS = "iterators of devices by handle"


@op("MultiDeviceIteratorToStringHandle(multi_device_iterator: resource) -> string_handle: string", shape=shape_rules.scalar,
    stateful=True, host=True, context=("state",), tested_in=TESTS)
def multi_device_iterator_to_string_handle(multi_device_iterator, state):
    """A text by which MultiDeviceIteratorFromStringHandle finds an iterator of this session."""
    text = f"iterator of devices {multi_device_iterator[()].name}".encode()
    state.resource((_TEXTS, "", text), lambda: multi_device_iterator)
    return np.array(text, object)


@op("MultiDeviceIteratorFromStringHandle(string_handle: string; output_types: list(type) = [], output_shapes: list(shape) = []) -> "
    "multi_device_iterator: resource", shape=shape_rules.scalar, stateful=True, host=True, context=("state", "op"),
    tested_in=TESTS)
def multi_device_iterator_from_string_handle(string_handle, state, op):
    """The MultiDeviceIterator of a text that MultiDeviceIteratorToStringHandle gave."""
    found = state.resources.get((_TEXTS, "", string_handle[()]))
    if found is None:
        raise InvalidArgumentError(None, None, "The iterator of this handle is not in this session")
    if op.attrs["output_types"]:
        iterator_host.check_types(list(op.attrs["output_types"]), found[()].types)
    if op.attrs["output_shapes"]:
        iterator_host.check_shapes(list(op.attrs["output_shapes"]), found[()].shapes)
    return found


@op("MultiDeviceIteratorInit(dataset: variant, multi_device_iterator: resource, max_buffer_size: int64) -> incarnation_id: int64",
    shape=shape_rules.scalar, stateful=True, host=True, context=("state",), tested_in=TESTS)
def multi_device_iterator_init(dataset, multi_device_iterator, max_buffer_size, state):
    """Begins an iteration over a dataset; its number.  What a device leaves waits for it, however much that is."""
    return np.array(multi_device_iterator[()].deal(dataset[()], state), np.int64)


@op("MultiDeviceIteratorGetNextFromShard(multi_device_iterator: resource, shard_num: int32, incarnation_id: int64; "
    f"{_SHAPED}) -> components: [output_types]", shape=lambda c: list(c.attrs["output_shapes"]), stateful=True, host=True,
    takes=True, context=("state",), tested_in=TESTS)
def multi_device_iterator_get_next_from_shard(multi_device_iterator, shard_num, incarnation_id, state):
    """The next element of the device `shard_num`; of the present iteration where `incarnation_id` is 0."""
    return list(multi_device_iterator[()].next_for(int(shard_num), int(incarnation_id)))
