"""``tf.test.Benchmark``: measures how long a run takes."""
from __future__ import annotations

import inspect
import numbers
import os
import re
import time
from typing import Any

import numpy as np

from jitgraph.app import logs
from jitgraph.graph.stack import get_default_session

REPORTS = "TEST_REPORT_FILE_PREFIX"     # of the files that take reports, where it is set
_found: list[type[Benchmark]] = []      # all subclasses, in the order in which they were made


def benchmark_config() -> Any:
    """The ConfigProto that benchmarks run with."""
    from jitgraph.protobuf.messages import ConfigProto

    return ConfigProto()


def run_benchmarks(pattern: str) -> None:
    """Calls the methods ``benchmark...`` whose full name, ``module.Class.benchmarkThis``, has a match; all by "all"."""
    for kind in list(_found):
        wanted = [name for name in dir(kind) if name.startswith("benchmark") and callable(getattr(kind, name))
                  and (pattern == "all" or re.search(pattern, f"{kind.__module__}.{kind.__name__}.{name}"))]
        instance = kind() if wanted else None
        for name in wanted:
            getattr(instance, name)()


class Benchmark:
    """The base of benchmarks: a method ``benchmark...`` calls ``run_op_benchmark``, which reports the median time.

    ``tf.test.main`` runs them for ``--benchmarks=all``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _found.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether this is a base class."""
        return cls is Benchmark

    def _name(self, given: str | None) -> str:
        if given is not None:
            return f"{type(self).__name__}.{given}"
        callers = [frame.function for frame in inspect.stack() if frame.function.startswith("benchmark")]
        if not callers:
            raise ValueError("Unable to determine calling Benchmark function.")
        return f"{type(self).__name__}.{callers[-1]}"

    def report_benchmark(self, iters: int | None = None, cpu_time: float | None = None, wall_time: float | None = None,
                         throughput: float | None = None, extras: Any = None, name: str | None = None, metrics: Any = None) -> None:
        """Prints what was measured, times in seconds, throughput in megabytes per second, as the text of a BenchmarkEntries.

        Where the environment has TEST_REPORT_FILE_PREFIX, a file that begins with it takes the message instead.  Raises TypeError
        if `extras` is no dict, `metrics` no list of dicts with "name" and "value", IOError if the file is there.
        """
        full = self._name(name)
        shown = [-1 if value is None else value for value in (iters, wall_time, cpu_time, throughput)]
        logs.info("Benchmark [%s] iters: %d, wall_time: %g, cpu_time: %g,throughput: %g, extras: %s, metrics: %s", full, *shown,
                  extras or None, metrics or None)
        entries = _entries(full, {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput},
                           {} if extras is None else extras, [] if metrics is None else metrics)
        prefix = os.environ.get(REPORTS)
        if prefix is None:
            print(entries)
            return
        path = prefix + full.replace("/", "__")
        if os.path.exists(path):
            raise OSError(f"File already exists: {path}")
        with open(path, "wb") as file:
            file.write(entries.SerializeToString())

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors in the default session."""
        session = get_default_session()
        if session is None:
            raise ValueError("evaluate needs a default session: call it inside `with tf.Session():`.")
        return session.run(tensors)

    def run_op_benchmark(self, sess: Any, op_or_tensor: Any, feed_dict: Any = None, burn_iters: int = 2, min_iters: int = 10,
                         store_trace: bool = False, store_memory_usage: bool = True, name: str | None = None, extras: Any = None,
                         mbs: float = 0) -> dict:
        """Runs an operation `min_iters` times after `burn_iters` others; reports and returns the median wall time in seconds.

        `mbs`: megabytes that a run processes, for the throughput.  `store_trace`: the result's "extras" have a trace for Chrome,
        "full_trace_chrome_format".  There is no account of memory to store.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        median = float(np.median(times)) if times else -1.0
        found: dict[str, Any] = {"iters": min_iters, "wall_time": median, "extras": {} if extras is None else extras,
                                 "name": name, "throughput": mbs / median}
        self.report_benchmark(**found)
        found["extras"].update(wall_time_mean=float(np.mean(times)), wall_time_stdev=float(np.std(times)))
        if store_trace:
            found["extras"]["full_trace_chrome_format"] = _trace(sess, op_or_tensor, feed_dict)
        return found


def _entries(name: str, numbers_found: dict, extras: Any, metrics: Any) -> Any:
    """The BenchmarkEntries of one report."""
    from jitgraph.protobuf.messages import BenchmarkEntries

    if not isinstance(extras, dict):
        raise TypeError("extras must be a dict")
    if not isinstance(metrics, list):
        raise TypeError("metrics must be a list")
    entries = BenchmarkEntries()
    entry = entries.entry.add(name=name, **{key: value for key, value in numbers_found.items() if value is not None})
    for key, value in extras.items():
        if isinstance(value, numbers.Number):
            entry.extras[key].double_value = value
        else:
            entry.extras[key].string_value = str(value)
    for metric in metrics:
        for needed in ("name", "value"):
            if needed not in metric:
                raise TypeError(f"metric must have a {needed!r} field")
        added = entry.metrics.add(name=metric["name"], value=metric["value"])
        for limit in ("min_value", "max_value"):
            if limit in metric:
                getattr(added, limit).value = metric[limit]
    return entries


def _trace(session: Any, op_or_tensor: Any, feed_dict: Any) -> str:
    from jitgraph.app.timeline import Timeline
    from jitgraph.protobuf.messages import RunMetadata, RunOptions

    metadata = RunMetadata()
    session.run(op_or_tensor, feed_dict=feed_dict, options=RunOptions(trace_level=RunOptions.FULL_TRACE), run_metadata=metadata)
    return Timeline(metadata.step_stats).generate_chrome_trace_format()
