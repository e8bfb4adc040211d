"""``tf.test.Benchmark``: measures how long a run takes."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from jitgraph.graph.stack import get_default_session


def benchmark_config() -> Any:
    """The ConfigProto that benchmarks run with."""
    from jitgraph.protobuf.messages import ConfigProto

    return ConfigProto()


class Benchmark:
    """The base of benchmarks: a method ``benchmark...`` calls ``run_op_benchmark``, which reports the median time."""

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether this is a base class."""
        return cls is Benchmark

    def _name(self, given: str | None) -> str:
        import inspect

        if given is not None:
            return f"{type(self).__name__}.{given}"
        callers = [frame.function for frame in inspect.stack() if frame.function.startswith("benchmark")]
        if not callers:
            raise ValueError("Unable to determine calling Benchmark function.")
        return f"{type(self).__name__}.{callers[0]}"

    def report_benchmark(self, iters: int | None = None, cpu_time: float | None = None, wall_time: float | None = None,
                         throughput: float | None = None, extras: Any = None, name: str | None = None, metrics: Any = None) -> None:
        """Prints what was measured: times in seconds, throughput in megabytes per second."""
        known = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput, "extras": extras,
                 "metrics": metrics}
        shown = " ".join(f"{key}: {value}" for key, value in known.items() if value is not None)
        print(f'entry {{ name: "{self._name(name)}" {shown} }}')

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

        `mbs`: megabytes that a run processes, for the throughput.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        found: dict[str, Any] = {"iters": min_iters, "wall_time": float(np.median(times)), "extras": dict(extras or {}),
                 "throughput": mbs / float(np.median(times))}
        self.report_benchmark(name=name, **found)
        found["extras"].update(wall_time_mean=float(np.mean(times)), wall_time_stdev=float(np.std(times)))
        return {"name": self._name(name), **found}
