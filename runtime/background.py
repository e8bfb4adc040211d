"""One thread that compiles ahead of the runs that need it, and puts into the store what was compiled."""
from __future__ import annotations

import atexit
import logging
import queue
import threading
from collections.abc import Callable

LOG = logging.getLogger(__name__)


class Background:
    """One thread that compiles ahead; it stops between two plans when the program ends, and does then only what is `kept`: what
    the next process shall find."""

    def __init__(self) -> None:
        self.jobs: queue.Queue[tuple[Callable[[], object], bool] | None] = queue.Queue()
        self.thread: threading.Thread | None = None
        self.stopped = False

    def submit(self, job: Callable[[], object], kept: bool = False) -> None:
        if self.stopped:
            return
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._work, name="jitgraph-compile", daemon=True)
            self.thread.start()
            atexit.register(self.stop)
        self.jobs.put((job, kept))

    def _work(self) -> None:
        while (given := self.jobs.get()) is not None:
            job, kept = given
            try:
                if kept or not self.stopped:
                    job()
            except Exception:           # the run that needs what this should have made makes it itself, and says what is wrong
                LOG.debug("compiling ahead of a run failed", exc_info=True)
            del job, given      # which may hold a session's state, until the next one comes
            self.jobs.task_done()

    def wait(self) -> None:
        """Returns when everything submitted so far is compiled."""
        if self.thread is not None and self.thread.is_alive() and not self.stopped:
            self.jobs.join()

    def stop(self) -> None:
        self.stopped = True
        self.jobs.put(None)
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join(timeout=30)


BACKGROUND = Background()
