"""The nodes of ``tf.contrib.summary``, which write events themselves.  The functions over them are in ``recording``."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import op
from jitgraph.graph import dtypes, shape_rules
from jitgraph.graph.dtypes import REALS, TypeSet
from jitgraph.resources import shared
from jitgraph.summary import media_host
from jitgraph.summary.summary_ops import NUMBERS, histogram_values, merged, scalar_values, tensor_proto, text
from jitgraph.summary.writer_host import Writer

_TESTS = "tests/summary/test_recording.py: what stands in the file of a writer"
_PIXELS = TypeSet(dtypes.uint8, dtypes.float32, dtypes.float16, default=dtypes.float32)


def _declared(signature: str, **more: Any) -> Any:
    """``@op`` of a node that has an effect on a writer and no value."""
    return op(signature, shape=shape_rules.no_outputs, stateful=True, host=True, tested_in=_TESTS, **more)


def _event(step: Any, **what: Any) -> Any:
    from jitgraph.protobuf.messages import Event

    return Event(wall_time=time.time(), step=int(step), **what)


def _parsed(cls: Any, data: Any, what: str) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return cls.FromString(bytes(data))
    except DecodeError:
        raise invalid(f"{what} is no serialized {cls.DESCRIPTOR.name}") from None


@op('SummaryWriter(; shared_name: string = "", container: string = "") -> writer: resource', shape=shape_rules.scalar,
    stateful=True, host=True, context=("state", "op"), tested_in=_TESTS)
def summary_writer(state, op):
    """A writer of summaries, by name; it has no file yet."""
    return shared(state, op, "summary_writer", lambda: Writer(op.attrs["shared_name"] or op.name))


@_declared("CreateSummaryFileWriter(writer: resource, logdir: string, max_queue: int32, flush_millis: int32, "
           "filename_suffix: string)")
def create_summary_file_writer(writer, logdir, max_queue, flush_millis, filename_suffix):
    """Makes the event file of a writer."""
    writer[()].create(text(logdir[()]), int(max_queue), int(flush_millis), text(filename_suffix[()]))


@_declared("CreateSummaryDbWriter(writer: resource, db_uri: string, experiment_name: string, run_name: string, user_name: string)")
def create_summary_db_writer(writer, db_uri, experiment_name, run_name, user_name):
    """Opens the database of a writer."""
    writer[()].create_database(*(text(one[()]) for one in (db_uri, experiment_name, run_name, user_name)))


@_declared("FlushSummaryWriter(writer: resource)")
def flush_summary_writer(writer):
    """Brings out what a writer holds."""
    writer[()].flush()


@_declared("CloseSummaryWriter(writer: resource)")
def close_summary_writer(writer):
    """Closes the file of a writer."""
    writer[()].close()


@_declared("WriteScalarSummary(writer: resource, step: int64, tag: string, value: T)", T=TypeSet(*REALS))
def write_scalar_summary(writer, step, tag, value):
    """Writes a number."""
    writer[()].write(_event(step, summary=scalar_values(tag, value)))


@_declared("WriteHistogramSummary(writer: resource, step: int64, tag: string, values: T)", T=NUMBERS)
def write_histogram_summary(writer, step, tag, values):
    """Writes how values are distributed."""
    writer[()].write(_event(step, summary=histogram_values(tag, values)))


@_declared("WriteImageSummary(writer: resource, step: int64, tag: string, tensor: T, bad_color: uint8; "
           "max_images: int >= 1 = 3)", T=_PIXELS)
def write_image_summary(writer, step, tag, tensor, bad_color, max_images):
    """Writes pictures."""
    writer[()].write(_event(step, summary=media_host.image_summary(text(tag[()]), tensor, max_images, bad_color)))


@_declared("WriteAudioSummary(writer: resource, step: int64, tag: string, tensor: float32, sample_rate: float32; "
           "max_outputs: int >= 1 = 3)")
def write_audio_summary(writer, step, tag, tensor, sample_rate, max_outputs):
    """Writes sounds."""
    writer[()].write(_event(step, summary=media_host.audio_summary(text(tag[()]), tensor, float(sample_rate), max_outputs)))


@_declared("WriteSummary(writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string)")
def write_summary(writer, step, tensor, tag, summary_metadata):
    """Writes a whole tensor."""
    from jitgraph.protobuf.messages import Summary, SummaryMetadata

    value = Summary.Value(tag=text(tag[()]), tensor=tensor_proto(tensor))
    if len(summary_metadata[()]):
        value.metadata.CopyFrom(_parsed(SummaryMetadata, summary_metadata[()], "summary_metadata"))
    writer[()].write(_event(step, summary=Summary(value=[value])))


@_declared("WriteRawProtoSummary(writer: resource, step: int64, tensor: string)")
def write_raw_proto_summary(writer, step, tensor):
    """Writes serialized summaries."""
    writer[()].write(_event(step, summary=merged(np.ravel(tensor))))


@_declared("WriteGraphSummary(writer: resource, step: int64, tensor: string)")
def write_graph_summary(writer, step, tensor):
    """Writes a serialized GraphDef."""
    from jitgraph.protobuf.messages import GraphDef

    _parsed(GraphDef, tensor[()], "the graph")
    writer[()].write(_event(step, graph_def=bytes(tensor[()])))


@_declared("ImportEvent(writer: resource, event: string)")
def import_event(writer, event):
    """Writes a serialized Event."""
    from jitgraph.protobuf.messages import Event

    writer[()].write(_parsed(Event, event[()], "the event"))
