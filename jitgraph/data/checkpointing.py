"""Where iterators stand, in checkpoints: ``make_saveable_from_iterator``."""
from __future__ import annotations

from typing import Any

from jitgraph import raw_ops as raw
from jitgraph.data.iterators import Iterator
from jitgraph.graph.operation import Operation
from jitgraph.graph.scopes import colocate_with
from jitgraph.graph.tensor import Tensor
from jitgraph.variables.saveables import SaveableObject, SaveSpec


class IteratorSaveable(SaveableObject):
    """The state of the iterator behind a handle."""

    def __init__(self, iterator_resource: Tensor):
        state = raw.SerializeIterator(iterator_resource)
        name = iterator_resource.name
        super().__init__(iterator_resource, [SaveSpec(state, "", f"{name}-state")], name)

    def restore(self, restored_tensors: list[Tensor], restored_shapes: Any) -> Operation:
        with colocate_with(self.op):
            return raw.DeserializeIterator(self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Iterator) -> SaveableObject:
    """What a ``tf.train.Saver`` takes, or the collection SAVEABLE_OBJECTS, to save where an iterator stands.

    The state is small: the number of elements that were taken, and seeds that were drawn for want of given ones.  A restored
    iterator, which has to be initialised, goes through the elements before its place again; functions of ``map`` are not
    called where nothing depends on them.  Saving raises FailedPreconditionError for an iterator that is not initialised, and
    for a dataset with stateful functions (random numbers, ``tf.py_func``); restoring one raises InvalidArgumentError for the
    state that another program than jitgraph has saved.
    """
    return IteratorSaveable(iterator._iterator_resource)
