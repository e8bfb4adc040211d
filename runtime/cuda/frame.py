"""One run of a program whose kernels are a device's: the memory of the run there, and the run itself.

The first run asks for every launch by itself; the second makes a graph of each part of it (`stretches.Part`), which all further
ones launch.  Addresses stay what they are for as long as the frame lives; only a variable's buffer may move, for which the
graphs are made again.
"""
from __future__ import annotations

import contextlib
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.divide import KNOWN_LIMIT
from jitgraph.compiler.place import DeviceStep, HostStep
from jitgraph.compiler.targets import HOST
from jitgraph.runtime import watch
from jitgraph.runtime.frame import FED, SMALL, Block, Frame, KernelFailure, Output
from jitgraph.runtime.memory import Elsewhere, ResultPool, address_of
from jitgraph.runtime.views import View

from .array import DeviceArray, all_on_host, bring, put, staying
from .places import Places
from .repeated_run import Fed, Taken
from .repeats import Repeats
from .rounds import Rounds
from .stretches import WORD, Part, Schedule, Stretch

if TYPE_CHECKING:
    from jitgraph.runtime.binding import Binding
    from jitgraph.runtime.hostcall import HostCall
    from jitgraph.runtime.variable import Variable

    from .device import Device
    from .machine import Machine, OwnedGraph
    from .variable import DeviceVariable

NOTHING: contextlib.nullcontext[None] = contextlib.nullcontext()
MAILED = 1 << 20        # bytes up to which a feed goes by pinned memory; of larger ones the driver copies a part while it sends one


class Ready:
    """A part with the addresses of a frame; `graph` from the second run on, for variables that lie at `addresses`."""

    def __init__(self, part: Part) -> None:
        self.part, self.runs = part, 0
        self.graph: OwnedGraph | None = None
        self.addresses: tuple[int, ...] | None = None


class DeviceFrame(Frame):
    """The memory of one run at a time: on the host as `Frame` has it, and on each device an arena and a letter box."""

    machine: Machine

    def __init__(self, binding: Binding, resident: bool = False) -> None:
        assert binding.state.machine is not None
        self.machine = binding.state.machine
        ordinals = binding.compiled.program.target.ordinals
        self.devices: list[Device] = [self.machine.devices[k] for k in ordinals]
        if binding.schedule is None:
            binding.schedule = Schedule(binding, resident)
        self.schedule: Schedule = binding.schedule
        self.resident = resident        # whether feeds may lie on devices, and results stay there
        self.lain: dict[tuple[int, int], Any] = {}      # (slot, device) -> the fed DeviceArray that was copied there last, weakly
        self.rounds: Rounds | None = None           # of a loop's body, many iterations of which were asked for in a row
        self.pending = False            # whether something may be under way that a run has not waited for
        # of a stretch that ran and moved nothing: `machine.moves`, and the addresses of its variables, which are those of the next
        # run, too, as long as nothing else moves
        self.lay: dict[Stretch, tuple[int, dict[tuple[int, int], int]]] = {}
        with self.machine.lock:
            super().__init__(binding)
            self.places = Places(binding, self.schedule, self.devices, self.arrays)
        slots = binding.layout.slots            # of a result that is fed, `where` is the number of the feed
        self.readers = [("variable" if kind not in FED and slots[where].kind == "variable" else kind, where)
                        for kind, where in self.readers]
        self.of_slot: dict[int, DeviceVariable] = dict(self.variables)          # type: ignore[arg-type]
        self.native = {row: self._native_variables(row, count) for row, count in
                       (stretch[:2] for stretch, block in self.steps if block is not None)}
        self.drawn: list[Any] = []          # the draws, as `Frame` has steps
        self.order = self._ordered()
        self.asks_host = any(block is None and not isinstance(stretch, Stretch) for stretch, block in self.order)
        # devices that may have work of a run: steps of the host may hand anything to any
        self.working = self.devices if self.asks_host else [self.devices[d] for d in self.schedule.devices]
        self.of_host = [k for stretch, block in self.order if block is None and not isinstance(stretch, Stretch)
                        for k in stretch[0].outputs]
        self.holds = self.holds or bool(self.of_host)
        self.repeats = Repeats.of(self) if binding.compiled.program.options.uses("repeated_runs") else None
        # whether a run may begin only when the one before is done, as it overwrites what that reads
        self.mailed = bool(self.small_feeds or self.drawn)

    # memory ----------------------------------------------------------------------------------------------------------
    def _feeds_and_outputs(self) -> None:
        compiled, schedule = self.binding.compiled, self.schedule
        dtypes = {k: dtype for _, k, dtype, _ in compiled.feeds} | dict(compiled.outputs)
        fits = lambda k, nbytes: schedule.nbytes[k] <= nbytes and k not in schedule.staying
        feeds = [(number, k) for number, k, _, native in compiled.feeds if native and fits(k, MAILED) and not self.resident]
        outputs = [k for k, _ in compiled.outputs if fits(k, SMALL)]
        # of a body that is run round by round they are brought by themselves: nobody waits for the round before
        self.draws: list[Any] = [] if self.resident else [step for step in self.binding.layout.steps
                                                          if self.binding.layout.draws(step)]
        drawn = [k for step in self.draws for k in step.outputs]
        dtypes.update((k, np.dtype(np.int64)) for k in drawn)
        if not hasattr(schedule, "at"):
            schedule.letters([*(k for _, k in feeds), *drawn], outputs)
        self.pinned = self.machine.pinned(schedule.size)
        box = self.box = self.pinned.array
        first = address_of(box)
        for k, at in schedule.at.items():
            self.arrays[k] = np.ndarray(self.binding.shapes[k], dtypes[k], box, at)
            self.slots[k] = first + at
        self.small_feeds = [(number, self.arrays[k]) for number, k in feeds]
        self.big_feeds = [(number, k, native) for number, k, _, native in compiled.feeds if k not in schedule.at]
        self.big_outputs = [(k, ResultPool(self.binding.shapes[k], dtype, self.kept)) for k, dtype in compiled.outputs
                            if k not in schedule.at and k not in schedule.staying]
        host = {slot for step in self.binding.layout.steps if isinstance(step, tuple) for slot in step[1]}
        self.host_slots = host                  # what kernels of the host touch

    def _ordered(self) -> list[Any]:
        """The steps in order: (stretch, block) of the host, as `Frame` has them, and (Stretch, [Ready])."""
        found: list[Any] = []
        stretches = iter(self.schedule.stretches)
        for stretch, block in self.steps:
            if block is None and stretch[0] in self.draws:
                self.drawn.append(stretch)
            elif block is not None or isinstance(stretch[0], HostStep):
                found.append((stretch, block))
            elif not found or not isinstance(found[-1][0], Stretch):
                there = next(stretches)
                found.append((there, [Ready(part) for part in there.parts]))
        return found

    def drop(self) -> None:
        """Forgets what belongs to the caller, and what the host has made in this run: till the next one makes it again, its memory
        on devices would serve nobody, and what is made then would lie elsewhere each time."""
        super().drop()
        for k in self.of_host:
            self.arrays[k] = None

    # running ---------------------------------------------------------------------------------------------------------
    def _run(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        if self.mailed:
            self.settle()
        for number, buffer in self.small_feeds:
            buffer[...] = feeds[number]
        for step, views, written, *_ in self.drawn:
            for k, array in zip(step.outputs, self._results_of(step, self._inputs(views, written))):
                self.arrays[k][...] = array
        for number, k, native in self.big_feeds:
            self.arrays[k] = feeds[number]
            if k in self.host_slots:
                self._to_host(k)
            if native and not isinstance(self.arrays[k], Elsewhere):
                self.slots[k] = address_of(self.arrays[k])
        for k, results in self.big_outputs:
            self.arrays[k], self.slots[k] = results.take()
        if self.variables and self.generation != self.binding.state.generation:
            self._find_variables()
        watched = watch.present()
        if self.repeats is None or watched is not None:
            self.do(watched)
        else:
            self.repeats.run(self)
        if not self.binding.checked:
            for variable in self.binding.compiled.writes:
                variable.initialized = True
        if staying() and not self.resident:
            return [self._staying(kind, where, feeds) for kind, where in self.readers]
        found = [self._read(kind, where, feeds) for kind, where in self.readers]
        return found if self.resident else all_on_host(found)

    def do(self, watched: watch.Watch | None) -> None:
        """Does what a run does, once its feeds are there."""
        do = self._watching(watched) if watched is not None else self._step
        if self.machine.recording is not None:
            self.machine.recording.runs(self)
        for stretch, rest in self.order:
            if isinstance(stretch, Stretch):
                if watched is not None:
                    watched.check()
                self._on_devices(stretch, rest, None if watched is None else watched.trace)
            else:
                do(stretch, rest)

    def _staying(self, kind: str, where: int, feeds: Sequence[np.ndarray]) -> Any:
        """A result in memory of its own on the device that has made it, or that has a variable's value; else as the host has it."""
        if kind == "variable" and self.of_slot[where].block() is not None:
            return self._variable_there(where)
        d = self.schedule.writer.get(where, HOST)
        if d != HOST and kind in ("copy", "scalar", "given") and (where, d) in self.places.place_of:
            found = self._kept_there(d, where)
        else:
            found = self._read(kind, where, feeds)
            if not isinstance(found, DeviceArray):
                return found
            with self.machine.lock:
                found = found.copy()        # of what a step of the host has left there
        found.device.synchronize()          # for whatever stream it is used on
        return found

    def _kept_there(self, d: int, where: int) -> DeviceArray:
        """What a slot holds on a device, in memory of its own there."""
        device, nbytes = self.devices[d], self.schedule.nbytes[where]
        with self.machine.lock:
            block = device.take(nbytes)
            if nbytes:
                self.machine.driver.on_device(block.address, self.places.place_of[where, d], nbytes, device.stream)
        return DeviceArray(block, self.binding.shapes[where], self.binding.layout.slots[where].dtype.as_numpy_dtype)

    def _variable_there(self, where: int) -> DeviceArray:
        """A copy of a variable's value, on a device that has it."""
        with self.variables_lock, self.machine.lock:
            block = self.of_slot[where].block()
            assert block is not None
            value = DeviceArray(block, self.binding.shapes[where], self.binding.layout.slots[where].dtype.as_numpy_dtype).copy()
            block.device.synchronize()
        return value

    def settle(self) -> None:
        """Waits for what an earlier run has left under way, before its feeds and answers are overwritten."""
        if self.pending:
            with self.machine.lock:
                self.pending = False
                for device in self.working:
                    device.synchronize()

    @property
    def variables_lock(self) -> Any:
        """What is held, before the machine's lock, by who changes variables."""
        return self.binding.state.lock if self.variables else NOTHING

    def _on_devices(self, stretch: Stretch, parts: list[Ready], trace: Any = None) -> None:
        with self.variables_lock, self.machine.lock:
            if self.variables and self.generation != self.binding.state.generation:
                self._find_variables()
                self.lay.clear()
            moves, recording = self.machine.moves, self.machine.recording
            then, addresses = self.lay.get(stretch, (-1, {}))
            same = then == moves and recording is None
            if not same:
                addresses = {(slot, d): self.of_slot[slot].on(self.devices[d]) for slot, d in stretch.variables}
            for slot, d in stretch.uploads:
                if recording is not None and recording.copies(self, Fed(slot, d, self.places.place_of[slot, d])):
                    continue
                if not self._lies_there(slot, d):
                    with self._copied(trace, slot, "DtoD" if isinstance(self.arrays[slot], Elsewhere) else "HtoD", d):
                        bring(self.arrays[slot], self.devices[d], self.places.place_of[slot, d])
            self.pending = True
            for ready in parts:
                self._part(stretch, ready, addresses, same, trace)
            if not same and moves == self.machine.moves:
                self.lay[stretch] = moves, addresses
            for slot, d in stretch.downloads:
                if recording is not None and recording.copies(self, Taken(slot, d, self.places.place_of[slot, d])):
                    continue
                with self._copied(trace, slot, "DtoH", d):
                    self.devices[d].download(self.arrays[slot], self.places.place_of[slot, d])
            if stretch.answers:
                self.settle()

    def _lies_there(self, slot: int, d: int) -> bool:
        """Whether what a slot holds lies at its place on a device since the last run, or is empty; if not, it is to be brought."""
        array, key = self.arrays[slot], (slot, d)
        if isinstance(array, Elsewhere) and self.machine.recording is None:
            before = self.lain.get(key)
            if before is not None and before() is array:
                return True
            if self.binding.layout.slots[slot].kind == "feed":
                self.lain[key] = weakref.ref(array)
        else:
            self.lain.pop(key, None)
        return not self.schedule.nbytes[slot]

    def _part(self, stretch: Stretch, ready: Ready, addresses: dict[tuple[int, int], int], same: bool, trace: Any) -> None:
        """Runs a part; `same`: nothing has moved since it ran last."""
        part, driver = ready.part, self.machine.driver
        if not same:
            here = tuple(addresses.values())
            if ready.addresses != here:         # at first, and where a variable has moved
                ready.graph, ready.addresses = None, here
                self.places.fill_tables(part, addresses)
        first, others = self.devices[part.devices[0]], [self.devices[d] for d in part.devices[1:]]
        recording = self.machine.recording
        if recording is not None and part.changes:
            recording.changing(self)
        for other in others:
            self.machine.order(other, first)
        if trace is not None or ready.runs == 0 or recording is not None:
            self._enqueue(stretch, part, addresses, trace)
        else:
            if ready.graph is None:
                ready.graph = self.machine.captured(first.stream, lambda: self._enqueue(stretch, part, addresses))
            driver.launch_graph(ready.graph.made, first.stream)
        for other in others:
            self.machine.order(first, other)
        ready.runs += 1
        for slot, devices in () if same else part.changes.items():
            self.of_slot[slot].changed(self.devices[d].ordinal for d in devices)
        if part.may_fail and recording is not None:
            recording.may_fail(self, part)
        if part.may_fail:
            self.check(part)

    def _enqueue(self, stretch: Stretch, part: Part, addresses: dict[tuple[int, int], int], trace: Any = None) -> None:
        """Asks for the work of a part, in the present run or for a graph: what other devices do is ordered by events, from and
        to the first one.  Of a part that cannot fail and has no answers, nothing is copied to the host."""
        driver, schedule, machine = self.machine.driver, self.schedule, self.machine
        first = self.devices[part.devices[0]]
        for d in part.devices:
            device, box = self.devices[d], self.places.box_of[d]
            if device is not first:
                machine.order(first, device)
            if part.first and d in stretch.mail and schedule.fed:
                with self._copied(trace, None, "HtoD", d, schedule.fed):
                    device.upload(box, self.box[:schedule.fed])
            if part.may_fail:
                begin, end = part.words[d]
                driver.fill(box + begin, 0, end - begin, device.stream)
        for step in part.steps:
            if isinstance(step, DeviceStep):
                start = 0 if trace is None else trace.now()
                self.places.launch(step, addresses)
                if trace is not None:
                    self.devices[step.device].synchronize()
                    trace.kernel(step.kernel, start, self.binding, step.device)
            else:
                with self._copied(trace, step.slot, "DtoD", step.to):
                    self._between(step.slot, step.source, step.to, addresses)
        for d in part.devices:
            device, (begin, end) = self.devices[d], schedule.answered[d]
            if part.may_fail or d in part.returns:
                with self._copied(trace, None, "DtoH", d, end - begin):
                    device.download(self.box[begin:end], self.places.box_of[d] + begin)
            if device is not first:
                machine.order(device, first)

    @contextlib.contextmanager
    def _copied(self, trace: Any, slot: int | None, kind: str, d: int, nbytes: int = 0) -> Iterator[None]:
        """Around a copy of a slot, or of `nbytes` of the letter box: tells a trace of it."""
        if trace is None:
            yield
            return
        start = trace.now()
        yield
        self.devices[d].synchronize()
        value = None if slot is None else self.binding.layout.slots[slot].value
        op = None if value is None else value.node.op
        nbytes = nbytes if slot is None else self.schedule.nbytes[slot]
        trace.copy("feeds and results" if op is None else op.name, kind, nbytes, start, d)

    def _between(self, slot: int, source: int, to: int, addresses: dict[tuple[int, int], int]) -> None:
        """A copy from one device to another, by the one that has the value; where it goes, nobody reads the old one any more."""
        giver, taker = self.devices[source], self.devices[to]
        if slot in self.of_slot:
            self.machine.order(taker, giver)
        start, end = (addresses.get((slot, d)) or self.places.place_of[slot, d] for d in (source, to))
        self.machine.driver.between((taker.ordinal, end), (giver.ordinal, start), self.schedule.nbytes[slot], giver.stream)
        self.machine.order(giver, taker)

    def check(self, part: Part) -> None:
        """Waits for a part, and raises KernelFailure for the first kernel of it whose check failed."""
        self.settle()
        self.pending = True
        self.look(part)

    def look(self, part: Part) -> None:
        """The same where nothing is under way."""
        if not any(self.box[slice(*words)].any() for words in part.words.values()):
            return
        for step in part.steps:
            if isinstance(step, DeviceStep):
                at = self.schedule.words[step]
                code = int(self.box[at:at + WORD].view(np.int64)[0])
                if code:
                    raise KernelFailure(step.kernel, code)

    # steps of the host -----------------------------------------------------------------------------------------------
    def _native_variables(self, row: int, count: int) -> tuple[list[DeviceVariable], list[DeviceVariable]]:
        """The variables that rows of the host's kernels touch, and those that they write."""
        touched: dict[int, bool] = {}
        host = [step for step in self.binding.layout.steps if isinstance(step, tuple)]
        for kernel, slots in host[row:row + count]:
            for param, slot in zip(kernel.params, slots):
                if self.binding.layout.slots[slot].kind == "variable":
                    touched[slot] = touched.get(slot, False) or param.use != "in"
        return [self.of_slot[k] for k in touched], [self.of_slot[k] for k, written in touched.items() if written]

    def run_block(self, start: int, block: Block, call: Callable[[int], int] | None = None, poll: np.ndarray | None = None) -> None:
        touched, written = self.native.get(start) or self._native_variables(start, 1)
        if not touched:
            return super().run_block(start, block, call, poll)
        with self.variables_lock, self.machine.lock:
            for variable in touched:
                variable.value()
            try:
                super().run_block(start, block, call, poll)
            finally:
                for variable in written:
                    variable.written()

    def _find_variables(self) -> None:
        super()._find_variables()
        self.of_slot = dict(self.variables)         # type: ignore[arg-type]

    def _host(self, step: HostStep, views: list[View], written: tuple[Variable, ...], call: HostCall | None,
              outputs: list[Output | None]) -> None:
        before: dict[int, Any] = {}
        recording = self.machine.recording
        if recording is not None:
            recording.does(step)
        often = Counter(slot for slot, *_ in views)
        for n, (slot, shape, layout) in enumerate(views):
            keeps = n in step.keeps and often[slot] == 1
            there: Any = self._there(step, n, views[n]) if keeps else None
            if there is not None and recording is not None:
                there = recording.number(self, slot, there)
            if there is not None:
                before[slot], self.arrays[slot] = self.arrays[slot], there
                views = [*views[:n], (slot, shape, None), *views[n + 1:]]
            elif slot in self.of_slot:
                self.of_slot[slot].value()
            elif keeps and layout is None:
                before[slot] = self.arrays[slot]
                self.arrays[slot] = self._on_device(step, slot)
            else:
                self._to_host(slot)
            if recording is not None and there is None and not isinstance(self.arrays[slot], Elsewhere):
                recording.reads(self, step, slot)
        try:
            super()._host(step, views, written, call, outputs)
        finally:
            for slot, array in before.items():
                self.arrays[slot] = array
        for k in self.host_slots.intersection(output[0] for output in outputs if output is not None):
            self._to_host(k)

    def _there(self, step: HostStep, n: int, view: View) -> DeviceArray | None:
        """An input of a step where it lies on a device, if the step takes it there.  It is valid only as long as the step runs."""
        slot, shape, layout = view
        offset = 0 if layout is None else layout[1]
        dtype = np.dtype(self.binding.layout.slots[slot].dtype.as_numpy_dtype)
        if n in step.there:
            d = step.there[n]
            block, address = self.places.blocks_of[d][0], self.places.place_of[slot, d]
        else:
            on = self.of_slot[slot].block() if slot in self.of_slot and layout is None else None
            if on is None:
                return None
            block, address = on, on.address
            if self.machine.recording is not None:
                self.machine.recording.uses(self.of_slot[slot], block.device, address)
        return DeviceArray(block, shape, dtype, address + offset * dtype.itemsize)

    def _on_device(self, step: HostStep, slot: int) -> Any:
        """An array that a step hands on, on the device of its operation: all of it goes there at once, and not by and by.  Not
        a few integers, which functions may be compiled for."""
        array, recording = self.arrays[slot], self.machine.recording
        d = self.binding.compiled.program.target.place_of(step.node.op)
        holds = step.call is not None or any(self.binding.layout.slots[k].kind == "object" for k in step.outputs)
        if d == HOST or not holds or not isinstance(array, np.ndarray) or not array.ndim or array.dtype == object:
            return array
        if recording is not None and recording.is_fed(self, slot):
            return recording.brought(self, slot, d)
        if array.dtype.kind in "iu" and array.size <= KNOWN_LIMIT:
            return array
        self.pending = True
        return put(array, self.devices[d])

    def _to_host(self, slot: int) -> None:
        """Brings what a step of the host has left on a device to the host."""
        if isinstance(self.arrays[slot], Elsewhere):
            self.arrays[slot] = array = np.asarray(self.arrays[slot])
            self.slots[slot] = address_of(array)

    def _read(self, kind: str, where: int, feeds: Sequence[np.ndarray]) -> Any:
        if where in self.schedule.staying and kind not in FED:
            return self._kept_there(self.schedule.staying[where], where)
        if kind == "variable":
            self.of_slot[where].value()
            return self.arrays[where]
        if kind == "feed" and isinstance(feeds[where], Elsewhere):
            return feeds[where].copy()
        return super()._read(kind, where, feeds)
