"""The graphs and sessions that each thread has entered by ``as_default``."""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from jitgraph import tracebacks

if TYPE_CHECKING:
    from jitgraph.graph.graph import Graph


class _ThreadStack(threading.local):
    """Per thread, the objects entered by ``as_default`` (innermost last) and the graph for when there are none."""

    def __init__(self) -> None:
        self.graphs: list[Any] = []
        self.sessions: list[Any] = []
        self.outermost: Graph | None = None     # made when first asked for


local = _ThreadStack()
tracebacks.install()
tracebacks.install_in_threads()


class DefaultGraph:
    """The context manager of ``Graph.as_default``.

    `enforce_nesting` is what programs set to False before they enter by hand, as TensorFlow's InteractiveSession does;
    nothing reads it: contexts may be left in any order.
    """

    __slots__ = ("_graph", "enforce_nesting")

    def __init__(self, graph: Graph):
        self._graph = graph
        self.enforce_nesting = True

    def __enter__(self) -> Graph:
        local.graphs.append(self._graph)
        return self._graph

    def __exit__(self, *exc: Any) -> None:
        _leave(local.graphs, self._graph)


class DefaultSession:
    """The context manager of ``Session.as_default``; `enforce_nesting` as above."""

    __slots__ = ("_session", "enforce_nesting")

    def __init__(self, session: Any):
        self._session = session
        self.enforce_nesting = True

    def __enter__(self) -> Any:
        local.sessions.append(self._session)
        return self._session

    def __exit__(self, *exc: Any) -> None:
        _leave(local.sessions, self._session)


def _leave(stack: list, item: Any) -> None:
    """Takes the innermost `item` out: sessions may be closed out of order (``InteractiveSession``)."""
    for index in range(len(stack) - 1, -1, -1):
        if stack[index] is item:
            del stack[index]
            return


def default_session(session: Any) -> DefaultSession:
    """A context in which ``tf.get_default_session()`` is `session`."""
    return DefaultSession(session)


def get_default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return local.sessions[-1] if local.sessions else None


def session_for(graph: Graph, session: Any, verb: str, what: str) -> Any:
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(f"Cannot {verb} {what}: No default session is registered. Use `with sess.as_default()` or "
                             f"pass an explicit session to `{verb}(session=sess)`")
        if session.graph is not graph:
            raise ValueError(f"Cannot use the default session to {verb} {what}: the {what}'s graph is different from "
                             "the session's graph. Pass an explicit session to " f"`{verb}(session=sess)`.")
    elif session.graph is not graph:
        raise ValueError(f"Cannot use the given session to {verb} {what}: the {what}'s graph is different from the "
                         "session's graph.")
    return session


def evaluate(tensor: Any, feed_dict: Any, session: Any) -> Any:
    """``tensor.eval()``: see ``Tensor.eval``."""
    return session_for(tensor.graph, session, "eval", "tensor").run(tensor, feed_dict)


def run_operation(op: Any, feed_dict: Any, session: Any) -> None:
    """``op.run()``: see ``Operation.run``."""
    session_for(op.graph, session, "run", "operation").run(op, feed_dict)
