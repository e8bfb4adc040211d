"""`tf.Session`: runs parts of a graph, each signature of fetches and feeds by a plan of its own."""
from __future__ import annotations

import collections
import functools
import threading
import weakref
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from jitgraph import tracebacks
from jitgraph.compiler.options import present
from jitgraph.graph.default_graph import get_default_graph
from jitgraph.graph.errors import AbortedError, CancelledError, UnimplementedError
from jitgraph.graph.graph import Graph
from jitgraph.graph.operation import Operation
from jitgraph.graph.stack import DefaultSession, default_session
from jitgraph.graph.tensor import Tensor, take_stated_shapes
from jitgraph.resources.session_handle_ops import forget

from . import compile_process, host_loops, recording, settings  # noqa: F401  (host_loops: gives the host its compiler)
from . import feed as feeding
from .fetch import Build, Fetches, flat_key
from .functions import Delegate
from .placement import Placement, server_of
from .plan import Plan
from .state import State

if TYPE_CHECKING:
    from jitgraph.train.cluster.server import Server

    from .explain import Explanation

DeviceAttributes = collections.namedtuple("DeviceAttributes", "name device_type memory_limit_bytes incarnation",
                                          defaults=(0, 0))

DEAD_HANDLES = 10       # handles that nobody holds whose values are still kept, at most: TensorFlow's number


def jit_mode(config: Any, given: str | None = None) -> str:
    """How a session compiles: `given`, else the config's global_jit_level, else JITGRAPH_JIT, else "auto"."""
    mode = given
    if mode is None and config is not None:
        level = config.graph_options.optimizer_options.global_jit_level
        mode = {1: "always", 2: "always", -1: "off"}.get(level)
    mode = mode or settings.jit()
    if mode not in settings.MODES:
        raise ValueError(f"jit must be one of {', '.join(settings.MODES)}, not {mode!r} (Session(jit=...))")
    return mode


class BaseSession:
    """A session of one graph: its variables and its plans.  Usable from many threads.

    Args:
      target: "", or that of a `tf.train.Server` of this process: sessions on one cluster share their variables.
      graph: the graph to run; the default graph if None.
      config: a `tf.ConfigProto`.
      jit: "auto" (the first run of a signature by reference, compiled from the second on), "always" or "off".
      compiler: "direct" or "numba", which give the same bits, see `jitgraph.compiler.options`; None: as JITGRAPH_COMPILER says.
    """

    def __init__(self, target: Any = "", graph: Graph | None = None, config: Any = None, jit: str | None = None,
                 compiler: str | None = None) -> None:
        if config is not None and not hasattr(config, "graph_options"):
            raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        if target is not None and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        self._graph = get_default_graph() if graph is None else graph
        if not hasattr(self._graph, "as_graph_element"):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        settings.check_all()
        present(compiler)               # raises ValueError for a compiler that there is not
        server = server_of(target.decode() if isinstance(target, bytes) else target or "")
        if server is not None and config is None:
            config = server.server_def.default_session_config
        self._target, self._config = target or "", config
        self._jit = jit_mode(config, jit)
        self._timeout = 0 if config is None else config.operation_timeout_in_ms
        self._watched = bool(self._timeout) or recording.active()      # whether runs take the longer way
        self._state = _state(server, config, self._jit, Plan, compiler, Delegate)
        self._state.configure(config)
        self._placement = Placement(self._graph, config, self._state, server)
        self._plans: dict[tuple[Any, ...], Any] = {}     # a Plan, or with it what builds and converts
        self._mutations = self._graph.mutations
        self._closed = False
        self._refusal: Callable[[], Exception] = _closed_error
        self._lock = threading.Lock()
        self._dead_handles: list[str] = []
        SESSIONS.add(self)

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def graph_def(self) -> Any:
        return self._graph.as_graph_def()

    @property
    def sess_str(self) -> Any:
        return self._target

    # running ---------------------------------------------------------------------------------------------------
    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs what `fetches` need and returns their values, in the same structure.

        Args:
          fetches: a tensor, operation, variable, name, or a nested list, tuple, named tuple or dict of them.
          feed_dict: {tensor or name: value}; any feedable tensor, not only placeholders.
          options, run_metadata: RunOptions and RunMetadata protocol buffers; with tracing, step_stats are filled in.
        Raises RuntimeError if the session is closed, TypeError or ValueError for unsuitable fetches and feeds, and a
        tf.errors.OpError, which names the operation and the user's line, if an operation fails.
        """
        try:
            if self._closed:
                raise self._refusal()
            if self._mutations != self._graph.mutations:
                self._forget_plans()
            key = flat_key(fetches)
            if run_metadata is None and options is None and key is not None and not self._watched:
                try:
                    found = self._plans.get((key, *feed_dict) if feed_dict else (key,))
                except TypeError:
                    found = None
                if feed_dict and not hasattr(feed_dict, "values"):
                    found = None
                if found is not None:
                    plan, build, convert = found
                    return build(_unwrapped(plan.run(convert(feed_dict.values()) if feed_dict else [])))
            return self._run_slowly(fetches, feed_dict, key, options, run_metadata)
        except BaseException as error:
            tracebacks.shorten(error)
            raise

    def run_on_devices(self, fetches: Any, feed_dict: Any = None) -> Any:
        """As `run`, but values that kernels of a GPU have computed stay there, as objects that other libraries take without a copy:
        they have ``__cuda_array_interface__`` and ``__dlpack__``; ``numpy.asarray`` copies them.  What the host has computed,
        as all with the CPU as target, comes as ever.
        """
        if self._state.machine is None:
            return self.run(fetches, feed_dict)
        from .cuda.array import results_stay

        with results_stay():
            return self.run(fetches, feed_dict)

    def _run_slowly(self, fetches: Any, feed_dict: Any, key: Any, options: Any, run_metadata: Any) -> Any:
        if feed_dict is not None and not hasattr(feed_dict, "items"):
            raise TypeError(f"feed_dict must be a dictionary, not {type(feed_dict).__name__}")
        if self._graph.version == 0:
            raise RuntimeError("The Session graph is empty.  Add operations to the graph before calling run().")
        taken = Fetches(self._graph, fetches, self)
        fed = feeding.expand(self._graph, feed_dict) if feed_dict else {}
        if any("_shape_val" in tensor.__dict__ for tensor in fed):
            take_stated_shapes(self._graph)
            self._forget_plans()
        plan = self._plan(taken.tensors, taken.targets, list(fed))
        if key is not None and all(type(t) is Tensor for t in feed_dict or ()):
            quick = (key, *(feed_dict or ()))
            self._plans[quick] = (plan, taken.build, feeding.converter(list(fed)))
        arrays = [feeding.convert(t, v) for t, v in fed.items()]
        return taken.build(_unwrapped(self._execute(plan, arrays, options, run_metadata)))

    def _execute(self, plan: Plan, arrays: list[np.ndarray], options: Any, run_metadata: Any) -> list[Any]:
        if run_metadata is None and options is None and not self._watched:
            return plan.run(arrays)
        if recording.active() and run_metadata is None and options is None:
            return recording.tallied(plan, lambda: plan.run(arrays), self._timeout)
        from .profile import traced

        return traced(plan, arrays, options, run_metadata, self._timeout)

    def _plan(self, tensors: list[Tensor], targets: list[Operation], feeds: list[Tensor]) -> Plan:
        signature = ("plan", tuple(tensors), tuple(targets), tuple(feeds))
        plan = self._plans.get(signature)
        if plan is None:
            self._placement.check()
            if not self._plans and self._jit != "off":
                compile_process.expect(len(self._graph._nodes_by_id))
            made = Plan(self._graph, tensors, targets, feeds, self._state, self._jit)
            with self._lock:
                plan = self._plans.setdefault(signature, made)
        return plan

    def _forget_plans(self) -> None:
        with self._lock:
            self._plans, self._mutations = {}, self._graph.mutations
            self._state.functions.clear()

    @property
    def plans(self) -> list[Plan]:
        """The plans made so far, one for each signature of fetches and feeds."""
        return [p for k, p in self._plans.items() if k[0] == "plan"]

    def explain(self, fetches: Any, feed_dict: Any = None, runs: int = 10) -> Explanation:
        """Where the time of `run(fetches, feed_dict)` goes, as a table that can be printed: per kernel and host step its
        time, bytes and arithmetic, and what share of this machine's measured limits that is.

        Really runs it, `runs` + 2 times: variables change as they do in runs.  See ``explain.Explanation`` for its parts.
        """
        from .explain import explain

        return explain(self, fetches, feed_dict, runs)

    def partial_run_setup(self, fetches: Any, feeds: Iterable[Any] | None = None) -> str:
        """A handle for a run in several calls of `partial_run`: all they will fetch and feed is named here.

        Raises InvalidArgumentError if there is nothing to fetch.
        """
        from .partial_run import setup

        try:
            self._placement.check()
            return setup(self, fetches, feeds)
        except BaseException as error:
            tracebacks.shorten(error)
            raise

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Continues a run: feeds more, and returns the values of `fetches`, in the same structure.

        Every operation runs at most once per handle, every feed and fetch is given once.  Raises InvalidArgumentError for
        an unknown handle, for feeds and fetches that were not announced or were given before, and for fetches that need
        a feed to come.
        """
        from .partial_run import run

        try:
            return run(self, handle, fetches, feed_dict)
        except BaseException as error:
            tracebacks.shorten(error)
            raise

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """A function of the values of `feed_list` that runs `fetches`: the cheapest way to run the same thing often."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        if any(feeding.is_expanded(key) for key in feed_list or ()):
            return functools.partial(self._run_with, fetches, feed_list)
        plan, build, convert = self._prepared(fetches, feed_list or ())
        count, mutations = len(feed_list or ()), self._graph.mutations

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            nonlocal plan, build, convert, mutations
            try:
                if self._closed:
                    raise self._refusal()
                if mutations != self._graph.mutations:
                    plan, build, convert = self._prepared(fetches, feed_list or ())
                    mutations = self._graph.mutations
                if len(values) != count:
                    raise TypeError(f"the callable takes {count} feed values, got {len(values)}")
                if options is None and run_metadata is None and not self._watched:
                    return build(_unwrapped(plan.run(convert(values))))
                return build(_unwrapped(self._execute(plan, convert(values), options, run_metadata)))
            except BaseException as error:
                tracebacks.shorten(error)
                raise

        return call

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., list[Any]]:
        """A function of the values of what a CallableOptions feeds, that gives a list of what it fetches.

        Raises UnimplementedError for tensors that it connects.
        """
        if callable_options.tensor_connection:
            raise UnimplementedError(None, None, "tensor_connection is not part of jitgraph: import the graph with "
                                                 "tf.import_graph_def(..., input_map={...}) instead")
        fetched = list(callable_options.fetch)
        run = self.make_callable([*fetched, *callable_options.target], list(callable_options.feed))
        default = callable_options.run_options if callable_options.HasField("run_options") else None

        def call(*values: Any, run_metadata: Any = None) -> list[Any]:
            return list(run(*values, options=default, run_metadata=run_metadata))[:len(fetched)]

        return call

    def _run_with(self, fetches: Any, feed_list: Any, *values: Any, options: Any = None, run_metadata: Any = None) -> Any:
        """Runs `fetches` with one value for each of `feed_list`, some of which stand for several tensors."""
        if len(values) != len(feed_list):
            raise TypeError(f"the callable takes {len(feed_list)} feed values, got {len(values)}")
        return self.run(fetches, dict(zip(feed_list, values)), options, run_metadata)

    def _prepared(self, fetches: Any, feed_list: Any) -> tuple[Plan, Build, Callable[[Iterable[Any]], list[np.ndarray]]]:
        """(plan, function that builds the result, function that converts the feeds) for values in the order of `feed_list`."""
        if self._mutations != self._graph.mutations:
            self._forget_plans()
        taken = Fetches(self._graph, fetches, self)
        tensors = feeding.tensors(self._graph, feed_list)
        return self._plan(taken.tensors, taken.targets, tensors), taken.build, feeding.converter(tensors)

    def run_step_fn(self, step_fn: Callable[[Any], Any]) -> Any:
        """Calls step_fn(step_context) with a context whose `run_with_hooks` and `session` are this session."""
        class StepContext:
            session = self
            run_with_hooks = staticmethod(self.run)

            @staticmethod
            def request_stop() -> NoReturn:
                raise StopIteration("step_fn has requested the iterations to stop.")
        return step_fn(StepContext())

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices that a graph may run on: objects with ``name`` and ``device_type``.

        There are as many CPU devices as ``ConfigProto.device_count["CPU"]`` says, one by default; they are one machine.  After them
        come the GPUs that the session sees.
        """
        return [DeviceAttributes(name, kind) for name, kind in self._placement.devices()]

    # life ------------------------------------------------------------------------------------------------------
    def as_default(self) -> DefaultSession:
        """A context manager in which this is the default session; leaving it does not close the session."""
        return default_session(self)

    def close(self) -> None:
        """Frees the session's variables and plans.  Running afterwards raises RuntimeError."""
        self._refusal = _closed_error
        if not self._closed:
            self._closed = True
            for plan in self.plans:
                plan.close()
            self._plans = {}
            self._state.close()
            SESSIONS.discard(self)

    def _abandon(self, error: Callable[[], Exception]) -> None:
        """Closes the session from outside; whoever uses it gets that error, until its owner closes it too."""
        self.close()
        self._refusal = error

    def __del__(self) -> None:
        # what a session that is dropped holds is freed at once; at the end of the interpreter modules are empty already
        if not getattr(self, "_closed", True) and BaseSession is not None:
            BaseSession.close(self)

    def _call_on_state(self, function: Callable[..., Any], *given: Any) -> Any:
        """function(state, *given), for what needs no run.  Raises RuntimeError if the session is closed."""
        if self._closed:
            raise self._refusal()
        return function(self._state, *given)

    def _register_dead_handle(self, handle: str) -> None:
        """Notes that nobody holds the handle of a value any more; the values of some handles are forgotten at a time, for
        the name of a handle may serve a little longer than the object.  Takes no lock: it runs whenever memory is freed."""
        self._dead_handles.append(handle)
        if len(self._dead_handles) >= DEAD_HANDLES:
            dead, self._dead_handles = self._dead_handles[:-1], self._dead_handles[-1:]
            forget(self._state, dead)


class Session(BaseSession):
    """A session of one graph: `with tf.Session() as sess: sess.run(...)`.  See BaseSession for the arguments."""

    def __init__(self, target: Any = "", graph: Graph | None = None, config: Any = None, jit: str | None = None,
                 compiler: str | None = None) -> None:
        super().__init__(target, graph, config, jit, compiler)
        self._entered: list[tuple[Any, Any]] = []

    def __enter__(self) -> Session:
        if self._entered:
            raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a "
                               "session multiple times.")
        contexts = (self._graph.as_default(), self.as_default())
        for context in contexts:
            context.__enter__()
        self._entered.append(contexts)
        return self

    def __exit__(self, exec_type: Any, exec_value: Any, exec_tb: Any) -> None:
        for context in reversed(self._entered.pop()):
            context.__exit__(exec_type, exec_value, exec_tb)
        self.close()

    @staticmethod
    def reset(target: Any, containers: Collection[str] | None = None, config: Any = None) -> None:
        """Ends the sessions with a target, and forgets what its servers keep: variables, queues and tables.

        Sessions of this process (target "") have theirs for themselves; using one afterwards is a CancelledError.  The
        servers of a cluster forget those in `containers`, all without it; using a session on `target` is an AbortedError.
        Raises NotFoundError or UnimplementedError for a target that there is not.
        """
        target = target.decode() if isinstance(target, bytes) else target or ""
        server = server_of(target)
        if server is not None:
            from .served import forget_kept

            forget_kept(server, containers)
            for session in [session for session in SESSIONS if session._state.server is not None]:
                session._forget_plans()
        for session in [session for session in SESSIONS if session._state.server is server]:
            session._abandon(_ended_error if server is None else _aborted_error)


class InteractiveSession(BaseSession):
    """A session that makes itself (and its graph) the default until it is closed."""

    def __init__(self, target: Any = "", graph: Graph | None = None, config: Any = None, jit: str | None = None,
                 compiler: str | None = None) -> None:
        super().__init__(target, graph, config, jit, compiler)
        self._contexts: list[Any] = [self._graph.as_default()] if graph is not None else []
        self._contexts.append(self.as_default())
        for context in self._contexts:
            context.__enter__()

    def close(self) -> None:
        super().close()
        for context in reversed(self._contexts):
            context.__exit__(None, None, None)
        self._contexts = []


SESSIONS: weakref.WeakSet[BaseSession] = weakref.WeakSet()      # those in use


def _closed_error() -> Exception:
    return RuntimeError("Attempted to use a closed Session.")


def _ended_error() -> Exception:
    return CancelledError(None, None, "Session has been closed: tf.Session.reset ends all that have no server. Make a new one.")


def _aborted_error() -> Exception:
    return AbortedError(None, None, "Session is not found: tf.Session.reset has ended those on its server. Make a new one.")


def _state(server: Server | None, config: Any, *args: Any) -> State:
    """A state of its own, or that of a session on a server."""
    if server is None:
        return State(*args)
    from .served import ServedState

    return ServedState(server, config is not None and config.isolate_session_state, *args)


def _unwrapped(values: Iterable[Any]) -> list[Any]:
    """Scalars as NumPy scalars (bytes for strings), as TensorFlow gives them."""
    return [v[()] if type(v) is np.ndarray and not v.shape else v for v in values]
