"""The writer of event files that hooks of one folder share."""
from __future__ import annotations

from typing import Any

from jitgraph.facade.names import resolve


class NoWriter:
    """Takes what a FileWriter takes and writes nothing: hooks work where there is no writer of event files."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def cached_writer(folder: Any) -> Any:
    """The FileWriter of a folder, the same at each call.  Its class is looked up now, so that nobody pays for it before."""
    return _public("summary.FileWriterCache", "get", folder)


def new_writer(folder: Any) -> Any:
    """A FileWriter of its own."""
    return _public("summary.FileWriter", "__call__", folder)


def _public(name: str, method: str, folder: Any) -> Any:
    try:
        found = resolve(name)
    except AttributeError:
        return NoWriter()
    return found(folder) if method == "__call__" else getattr(found, method)(folder)


def merged_summaries() -> Any:
    """``tf.summary.merge_all()``: None if the graph has no summaries."""
    try:
        merge_all = resolve("summary.merge_all")
    except AttributeError:
        return None
    return merge_all()
