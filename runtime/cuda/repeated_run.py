"""A run that was recorded, and is done again: graphs, and between them what must be looked at, or copied elsewhere, each time."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jitgraph.runtime.frame import KernelFailure

from .array import bring
from .tape import Call, ask_again

if TYPE_CHECKING:
    from .device import Block
    from .frame import DeviceFrame
    from .machine import OwnedGraph
    from .recording import Recording
    from .stretches import Part
    from .variable import DeviceVariable

Changes = list[tuple["DeviceVariable", frozenset[int]]]         # variables, and the devices that have their values afterwards


class Work(NamedTuple):
    """What was asked of the driver."""

    calls: list[Call]
    changes: Changes


class Launched(NamedTuple):
    """Work as a graph."""

    graph: OwnedGraph
    changes: Changes


class Checked(NamedTuple):
    """A look at what kernels of a part say that may fail; `frame`: None for the one whose run it is."""

    frame: DeviceFrame | None
    part: Part


class Fed(NamedTuple):
    """A copy of a feed to an address on a device."""

    slot: int
    d: int
    place: int


class Taken(NamedTuple):
    """A copy of a result from an address on a device."""

    slot: int
    d: int
    place: int


class BodyFailed(Exception):
    """A kernel of a body has failed."""


class Seen(NamedTuple):
    """A look of the host at a few numbers: a feed, or what the device has computed."""

    slot: int
    value: np.ndarray
    held: np.ndarray | None = None      # where they are copied to by the device; None: they are the frame's

    def now(self, frame: DeviceFrame) -> np.ndarray:
        """What they are in a run."""
        return np.array(frame.arrays[self.slot] if self.held is None else self.held)

    def holds(self, array: np.ndarray) -> bool:
        """Whether they are the same again."""
        return bool(np.array_equal(array, self.value, equal_nan=self.value.dtype.kind in "fc"))


class RepeatedRun:
    """A run to repeat: `actions` in order, and what they need."""

    def __init__(self, recording: Recording, blocks: list[Block]) -> None:
        frame = recording.frame
        self.blocks, self.frames, self.variables = blocks, [*recording.frames], recording.variables
        self.generation, self.moves = frame.binding.state.generation, recording.moves
        results = {where for _, where in frame.readers}
        self.draws = recording.drawn
        self.arrays = {k: _apart(frame.arrays[k]) for k in frame.of_host if k in results}
        self.answers = any(stretch.answers for stretch in frame.schedule.stretches)
        self.actions: list[Launched | Checked | Fed | Taken | Seen] = []
        self.fed = [*recording.fed.values()]
        self.seen = recording.seen
        self.last = 0           # number of the run that it served last
        self.pinned = recording.pinned

    def capture(self, recording: Recording) -> None:
        """Makes graphs of the work, which take what they copy from the host from pinned memory."""
        machine, stream = recording.machine, recording.device.stream
        copied = [given[1] for action in recording.actions if isinstance(action, Work) for name, given in action.calls
                  if name == "to_device" and not recording.tape.is_renewed(given[1])]
        memory = machine.pinned(sum(array.nbytes for array in copied))
        self.pinned.append(memory)
        places: dict[int, np.ndarray] = {}
        at = 0
        for array in copied:
            place = places[id(array)] = memory.array[at:at + array.nbytes]
            place[...] = np.frombuffer(array.tobytes(), np.uint8)
            at += array.nbytes
        for action in recording.actions:
            if not isinstance(action, Work):
                self.actions.append(action)
            else:
                calls = [(name, (given[0], places.get(id(given[1]), given[1]), given[2])) if name == "to_device" else (name, given)
                         for name, given in action.calls]
                graph = machine.captured(stream, lambda calls=calls: ask_again(machine.driver, calls))     # type: ignore[misc]
                self.actions.append(Launched(graph, action.changes))

    def fits(self, frame: DeviceFrame) -> bool:
        """Whether all variables lie where they did.  Those that do not are brought, if they can be."""
        machine, state = frame.machine, frame.binding.state
        if self.generation != state.generation:
            return False
        if self.moves != machine.moves:
            if any(variable.array is None or variable.on(frame.devices[0]) != address
                   for variable, address in self.variables.items()):
                return False
            self.moves = -1
        return True

    def may_be(self, frame: DeviceFrame, looked: dict[int, np.ndarray]) -> bool:
        """Whether a run is the same by what was fed, and by numbers that have been `looked` at, by slot."""
        return all(seen.holds(seen.now(frame)) for seen in self.fed) and all(
            self.seen[slot].holds(numbers) for slot, numbers in looked.items() if slot in self.seen)

    def repeat(self, frame: DeviceFrame) -> Seen | None:
        """Does it again.  Returns the numbers that are not what they were; no variable was changed up to there.  Else None.

        Raises KernelFailure, and BodyFailed, where no variable was changed.
        """
        before = self._draw(frame)
        try:
            differs = self._do(frame)
        except BodyFailed:
            self._give_back(before)
            raise
        if differs is not None:
            self._give_back(before)
        return differs

    def _draw(self, frame: DeviceFrame) -> list[int]:
        """Reserves the run's random numbers; where each stream was before."""
        if not self.draws:
            return []
        frame.settle()          # what an earlier run has left under way may read them
        before = [draws.stream.blocks for draws in self.draws]
        for draws in self.draws:
            assert draws.held is not None
            draws.held[...] = draws.made()
        return before

    def _give_back(self, before: list[int]) -> None:
        """Lets the run that is done instead reserve the same ones."""
        for draws, blocks in zip(self.draws, before):
            draws.stream.blocks = min(blocks, draws.stream.blocks)

    def _do(self, frame: DeviceFrame) -> Seen | None:
        device, same = frame.devices[0], self.moves == frame.machine.moves
        for action in self.actions:
            if isinstance(action, Launched):
                frame.pending = True
                for variable, ordinals in () if same else action.changes:
                    variable.changed(ordinals)
                frame.machine.driver.launch_graph(action.graph.made, device.stream)
            elif isinstance(action, Checked):
                frame.settle()
                try:
                    (action.frame or frame).look(action.part)
                except KernelFailure as failure:
                    raise BodyFailed if action.frame is not None else failure from None
            elif isinstance(action, Seen):
                frame.settle()
                if not action.holds(action.now(frame)):
                    return action
            else:
                frame.pending = True
                copy(frame, action)
        self.moves = frame.machine.moves
        for k, array in self.arrays.items():
            frame.arrays[k] = _apart(array)
        if self.answers:
            frame.settle()
        return None

    def end(self) -> None:
        """Gives the frames back to whoever runs the bodies."""
        for frame in self.frames:
            frame.binding.give_frame(frame)
        self.frames = []


def copy(frame: DeviceFrame, copied: Fed | Taken) -> None:
    """Copies a feed to the device, or a result from it."""
    array, device = frame.arrays[copied.slot], frame.devices[copied.d]
    if isinstance(copied, Taken):
        device.download(array, copied.place)
    elif array.nbytes:
        bring(array, device, copied.place)


def _apart(value: Any) -> Any:
    """A value in memory that the caller may write to, unless it lies on a device."""
    return value.copy() if isinstance(value, np.ndarray) else value
