"""The memory of one run of a bound program, and the run itself."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler.divide import LoopCall
from jitgraph.compiler.kernel import Kernel
from jitgraph.compiler.place import HostStep, assign_offsets
from jitgraph.compiler.targets import CPU

from . import functions, hostcall, side_by_side, watch
from . import pool as pools
from .interpreter import ADDRESSES, CHANGED, CHANGES, INTERRUPTED, LATE, POLL, POOL, ROUNDS, ROW
from .memory import ALIGNMENT, KEPT, Elsewhere, ResultPool, address_of, aligned_empty
from .views import View, Views

if TYPE_CHECKING:
    from .binding import Binding
    from .compiled import Stretch
    from .profile import Trace
    from .side_by_side import Asking
    from .variable import Variable

Block = tuple[np.ndarray, int]      # what the interpreter gets to run a stretch of rows, and where that lies
Output = tuple[int, bool, bool, tuple[int, ...] | None]               # see `Frame._outputs_of`

FED = frozenset(["feed", "passed"])       # how a result is read that is a feed: in memory of its own, or as it is
OFTEN = 8                   # programs that were bound to so many sets of sizes get another with nearly every run
SMALL = 1 << 14             # feeds and results up to this many bytes are copied: cheaper than asking for an address


class Frame:
    """The memory of one run at a time: arena, addresses, buffers of small feeds and results."""

    def __init__(self, binding: Binding) -> None:
        compiled = binding.compiled
        self.binding = binding
        self.base = 0           # where the arena began in which the temporaries lie
        self.slots = compiled.first_slots.copy()
        self.args = np.zeros(compiled.index.size, np.int64)
        self.addresses = (address_of(self.slots), address_of(self.args))
        self.arrays: list[Any] = compiled.first_arrays.copy()       # the ndarray behind a slot, where the host may see it
        self.temps, self.variables = compiled.temps, compiled.variables
        self.small_feeds: list[tuple[int, np.ndarray]] = []
        self.big_feeds: list[tuple[int, int, bool]] = []
        self.big_outputs: list[tuple[int, ResultPool]] = []
        self.blocks: dict[int, ResultPool] = {}
        self.turning: dict[int, tuple[np.ndarray, int]] = {}
        self.views = Views(binding)
        self.kept = KEPT if compiled.program.options.uses("result_reuse") else 0
        for k, array in binding.sized.items():
            self.arrays[k], self.slots[k] = array, address_of(array)
        self._feeds_and_outputs()
        native = pools.native()
        self.call = native.held if binding.cost < CPU.tuning.held else native.released
        self.shares = binding.divided and binding.cost > CPU.tuning.shared
        self.steps = [self._with_numbers(stretch) for stretch in binding.stretches]
        again = [(stretch, block) for stretch, block in self.steps if not _is_lasting(stretch)]
        together = binding.state.machine is None and compiled.program.options.uses("loops_side_by_side")
        self.first, self.again = map(_with_groups, (self.steps, again)) if together else (self.steps, again)
        self.asks_host = any(block is None for _, block in self.steps)
        self.fresh = True           # whether no run has come to its end yet
        self.versions: list[int] | None = None      # of the variables that the kept values here are made of
        self.generation = -1
        self.readers = [self._reader(*reader) for reader in compiled.readers]
        self.holds = bool(self.big_feeds or self.big_outputs)      # whether runs leave anything of the caller's here

    def _with_numbers(self, stretch: Stretch) -> tuple[Stretch, Block | None]:
        """(stretch, block of the interpreter or None), with the sizes of this frame."""
        if isinstance(stretch[0], int):
            return stretch, self._block(*stretch)
        if len(stretch) > 1:
            step, views, written, call = stretch
            stretch = (step, [self.views.bound(*view) for view in views], written, call, self._outputs_of(step))
        return stretch, None

    def _outputs_of(self, step: HostStep) -> list[Output | None]:
        """For each output (slot, whether kernels may read it, whether those of the host do, the shape that it must have or None);
        None if nobody uses it."""
        binding, found = self.binding, list[Output | None]()
        free = step.node.attrs["open"] if step.node.attrs.get("call") == "op" else None
        for number, k in enumerate(step.outputs):
            on_host = binding.layout.slots[k].kind == "host"
            is_checked = on_host and free is not None and not free[number]
            found.append((k, on_host, on_host and k in binding.compiled.touched, tuple(binding.shapes[k]) if is_checked else None)
                         if number in step.used else None)
        return found

    def _block(self, start: int, count: int) -> Block:
        """What the interpreter gets to run a stretch of rows, and where that lies; see `interpreter.TABLE` ..."""
        table, index, arguments, sizes_ = self.binding.pointers
        slots, args = self.addresses
        words = [table + start * ROW * 8, count, slots, index, arguments, args, sizes_, 0, pools.native().poll_address,
                 1, 0, 0, 0]
        block = np.array(words, np.int64)
        return block, address_of(block)

    def _use(self, arena: np.ndarray, base: int) -> None:
        """Moves the temporaries to an arena."""
        binding = self.binding
        self.base = base
        self.views.forget()
        self.slots[self.temps] = base + np.array(binding.offsets, np.int64)
        for k, at in zip(self.temps, binding.offsets):
            if k in binding.compiled.seen:
                size = binding.numbers[binding.compiled.slot_bytes[k]]
                dtype = binding.layout.slots[k].dtype.as_numpy_dtype
                self.arrays[k] = arena[at:at + size].view(dtype).reshape(binding.shapes[k])

    def _keep(self, do: Callable[[Stretch, Block | None], None]) -> None:
        """Makes the kept values, unless they are those of the present variables."""
        compiled = self.binding.compiled
        versions = [variable.version for variable in compiled.decisive]     # before the values are read: a write comes after it
        if versions == self.versions:
            return
        if self.versions is None:
            spans = [(self.binding.numbers[compiled.slot_bytes[k]], 0, 0) for k in compiled.kept]
            offsets, total = assign_offsets(spans)
            memory = aligned_empty(total)
            for k, at, (size, _, _) in zip(compiled.kept, offsets, spans):
                slot = self.binding.layout.slots[k]
                self.arrays[k] = memory[at:at + size].view(slot.dtype.as_numpy_dtype).reshape(self.binding.shapes[k])
                self.slots[k] = address_of(memory) + at
        stretch = 0, compiled.program.kept
        words, address = self._block(*stretch)
        words[POOL] = pools.pool(pools.thread_count()).address if self.binding.kept_cost > CPU.tuning.shared else 0
        do(stretch, (words, address))
        self.versions = versions

    def _feeds_and_outputs(self) -> None:
        """Where feeds and outputs lie: small ones together in one block, into and out of which they are copied; large feeds
        where the caller has them, as all do where the frame will hardly be used again; large outputs in memory that becomes the
        caller's."""
        compiled, shapes, end = self.binding.compiled, self.binding.shapes, 0
        copied = SMALL if compiled.bound < OFTEN else -1
        small: list[tuple[int | None, int, np.dtype, int]] = []
        for number, k, dtype, native in [*compiled.feeds, *((None, k, dtype, True) for k, dtype in compiled.outputs)]:
            nbytes = math.prod(shapes[k]) * dtype.itemsize
            if native and (nbytes <= (SMALL if number is None else copied) or not shapes[k]):       # a NumPy scalar has no address
                small.append((number, k, dtype, end))
                end += (nbytes // ALIGNMENT + 1) * ALIGNMENT
            elif number is None:
                self.big_outputs.append((k, ResultPool(shapes[k], dtype, self.kept)))
            else:
                self.big_feeds.append((number, k, native))
        block = aligned_empty(end)
        first = address_of(block)
        for number, k, dtype, at in small:
            array = self.arrays[k] = np.ndarray(shapes[k], dtype, block, at)
            if number is not None:
                self.small_feeds.append((number, array))
        if small:
            self.slots[[k for _, k, _, _ in small]] = [first + at for _, _, _, at in small]

    def _reader(self, kind: str, slot: int) -> tuple[str, int]:
        """How a result is read out: small ones that kernels write are copied from where they lie."""
        if kind == "given" and self.binding.layout.slots[slot].kind == "output" and self.arrays[slot] is not None:
            return ("scalar" if self.binding.shapes[slot] == () else "copy"), slot
        return kind, slot

    def run(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        """The program's results for feed arrays."""
        if self.asks_host:
            with np.errstate(all="ignore"):         # once for all calls of the host: it costs as much as a short one
                return self._with_temps(feeds) if self.temps else self._run(feeds)
        return self._with_temps(feeds) if self.temps else self._run(feeds)

    def _with_temps(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        """A run with memory for the temporaries."""
        arena = self._take_arena()
        try:
            return self._run(feeds)
        finally:
            self.binding.compiled.arenas.give(arena)

    def _take_arena(self) -> tuple[np.ndarray, int]:
        """Memory for the temporaries, to be given back."""
        arena = self.binding.compiled.arenas.take(self.binding.arena_bytes)
        if arena[1] != self.base:
            self._use(*arena)
        return arena

    def block(self, slot: int, rounds: int) -> tuple[np.ndarray, int]:
        """(array [rounds, ...], address) of memory for the values of a result in so many rounds."""
        pool = self.blocks.get(slot)
        if pool is None or pool.shape[0] < rounds:
            shape, dtype = self.binding.shapes[slot], self.binding.layout.slots[slot].dtype.as_numpy_dtype
            most = (1 << (rounds - 2).bit_length()) + 1         # a value before the first round counts as one, too
            pool = self.blocks[slot] = ResultPool((most, *shape), dtype, self.kept)
        array, address = pool.take()
        return array[:rounds], address

    def places_in_turn(self, slot: int) -> tuple[np.ndarray, int]:
        """(array [2, ...], address) of memory, the frame's own, for the values of a result in one round and the next."""
        found = self.turning.get(slot)
        if found is None:
            shape, dtype = self.binding.shapes[slot], self.binding.layout.slots[slot].dtype.as_numpy_dtype
            array = aligned_empty(2 * self.binding.numbers[self.binding.compiled.slot_bytes[slot]], dtype).reshape(2, *shape)
            found = self.turning[slot] = array, address_of(array)
        return found

    def run_rounds(self, slots: np.ndarray, addresses: np.ndarray) -> Asking:
        """Executes a program of one stretch of kernels as often as `addresses` [rounds, slots] has rows, from and to the
        memory that they say for these slots in each round."""
        arena = self._take_arena()
        before = self.slots[slots]
        (stretch, (words, address)), = self.steps
        try:
            if self.binding.compiled.kept:
                self._keep(self._step)
            words[ROUNDS], words[CHANGES] = addresses.shape          # one by one: faster than by a list of indices
            words[CHANGED], words[ADDRESSES] = address_of(slots), address_of(addresses)
            cost = self.binding.cost
            shares = self.binding.divided and len(addresses) * cost > CPU.tuning.shared     # workers stay awake from round to round
            words[POOL] = pools.pool(pools.thread_count()).address if shares else 0
            yield side_by_side.Request(self, stretch[0], (words, address), len(addresses) * cost, cost)
        finally:
            words[ROUNDS], words[CHANGES] = 1, 0
            self.slots[slots] = before
            self.binding.compiled.arenas.give(arena)

    def _run(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        for number, buffer in self.small_feeds:
            buffer[...] = feeds[number]
        for number, k, native in self.big_feeds:
            array = feeds[number]
            self.arrays[k] = array
            if native:
                self.slots[k] = address_of(array)
        for k, results in self.big_outputs:
            self.arrays[k], self.slots[k] = results.take()
        watched = watch.present()
        do = self._step if watched is None else self._watching(watched)
        if self.binding.compiled.kept:
            self._keep(do)
        try:
            if watched is not None:
                for stretch, block in self.steps:
                    do(stretch, block)
            else:
                for stretch, block in self.first if self.fresh else self.again:     # nearly every run: without a call more
                    if block is None:
                        self._loops(stretch) if stretch.__class__ is Group else self._host(*stretch)
                    else:
                        self.run_block(stretch[0], block)
        finally:
            for variable in self.binding.compiled.changed:
                variable.version += 1
        if not self.binding.checked:
            for variable in self.binding.compiled.writes:
                variable.initialized = True
        self.fresh = False
        arrays = self.arrays
        return [arrays[where].copy() if kind == "copy" else arrays[where] if kind == "given" else self._read(kind, where, feeds)
                for kind, where in self.readers]

    def _step(self, stretch: Stretch, block: Block | None) -> None:
        if block is None:
            self._host(*stretch)
        else:
            self.run_block(stretch[0], block)

    def _watching(self, watched: watch.Watch) -> Callable[[Stretch, Block | None], None]:
        """What does a step under a time limit; for a trace, kernel by kernel."""
        poll = None if watched.deadline == math.inf else pools.native().limited(watched.deadline)

        def do(stretch: Stretch, block: Block | None) -> None:
            watched.check()
            if block is not None:
                self._traced(stretch, watched.trace, poll) if watched.trace is not None else self._limited(stretch[0], block, poll)
                return
            begin = watched.trace.now() if watched.trace is not None else 0
            self._step(stretch, block)
            if watched.trace is not None:
                watched.trace.step(stretch[0].node, begin, [self.arrays[k] for k in stretch[0].outputs])

        return do

    def _traced(self, stretch: Stretch, trace: Trace, poll: np.ndarray | None) -> None:
        for row in range(stretch[0], stretch[0] + stretch[1]):
            single = self._block(row, 1)
            begin = trace.now()
            self._limited(row, single, poll)
            trace.kernel(self.binding.compiled.kernels[row][0], begin, self.binding)

    def _read(self, kind: str, where: int, feeds: Sequence[np.ndarray]) -> Any:
        if kind == "scalar":
            return self.arrays[where][()]
        if kind == "copy":
            return self.arrays[where].copy()
        if kind == "feed":
            return np.array(feeds[where])
        if kind == "passed":
            return feeds[where]
        return self.arrays[where]

    def _limited(self, start: int, block: tuple[np.ndarray, int], poll: np.ndarray | None) -> None:
        """Runs a stretch of kernels with a poll block of its own, if it has one."""
        if poll is None:
            return self.run_block(start, block)
        words, _ = block
        words[POLL] = address_of(poll)
        try:
            return self.run_block(start, block, poll=poll)
        finally:
            words[POLL] = pools.native().poll_address

    def run_block(self, start: int, block: tuple[np.ndarray, int], call: Callable[[int], int] | None = None,
                  poll: np.ndarray | None = None) -> None:
        """Runs a stretch of kernels from row `start` on.  Raises what ends it early."""
        words, address = block
        call = call or self.call
        if self.shares:
            words[POOL] = pools.pool(pools.thread_count()).address
        if self.variables:
            with self.binding.state.lock:
                self.refresh()
                code = call(address)
        else:
            code = call(address)
        if code:
            raise self.failure(start, code, poll)

    def failure(self, start: int, code: int, poll: np.ndarray | None = None) -> BaseException:
        """What the interpreter's code for a stretch from row `start` on says."""
        if code == INTERRUPTED:
            return pools.native().interruption(poll)
        if code == LATE:
            return watch.late()
        return KernelFailure(self.binding.compiled.kernels[start + (code >> 8) - 1][0], code & 0xFF)

    def refresh(self) -> None:
        """Looks where the variables lie, if any may have moved."""
        if self.variables and self.generation != self.binding.state.generation:
            self._find_variables()

    def _find_variables(self) -> None:
        for k, variable in self.variables:
            self.slots[k] = variable.address
            self.arrays[k] = variable.array
        self.generation = self.binding.state.generation

    def _loops(self, group: Group) -> None:
        """Runs loops side by side."""
        given = [self._inputs(views, written) for _, views, written, *_ in group]
        state = self.binding.state
        asking = [functions.caller(step.call, state).asking(arrays, True) for (step, *_), arrays in zip(group, given)]
        for (step, _, _, _, outputs), arrays, results in zip(group, given, side_by_side.together(asking)):
            self._keep_results(step, arrays, outputs, results)

    def _host(self, step: HostStep, views: list[View], written: tuple[Variable, ...],
              call: hostcall.HostCall | None, outputs: list[Output | None]) -> None:
        if call is not None and call.passes is not None and call.passes(self._inputs(views[:1], written)[0]):
            return
        arrays = self._inputs(views, written)
        results = call(arrays) if call is not None else self._results_of(step, arrays)
        self._keep_results(step, arrays, outputs, results)

    def _inputs(self, views: list[View], written: tuple[Variable, ...]) -> list[Any]:
        """What a step is given."""
        binding = self.binding
        if not binding.checked:
            for variable in written:            # the step may look at variables that this run has initialised
                variable.initialized = True
        if self.variables:
            self.refresh()
        known, arrays = self.arrays, []
        for view in views:
            slot, shape, layout = view
            array = known[slot]
            if layout is not None or array.shape != shape:
                array = self.views.part(array, view)
            arrays.append(array)
        return arrays

    def _keep_results(self, step: HostStep, arrays: list[Any], outputs: list[Output | None], results: Sequence[Any]) -> None:
        """Puts what a step gives for these inputs where others find it."""
        known = self.arrays
        for output, result in zip(outputs, results):
            if output is None:
                continue
            k, on_host, is_addressed, stated = output
            if stated is not None and np.shape(result) != stated:
                # kernels read what the host made by the shapes of the plan, so a value of another one must not get through
                assert step.node.op is not None
                raise hostcall.unexpected_shape(step.node.op.outputs[outputs.index(output)], np.shape(result), stated)
            base = getattr(result, "base", None)
            for a in arrays:
                if result is a or base is not None and (base is a or base is a.base):
                    result = result.copy()              # it lies in memory that the next run uses again
                    break
            if on_host and not isinstance(result, Elsewhere):
                if type(result) is not np.ndarray or not result.flags.c_contiguous:
                    result = np.asarray(result, order="C")
                if is_addressed:
                    self.slots[k] = address_of(result)
            known[k] = result

    def _results_of(self, step: HostStep, arrays: list[Any]) -> Sequence[Any]:
        """What a step gives whose call does not stand ready."""
        node = step.node
        if node.attrs["call"] == "op":
            return self._call(step, arrays)
        if node.attrs["call"] == "stream":
            assert node.op is not None
            return (node.attrs["function"](self.binding.state.stream(node.op), *arrays),)
        return (node.attrs["function"](*arrays),)

    def _call(self, step: HostStep, arrays: list[Any]) -> Sequence[Any]:
        state, node = self.binding.state, step.node
        if step.call is not None:
            return functions.run(step.call, arrays, state, compiled=True)
        assert node.op is not None
        if "refs" in node.attrs:
            return hostcall.call_on_state(node.op, node.attrs["refs"], arrays, state)
        return hostcall.call(node.op, arrays, state)

    def drop(self) -> None:
        """Forgets what belongs to the caller."""
        for _, k, _ in self.big_feeds:
            self.arrays[k] = None
        for k, _ in self.big_outputs:
            self.arrays[k] = None


class KernelFailure(Exception):
    """A kernel's check failed; the plan turns it into the error of the operation."""

    def __init__(self, kernel: Kernel, code: int) -> None:
        super().__init__(kernel.name, code)
        self.kernel, self.code = kernel, code


class Group(tuple[Any, ...]):
    """Stretches that are loops which run side by side."""


def _with_groups(steps: list[tuple[Stretch, Block | None]]) -> list[tuple[Stretch, Block | None]]:
    """Steps in which loops that follow one another, and need nothing of each other, are one."""
    found: list[tuple[Stretch, Block | None]] = []
    loops: list[Stretch] = []
    for stretch, block in [*steps, ((), None)]:
        call = stretch[0].call if block is None and stretch and isinstance(stretch[0], HostStep) else None
        if isinstance(call, LoopCall) and call.is_quiet and not _needs(stretch[0], loops):
            loops.append(stretch)
            continue
        if loops:
            found.append((loops[0] if len(loops) == 1 else Group(loops), None))
        loops = []
        if isinstance(call, LoopCall) and call.is_quiet:
            loops.append(stretch)
        elif stretch:
            found.append((stretch, block))
    return found


def _needs(step: HostStep, loops: list[Stretch]) -> bool:
    """Whether a step needs what one of the loops gives."""
    made = {k for loop, *_ in loops for k in loop.outputs}
    return not made.isdisjoint(slot for slot, *_ in step.inputs)


def _is_lasting(stretch: Stretch) -> bool:
    """Whether what a step gives is the same in every run of a session."""
    call = stretch[3] if len(stretch) > 3 else None
    return call is not None and call.opdef.lasting
