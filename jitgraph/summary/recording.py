"""``tf.contrib.summary``: summaries that are written by running them, where and when the blocks around say.

A summary made within ``writer.as_default()`` is a node that writes; ``always_record_summaries`` and its kin say when.
"""
from __future__ import annotations

import getpass
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jitgraph.app import logs
from jitgraph.control.conditionals import smart_cond, smart_constant_value
from jitgraph.control.order_ops import no_op
from jitgraph.graph import dtypes
from jitgraph.graph.collections import GraphKeys
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.scopes import control_dependencies, device, name_scope
from jitgraph.graph.stack import get_default_session
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.arrays.constant import constant
from jitgraph.ops.arrays.identity import identity, placeholder
from jitgraph.ops.elementwise.compare import equal, logical_and
from jitgraph.summary import writer_ops
from jitgraph.summary.summaries import summary_scope
from jitgraph.variables.global_steps import get_or_create_global_step

_WRITERS = "_SUMMARY_WRITER_V2"
_SUFFIX = ".v2"
_EXPERIMENT, _RUN = r"^[^\x00-\x1F<>]{0,256}$", r"^[^\x00-\x1F<>]{0,512}$"
_USER = r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$"


class _Current(threading.local):
    """What the blocks around this line of this thread say: TensorFlow keeps it beside the graph, too."""

    writer: Any = None
    condition: Any = None


current = _Current()


class SummaryWriter:
    """Where the summaries of ``tf.contrib.summary`` go.  ``create_file_writer`` makes one."""

    def init(self) -> Any:
        """The operation that opens it."""
        raise NotImplementedError

    def flush(self) -> Any:
        """The operation that flushes it."""
        raise NotImplementedError

    def close(self) -> Any:
        """The operation that flushes and closes it."""
        raise NotImplementedError

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        """``with writer.as_default():`` summaries go to it within the block."""
        before, current.writer = current.writer, self
        try:
            yield self
            self.flush()
        finally:
            current.writer = before

    def set_as_default(self) -> None:
        """Summaries go to it from now on."""
        current.writer = self


class NoWriter(SummaryWriter):
    """What ``create_file_writer(None)`` gives: summaries go nowhere."""

    def init(self) -> Any:
        return no_op()

    flush = close = init

    @contextmanager
    def as_default(self) -> Iterator[SummaryWriter]:
        yield self

    def set_as_default(self) -> None:
        pass


class FileSummaryWriter(SummaryWriter):
    """A node that stands for a writer, and those that open (`create`), flush and close it."""

    def __init__(self, create: Callable, shared_name: str | None, *arguments: Any):
        self._create, self._arguments = create, arguments
        self._resource = writer_ops.summary_writer(shared_name=shared_name)
        get_default_graph().add_to_collection(_WRITERS, self.init())

    def init(self) -> Any:
        return self._create(self._resource, *self._arguments)

    def flush(self) -> Any:
        with device("cpu:0"):
            return writer_ops.flush_summary_writer(self._resource)

    def close(self) -> Any:
        with control_dependencies([self.flush()]), device("cpu:0"):
            return writer_ops.close_summary_writer(self._resource)


def create_file_writer(logdir: str | None, max_queue: Any = None, flush_millis: Any = None, filename_suffix: Any = None,
                       name: str | None = None) -> SummaryWriter:
    """A writer of an event file in the folder `logdir`; None: one that writes nothing.

    `max_queue` (10): how many events wait for a flush; `flush_millis` (two minutes): how long; `filename_suffix` (".v2"):
    the end of the file's name; `name`: writers of one name share a file.  Its ``init()`` opens it, as ``initialize`` does.
    """
    if logdir is None:
        return NoWriter()
    logdir = os.fspath(logdir)
    with device("cpu:0"):
        given = (max_queue, 10), (flush_millis, 2 * 60 * 1000), (filename_suffix, _SUFFIX)
        settings = [constant(default) if value is None else value for value, default in given]
        shared_name = f"logdir:{logdir}" if name is None else name
        return FileSummaryWriter(writer_ops.create_summary_file_writer, shared_name, logdir, *settings)


def create_db_writer(db_uri: str, experiment_name: Any = None, run_name: Any = None, user_name: Any = None,
                     name: str | None = None) -> SummaryWriter:
    """A writer of a run in a database of SQLite, `db_uri` its path or "file:PATH", whose tables are made if they are not there.

    By default the experiment has the name of the day, the run that of the time, the user that of the system; "" leaves the first
    two out.  Raises ValueError for names with control characters or angle brackets, and for users that are no names of hosts.
    """
    now = time.localtime()
    with device("cpu:0"):
        names = [_fitting(what, pattern, default() if given is None else given) for what, pattern, given, default in (
            ("experiment_name", _EXPERIMENT, experiment_name, lambda: time.strftime("%Y-%m-%d", now)),
            ("run_name", _RUN, run_name, lambda: time.strftime("%H:%M:%S", now)), ("user_name", _USER, user_name, getpass.getuser))]
        return FileSummaryWriter(writer_ops.create_summary_db_writer, name or "", db_uri, *names)


def _fitting(what: str, pattern: str, value: Any) -> Tensor:
    if isinstance(value, str) and re.search(pattern, value, re.IGNORECASE) is None:
        raise ValueError(f"{what} ({value}) must match {pattern}")
    return convert_to_tensor(value, dtypes.string)


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """The older name of ``create_file_writer``."""
    logs.warning("Deprecation Warning: create_summary_file_writer was renamed to create_file_writer")
    return create_file_writer(*args, **kwargs)


# -- when summaries are recorded ---------------------------------------------------------------------------------------

@contextmanager
def recorded_if(condition: Any) -> Iterator[None]:
    before, current.condition = current.condition, condition
    try:
        yield
    finally:
        current.condition = before


@contextmanager
def always_record_summaries() -> Iterator[None]:
    """Within this block, summaries are written whenever they are run."""
    with recorded_if(True):
        yield


@contextmanager
def never_record_summaries() -> Iterator[None]:
    """Within this block, summaries are not written."""
    with recorded_if(False):
        yield


@contextmanager
def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Iterator[None]:
    """Within this block, summaries are written where the global step is a multiple of `n`."""
    step = get_or_create_global_step() if global_step is None else global_step
    with device("cpu:0"):
        condition = equal(step % n, 0)
    with recorded_if(condition):
        yield


def should_record_summaries() -> Tensor:
    """A bool scalar: whether summaries that are made here are written; outside of all blocks they are not."""
    return logical_and(True, False if current.condition is None else current.condition)


# -- summaries ---------------------------------------------------------------------------------------------------------

def _chosen(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else convert_to_tensor(step, dtypes.int64)


def _recorded(name: str, tensor: Any, family: str | None, write: Callable[[Any, str, str], Any]) -> Any:
    """A bool scalar that writes when it is run: what `write` makes of the writer's node, the tag and the name."""
    if current.writer is None:
        return no_op()
    with device("cpu:0"):
        condition = should_record_summaries()
        if smart_constant_value(condition) is False:
            made = constant(False)
        else:
            # named here and not in the branch, which is a graph of its own: there, all names would be free
            with summary_scope(name, family, values=[tensor]) as (tag, scope):
                pass

            def record() -> Tensor:
                with name_scope(scope):
                    with control_dependencies([write(current.writer._resource, tag, scope)]):
                        return constant(True)

            made = smart_cond(condition, record, lambda: constant(False), name="")
        get_default_graph().add_to_collection(GraphKeys._SUMMARY_COLLECTION, made)
    return made


def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number, a real scalar, when it is run: a bool scalar, whether it was to be recorded.

    `name`: the tag, with the scopes around; `family`: a prefix of it; `step`: an int64 scalar, the global step if None.
    """
    return _recorded(name, tensor, family, lambda writer, tag, scope: writer_ops.write_scalar_summary(
        writer, _chosen(step), tag, identity(tensor), name=scope))


def histogram(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes how real values are distributed; see ``scalar``, and ``tf.summary.histogram``."""
    return _recorded(name, tensor, family, lambda writer, tag, scope: writer_ops.write_histogram_summary(
        writer, _chosen(step), tag, identity(tensor), name=scope))


def generic(name: str, tensor: Any, metadata: Any = None, family: str | None = None, step: Any = None) -> Any:
    """Writes a whole tensor of any dtype and shape; `metadata`: a SummaryMetadata, serialized or not.  See ``scalar``."""
    def write(writer: Any, tag: str, scope: str) -> Any:
        described = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata
        described = constant("") if described is None else described
        return writer_ops.write_summary(writer, _chosen(step), identity(tensor), tag, described, name=scope)

    return _recorded(name, tensor, family, write)


def image(name: str, tensor: Any, bad_color: Any = None, max_images: int = 3, family: str | None = None,
          step: Any = None) -> Any:
    """Writes pictures [batch, height, width, 1, 3 or 4]; `bad_color`: uint8 for what is not finite, red if None.

    See ``scalar``, and ``tf.summary.image``.
    """
    def write(writer: Any, tag: str, scope: str) -> Any:
        color = constant([255, 0, 0, 255], dtypes.uint8) if bad_color is None else bad_color
        return writer_ops.write_image_summary(writer, _chosen(step), tag, identity(tensor), color, max_images=max_images,
                                              name=scope)

    return _recorded(name, tensor, family, write)


def audio(name: str, tensor: Any, sample_rate: Any, max_outputs: int, family: str | None = None, step: Any = None) -> Any:
    """Writes sounds, float32 [batch, samples] or [batch, samples, channels]; see ``scalar``, and ``tf.summary.audio``."""
    return _recorded(name, tensor, family, lambda writer, tag, scope: writer_ops.write_audio_summary(
        writer, _chosen(step), tag, identity(tensor), sample_rate, max_outputs=max_outputs, name=scope))


def _graph(param: Any, step: Any = None, name: str | None = None) -> Any:
    """The operation that writes `param`, a string scalar with a serialized GraphDef.  Raises TypeError for another kind."""
    if not isinstance(param, Tensor):
        raise TypeError(f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}")
    if current.writer is None:
        return no_op()
    with device("cpu:0"):
        return writer_ops.write_graph_summary(writer=current.writer._resource, tensor=identity(param), step=_chosen(step),
                                              name=name)


graph = _graph          # the argument of `initialize` has its name


def import_event(tensor: Any, name: str | None = None) -> Any:
    """The operation that writes `tensor`, a string scalar with a serialized Event."""
    return writer_ops.import_event(current.writer._resource, tensor, name=name)


def flush(writer: Any = None, name: str | None = None) -> Any:
    """The operation that flushes `writer`, or that of the block around."""
    writer = current.writer if writer is None else writer
    if writer is None:
        return no_op()
    with device("cpu:0"):
        return writer_ops.flush_summary_writer(getattr(writer, "_resource", writer), name=name)


# -- all of a graph ----------------------------------------------------------------------------------------------------

def all_summary_ops() -> list:
    """All summaries of the default graph that write when they are run, in the order in which they were made."""
    return get_default_graph().get_collection(GraphKeys._SUMMARY_COLLECTION)


def summary_writer_initializer_op() -> list:
    """The operations that open the writers of the default graph."""
    return get_default_graph().get_collection(_WRITERS)


def initialize(graph: Any = None, session: Any = None) -> None:
    """Opens the writers of the default graph in a session, and writes `graph`, a Graph, by that of the block around.

    Raises RuntimeError if there is none, ValueError without a session.
    """
    if current.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found: call it within `with writer.as_default():`")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = graph.as_graph_def(add_shapes=True).SerializeToString()
        given = placeholder(dtypes.string)
        session.run(_graph(given, 0), {given: data})


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder for the summaries of an evaluation of the model in `model_dir`."""
    return os.path.join(model_dir, "eval" if not name else f"eval_{name}")
