"""``tf.summary.FileWriter``: summaries, graphs and what else becomes events."""
from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any

from jitgraph.app import logs
from jitgraph.graph.graph import Graph
from jitgraph.summary.event_writer import EventFileWriter
from jitgraph.summary.plugin_assets import write_plugin_assets


class FileWriter:
    """Writes an event file for TensorBoard into the folder `logdir`; a context manager.

    Args:
      logdir: the folder, made if it is not there.
      graph: a Graph, written at once, with its MetaGraphDef.
      max_queue: how many events wait for the thread that writes them, at most; any number if it is not positive.
      flush_secs: how often what was written is flushed.
      graph_def: the older form of `graph`, a GraphDef.
      filename_suffix: what the name of the file ends with.
      session: write by nodes of this session's graph, which are added under the name "filewriter", instead of by a thread.
    Raises the ``tf.errors`` that making the folder gives rise to; TypeError for a `graph` of another kind.
    """

    def __init__(self, logdir: Any, graph: Any = None, max_queue: int = 10, flush_secs: float = 120,
                 graph_def: Any = None, filename_suffix: str | None = None, session: Any = None):
        if session is not None:
            from jitgraph.summary.session_writer import SessionEventWriter

            self.event_writer: Any = SessionEventWriter(session, logdir, max_queue, flush_secs, filename_suffix)
        else:
            self.event_writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        self._closed = False
        self._run_tags: set[str] = set()
        self._described: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            self._add_meta_graph_of(graph if graph is not None else graph_def)

    def _add_meta_graph_of(self, graph: Any) -> None:
        from jitgraph.formats.meta_graph import create_meta_graph_def

        whole = isinstance(graph, Graph)
        definition = graph.as_graph_def(add_shapes=True) if whole else graph
        self.add_meta_graph(create_meta_graph_def(graph_def=definition, graph=graph if whole else Graph()))

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    # -- what can be added ---------------------------------------------------------------------------------------------

    def add_summary(self, summary: Any, global_step: int | None = None) -> None:
        """Adds a Summary, or what a node of ``tf.summary`` gave: a serialized one.

        Of values with the same tag, the first alone is written with its metadata; from others that stand in a Summary
        that is given, they are removed.  Raises DecodeError for bytes that are no Summary.
        """
        from jitgraph.protobuf.messages import Event, Summary

        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        for value in summary.value:
            if value.tag in self._described:
                value.ClearField("metadata")
            self._described.add(value.tag)
        self._add(Event(summary=summary), global_step)

    def add_session_log(self, session_log: Any, global_step: int | None = None) -> None:
        """Adds a SessionLog: that a session starts, stops, or has written a checkpoint."""
        from jitgraph.protobuf.messages import Event

        self._add(Event(session_log=session_log), global_step)

    def add_graph(self, graph: Any, global_step: int | None = None, graph_def: Any = None) -> None:
        """Adds a Graph, with the shapes of its tensors; `graph_def`: the older form, a GraphDef.

        Raises ValueError if both are given, TypeError for anything else.
        """
        from jitgraph.protobuf.messages import Event, GraphDef

        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if isinstance(given, Graph):
            definition = given.as_graph_def(add_shapes=True)
            write_plugin_assets(given, self.get_logdir())
        elif isinstance(given, GraphDef):
            logs.warning("Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object instead, such as "
                         "`sess.graph`.")
            definition = given
        else:
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated `GraphDef`")
        self._add(Event(graph_def=definition.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: Any, global_step: int | None = None) -> None:
        """Adds a MetaGraphDef.  Raises TypeError for anything else."""
        from jitgraph.protobuf.messages import Event, MetaGraphDef

        if not isinstance(meta_graph_def, MetaGraphDef):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: int | None = None) -> None:
        """Adds the RunMetadata of a run, which TensorBoard shows under `tag`.  Raises ValueError for a tag that was used."""
        from jitgraph.protobuf.messages import Event, TaggedRunMetadata

        if tag in self._run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        tagged = TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(Event(tagged_run_metadata=tagged), global_step)

    def add_event(self, event: Any) -> None:
        """Adds an Event as it stands, with its time and step."""
        self._warn_if_closed()
        self.event_writer.add_event(event)

    def _add(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    # -- the file ------------------------------------------------------------------------------------------------------

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                          "explicitly reopened.", stacklevel=4)

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def flush(self) -> None:
        """Waits until all that was added is in the file.

        Raises ResourceExhaustedError on a full disk, and the other ``tf.errors`` that the file system gives rise to.
        """
        self._warn_if_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Flushes and closes the file.  Raises what ``flush`` does; it is closed even so."""
        self._closed = True
        self.event_writer.close()

    def reopen(self) -> None:
        """After ``close``, another file begins; else nothing."""
        self.event_writer.reopen()
        self._closed = False


class FileWriterCache:
    """One FileWriter for each folder, which hooks and programs share."""

    _cache: dict[str, FileWriter] = {}
    _lock = threading.RLock()

    @staticmethod
    def get(logdir: Any) -> FileWriter:
        """The FileWriter of the folder `logdir`, made at the first call with the default graph."""
        from jitgraph.graph.default_graph import get_default_graph

        key = os.fspath(logdir)
        with FileWriterCache._lock:
            if key not in FileWriterCache._cache:
                FileWriterCache._cache[key] = FileWriter(key, graph=get_default_graph())
            return FileWriterCache._cache[key]

    @staticmethod
    def clear() -> None:
        """Closes all writers and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache.clear()
