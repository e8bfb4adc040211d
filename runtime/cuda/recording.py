"""Runs that ask the host for nothing but what follows from sizes: recorded once, and repeated as a few graphs.

The host keeps the books of TensorArrays and stacks, and counts how often a loop runs.  All of that is the same in every run for
feeds of the same sizes, so its work for the device is, too: the same launches and copies at the same addresses.  Such a run is
recorded while it is done, by standing in for the driver, and what was asked for is captured: further runs launch that, whatever
the loops and TensorArrays in it.

A run cannot be repeated so whose host has looked at a value, of a feed or from the device, or has done anything that another run
may notice.  The memory that it used, and the frames of loops' bodies, belong to the recording from then on.
"""
from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jitgraph.compiler.divide import is_quiet
from jitgraph.compiler.place import HostStep
from jitgraph.runtime.frame import KernelFailure
from jitgraph.runtime.memory import address_of

from .array import DeviceArray, bring, put
from .device import Block, Device
from .driver import Function, Stream

if TYPE_CHECKING:
    from .frame import DeviceFrame
    from .machine import Machine, OwnedGraph, Pinned
    from .stretches import Part
    from .variable import DeviceVariable

RUNS = 2                # before the one that is recorded: kernels are loaded then, and variables lie where they will
TRIES = 3               # recordings of a frame, unless many runs could repeat one
MANY = 16
LONGEST = 20_000        # launches and copies of a recording
AT_ONCE = 1 << 20       # bytes of the host that a recording may keep to copy again

FIXED = frozenset(["const", "size", "host", "object"])      # kinds of slots whose values follow from sizes, in recorded runs


class Launched(NamedTuple):
    """Work for the device; afterwards the variables have their present values on these devices only."""

    graph: OwnedGraph
    changes: list[tuple[DeviceVariable, frozenset[int]]]


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


class Repeats:
    """What a frame keeps of its runs: how many there were, and a recording of one."""

    def __init__(self) -> None:
        self.runs = self.tries = self.repeated = 0
        self.record: Record | None = None

    @staticmethod
    def of(frame: DeviceFrame) -> Repeats | None:
        """None for a frame whose runs cannot be repeated, or are graphs as they are, because nothing is asked of the host."""
        compiled, layout = frame.binding.compiled, frame.binding.layout
        hosts = [step for step in layout.steps if isinstance(step, HostStep)]
        fetched = [layout.slots[where].kind for _, where in compiled.readers]
        if frame.resident or len(frame.devices) > 1 or not hosts or compiled.program.rest or compiled.kept or "object" in fetched:
            return None
        native = any(isinstance(step, tuple) for step in layout.steps)
        return None if native or not all(map(_repeats, hosts)) else Repeats()

    def run(self, frame: DeviceFrame) -> None:
        """Does what follows the feeds of a run."""
        state, machine = frame.binding.state, frame.machine
        with state.lock, machine.lock:
            record = self.record
            if record is not None and record.fits(frame) and record is self.record:     # not given up for what it brought
                self.repeated += 1
                if not record.repeat(frame):
                    frame.do(None)              # a kernel of a body failed: its operation says how
                return
            self._forget()
        self.runs += 1
        if self.runs <= RUNS or self.tries >= TRIES:
            return frame.do(None)
        self.tries, self.repeated = self.tries + 1, 0
        with state.lock, machine.lock:
            recording = Recording(frame)
            with recording.standing_in():
                frame.do(None)
            self.record = recording.made()
            if self.record is not None:
                machine.repeats.add(self)

    def _forget(self) -> None:
        if self.record is not None:
            self.drop()
            self.runs = 0
            if self.repeated >= MANY:
                self.tries = 0

    def drop(self) -> None:
        """Gives back the memory of the recording."""
        record, self.record = self.record, None
        if record is not None:
            record.end()


def _repeats(step: HostStep) -> bool:
    """Whether a step gives the same for the same inputs, and does nothing else."""
    call, op = step.node.attrs["call"], step.node.op
    if call != "op" or op is None or op.opdef is None or "refs" in step.node.attrs:
        return bool(call == "array")
    return is_quiet(op) if step.call is not None else op.opdef.repeats


class Recording:
    """Stands in for the driver while a run is recorded: asks it for all, and notes what is asked.  Under the machine's lock.

    `void`: why the run cannot be repeated, if it cannot.
    """

    def __init__(self, frame: DeviceFrame) -> None:
        self.frame, self.machine, self.driver = frame, frame.machine, frame.machine.driver
        self.device, self.void, self.noting = frame.devices[0], "", True
        self.moves = self.machine.moves
        self.actions: list[Any] = []            # Checked, Fed, Taken, and the _Work of a graph
        self.work: list[tuple[str, tuple[Any, ...]] | None] = []        # calls of the driver, since the last action
        self.changes: list[tuple[DeviceVariable, frozenset[int]]] = []
        self.frames: dict[DeviceFrame, None] = {}
        self.blocks: list[tuple[weakref.ref[Block], int, int]] = []     # with address and size
        self.variables: dict[DeviceVariable, int] = {}                  # address of each that was used
        self.unchecked: list[Checked] = []
        self.cleared: set[int] = set()          # words of errors, since they were looked at
        self.mail: dict[tuple[int, int], int] = {}      # (to, from) of copies to a letter box -> the last of them in `work`
        self.kept = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    @contextlib.contextmanager
    def standing_in(self) -> Iterator[None]:
        """Within it, this is the machine's driver."""
        machine = self.machine
        machine.recording = machine.driver = self       # type: ignore[assignment]
        for device in machine.devices:
            device.driver, device.recording = self, self        # type: ignore[assignment]
        try:
            yield
        finally:
            machine.recording, machine.driver = None, self.driver
            for device in machine.devices:
                device.driver, device.recording = self.driver, None

    # what is asked of the driver -----------------------------------------------------------------------------------------
    def _note(self, name: str, *given: Any) -> None:
        if self.noting and not self.void:
            self.work.append((name, given))
            if len(self.work) > LONGEST:
                self.void = "it is too long"

    def launch(self, function: Function, blocks: int, threads: int, pointers: Sequence[int], nbytes: Sequence[int], stream: Stream,
               reached: Sequence[tuple[int, int]] = ()) -> None:
        self.driver.launch(function, blocks, threads, pointers, nbytes, stream, reached)
        self._note("launch", function, blocks, threads, [*pointers], [*nbytes], stream, [*reached])

    def ask(self, work: Any, given: Sequence[Any], stream: Stream) -> None:
        self.driver.ask(work, given, stream)
        self._note("ask", work, given, stream)

    def on_device(self, to: int, start: int, nbytes: int, stream: Stream) -> None:
        self.driver.on_device(to, start, nbytes, stream)
        self._note("on_device", to, start, nbytes, stream)

    def fill(self, address: int, byte: int, nbytes: int, stream: Stream) -> None:
        """Words of errors are cleared once before they are looked at: a body of a loop has them for all its iterations."""
        self.driver.fill(address, byte, nbytes, stream)
        if address not in self.cleared:
            self.cleared.add(address)
            self._note("fill", address, byte, nbytes, stream)

    def to_device(self, address: int, array: np.ndarray, stream: Stream) -> None:
        """The letter box of the run is copied as it is then, all else as it is now."""
        self.driver.to_device(address, array, stream)
        if self.noting and not _lies_in(array, self.frame.box):
            array = np.array(array)
            self.kept += array.nbytes
            if self.kept > AT_ONCE:
                self.void = "it takes much from the host"
        self._note("to_device", address, array, stream)

    def to_host(self, array: np.ndarray, address: int, stream: Stream) -> None:
        """The letter box of any frame gets the words of errors, that of the run its results; only the last copy counts."""
        self.driver.to_host(array, address, stream)
        if self.void or not self.noting:
            return
        if not any(_lies_in(array, frame.box) for frame in (self.frame, *self.frames)):
            self.void = "the host looks at a value of the device"
            return
        key = address_of(array), address
        if key in self.mail:
            self.work[self.mail[key]] = None
        self.mail[key] = len(self.work)
        self._note("to_host", array, address, stream)

    def between(self, *given: Any) -> None:
        self.driver.between(*given)
        if self.noting:
            self.void = self.void or "it copies between devices"

    def launch_graph(self, *given: Any) -> None:
        self.driver.launch_graph(*given)
        self.void = self.void or "it launches a graph"

    # what frames tell ------------------------------------------------------------------------------------------------------
    def taken(self, block: Block) -> None:
        """A block of memory was taken."""
        self.blocks.append((weakref.ref(block), block.address, block.nbytes))

    def runs(self, frame: DeviceFrame) -> None:
        """A frame is run."""
        if frame is not self.frame:
            self.frames[frame] = None
            if any(isinstance(step, tuple) for step in frame.binding.layout.steps) or len(frame.devices) > 1:
                self.void = self.void or "a body has kernels of the host, or of several devices"
            if any(stretch.answers for stretch in frame.schedule.stretches):
                self.void = self.void or "the host looks at a number of the device"

    def does(self, step: HostStep) -> None:
        """A step of the host is done."""
        if not _repeats(step):
            self.void = self.void or f"{step.node.op and step.node.op.type} may give something else another time"

    def is_fed(self, frame: DeviceFrame, slot: int) -> bool:
        """Whether a slot holds what differs from run to run: a feed of the run, not one of a body."""
        return frame is self.frame and frame.binding.layout.slots[slot].kind == "feed"

    def reads(self, frame: DeviceFrame, step: HostStep, slot: int) -> None:
        """A step of the host may look at the value of a slot."""
        if self.is_fed(frame, slot) or frame.binding.layout.slots[slot].kind not in (*FIXED, "feed"):
            self.void = self.void or f"{step.node.op and step.node.op.type} takes a value on the host"

    def uses(self, variable: DeviceVariable, device: Device, address: int) -> None:
        """A variable's present value is used on a device."""
        if self.variables.setdefault(variable, address) != address or device is not self.device:
            self.void = self.void or "a variable lies at several addresses"

    def changing(self, frame: DeviceFrame) -> None:
        """A part follows that changes variables: what may fail before it is looked at first."""
        if frame is not self.frame:
            self.void = self.void or "a body changes a variable"
        self._check()

    def changed(self, variable: DeviceVariable, ordinals: Iterable[int]) -> None:
        """Work was asked for after which these devices have a variable's value."""
        self.changes.append((variable, frozenset(ordinals)))

    def may_fail(self, frame: DeviceFrame, part: Part) -> None:
        """A part was asked for whose kernels may fail."""
        self.unchecked.append(Checked(None if frame is self.frame else frame, part))
        if frame is not self.frame and any(isinstance(action, _Work) and action.changes for action in self.actions):
            self.void = self.void or "a body may fail after a variable was changed"

    def brought(self, frame: DeviceFrame, slot: int, d: int) -> DeviceArray:
        """A feed of the run on a device, for a step of the host that hands it on."""
        array = frame.arrays[slot]
        if _lies_in(array, frame.box):
            return put(array, self.device)
        found = DeviceArray(self.device.take(array.nbytes), array.shape, array.dtype)
        self.copies(frame, Fed(slot, d, found.address))
        return found

    def copies(self, frame: DeviceFrame, copy: Fed | Taken) -> bool:
        """Copies a feed or a result of the run, from or to memory that differs from run to run; whether it is one."""
        if frame is not self.frame or isinstance(copy, Fed) and not self.is_fed(frame, copy.slot):
            return False
        self._cut()
        self.actions.append(copy)
        self.noting = False
        _copy(frame, copy)
        self.noting = True
        return True

    def _cut(self) -> None:
        if self.work or self.changes:
            self.actions.append(_Work([*filter(None, self.work)], self.changes))
        self.work, self.changes, self.mail = [], [], {}

    def _check(self) -> None:
        self._cut()
        self.actions += dict.fromkeys(self.unchecked)       # of a body, once
        self.unchecked = []
        self.cleared.clear()

    # what comes of it ------------------------------------------------------------------------------------------------------
    def made(self) -> Record | None:
        """The recording of a run that is over, None if that cannot be repeated."""
        self._check()
        if self.void or self.machine.moves != self.moves:
            return None
        blocks = self._blocks()
        if blocks is None or not _claimed(self.frames):
            return None
        record = Record(self, blocks)
        try:
            record.capture(self)
        except BaseException:
            record.end()
            raise
        return record

    def _blocks(self) -> list[Block] | None:
        """The memory that was used, so that nobody else gets it; None if some of it is gone."""
        alive = {block.address: block for reference, _, _ in self.blocks if (block := reference()) is not None}
        found = [*alive.values()]
        for address, size in {(address, size): None for _, address, size in self.blocks}:
            if address not in alive:
                block = self.device.claim(address, size)
                if block is None:
                    return None
                found.append(block)
        return found


class _Work(NamedTuple):
    calls: list[tuple[str, tuple[Any, ...]]]
    changes: list[tuple[DeviceVariable, frozenset[int]]]


class Record:
    """A run to repeat: `actions` in order, and what they need."""

    def __init__(self, recording: Recording, blocks: list[Block]) -> None:
        frame = recording.frame
        self.blocks, self.frames, self.variables = blocks, [*recording.frames], recording.variables
        self.generation, self.moves = frame.binding.state.generation, recording.moves
        self.arrays = {k: _apart(frame.arrays[k]) for k in frame.of_host}
        self.answers = any(stretch.answers for stretch in frame.schedule.stretches)
        self.actions: list[Launched | Checked | Fed | Taken] = []
        self.pinned: Pinned | None = None

    def capture(self, recording: Recording) -> None:
        """Makes graphs of the work, which take what they copy from the host from pinned memory."""
        machine, stream, box = recording.machine, recording.device.stream, recording.frame.box
        copied = [given[1] for action in recording.actions if isinstance(action, _Work) for name, given in action.calls
                  if name == "to_device" and not _lies_in(given[1], box)]
        self.pinned = machine.pinned(sum(array.nbytes for array in copied))
        at = 0
        places: dict[int, np.ndarray] = {}
        for array in copied:
            places[id(array)] = self.pinned.array[at:at + array.nbytes]
            places[id(array)][...] = np.frombuffer(array.tobytes(), np.uint8)
            at += array.nbytes
        for action in recording.actions:
            if isinstance(action, _Work):
                calls = [(name, (given[0], places.get(id(given[1]), given[1]), given[2])) if name == "to_device" else (name, given)
                         for name, given in action.calls]
                action = Launched(machine.captured(stream, lambda calls=calls: _ask(machine, calls)), action.changes)
            self.actions.append(action)

    def fits(self, frame: DeviceFrame) -> bool:
        """Whether all variables lie where they did.  Those that do not are brought, if they can be."""
        machine, state = frame.machine, frame.binding.state
        if self.generation != state.generation:
            return False
        if self.moves != machine.moves:
            if any(variable.on(frame.devices[0]) != address for variable, address in self.variables.items()):
                return False
            self.moves = -1
        return True

    def repeat(self, frame: DeviceFrame) -> bool:
        """Does it again; False, with no variable changed, if a body's kernel has failed.  Raises KernelFailure."""
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
                except KernelFailure:
                    if action.frame is None:
                        raise
                    return False
            else:
                _copy(frame, action)
        self.moves = frame.machine.moves
        for k, array in self.arrays.items():
            frame.arrays[k] = _apart(array)
        if self.answers:
            frame.settle()
        return True

    def end(self) -> None:
        """Gives the frames back to whoever runs the bodies."""
        for frame in self.frames:
            frame.binding.give_frame(frame)
        self.frames = []


def _claimed(frames: Iterable[DeviceFrame]) -> bool:
    """Takes frames that nobody uses away from the bodies that they are of; False, and none is, where somebody does."""
    found: list[DeviceFrame] = []
    for frame in frames:
        try:
            frame.binding.frames.remove(frame)
        except ValueError:
            for other in found:
                other.binding.frames.append(other)
            return False
        found.append(frame)
    return True


def _ask(machine: Machine, calls: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
    for name, given in calls:
        getattr(machine.driver, name)(*given)


def _copy(frame: DeviceFrame, copy: Fed | Taken) -> None:
    """Copies a feed to the device, or a result from it."""
    array, device = frame.arrays[copy.slot], frame.devices[copy.d]
    if isinstance(copy, Taken):
        device.download(array, copy.place)
    elif array.nbytes:
        bring(array, device, copy.place)


def _apart(value: Any) -> Any:
    """A value in memory that the caller may write to, unless it lies on a device."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _lies_in(array: Any, block: np.ndarray) -> bool:
    """Whether an array lies in the memory of a block."""
    if not isinstance(array, np.ndarray):
        return False
    at = address_of(array) - address_of(block)
    return at >= 0 and at + array.nbytes <= block.nbytes and block.nbytes > 0
