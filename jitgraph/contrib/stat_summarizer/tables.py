"""Tables of what the nodes of a graph took in runs with tracing."""
from __future__ import annotations

from typing import Any, NamedTuple

from jitgraph.protobuf.messages import GraphDef, StepStats

_HEAD = ("[node type]", "[start]", "[first]", "[avg ms]", "[%]", "[cdf%]", "[times called]", "[Name]")
_WIDTHS = (24, 17, 9, 9, 8, 8, 9)
_MOST = 10      # rows of the tables that are not of all nodes


class _Node(NamedTuple):
    """What is known of a node: when it first began and what it took then, in milliseconds; all its times together, and how many."""

    name: str
    kind: str
    start: float
    first: float
    total: float = 0.0
    times: int = 0


class StatSummarizer:
    """Adds up the StepStats of runs of a graph, which is given as a serialized GraphDef."""

    def __init__(self, *args: bytes):
        """Raises TypeError for anything but bytes."""
        graph_def, = args
        if not isinstance(graph_def, bytes):
            raise TypeError(f"expected bytes, {type(graph_def).__name__} found")
        self._kinds = {node.name: node.op for node in GraphDef.FromString(graph_def).node}
        self._nodes: dict[str, _Node] = {}

    def ProcessStepStats(self, step_stats: Any) -> None:
        """Adds the StepStats of a run."""
        entries = [entry for device in step_stats.dev_stats for entry in device.node_stats]
        begin = min((entry.all_start_micros for entry in entries), default=0)
        for entry in entries:
            spent = (entry.op_end_rel_micros - entry.op_start_rel_micros) / 1000
            new = _Node(entry.node_name, self._kinds.get(entry.node_name, "<>"), (entry.all_start_micros - begin) / 1000, spent)
            node = self._nodes.get(entry.node_name, new)
            self._nodes[entry.node_name] = node._replace(total=node.total + spent, times=node.times + 1)

    def ProcessStepStatsStr(self, step_stats_str: bytes) -> None:
        """Adds the serialized StepStats of a run."""
        self.ProcessStepStats(StepStats.FromString(step_stats_str))

    def GetOutputString(self) -> str:
        """The nodes in the order of their runs, the longest ones, and the types of nodes."""
        nodes = sorted(self._nodes.values(), key=lambda node: node.start)
        longest = sorted(nodes, key=lambda node: -node.total)[:_MOST]
        return "\n".join([*self._table("Run Order", nodes), *self._table("Top by Computation Time", longest),
                          *self._types(nodes)]) + "\n"

    def PrintStepStats(self) -> None:
        """Prints what ``GetOutputString`` gives."""
        print(self.GetOutputString())

    def _table(self, title: str, nodes: list[_Node]) -> list[str]:
        whole = sum(node.total for node in self._nodes.values()) or 1.0
        lines, sofar = [_title(title), _line(_HEAD)], 0.0
        for node in nodes:
            share = 100 * node.total / whole
            sofar += share
            numbers = f"{node.start:.3f}", f"{node.first:.3f}", f"{node.total / node.times:.3f}", f"{share:.3f}%", f"{sofar:.3f}%"
            lines.append(_line((node.kind, *numbers, str(node.times), node.name)))
        return [*lines, ""]

    def _types(self, nodes: list[_Node]) -> list[str]:
        found: dict[str, tuple[int, float]] = {}
        for node in nodes:
            count, total = found.get(node.kind, (0, 0.0))
            found[node.kind] = count + 1, total + node.total
        lines = [_title("Summary by node type"), f"\t{'[Node type]':>24}\t{'[count]':>9}\t{'[total ms]':>10}"]
        return [*lines, *(f"\t{kind:>24}\t{count:>9}\t{total:>10.3f}" for kind, (count, total) in
                          sorted(found.items(), key=lambda one: -one[1][1]))]


def _title(text: str) -> str:
    return f"{'=' * 30} {text} {'=' * 30}"


def _line(cells: tuple) -> str:
    return "".join(f"\t{cell:>{width}}" for cell, width in zip(cells, _WIDTHS)) + f"\t{cells[-1]}"


def NewStatSummarizer(unused: bytes) -> StatSummarizer:
    """A StatSummarizer of a serialized GraphDef.  Raises TypeError for anything but bytes."""
    return StatSummarizer(unused)


def DeleteStatSummarizer(ss: StatSummarizer) -> None:
    """Forgets what it has added up."""
    ss._nodes.clear()
