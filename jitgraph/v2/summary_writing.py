"""``tf.summary`` of TensorFlow 2: writers, steps, and tensors that are written when their node is run.

Writers and blocks are those of ``tf.contrib.summary``; in graphs, ``writer.init()`` opens a writer, and what ``write`` gives
is run to write (all of it: ``tf.compat.v1.summary.all_v2_summary_ops()``).
"""
from __future__ import annotations

import itertools
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jitgraph.app import logs
from jitgraph.control.conditionals import smart_cond
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import control_dependencies, device, name_scope
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import identity
from jitgraph.ops.elementwise.compare import logical_and
from jitgraph.summary import recording, writer_ops

_numbers = itertools.count(1)
_INVALID = re.compile(r"[^-_/.A-Za-z0-9]")


class _Step(threading.local):
    step: Any = None


_current = _Step()


# -- writers -----------------------------------------------------------------------------------------------------------

def create_file_writer(logdir: Any, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None,
                       name: str | None = None) -> recording.SummaryWriter:
    """A writer of an event file of its own in the folder `logdir`.

    `max_queue` (10): how many events wait for a flush; `flush_millis` (two minutes): how long; `filename_suffix` (".v2"):
    the end of the file's name.  Raises ValueError without a folder.
    """
    if logdir is None:
        raise ValueError("logdir cannot be None")
    with name_scope(name, "create_file_writer") as scope, device("cpu:0"):
        folder = convert_to_tensor(os.fspath(logdir) if isinstance(logdir, os.PathLike) else logdir, dtypes.string)
        own = constant(f".{os.getpid()}.{next(_numbers)}")          # two writers of a second have two files
        given = (max_queue, 10), (flush_millis, 2 * 60 * 1000), (filename_suffix, ".v2")
        queue, millis, suffix = (constant(default) if value is None else value for value, default in given)
        create = writer_ops.create_summary_file_writer
        return recording.FileSummaryWriter(create, scope[:-1], folder, queue, millis, own + suffix)


def create_noop_writer() -> recording.SummaryWriter:
    """A writer that writes nothing."""
    return recording.NoWriter()


def flush(writer: Any = None, name: str | None = None) -> Any:
    """The operation that flushes `writer`, or that of the block around."""
    return recording.flush(writer, name)


# -- when ----------------------------------------------------------------------------------------------------------------

@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Within this block, summaries are written if `condition` holds: a bool, a bool scalar, or a function that gives one."""
    with recording.recorded_if(condition):
        yield


def get_step() -> Any:
    """The step that ``set_step`` set in this thread, None if none is."""
    return _current.step


def set_step(step: Any) -> None:
    """Sets the step of summaries of this thread that are given none: an int64 scalar, a variable, or None."""
    _current.step = step


@contextmanager
def summary_scope(name: str | None, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """A block with (the tag of a summary, the scope of its nodes): the tag has the scopes around before it."""
    name = name or default_name
    around = get_default_graph().get_name_scope()
    tag = f"{around}/{name}" if around else name
    with name_scope(_INVALID.sub("", name) or None, default_name, values) as scope:
        yield tag, scope


# -- what ----------------------------------------------------------------------------------------------------------------

def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Any:
    """Writes a tensor, of any dtype and shape, when it is run: a bool scalar, whether it was to be recorded.

    `tensor`: it, or a function that makes it where it is recorded; `step`: int64, by default ``get_step()``; `metadata`: a
    SummaryMetadata, serialized or not.  Raises ValueError if no step is known.
    """
    described = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata or b""
    return _written("write_summary", step, name, lambda writer, step, scope: writer_ops.write_summary(
        writer, step, identity(tensor() if callable(tensor) else tensor), tag, described, name=scope))


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Writes serialized Summary messages, strings, when it is run; see ``write``."""
    return _written("write_raw_pb", step, name, lambda writer, step, scope: writer_ops.write_raw_proto_summary(
        writer, step, identity(tensor), name=scope))


def _written(default_name: str, step: Any, name: str | None, write_to: Callable) -> Any:
    with name_scope(name, default_name) as scope:
        writer = recording.current.writer
        if writer is None:
            return constant(False)
        step = get_step() if step is None else step
        if step is None:
            raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")

        def record() -> Any:
            with device("cpu:0"), control_dependencies([write_to(writer._resource, step, scope)]):
                return constant(True)

        with device("cpu:0"):
            made = smart_cond(_is_recorded(), record, lambda: constant(False), name="summary_cond")
            get_default_graph().add_to_collection(GraphKeys._SUMMARY_COLLECTION, made)
            return made


def _is_recorded() -> Any:
    condition = recording.current.condition
    condition = condition() if callable(condition) else condition
    return logical_and(True, True if condition is None else condition)


# -- traces --------------------------------------------------------------------------------------------------------------

def trace_on(graph: bool = True, profiler: bool = False) -> None:
    """Warns: graphs are traced by ``tf.compat.v1.RunOptions``, or written by ``tf.compat.v1.summary.FileWriter``."""
    logs.warning("Must enable trace in eager mode.")


def trace_off() -> None:
    """Nothing to do: see ``trace_on``."""


def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """Warns: see ``trace_on``."""
    logs.warning("Can only export trace while executing eagerly.")
