"""``tf.test.TestCase``: a unit test with a fresh graph, sessions, and assertions on arrays."""
from __future__ import annotations

import contextlib
import random
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jitgraph.facade import names
from jitgraph.graph.default_graph import get_default_graph, leave_graphs, reset_default_graph
from jitgraph.graph.stack import get_default_session
from jitgraph.protobuf.messages import ConfigProto
from jitgraph.test.assertions import Assertions
from jitgraph.test.environment import get_temp_dir

SEED = 87654321


class TestCase(Assertions):
    """The base of unit tests.  Before each test the default graph is emptied and all random seeds are set.

    ``with self.session(): ...`` gives a session on the default graph, ``self.cached_session()`` the same one at each call of a
    test, ``self.evaluate(tensors)`` the values of tensors (or structures of them) in the session of the block.
    """

    __test__ = False        # its subclasses are tests, it is none

    def __init__(self, methodName: str = "runTest"):
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._temporary: str | None = None
        self._cached: tuple | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def setUp(self) -> None:
        """Leaves all graphs, empties the default one and sets the seeds."""
        from jitgraph.graph.seeds import set_random_seed

        super().setUp()
        self._close_cached()
        random.seed(SEED)
        np.random.seed(SEED)
        leave_graphs()
        reset_default_graph()
        set_random_seed(SEED)

    def tearDown(self) -> None:
        """Fails if a thread of ``checkedThread`` raised, and closes the cached session."""
        for thread in self._threads:
            thread.check_termination()
        self._close_cached()

    def get_temp_dir(self) -> str:
        """A directory of this test."""
        if self._temporary is None:
            self._temporary = tempfile.mkdtemp(dir=get_temp_dir())
        return self._temporary

    # -- sessions ------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Iterator:
        """A new session, which is the default one in the block; on the CPU unless `use_gpu` or `force_gpu`."""
        with _session(graph, config, force_gpu) as session, _placed(session, use_gpu, force_gpu):
            yield session

    @contextlib.contextmanager
    def cached_session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Iterator:
        """The session of this test, made at the first call.  Raises ValueError if it is asked for with other arguments."""
        wanted = (graph, config, force_gpu)
        _, *made_for = self._cached or (None, *wanted)
        for what, one, other in zip(("graph", "config", "force_gpu value"), made_for, wanted):
            if one is not other:
                raise ValueError(f"The {what} used to get the cached session is different than the one that was used to create "
                                 "the session. Maybe create a new session with self.session()")
        with self._entered(graph, config, use_gpu, force_gpu) as session:
            yield session

    @contextlib.contextmanager
    def _entered(self, graph: Any, config: Any, use_gpu: bool, force_gpu: bool) -> Iterator:
        """The session of this test as the default one, whatever it was made with."""
        if self._cached is None:
            self._cached = (_session(graph, config, force_gpu), graph, config, force_gpu)
        session = self._cached[0]
        with session.graph.as_default(), session.as_default(), _placed(session, use_gpu, force_gpu):
            yield session

    def test_session(self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False) -> Any:
        """A new session if `graph` is given, else the cached one, though it was made with another `config` (an older name of
        both)."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        if graph is None:
            return self._entered(graph, config, use_gpu, force_gpu)
        return self.session(graph, config, use_gpu, force_gpu)

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors, or of a structure of tensors, in the default session (or the cached one)."""
        session = get_default_session()
        if session is None:
            with self.cached_session() as session:
                return session.run(tensors)
        return session.run(tensors)

    def _close_cached(self) -> None:
        if self._cached is not None:
            self._cached[0].close()
            self._cached = None

    # -- threads and streams -------------------------------------------------------------------------------------------

    def checkedThread(self, target: Callable, args: Any = None, kwargs: Any = None) -> CheckedThread:
        """A thread whose errors fail the test when it is joined, or at the end of the test."""
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator:
        """What the block writes to the file descriptor of `stream`: an object with ``contents()``."""
        import os

        descriptor = stream.fileno()
        kept = os.dup(descriptor)
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), descriptor)
            written = _Written(file, stream)
            try:
                yield written
            finally:
                written.finish()
                os.dup2(kept, descriptor)
                os.close(kept)


class _Written:
    """What was written to a stream while it was captured."""

    def __init__(self, file: Any, stream: Any):
        self._file, self._stream, self._contents = file, stream, ""

    def contents(self) -> str:
        """The text so far."""
        if not self._file.closed:
            self._stream.flush()
            self._file.seek(0)
            self._contents = self._file.read().decode()
        return self._contents

    def finish(self) -> None:
        self.contents()


class CheckedThread:
    """A thread whose target's error is raised again, as a failure of the test, by ``join``."""

    def __init__(self, case: TestCase, target: Callable, args: Any, kwargs: Any):
        self._case, self._target, self._args, self._kwargs = case, target, args, kwargs
        self._thread = threading.Thread(target=self._run)
        self._error: BaseException | None = None
        self._joined = False

    def _run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as error:
            self._error = error

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def join(self) -> None:
        """Waits for the end of the thread; fails the test if its target raised."""
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def check_termination(self) -> None:
        """Fails the test if the thread was never joined, or raised."""
        if not self._joined and self._thread.ident is not None:
            if self.is_alive():
                self._case.fail("A checked thread was not joined and is still running when the test exited.")
            self._case.fail("A checked thread was not joined.")


def _session(graph: Any, config: Any, force_gpu: bool) -> Any:
    """A session that, where no config is given, runs what is meant for a GPU elsewhere, unless it is `force_gpu`."""
    if config is None:
        config = ConfigProto(allow_soft_placement=not force_gpu)
    return names.resolve("Session")(graph=graph if graph is not None else get_default_graph(), config=config)


@contextlib.contextmanager
def _placed(session: Any, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
    with session.graph.as_default():
        device = "/device:GPU:0" if force_gpu else None if use_gpu else "/device:CPU:0"
        with session.graph.device(device) if device else contextlib.nullcontext():
            yield
