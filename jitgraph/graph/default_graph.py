"""``tf.get_default_graph``: the graph that new operations join."""
from __future__ import annotations

from jitgraph.graph.graph import Graph
from jitgraph.graph.stack import local


def get_default_graph() -> Graph:
    """The graph that new operations join: this thread's innermost ``graph.as_default()``, or a graph of its own.

    A new thread does not see the default graph of the thread that started it: enter ``with graph.as_default()`` there.
    """
    graphs = local.graphs
    if graphs:
        return graphs[-1]
    graph = local.outermost
    if graph is None:
        graph = local.outermost = Graph()
    return graph


def reset_default_graph() -> None:
    """Makes a new, empty default graph for this thread.  Raises AssertionError inside a ``with graph.as_default()`` block."""
    if local.graphs:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    local.outermost = None


def leave_graphs() -> None:
    """Leaves each ``with graph.as_default()`` block of this thread, as if there were none: a test that failed may have left one
    open, and pytest's fixtures open one around a whole test."""
    local.graphs.clear()
