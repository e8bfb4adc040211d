"""The writers of event files that hooks and supervisors use.  Their room is imported when one is made: few programs make one."""
from __future__ import annotations

from typing import Any


def cached_writer(folder: Any) -> Any:
    """The FileWriter of a folder, the same at each call."""
    from jitgraph.summary.file_writer import FileWriterCache

    return FileWriterCache.get(folder)


def new_writer(folder: Any) -> Any:
    """A FileWriter of its own."""
    from jitgraph.summary.file_writer import FileWriter

    return FileWriter(folder)


def merged_summaries() -> Any:
    """``tf.summary.merge_all()``: None if the graph has no summaries."""
    from jitgraph.summary.summaries import merge_all

    return merge_all()
