"""A block in which sessions are traced now and then, and what they spent is profiled and written to a folder."""
from __future__ import annotations

import os
import threading
from typing import Any

from jitgraph.facade.names import resolve
from jitgraph.graph import errors
from jitgraph.profiler.options import ProfileOptionBuilder
from jitgraph.profiler.profiling import Profiler, profile
from jitgraph.protobuf.messages import RunMetadata, RunOptions

WARMUP_STEPS, MOST_TRACED = 10, 100


def _sessions() -> Any:
    """The class whose ``run`` all sessions have."""
    return next(one for one in resolve("Session").__mro__ if "run" in vars(one))


class ProfileContext:
    """Traces runs of all sessions inside of the block.

    Args:
      profile_dir: the folder that gets what is written: ``profile_STEP``, and with `debug` the text of each trace.
      trace_steps: the runs to trace, counted from 0; by default, after some runs, the first with each set of fetches.
      dump_steps: the runs after which the times of the last trace are written, a GraphNodeProto as text; by default the hundredth.
    Raises ValueError without a folder, or for more than 100 runs to trace.
    """

    def __init__(self, profile_dir: str, trace_steps: Any = None, dump_steps: Any = None, enabled: bool = True,
                 debug: bool = False):
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        if trace_steps is not None and len(trace_steps) > MOST_TRACED:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._folder, self._debug = profile_dir, debug
        self._automatic = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = {MOST_TRACED} if dump_steps is None else set(dump_steps)
        self._requests: list[tuple[str, Any, list[int]]] = []
        self._views: dict[str, dict[int, Any]] = {}
        self._seen: set[Any] = set()
        self._step = self._traced = 0
        self._trace_next = self._dump_next = False
        self._profiler: Profiler | None = None
        self._lock = threading.Lock()

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """{run: what ``tf.profiler.profile`` gave} for a command of ``add_auto_profiling``.  Raises ValueError if none was run."""
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def add_auto_profiling(self, cmd: str, options: Any, profile_steps: list[int]) -> None:
        """Traces the runs `profile_steps`, and profiles each by ``tf.profiler.profile(cmd=cmd, options=options)``."""
        if self._enabled:
            self._requests.append((cmd, options, list(profile_steps)))
            self._trace_steps.update(profile_steps)

    @property
    def profiler(self) -> Profiler | None:
        """The ``tf.profiler.Profiler`` that has the traces."""
        if not self._enabled:
            return None
        if self._profiler is None:
            self._profiler = Profiler()
        return self._profiler

    def trace_next_step(self) -> None:
        """Traces the next run."""
        if self._enabled:
            self._trace_next = True

    def dump_next_step(self) -> None:
        """Writes the times so far after the next run."""
        if self._enabled:
            self._dump_next = True

    # -- what sessions do meanwhile

    def __enter__(self) -> ProfileContext:
        """Raises InternalError inside of another such block."""
        if self._enabled:
            sessions = _sessions()
            if getattr(sessions.run, "profiled", False):
                raise errors.InternalError(None, None, "Already in context or context not cleaned.")
            self._own_run = plain = sessions.run

            def run(session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
                return self._run(plain, session, fetches, feed_dict, options, run_metadata)

            run.profiled = True             # type: ignore[attr-defined]
            sessions.run = run
        return self

    def __exit__(self, *error: Any) -> None:
        if self._enabled:
            _sessions().run = self._own_run

    def _run(self, run: Any, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        if not self._lock.acquire(blocking=False):          # another thread is being traced
            return run(session, fetches, feed_dict, options, run_metadata)
        try:
            step = self._step
            if not self._is_traced(step, fetches):
                found = run(session, fetches, feed_dict, options, run_metadata)
            else:
                run_metadata = RunMetadata() if run_metadata is None else run_metadata
                options = RunOptions() if options is None else options
                before, options.trace_level = options.trace_level, RunOptions.FULL_TRACE
                try:
                    found = run(session, fetches, feed_dict, options, run_metadata)
                finally:
                    options.trace_level = before
                self._take(step, session.graph, run_metadata)
            if step in self._dump_steps or self._dump_next:
                quiet = ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory()).with_empty_output().build()
                self._write(f"profile_{step}", str(profile(session.graph, self._last(), cmd="scope", options=quiet)))
            self._step += 1
            self._trace_next = self._dump_next = False
            return found
        finally:
            self._lock.release()

    def _is_traced(self, step: int, fetches: Any) -> bool:
        if self._traced > MOST_TRACED:
            return False
        if step in self._trace_steps or self._trace_next:
            return True
        if not self._automatic or step <= WARMUP_STEPS:
            return False
        known = repr(fetches)
        if known not in self._seen:
            self._seen.add(known)
            return True
        return False

    def _take(self, step: int, graph: Any, run_metadata: Any) -> None:
        self._traced += 1
        profiler = self.profiler
        assert profiler is not None
        profiler._graph = graph
        profiler.add_step(step, run_metadata)
        if self._debug:
            self._write(f"run_meta_{step}", str(run_metadata))
        for cmd, options, steps in self._requests:
            if step in steps:
                self._views.setdefault(cmd, {})[step] = profile(graph, run_metadata, cmd=cmd, options=options)

    def _last(self) -> Any:
        steps = {} if self._profiler is None else self._profiler._steps
        return steps.get(max(steps, default=-1))

    def _write(self, name: str, text: str) -> None:
        os.makedirs(self._folder, exist_ok=True)
        with open(os.path.join(self._folder, name), "w") as file:
            file.write(text)
