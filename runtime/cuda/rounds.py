"""The kernels of one frame asked for as often as a table has rows, each time with the addresses of a row."""
from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from jitgraph.compiler.place import DeviceStep

from .stretches import WORD

if TYPE_CHECKING:
    from .device import Block
    from .frame import DeviceFrame
    from .machine import OwnedGraph

GRAPHS = 8              # of different addresses that a frame keeps
Addresses = dict[tuple[int, int], int]          # (slot, device) -> address


class Kept(NamedTuple):
    """What was captured: the graph, and the tables of its launches that find their buffers in one."""

    graph: OwnedGraph
    tables: list[Block]


class Rounds:
    """`frame`: of a program whose steps are kernels of one device."""

    def __init__(self, frame: DeviceFrame) -> None:
        self.frame = frame
        self.steps = [step for step in frame.binding.layout.steps if isinstance(step, DeviceStep)]
        self.variables = list(dict.fromkeys((slot, step.device) for step in self.steps for slot in step.slots
                                            if frame.binding.layout.slots[slot].kind == "variable"))
        self.graphs: OrderedDict[tuple[bytes, ...], Kept | None] = OrderedDict()       # None: asked for once, by single launches

    def run(self, slots: list[int], table: np.ndarray) -> None:
        """Asks for the kernels, once for each row of `table` [rounds, slots], in which these slots lie at its addresses.  The
        caller has the locks of the frame's variables and of its machine."""
        frame = self.frame
        if self.variables and frame.generation != frame.binding.state.generation:
            frame._find_variables()
        fixed = {(slot, d): frame.of_slot[slot].on(frame.devices[d]) for slot, d in self.variables}
        key = table.tobytes(), np.array([*fixed.values()], np.int64).tobytes()
        frame.pending = True
        if frame.machine.recording is not None:
            frame.machine.recording.runs(frame)
            return self._enqueue(slots, table, fixed, self._tables(slots, table, fixed))
        if key not in self.graphs:
            self.graphs[key] = None
            while len(self.graphs) > GRAPHS:
                self.graphs.popitem(last=False)
            return self._enqueue(slots, table, fixed, self._tables(slots, table, fixed))
        self.graphs.move_to_end(key)
        kept = self.graphs[key]
        if kept is None:
            kept = self.graphs[key] = self._captured(slots, table, fixed)
        frame.machine.driver.launch_graph(kept.graph.made, frame.devices[self.steps[0].device].stream)

    def _captured(self, slots: list[int], table: np.ndarray, fixed: Addresses) -> Kept:
        frame = self.frame
        tables, stream = self._tables(slots, table, fixed), frame.devices[self.steps[0].device].stream
        graph = frame.machine.captured(stream, lambda: self._enqueue(slots, table, fixed, tables))
        return Kept(graph, list(tables.values()))

    def _tables(self, slots: list[int], table: np.ndarray, fixed: Addresses) -> dict[DeviceStep, Block]:
        """The tables of launches that find their buffers in one, a copy for each round."""
        found: dict[DeviceStep, Block] = {}
        for step in self.steps:
            bound = self.frame.binding.launches[step]
            if bound.addresses:
                device = self.frame.devices[step.device]
                words = np.tile(np.array(bound.words, np.int64), (len(table), 1))
                for row, places in zip(words, table.tolist()):
                    row[list(bound.addresses)] = self.frame.places.buffers(step, self._in_round(step, slots, places, fixed))
                block = found[step] = device.take(words.nbytes)
                device.upload(block.address, words.reshape(-1))
        return found

    def _enqueue(self, slots: list[int], table: np.ndarray, fixed: Addresses, tables: dict[DeviceStep, Block]) -> None:
        launches = self.frame.binding.launches
        for number, places in enumerate(table.tolist()):
            for step in self.steps:
                words = tables[step].address + number * WORD * len(launches[step].words) if step in tables else None
                self.frame.places.launch(step, self._in_round(step, slots, places, fixed), words)

    def _in_round(self, step: DeviceStep, slots: list[int], places: list[int], fixed: Addresses) -> Addresses:
        return {**fixed, **{(slot, step.device): at for slot, at in zip(slots, places)}}
