"""Iterators as nodes.  What they keep is in ``iterator_host``, the class of ``tf.data`` in ``iterators``."""
from __future__ import annotations

from typing import Any

import numpy as np

from jitgraph.data import iterator_host
from jitgraph.data.declaring import TESTS
from jitgraph.declare.op import op
from jitgraph.graph import errors, shape_rules
from jitgraph.resources import handle, shared

_SHAPED = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1"
_MADE: dict[str, Any] = {"shape": shape_rules.scalar, "stateful": True, "host": True, "context": ("state", "op"),
                         "tested_in": TESTS}
_TEXTS = "iterators by handle"


def _iterator(state, op):
    attrs = op.attrs

    def make():
        return iterator_host.Iterator(attrs["shared_name"] or op.name, list(attrs["output_types"]), list(attrs["output_shapes"]))

    return shared(state, op, "iterator", make)


@op(f"IteratorV2(; shared_name: string, container: string, {_SHAPED}) -> handle: resource", lasting=True, **_MADE)
def iterator_v2(state, op):
    """An iterator that MakeIterator begins."""
    return _iterator(state, op)


@op(f"Iterator(; shared_name: string, container: string, {_SHAPED}) -> handle: resource", lasting=True, **_MADE)
def iterator(state, op):
    """IteratorV2 of older graph files."""
    return _iterator(state, op)


@op(f'OneShotIterator(; dataset_factory: func, {_SHAPED}, container: string = "", shared_name: string = "") -> handle: resource',
    hands_on=True, lasting=True, **_MADE)
def one_shot_iterator(state, op):
    """An iterator over the dataset that a function makes."""
    made = _iterator(state, op)
    found = made[()]
    with found.lock:
        if found.take is None:
            source, = state.make_function(op.attrs["dataset_factory"], state)([])
            found.begin(source[()], state)
    return made


def _own(op):
    return iterator_host.Iterator(op.name, list(op.attrs["output_types"]), list(op.attrs["output_shapes"]))


@op(f"AnonymousIterator(; {_SHAPED}) -> handle: resource", **_MADE)
def anonymous_iterator(state, op):
    """An iterator that each run makes anew."""
    return handle(_own(op))


@op(f"AnonymousIteratorV2(; {_SHAPED}) -> handle: resource, deleter: variant", **{**_MADE, "shape": lambda c: [(), ()]})
def anonymous_iterator_v2(state, op):
    """An iterator that each run makes anew, and what DeleteIterator takes."""
    return handle(_own(op)), handle(None)


@op("DeleteIterator(handle: resource, deleter: variant)", shape=shape_rules.no_outputs, stateful=True, host=True,
    tested_in=TESTS)
def delete_iterator(handle, deleter):
    """Ends the threads of an iterator."""
    handle[()].close()
    return ()


@op("IteratorGetDevice(resource: resource) -> device: string", shape=shape_rules.scalar, stateful=True, host=True,
    context=("op",), tested_in=TESTS)
def iterator_get_device(resource, op):
    """The device of an iterator: the host's, which makes all elements."""
    return np.array(b"/job:localhost/replica:0/task:0/device:CPU:0", object)


@op("MakeIterator(dataset: variant, iterator: resource)", shape=shape_rules.no_outputs, stateful=True, host=True,
    context=("state",), tested_in=TESTS)
def make_iterator(dataset, iterator, state):
    """Begins an iteration over a dataset."""
    iterator[()].begin(dataset[()], state)


def _shapes(c):
    return list(c.attrs["output_shapes"])


@op(f"IteratorGetNext(iterator: resource; {_SHAPED}) -> components: [output_types]", shape=_shapes, stateful=True, host=True,
    takes=True, context=("state",), tested_in=TESTS)
def iterator_get_next(iterator, state):
    """The next element."""
    return list(iterator[()].next())


@op(f"IteratorGetNextSync(iterator: resource; {_SHAPED}) -> components: [output_types]", shape=_shapes, stateful=True,
    takes=True, host=True, context=("state",), tested_in=TESTS)
def iterator_get_next_sync(iterator, state):
    """IteratorGetNext."""
    return list(iterator[()].next())


@op("IteratorToStringHandle(resource_handle: resource) -> string_handle: string", shape=shape_rules.scalar, stateful=True,
    host=True, context=("state",), tested_in=TESTS)
def iterator_to_string_handle(resource_handle, state):
    """A text by which IteratorFromStringHandle finds an iterator of this session."""
    found = resource_handle[()]
    text = f"iterator {found.name}".encode()
    state.resource((_TEXTS, "", text), lambda: resource_handle)
    return np.array(text, object)


@op("IteratorFromStringHandleV2(string_handle: string; output_types: list(type) = [], output_shapes: list(shape) = []) -> "
    "resource_handle: resource", **_MADE)
def iterator_from_string_handle_v2(string_handle, state, op):
    """The iterator of a text that IteratorToStringHandle gave."""
    found = state.resources.get((_TEXTS, "", string_handle[()]))
    if found is None:
        raise errors.InvalidArgumentError(None, None, "The iterator of this handle is not in this session: run "
                                                      "string_handle() of an iterator here and feed what it gives")
    if op.attrs["output_types"]:
        iterator_host.check_types(list(op.attrs["output_types"]), found[()].types)
    if op.attrs["output_shapes"]:
        iterator_host.check_shapes(list(op.attrs["output_shapes"]), found[()].shapes)
    return found


@op("IteratorFromStringHandle(string_handle: string; output_types: list(type) = [], output_shapes: list(shape) = []) -> "
    "resource_handle: resource", **_MADE)
def iterator_from_string_handle(string_handle, state, op):
    """IteratorFromStringHandleV2 of older graph files."""
    return iterator_from_string_handle_v2.opdef.value(string_handle, state, op)


# -- states in checkpoints ---------------------------------------------------------------------------------------------

@op("SerializeIterator(resource_handle: resource) -> serialized: variant", shape=shape_rules.scalar, stateful=True, host=True,
    tested_in=TESTS)
def serialize_iterator(resource_handle):
    """Where an iterator stands."""
    return handle(resource_handle[()].saved())


@op("DeserializeIterator(resource_handle: resource, serialized: variant)", shape=shape_rules.no_outputs, stateful=True, host=True,
    context=("state",), tested_in=TESTS)
def deserialize_iterator(resource_handle, serialized, state):
    """Has an iterator go on where another one stood."""
    resource_handle[()].restore(serialized[()], state)


# -- elements that may be missing: see jitgraph.ops.host.optional ------------------------------------------------------

@op(f"IteratorGetNextAsOptional(iterator: resource; {_SHAPED}) -> optional: variant", shape=shape_rules.scalar, stateful=True,
    takes=True, host=True, context=("state",), tested_in=TESTS)
def iterator_get_next_as_optional(iterator, state):
    """The next element, or nothing at the end."""
    try:
        return handle(iterator[()].next())
    except errors.OutOfRangeError:
        return handle(None)


@op(f"DatasetToSingleElement(dataset: variant; {_SHAPED}) -> components: [output_types]", shape=_shapes, host=True,
    stateful=True, takes=True, context=("state",), tested_in=TESTS)
def dataset_to_single_element(dataset, state):
    """The only element of a dataset."""
    from jitgraph.data.recipes import begun
    from jitgraph.data.source_host import Session

    session = Session(state)
    try:
        take = begun(dataset[()], session)
        try:
            element = take()
        except StopIteration:
            raise errors.InvalidArgumentError(None, None, "Dataset was empty.") from None
        try:
            take()
        except StopIteration:
            return [np.array(array) for array in element]
        raise errors.InvalidArgumentError(None, None, "Dataset had more than one element.")
    finally:
        session.close()
