"""Event files read back: ``tf.train.summary_iterator``."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jitgraph.formats.records import tf_record_iterator


def summary_iterator(path: Any) -> Iterator[Any]:
    """The Events of the file `path`, one by one.

    Raises NotFoundError if there is no file, DataLossError at an event that is damaged or cut off, after those before.
    """
    from jitgraph.protobuf.messages import Event

    for record in tf_record_iterator(path):
        yield Event.FromString(record)
