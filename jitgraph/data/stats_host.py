"""Statistics of pipelines on the host: what takes them, and the sources that give them."""
from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from jitgraph.data.simple_host import Same
from jitgraph.data.source_host import Element, Run, Source, Take
from jitgraph.summary.histogram_host import RunningHistogram


class Aggregator:
    """Histograms by name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._histograms: dict[str, RunningHistogram] = {}
        self.writer: Any = None             # of summaries, which takes each histogram as it grows

    def check_same(self, other: Aggregator) -> None:
        """All aggregators are alike."""

    def add(self, name: str, value: float) -> None:
        """Takes a number into the histogram `name`."""
        with self._lock:
            histogram = self._histograms.setdefault(name, RunningHistogram())
            histogram.add(value)
            if self.writer is not None:
                self.writer.write(_event(name, histogram))

    def summary(self) -> bytes:
        """The Summary of all histograms."""
        from jitgraph.protobuf.messages import Summary

        found: Any = Summary()
        with self._lock:
            for name in sorted(self._histograms):
                found.value.add(tag=name, histo=self._histograms[name].proto())
        return found.SerializeToString()


def _event(name: str, histogram: RunningHistogram) -> Any:
    from jitgraph.protobuf.messages import Event, Summary

    return Event(wall_time=time.time(), step=histogram.number, summary=Summary(value=[{"tag": name, "histo": histogram.proto()}]))


class _Named:
    """An aggregator whose names begin with a prefix."""

    def __init__(self, aggregator: Aggregator, prefix: str):
        self.aggregator, self.prefix = aggregator, prefix

    def add(self, name: str, value: float) -> None:
        self.aggregator.add(f"{self.prefix}::{name}" if self.prefix else name, value)


class Watched(Same):
    """The elements of another source, whose statistics, and those of what it is made of, go to an aggregator."""

    def __init__(self, source: Source, aggregator: Aggregator, prefix: str):
        super().__init__(source)
        self.stats = _Named(aggregator, prefix)

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        return self.source.resume(run.with_(stats=self.stats), count)


class Timed(Same):
    """The elements of another source; how long each takes goes to the aggregator, in microseconds."""

    def __init__(self, source: Source, name: str):
        super().__init__(source)
        self.name = name

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        take, stats, name = self.source.resume(run, count), run.stats, self.name
        if stats is None:
            return take

        def timed() -> Element:
            begin = time.perf_counter_ns()
            try:
                element = take()
            except StopIteration:
                raise
            except Exception:
                stats.add(name, (time.perf_counter_ns() - begin) // 1000)
                raise
            stats.add(name, (time.perf_counter_ns() - begin) // 1000)
            return element

        return timed


class Weighed(Same):
    """The elements of another source; how many bytes each has goes to the aggregator."""

    def __init__(self, source: Source, name: str):
        super().__init__(source)
        self.name = name

    def iterate(self, run: Run) -> Take:
        return self.resume(run, 0)

    def resume(self, run: Run, count: int) -> Take:
        take, stats, name = self.source.resume(run, count), run.stats, self.name
        if stats is None:
            return take

        def weighed() -> Element:
            element = take()
            stats.add(name, sum(map(_bytes, element)))
            return element

        return weighed


def _bytes(array: np.ndarray) -> int:
    if array.dtype != object:
        return array.nbytes
    texts = [item for item in array.ravel().tolist() if isinstance(item, (bytes, str))]
    return STRING_SIZE * array.size + sum(map(len, texts))


STRING_SIZE = 8        # what TensorFlow counts for a string besides its bytes
