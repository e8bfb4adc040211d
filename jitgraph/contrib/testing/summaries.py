"""What stands in summaries and in the newest event file of a folder."""
from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from jitgraph.protobuf.messages import Summary
from jitgraph.summary.event_reader import summary_iterator


def assert_summary(expected_tags: Iterable[str], expected_simple_values: dict[str, float], summary_proto: Any) -> None:
    """Raises ValueError for other tags than expected, AssertionError for values that differ in the second decimal."""
    tags = set()
    for value in summary_proto.value:
        tags.add(value.tag)
        if value.tag in expected_simple_values:
            np.testing.assert_almost_equal(value.simple_value, expected_simple_values[value.tag], decimal=2, err_msg=value.tag)
    if set(expected_tags) != tags:
        raise ValueError(f"Expected tags {set(expected_tags)}, got {tags}.")


def to_summary_proto(summary_str: bytes) -> Any:
    """The Summary of its bytes."""
    return Summary.FromString(summary_str)


def latest_event_file(base_dir: str) -> str | None:
    """The path of the last event file in a folder by name, None if there is none."""
    return max(glob.glob(os.path.join(base_dir, "events.*")), default=None)


def latest_events(base_dir: str) -> Any:
    """The Events in the last event file of a folder."""
    path = latest_event_file(base_dir)
    return summary_iterator(path) if path else []


def latest_summaries(base_dir: str) -> list[Any]:
    """The Events with a summary in the last event file of a folder."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events: Iterable[Any], tags: Iterable[str]) -> dict[str, float]:
    """{tag: its value in the event of the highest step}.  Raises ValueError for a value that is no number."""
    steps: dict[str, int] = {}
    found: dict[str, float] = {}
    for event in events:
        for value in event.summary.value if event.HasField("summary") else ():
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if event.step > steps.get(value.tag, -1):
                steps[value.tag], found[value.tag] = event.step, value.simple_value
    return found
