"""Frames whose runs ask the host for nothing but what follows from sizes: one run is recorded, and repeated as a few graphs.

The host keeps the books of TensorArrays and stacks, and counts how often a loop runs.  All of that is the same in every run for
feeds of the same sizes, so its work for the device is, too: the same launches and copies at the same addresses.  Such a run is
recorded while it is done, and what was asked for is captured: further runs launch that, whatever loops and TensorArrays are in it.

Where the host looks at a few numbers, as at a flag that is fed, or at the length of the longest sequence, they are compared with
what they were: there is a recording for each of some of the latest.  A run cannot be repeated whose host looks at more, or does
anything that another run may notice.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jitgraph.compiler.place import HostStep

from .recording import Recording, repeats
from .repeated_run import BodyFailed, RepeatedRun

if TYPE_CHECKING:
    from .frame import DeviceFrame

RUNS = 2                # before the one that is recorded: kernels are loaded then, and variables lie where they will
TRIES = 3               # of a frame to make a recording that did not come to one
MOST = 4                # recordings of a frame, for different numbers ...
LONG = 100              # ... and the runs after which another may be made instead of the one that served least


class Repeats:
    """What a frame keeps of its runs: how many there were, and recordings, each for other numbers that the host looked at."""

    def __init__(self) -> None:
        self.runs = self.tries = 0
        self.records: list[RepeatedRun] = []         # the one that served last is the first

    @staticmethod
    def of(frame: DeviceFrame) -> Repeats | None:
        """None for a frame whose runs cannot be repeated, or are graphs as they are, because nothing is asked of the host."""
        compiled, layout = frame.binding.compiled, frame.binding.layout
        hosts = [step for step in layout.steps if isinstance(step, HostStep) and not layout.draws(step)]
        fetched = [layout.slots[where].kind for _, where in compiled.readers]
        if frame.resident or len(frame.devices) > 1 or not hosts or compiled.program.rest or compiled.kept or "object" in fetched:
            return None
        native = any(isinstance(step, tuple) for step in layout.steps)
        return None if native or not all(map(repeats, hosts)) else Repeats()

    def run(self, frame: DeviceFrame) -> None:
        """Does what follows the feeds of a run."""
        state, machine = frame.binding.state, frame.machine
        self.runs += 1
        with state.lock, machine.lock:
            if self._repeated(frame):
                return
        if self.runs <= RUNS or self.tries >= TRIES or not self._has_room():
            return frame.do(None)
        with state.lock, machine.lock:
            recording = Recording(frame)
            with recording.standing_in():
                frame.do(None)
            made = recording.made()
            self.tries += made is None
            if made is not None:
                made.last = self.runs
                self.records.insert(0, made)
                machine.repeats.add(self)

    def _repeated(self, frame: DeviceFrame) -> bool:
        """Whether one of the recordings is what this run does, and has done it."""
        looked: dict[int, np.ndarray] = {}
        for record in [*self.records]:
            if not record.fits(frame):
                self._drop(record)
            # what it brought may have taken the memory of recordings
            elif record in self.records and record.may_be(frame, looked):
                try:
                    differs = record.repeat(frame)
                except BodyFailed:
                    return False            # an operation of it says how
                if differs is None:
                    record.last = self.runs
                    self.records.remove(record)
                    self.records.insert(0, record)
                    return True
                looked[differs.slot] = differs.now(frame)
        return False

    def _has_room(self) -> bool:
        """Whether another recording may be made: instead of one that has not served for long, if there are many."""
        if len(self.records) == MOST and self.runs - self.records[-1].last > LONG:
            self._drop(self.records[-1])
        return len(self.records) < MOST

    def _drop(self, record: RepeatedRun) -> None:
        if record in self.records:
            self.records.remove(record)
            record.end()

    def drop(self) -> None:
        """Gives back the memory of the recordings."""
        for record in [*self.records]:
            self._drop(record)
