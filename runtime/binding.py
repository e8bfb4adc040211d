"""A compiled program bound to sizes: the instruction table filled in, and frames of memory to run it in."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.open_variables import uninitialized
from jitgraph.compiler.targets import CPU
from jitgraph.graph.errors import InvalidArgumentError

from .frame import Frame
from .memory import address_of

if TYPE_CHECKING:
    from .compiled import Compiled
    from .cuda.stretches import Schedule

# words of a row of the interpreter's table
ADDRESS, ARGUMENTS, SIZES, ITEMS, GRAIN, COST, CUTTABLE = range(7)
LARGEST = (1 << 63) - 1             # of the numbers of a table
MOST_NANOSECONDS = 1 << 60          # that a kernel is said to take


class Binding:
    """The instruction table of a program for one set of sizes."""

    def __init__(self, compiled: Compiled, numbers: tuple[int, ...], values: dict[str, int]) -> None:
        self.compiled, self.numbers, self.values, self.state = compiled, numbers, values, compiled.state
        if max(numbers, default=0) > LARGEST:
            raise InvalidArgumentError(None, None, "A tensor of this run would have more than 2**63 - 1 bytes")
        self.layout, self.stretches = compiled.program.layout, compiled.stretches
        self.shapes = compiled.shapes(numbers)
        self.sized = {k: self._size(k, found) for k, found in compiled.size_values.items()}
        self._table()
        self.offsets, self.arena_bytes = compiled.arrangements.offsets([numbers[compiled.slot_bytes[k]] for k in compiled.temps])
        self.launches = {step: launch.bound(numbers) for step, launch in compiled.launches.items()}
        self.frames: list[Frame] = []
        self.schedule: Schedule | None = None       # of what devices do
        self.checked = False
        self.resident = False           # whether what devices compute stays there
        self.plain = False              # whether its results are those of a plan's one segment, in order; see `Segment`

    def _size(self, k: int, found: list[Any]) -> np.ndarray:
        """The array of a slot whose elements are sizes."""
        values = [self.numbers[n] if isinstance(n, int) else n for n in found]
        with np.errstate(over="ignore"):        # as a float16, a size may be infinite
            return np.array(values, dtype=self.layout.slots[k].dtype.as_numpy_dtype).reshape(self.shapes[k])

    def _table(self) -> None:
        """Rows of the interpreter's table, and the sizes that they point to."""
        compiled, host, found = self.compiled, CPU.tuning, np.array(self.numbers, np.int64)
        fixed, work, items, per_item = compiled.rows        # a program whose sizes change gets a table for every run
        count = found[items]
        each = np.maximum(work * found[per_item], 0.05)
        cost = np.minimum(count * each, MOST_NANOSECONDS).astype(np.int64) + 10
        self.table = table = fixed.copy()
        table[:, ITEMS], table[:, COST], table[:, GRAIN] = count, cost, count + 1
        long = np.flatnonzero(cost > host.divided)
        if long.size:
            chunks = np.maximum(-(-count[long] // host.most_chunks), 1)
            table[long, GRAIN] = np.maximum((host.chunk / each[long]).astype(np.int64), chunks)
        kept = compiled.program.kept
        self.kept_cost, self.cost = int(cost[:kept].sum()) if kept else 0, int(cost[kept:].sum())
        self.divided = bool(long.size)      # whether a kernel takes long enough to be divided among threads
        self.sizes = compiled.words.array(found)
        self.pointers = (address_of(table), address_of(compiled.index), compiled.arguments, address_of(self.sizes))

    # running ---------------------------------------------------------------------------------------------------
    def run(self, given: Any, work: Callable[[Frame, Any], Any] = Frame.run) -> Any:
        """Executes the program on feed arrays (contiguous, of the declared dtypes); returns its results in order.  Or gives
        the result of other `work(frame, given)` on a frame that is the caller's alone.

        Raises the error of `uninitialized` for a variable without a value, and what failing kernels and host calls raise.
        """
        frame = self.take_frame()
        try:
            return work(frame, given)
        finally:
            self.give_frame(frame)

    def take_frame(self) -> Frame:
        """A frame that is the caller's alone until it gives it back.  Raises the error of `uninitialized` for a variable without a
        value."""
        if not self.checked:
            self._check_variables()
        try:
            return self.frames.pop()
        except IndexError:
            return self._frame()

    def give_frame(self, frame: Frame) -> None:
        if frame.holds:
            frame.drop()
        self.frames.append(frame)

    def _frame(self) -> Frame:
        if self.state.machine is None:
            return Frame(self)
        from .cuda.frame import DeviceFrame

        return DeviceFrame(self, self.resident)

    def _check_variables(self) -> None:
        for variable, (declaration, op) in self.compiled.reads.items():
            if not variable.initialized:
                raise uninitialized(declaration, op)
        for slot, variable in self.compiled.variables:
            if variable.array is None or variable.array.shape != self.shapes[slot]:
                self.state.allocate(variable, self.shapes[slot], self.layout.slots[slot].dtype.as_numpy_dtype)
        self.checked = all(variable.initialized for variable in self.compiled.writes)
