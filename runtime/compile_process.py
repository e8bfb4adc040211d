"""Other processes that compile kernels while this one does, for the CPU or for GPUs: llvmlite lets one thread of a process into
LLVM at a time.

They are started when a plan needs several kernels that the store lacks, take jobs from the same list as this process, and
end by themselves when nobody has needed them for a while.  Jobs and results are lines of JSON through pipes.  Whatever goes
wrong with one, this process compiles what is left.  JITGRAPH_COMPILE_PROCESS=0 does without.
"""
from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from jitgraph import environment

if TYPE_CHECKING:
    from subprocess import Popen

Jobs = deque[tuple[str, dict[str, Any]]]            # (address, what to compile)
Done = dict[str, tuple[bytes, float]]               # address -> (code, seconds)

MANY = 500              # operations of a graph of which many kernels are to be expected
LEAST = 4               # kernels for which another process is worth starting
MOST = 7                # processes: each takes a tenth of a gigabyte
IDLE_SECONDS = 15.0
PATIENCE_SECONDS = 60.0 # for one kernel
_CODE = "from jitgraph.runtime.compile_process import serve; serve()"


def wanted() -> bool:
    """Whether another process may help: there is a second core, and a Python to run."""
    from .pool import thread_count

    return environment.flag("JITGRAPH_COMPILE_PROCESS", True) and thread_count() > 1 and bool(sys.executable)


def expect(operations: int) -> None:
    """Starts another process ahead of everything where a graph of so many operations meets a store that has nothing: loading takes
    it as long as half of the passes of a large network, and a program initialises its variables before it trains."""
    from . import store

    if operations >= MANY and wanted() and store.is_empty():
        HELPERS.prepare()


def _processes(jobs: int) -> int:
    """How many processes help with so many jobs: one for each core but ours, as long as it is worth starting."""
    from .pool import thread_count

    return max(min(thread_count() - 1, jobs // LEAST, MOST), 1)


class Helpers:
    """The other processes.  `all`: those that were ever needed."""

    def __init__(self) -> None:
        self.all = [Helper()]

    def prepare(self) -> None:
        """Starts one of them ahead of its first jobs."""
        self.all[0].prepare()

    def start(self, jobs: Jobs, done: Done) -> list[tuple[Helper, threading.Thread]]:
        """Lets the processes that are free take jobs, see `Helper.start`; for `finish`.  Empty if none can be had."""
        while len(self.all) < _processes(len(jobs)):
            self.all.append(Helper())
        started = [(helper, helper.start(jobs, done)) for helper in self.all[:_processes(len(jobs))]]
        return [(helper, thread) for helper, thread in started if thread is not None]

    def finish(self, started: list[tuple[Helper, threading.Thread]]) -> None:
        """Waits for the jobs that they are at."""
        for helper, thread in started:
            helper.finish(thread)


class Helper:
    """One other process, from this side.  One batch of jobs at a time."""

    def __init__(self) -> None:
        self.process: Popen[bytes] | None = None
        self.ready = False              # whether it has loaded what it needs
        self.timer: threading.Timer | None = None
        self.busy = threading.Lock()

    def prepare(self) -> None:
        """Starts the other process ahead of its first jobs, without waiting for it: loading takes it a fifth of a second."""
        if self.process is None and self.busy.acquire(blocking=False):
            try:
                self._spawn()
            except OSError:
                self.process = None
            finally:
                self._rest()

    def start(self, jobs: Jobs, done: Done) -> threading.Thread | None:
        """Lets the other process take jobs (address, job) off the right end of `jobs` and puts (code, seconds) for their
        addresses into `done`.  Returns the thread to join, or None if the process is busy or cannot be had."""
        if not self.busy.acquire(blocking=False):
            return None
        if self.timer is not None:
            self.timer.cancel()
        thread = threading.Thread(target=self._work, args=(jobs, done), name="jitgraph-compile-process", daemon=True)
        try:
            thread.start()
        except RuntimeError:        # Python ends, and starts no threads any more from 3.12 on: this process compiles alone
            self.busy.release()
            return None
        return thread

    def finish(self, thread: threading.Thread) -> None:
        """Waits for the job that the other process is at; ends a process that does not come to an end."""
        thread.join(PATIENCE_SECONDS)
        if thread.is_alive():
            self._end()

    def _work(self, jobs: Jobs, done: Done) -> None:
        try:
            process = self._running()
            while jobs and process is not None:
                try:
                    address, job = jobs.pop()
                except IndexError:
                    break
                answer = self._ask(process, job)
                if answer is None:
                    jobs.append((address, job))
                    self._end()
                    break
                done[address] = answer
        except (OSError, ValueError):
            self._end()
        finally:
            self._rest()

    def _rest(self) -> None:
        """Lets others use the process, which ends if nobody does for a while."""
        self.timer = threading.Timer(IDLE_SECONDS, self._end_if_idle)
        self.timer.daemon = True
        try:
            self.timer.start()
        except RuntimeError:        # Python ends: so does the process, by atexit
            self.timer = None
        finally:
            self.busy.release()

    def _spawn(self) -> None:
        import subprocess  # few programs compile

        from . import store

        # it needs no further one, and looks into the same store from another folder
        env = {**os.environ, "JITGRAPH_COMPILE_PROCESS": "0", "JITGRAPH_CACHE": str(store.directory().absolute())}
        self.process = subprocess.Popen([sys.executable, "-c", _CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=os.path.abspath(os.sep), env=env)
        self.ready = False
        atexit.register(self._end)

    def _running(self) -> Popen[bytes] | None:
        """The process, once it has loaded what it needs."""
        if self.process is None or self.process.poll() is not None:
            self._spawn()
        if not self.ready:
            assert self.process is not None and self.process.stdout is not None
            self.ready = self.process.stdout.readline() == b"ready\n"
            if not self.ready:
                self._end()
        return self.process

    def _ask(self, process: Popen[bytes], job: dict[str, Any]) -> tuple[bytes, float] | None:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            return None
        answer = json.loads(line)
        return (bytes.fromhex(answer["code"]), answer["seconds"]) if "code" in answer else None

    def _end_if_idle(self) -> None:
        if self.busy.acquire(blocking=False):
            try:
                self._end()
            finally:
                self.busy.release()

    def _end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:
                        pass
            process.kill()
            process.wait()


HELPERS = Helpers()


def _forget_after_fork() -> None:
    HELPERS.__init__()           # type: ignore[misc]  # the one object, made anew where it is


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


def serve() -> None:
    """What another process does: compiles the jobs that come in by standard input, until it is closed."""
    import signal
    import time

    signal.signal(signal.SIGINT, signal.SIG_IGN)        # Ctrl-C is for the program
    from jitgraph.compiler.emit import cuda_compile, native, vocabulary

    from . import pool

    native.warm_up()
    pool.native()               # the program looks for the interpreter in the store when it has its first kernels
    out, sys.stdout = sys.stdout, sys.stderr
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        begin = time.perf_counter()
        try:
            if "capability" in job:
                code = cuda_compile.compile_text(job["source"], job["name"], job["codes"], tuple(job["bounds"]),
                                                 tuple(job["capability"])).cubin
            else:
                code = native.compile_function(job["source"], job["name"], job["codes"], job["symbol"], job["compiler"],
                                               vocabulary.forms_from(job["forms"]))
            answer = {"code": code.hex(), "seconds": time.perf_counter() - begin}
        except Exception:
            answer = {}                 # the program compiles it again, and reports what is wrong
        print(json.dumps(answer), file=out, flush=True)
