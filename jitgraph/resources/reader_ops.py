"""Readers as nodes.  What they read is in ``reader_host``, the classes of ``tf`` in ``readers``.

As with queues, each op is there on a resource handle and, for older graph files, on a reference to a string.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.op import op
from jitgraph.graph import shape_rules
from jitgraph.resources import reader_host, shared

_TESTS = "tests/train/test_input.py: a reader"
_SHARING = 'container: string = "", shared_name: string = ""'


def _declare(name: str, attrs: str, records: Callable[[dict], Callable], doc: str, restorable: bool = False,
             later_attrs: str = "", newer_attrs: str = "") -> Any:
    """The two ops that make a kind of reader; gives the function of the newer one, which alone has `newer_attrs`."""

    def value(state, op):
        def new() -> reader_host.Reader:
            return reader_host.Reader(name, op.attrs["shared_name"] or op.name, records(op.attrs), restorable)

        return shared(state, op, "reader", new)

    value.__doc__, value.__name__ = doc, name
    made = [op(f"{name}{suffix}(; {attrs}{_SHARING}{later_attrs}{more}) -> reader_handle: {kind}", shape=shape_rules.scalar,
               stateful=True, host=True, lasting=True, context=("state", "op"), tested_in=_TESTS)(value)
            for suffix, more, kind in (("", "", "&string"), ("V2", newer_attrs, "resource"))]
    return made[1]


text_line_reader_v2 = _declare(
    "TextLineReader", "skip_header_lines: int = 0, ",
    lambda attrs: lambda work: reader_host.text_lines(work, attrs["skip_header_lines"]), "Gives the lines of files.")
whole_file_reader_v2 = _declare("WholeFileReader", "", lambda attrs: reader_host.whole_file, "Gives whole files.", True)
identity_reader_v2 = _declare("IdentityReader", "", lambda attrs: reader_host.identity, "Gives the work itself.", True)
tf_record_reader_v2 = _declare(
    "TFRecordReader", "",
    lambda attrs: lambda work: reader_host.tf_records(work, attrs["compression_type"]), "Gives the records of TFRecord files.",
    later_attrs=', compression_type: string = ""')
fixed_length_record_reader_v2 = _declare(
    "FixedLengthRecordReader",
    "header_bytes: int = 0, record_bytes: int, footer_bytes: int = 0, hop_bytes: int = 0, ",
    lambda attrs: lambda work: reader_host.fixed_length(work, attrs), "Gives pieces of equal length.",
    newer_attrs=', encoding: string = ""')


@op(f"LMDBReader(; {_SHARING}) -> reader_handle: &string", shape=shape_rules.scalar, stateful=True, host=True,
    context=("state", "op"), tested_in=_TESTS)
def lmdb_reader(state, op):
    """Gives the pairs of LMDB databases."""
    def new() -> reader_host.Reader:
        return reader_host.Reader("LMDBReader", op.attrs["shared_name"] or op.name, reader_host.lmdb_pairs)

    return shared(state, op, "reader", new)


@op("FakeQueue(resource: resource) -> handle: &string", shape=shape_rules.scalar, stateful=True, host=True, tested_in=_TESTS)
def fake_queue(resource):
    """A queue for the ops of older readers."""
    return resource


def _both(signature: str, shape: Any, takes: bool = False) -> Callable[[Callable], Any]:
    """Declares an op on a reader in both versions; gives the function of the newer one."""

    def declare(body: Callable) -> Any:
        made = [op(signature.replace("V?", suffix).replace("H?", kind), shape=shape, stateful=True, host=True,
                   takes=takes, context=("state",), tested_in=_TESTS)(body)
                for suffix, kind in (("V2", "resource"), ("", "&string"))]
        return made[0]

    return declare


def _work(queue_handle: Any, state: Any) -> reader_host.TakeWork:
    """Takes the next name of a file from a queue of strings."""
    return lambda: bytes(queue_handle[()].dequeue(state.wait)[0][()])


@_both("ReaderReadV?(reader_handle: H?, queue_handle: H?) -> key: string, value: string", shape_rules.scalar,
       takes=True)
def reader_read(reader_handle, queue_handle, state):
    """The next record and its key; file names come from the queue."""
    reader = reader_handle[()]
    with reader.lock:
        key, value = reader.read(_work(queue_handle, state))
    return np.array(key, object), np.array(value, object)


@_both("ReaderReadUpToV?(reader_handle: H?, queue_handle: H?, num_records: int64) -> keys: string, values: string",
       lambda c: [(None,), (None,)], takes=True)
def reader_read_up_to(reader_handle, queue_handle, num_records, state):
    """The next records, at most `num_records` and of one file, and their keys."""
    reader = reader_handle[()]
    with reader.lock:
        found = reader.read_up_to(int(num_records), _work(queue_handle, state))
    table = np.empty((len(found), 2), object)
    for row, record in enumerate(found):
        table[row] = record
    return table[:, 0].copy(), table[:, 1].copy()


@_both("ReaderNumRecordsProducedV?(reader_handle: H?) -> records_produced: int64", shape_rules.scalar)
def reader_num_records_produced(reader_handle, state):
    """How many records a reader has given."""
    return np.array(reader_handle[()].produced, np.int64)


@_both("ReaderNumWorkUnitsCompletedV?(reader_handle: H?) -> units_completed: int64", shape_rules.scalar)
def reader_num_work_units_completed(reader_handle, state):
    """How many files a reader has read to the end."""
    return np.array(reader_handle[()].finished, np.int64)


@_both("ReaderSerializeStateV?(reader_handle: H?) -> state: string", shape_rules.scalar)
def reader_serialize_state(reader_handle, state):
    """Where a reader stands, as a string."""
    with reader_handle[()].lock:
        return np.array(reader_handle[()].state(), object)


def _restored(c: Any) -> list:
    shape_rules.with_rank(c.shapes[1], 0, "state")
    return []


@op("ReaderRestoreStateV2(reader_handle: resource, state: string)", shape=_restored, stateful=True, host=True,
    tested_in=_TESTS)
def reader_restore_state(reader_handle, state):
    """Puts a reader back to where it stood."""
    with reader_handle[()].lock:
        reader_handle[()].restore(bytes(state[()]))


@op("ReaderRestoreState(reader_handle: &string, state: string)", shape=_restored, stateful=True, host=True,
    tested_in=_TESTS)
def reader_restore_state_of_reference(reader_handle, state):
    """Puts a reader back to where it stood."""
    reader_restore_state.opdef.value(reader_handle, state)


@_both("ReaderResetV?(reader_handle: H?)", shape_rules.no_outputs)
def reader_reset(reader_handle, state):
    """Puts a reader back to its beginning."""
    with reader_handle[()].lock:
        reader_handle[()].reset()
