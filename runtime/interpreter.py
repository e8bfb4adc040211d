"""The instruction table runs in one native call: a small interpreter and a thread pool, written instruction by instruction.

`run_table` walks over rows of (kernel address, first buffer argument, first size argument, items, grain, nanoseconds,
whether the kernel may be left halfway), in as many rounds as it is told, before each of which it puts that round's
addresses into slots: so a loop iterates.  Rows with more items than their grain are cut into chunks that the calling
thread and the pool's workers claim; the cut depends on the sizes alone, so the number of threads never changes a result.
About every 20 ms of estimated work it calls Python's signal handlers, through the addresses in the `poll` block, and looks
at the time, if that block has a deadline; a Ctrl-C or a deadline ends the run between two chunks.  A kernel that writes a
variable is not left halfway: the variable would be half the old one.

Where other programs use the cores, a worker may lose its own in the middle of a chunk, for longer than a short kernel
takes.  Where that was seen, the next short kernels are not divided: a few after a stall that comes alone, the more the longer it
was, twice as many after each further one, and the fewer the more divided kernels have gone well since.

The pool's memory is an array of int64 words.  A claim word packs a generation and the range of chunks that are left, so that
a worker that was descheduled can never claim a chunk of a later job by mistake.  The caller takes the first of these, workers
the last: from kernel to kernel and from run to run, a core mostly meets the part of a buffer that it has in its cache.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jitgraph.compiler import tuning
from jitgraph.compiler.emit import native
from jitgraph.compiler.emit.outline import call_outlined, declared
from jitgraph.compiler.emit.words import Number, Variable, Word, forever, loop, select, smaller

if TYPE_CHECKING:
    from llvmlite import ir

# words of the pool's memory, 64 bytes apart where threads write them
CLAIM, DONE, JOB, SLEEPERS, BUSY, STOP, SEMAPHORE, WORDS = 0, 8, 16, 24, 32, 40, 48, 64
KERNEL, BUFFERS, SIZES, ITEMS, GRAIN, CHUNKS, FAILURE = range(JOB, JOB + 7)      # of the present job
ALONE, DISTRUST = BUSY + 1, BUSY + 2        # short kernels still not to be divided, and how many that was after the last stall
ROW = 7                 # words per row of the table
# words of the block that says what to run
TABLE, COUNT, SLOTS, INDEX, ARGUMENTS, ARGS, KERNEL_SIZES, POOL, POLL, ROUNDS, CHANGES, CHANGED, ADDRESSES = range(13)
BLOCK = 13
# words of the block that says what to look at: functions of Python's, the exception that a signal handler raised, the
# deadline in nanoseconds of the monotonic clock (0: none), the function that tells the time, and what it tells
ENSURE, CHECK, FETCH, RELEASE, RAISED, DEADLINE, CLOCK, SECONDS, NANOSECONDS = 0, 1, 2, 3, 4, 7, 8, 9, 10
POLL_WORDS = 11
INTERRUPTED, LATE = -1, -2
MONOTONIC = getattr(time, "CLOCK_MONOTONIC", 1)         # Windows has none, and no deadline here
POLL_NANOSECONDS = 20_000_000
SPINS = 20000          # pauses of an idle worker before it sleeps: about the time between two kernels of one run
STALLED = 4000         # pauses in which a worker is late with a chunk of a short kernel: another program has its core
ALONE_FOR = 1000       # short kernels that are not divided then, at most ...
ALONE_FIRST = 16       # ... and after the first stall, for each such time that it lasted
FIELD = 16             # bits of a claim word for the number of a chunk: `tuning.most_chunks` is far less
FIELD_MASK = (1 << FIELD) - 1


class Writer:
    """The instructions of one function: memory as words, atomics, calls through addresses, semaphores."""

    def __init__(self, builder: ir.IRBuilder):
        from llvmlite import ir

        self.ir, self.b = ir, builder
        self.i64, self.i32 = ir.IntType(64), ir.IntType(32)

    def _place(self, base: Word, k: Number) -> Any:
        return self.b.inttoptr((base + (k * 8)).value, self.i64.as_pointer())

    def get(self, base: Word, k: Number) -> Word:
        """Word number k behind an address."""
        return Word(self.b, self.b.load(self._place(base, k)))

    def put(self, base: Word, k: Number, value: Number) -> None:
        self.b.store(base.of(value), self._place(base, k))

    def atomic_get(self, base: Word, k: int) -> Word:
        return Word(self.b, self.b.load_atomic(self._place(base, k), "seq_cst", 8))

    def atomic_put(self, base: Word, k: int, value: Number) -> None:
        self.b.store_atomic(base.of(value), self._place(base, k), "seq_cst", 8)

    def atomic_add(self, base: Word, k: int, value: int) -> None:
        self.b.atomic_rmw("add", self._place(base, k), base.of(value), "seq_cst")

    def exchange(self, base: Word, k: int, old: Number, new: Number) -> Any:
        """Puts `new` where `old` stood; the truth value of whether it did."""
        pair = self.b.cmpxchg(self._place(base, k), base.of(old), base.of(new), "seq_cst", "seq_cst")
        return self.b.extract_value(pair, 1)

    def call_kernel(self, address: Word, buffers: Word, sizes: Word, begin: Number, end: Word) -> Word:
        pointer = self.i64.as_pointer()
        kind = self.ir.FunctionType(self.i64, [pointer, pointer, self.i64, self.i64])
        passed = [self.b.inttoptr(buffers.value, pointer), self.b.inttoptr(sizes.value, pointer), address.of(begin), end.value]
        return Word(self.b, self.b.call(self.b.inttoptr(address.value, kind.as_pointer()), passed))

    def call_int(self, address: Word, *words: Number) -> Word:
        """A C function of words that returns an int."""
        kind = self.ir.FunctionType(self.i32, [self.i64] * len(words))
        found = self.b.call(self.b.inttoptr(address.value, kind.as_pointer()), [address.of(w) for w in words])
        return Word(self.b, self.b.sext(found, self.i64))

    def semaphore(self, name: str, base: Word) -> None:
        byte = self.ir.IntType(8).as_pointer()
        self._external(name, self.i32, [self.b.bitcast(self._place(base, SEMAPHORE), byte)])

    def yield_thread(self) -> None:
        self._external("sched_yield", self.i32, [])

    def pause(self) -> None:
        """The CPU's hint that this is a waiting loop; nothing on machines whose hint we do not know."""
        import platform

        machine = platform.machine().lower()
        if machine in ("x86_64", "amd64"):
            self._external("llvm.x86.sse2.pause", self.ir.VoidType(), [])
        elif machine in ("aarch64", "arm64"):
            self._external("llvm.aarch64.hint", self.ir.VoidType(), [self.i32(1)])

    def _external(self, name: str, result: Any, arguments: list[ir.Value]) -> None:
        self.b.call(declared(self.b.module, name, result, [a.type for a in arguments]), arguments)

    def call(self, function: Callable[..., Word], *words: Word) -> Word:
        """Calls another function of the interpreter."""
        def write(builder: ir.IRBuilder, parameters: Sequence[ir.Value]) -> ir.Value:
            return function(Writer(builder), *(Word(builder, p) for p in parameters)).value

        return Word(self.b, call_outlined(self.b, function.__name__, list(words), write, result=self.i64))


def check_signals(w: Writer, poll: Word) -> Word:
    """Lets Python run its signal handlers.  The exception that one raises is kept in the poll block: then INTERRUPTED.
    LATE if the deadline is over."""
    code = Variable(w.b, 0)
    deadline = w.get(poll, DEADLINE)
    with w.b.if_then(deadline.is_above(0)):
        w.call_int(w.get(poll, CLOCK), MONOTONIC, poll + SECONDS * 8)
        now = w.get(poll, SECONDS) * 1_000_000_000 + w.get(poll, NANOSECONDS)
        with w.b.if_then(w.b.not_(now.is_below(deadline))):
            code.set(LATE)
    gil = w.call_int(w.get(poll, ENSURE), 0, 0, 0)
    with w.b.if_then(w.b.not_(w.call_int(w.get(poll, CHECK), 0, 0, 0).is_equal(0))):
        w.call_int(w.get(poll, FETCH), *(poll + k * 8 for k in range(RAISED, RAISED + 3)))
        code.set(INTERRUPTED)
    w.call_int(w.get(poll, RELEASE), gil, 0, 0)
    return code.get()


def left(word: Word) -> tuple[Word, Word]:
    """(begin, end) of the chunks that a claim word says are left."""
    return word & FIELD_MASK, (word >> FIELD) & FIELD_MASK


def claim_chunks(w: Writer, pool: Word, is_caller: Word, share: Word, poll: Word) -> Word:
    """Works on chunks of the present job until none is left; how many it did.  `share`: nanoseconds that one takes, for
    the thread that looks at signals; 0 for others."""
    b = w.b
    done, worked, code = Variable(b, 0), Variable(b, 0), Variable(b, 0)
    from_start = is_caller.is_equal(1)
    with forever(b) as leave:
        word = w.atomic_get(pool, CLAIM)
        first, last = left(word)
        with b.if_then(first.is_equal(last)):
            leave()
        with b.if_then(w.exchange(pool, CLAIM, word, word + select(b, from_start, 1, -(1 << FIELD)))):
            begin = select(b, from_start, first, last - 1) * w.get(pool, GRAIN)
            end = smaller(begin + w.get(pool, GRAIN), w.get(pool, ITEMS))
            code.set(0)
            with b.if_then(w.get(pool, FAILURE).is_equal(0)):
                code.set(w.call_kernel(w.get(pool, KERNEL), w.get(pool, BUFFERS), w.get(pool, SIZES), begin, end))
            worked.add(share)
            with b.if_then(b.and_(worked.get().is_above(POLL_NANOSECONDS), code.get().is_equal(0))):
                worked.set(0)
                code.set(w.call(check_signals, poll))
            with b.if_then(b.not_(code.get().is_equal(0))):
                w.put(pool, FAILURE, code.get())
            w.atomic_add(pool, DONE, 1)
            done.add(1)
    return done.get()


def work(w: Writer, pool: Word, poll: Word) -> Word:
    """A worker's life: chunks of one job after the other; it sleeps when there is none for a while."""
    b = w.b
    spins = Variable(b, 0)
    with forever(b) as leave:
        with b.if_then(b.not_(w.atomic_get(pool, STOP).is_equal(0))):
            leave()
        with b.if_else(w.call(claim_chunks, pool, pool * 0, pool * 0, poll).is_above(0)) as (busy, idle):
            with busy:
                spins.set(0)
            with idle, b.if_else(spins.get().is_below(SPINS)) as (waits, sleeps):
                with waits:
                    spins.add(1)
                    w.pause()
                with sleeps:
                    w.atomic_add(pool, SLEEPERS, 1)
                    first, last = left(w.atomic_get(pool, CLAIM))
                    nothing = first.is_equal(last)
                    with b.if_then(b.and_(nothing, w.atomic_get(pool, STOP).is_equal(0))):
                        w.semaphore("sem_wait", pool)
                    w.atomic_add(pool, SLEEPERS, -1)
                    spins.set(0)
    return spins.get()


def is_short(w: Writer, row: Word) -> Any:
    """Whether the kernel of a row takes less time than a scheduler's turn of another program by far."""
    return w.get(row, 5).is_below(tuning.CPU.shared)


def share_out(w: Writer, pool: Word, row: Word, buffers: Word, sizes: Word, poll: Word) -> Word:
    """Runs the kernel of a row together with the workers; its error code."""
    b = w.b
    items, grain = w.get(row, 3), w.get(row, 4)
    chunks = (items + grain - 1) // grain
    for k, value in ((KERNEL, w.get(row, 0)), (BUFFERS, buffers), (SIZES, sizes), (ITEMS, items), (GRAIN, grain),
                     (CHUNKS, chunks), (FAILURE, 0)):
        w.put(pool, k, value)
    w.atomic_put(pool, DONE, 0)
    w.atomic_put(pool, CLAIM, (((w.atomic_get(pool, CLAIM) >> 2 * FIELD) + 1) << 2 * FIELD) + (chunks << FIELD))
    with loop(b, 0, smaller(w.atomic_get(pool, SLEEPERS), chunks - 1)):
        w.semaphore("sem_post", pool)
    w.call(claim_chunks, pool, pool * 0 + 1, (w.get(row, 5) // chunks + 1) * w.get(row, 6), poll)
    spins = Variable(b, 0)
    with forever(b) as leave:
        with b.if_then(b.not_(w.atomic_get(pool, DONE).is_below(chunks))):
            leave()
        spins.add(1)
        with b.if_else(spins.get().is_above(SPINS)) as (long, short):
            with long:
                w.yield_thread()
            with short:
                w.pause()
    with b.if_then(is_short(w, row)), b.if_else(spins.get().is_above(STALLED)) as (stalled, well):
        with stalled:
            w.put(pool, DISTRUST, smaller(w.get(pool, DISTRUST) * 2 + spins.get() // STALLED * ALONE_FIRST, ALONE_FOR))
            w.put(pool, ALONE, w.get(pool, DISTRUST))
        with well, b.if_then(w.get(pool, DISTRUST).is_above(0)):
            w.put(pool, DISTRUST, w.get(pool, DISTRUST) - 1)
    code = w.get(pool, FAILURE)
    w.atomic_put(pool, BUSY, 0)
    return code


def run_alone(w: Writer, row: Word, buffers: Word, sizes: Word, poll: Word) -> Word:
    """Runs the kernel of a row in this thread, between looks at signals so many chunks as take about 20 ms; its error
    code."""
    b = w.b
    begin, code = Variable(b, 0), Variable(b, 0)
    items, grain, cost = w.get(row, 3), w.get(row, 4), w.get(row, 5)
    chunks = (items + grain - 1) // grain
    step = (chunks * POLL_NANOSECONDS // cost + 1) * grain
    with forever(b) as leave:
        end = smaller(begin.get() + step, items)
        code.set(w.call_kernel(w.get(row, 0), buffers, sizes, begin.get(), end))
        begin.set(end)
        with b.if_then(b.or_(b.not_(end.is_below(items)), b.not_(code.get().is_equal(0)))):
            leave()
        code.set(w.call(check_signals, poll))
        with b.if_then(b.not_(code.get().is_equal(0))):
            leave()
    return code.get()


def run_table(w: Writer, table: Word, count: Word, slots: Word, index: Word, arguments: Word, args: Word, sizes: Word,
              pool: Word, poll: Word, rounds: Word, changes: Word, changed: Word, addresses: Word) -> Word:
    """Runs `count` rows, `rounds` times; 0, INTERRUPTED, LATE, or the number of the row that failed (from 1) << 8 | its error
    code.  Before each round its `changes` next ones of the `addresses` are put into the slots `changed`."""
    b = w.b
    result, spent, code, turn, number = (Variable(b, 0) for _ in range(5))
    with b.if_then(count.is_below(0)):
        w.call(work, pool, poll)
    with forever(b) as stop:
        with b.if_then(b.not_(b.and_(turn.get().is_below(rounds), result.get().is_equal(0)))):
            stop()
        with loop(b, 0, changes) as k:
            w.put(slots, w.get(changed, k), w.get(addresses, turn.get() * changes + k))
        with loop(b, 0, arguments) as k:
            w.put(args, k, w.get(slots, w.get(index, k)))
        turn.add(1)
        number.set(0)
        with forever(b) as leave:
            with b.if_then(b.not_(number.get().is_below(count))):
                leave()
            row = table + number.get() * (ROW * 8)
            number.add(1)
            items = w.get(row, 3)
            with b.if_then(items.is_above(0)):
                buffers, its_sizes = args + w.get(row, 1) * 8, sizes + w.get(row, 2) * 8
                shared = Variable(b, 0)
                with b.if_then(b.and_(b.not_(pool.is_equal(0)), items.is_above(w.get(row, 4)))), \
                        b.if_then(w.exchange(pool, BUSY, 0, 1)):        # another run is using the pool -> alone
                    shared.set(1)
                    with b.if_then(b.and_(w.get(pool, ALONE).is_above(0), is_short(w, row))):
                        w.put(pool, ALONE, w.get(pool, ALONE) - 1)
                        w.atomic_put(pool, BUSY, 0)
                        shared.set(0)
                with b.if_else(shared.get().is_equal(1)) as (together, alone):
                    with together:
                        code.set(w.call(share_out, pool, row, buffers, its_sizes, poll))
                    with alone, b.if_else((w.get(row, 5) * w.get(row, 6)).is_above(POLL_NANOSECONDS)) as (long, short):
                        with long:
                            code.set(w.call(run_alone, row, buffers, its_sizes, poll))
                        with short:
                            code.set(w.call_kernel(w.get(row, 0), buffers, its_sizes, 0, items))
                spent.add(w.get(row, 5))
                with b.if_then(b.and_(code.get().is_equal(0), spent.get().is_above(POLL_NANOSECONDS))):
                    spent.set(0)
                    code.set(w.call(check_signals, poll))
                with b.if_then(code.get().is_above(0)):
                    result.set((number.get() << 8) + code.get())
                    leave()
                with b.if_then(code.get().is_below(0)):
                    result.set(code.get())
                    leave()
    return result.get()


def build(symbol: str) -> bytes:
    """Object code for `run_table`: the address of a block of its arguments -> a word."""
    from llvmlite import ir

    module = ir.Module(symbol)
    i64 = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(i64, [i64]), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    writer, block = Writer(builder), Word(builder, function.args[0])
    builder.ret(run_table(writer, *(writer.get(block, k) for k in range(BLOCK))).value)
    return native.compile_module(module)


def run_tables(w: Writer, sizes: Word, begin: Word, end: Word) -> Word:
    """A kernel whose items are blocks for `run_table`; for its sizes see `tables_arguments`."""
    count = w.get(sizes, 1)
    with loop(w.b, begin, end) as k:
        block, code = w.get(sizes, k + 2), Variable(w.b, 0)
        kind = w.ir.FunctionType(w.i64, [w.i64]).as_pointer()
        code.set(Word(w.b, w.b.call(w.b.inttoptr(w.get(sizes, 0).value, kind), [block.value])))
        w.put(sizes, count + k + 2, code.get())
    return begin * 0


def tables_arguments(address: int, blocks: Sequence[int]) -> np.ndarray:
    """The sizes of `run_tables`: the address of `run_table`, how many blocks there are, where they lie, and what each comes to."""
    return np.array([address, len(blocks), *blocks, *([0] * len(blocks))], np.int64)


def build_tables(symbol: str) -> bytes:
    """Object code for `run_tables`, a kernel."""
    from llvmlite import ir

    module = ir.Module(symbol)
    i64 = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(i64, [i64.as_pointer(), i64.as_pointer(), i64, i64]), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    _, sizes, begin, end = function.args
    words = (Word(builder, word) for word in (builder.ptrtoint(sizes, i64), begin, end))
    builder.ret(run_tables(Writer(builder), *words).value)
    return native.compile_module(module)


def parts(name: str = "run_table") -> dict[str, str]:
    """Key parts of the object code of `run_table`, or of `run_tables`."""
    return {"name": name, "text": native.source_digest(Path(__file__), Path(tuning.__file__)), "types": "", "target": "cpu",
            **native.target_key()}
