"""The instruction table runs in one native call: a small interpreter and a thread pool, compiled once by Numba.

It is one function, its repeated parts put in as text: helpers that Numba inlines take longer to compile than all the rest.
`run_table` walks over rows of (kernel address, first buffer argument, first size argument, items, grain, nanoseconds).
Rows with more items than their grain are cut into chunks that the calling thread and the pool's workers claim; the cut
depends on the sizes alone, so the number of threads never changes a result.  About every 20 ms of estimated work it calls
Python's signal handlers, through the addresses in the `poll` block; a Ctrl-C ends the run between two chunks.

The pool's memory is an array of int64 words.  A claim word packs a generation and the number of chunks left, so that a
worker that was descheduled can never claim a chunk of a later job by mistake.
"""
from __future__ import annotations

from pathlib import Path
from textwrap import indent

from jitgraph.compiler.emit import native

# words of the pool's memory, 64 bytes apart where threads write them
CLAIM, DONE, JOB, SLEEPERS, BUSY, STOP, SEMAPHORE, WORDS = 0, 8, 16, 24, 32, 40, 48, 64
ROW = 6                 # words per row of the table
INTERRUPTED = -1
POLL_NANOSECONDS = 20_000_000
SPINS = 20000          # pauses of an idle worker before it sleeps: about the time between two kernels of one run

# lets Python run its signal handlers; the exception that one raises is kept in the poll block
CHECK_SIGNALS = f'''
gil = call_int(get(poll, 0), 0, 0, 0)
if call_int(get(poll, 1), 0, 0, 0) != 0:
    call_int(get(poll, 2), poll + 32, poll + 40, poll + 48)
    code = {INTERRUPTED}
call_int(get(poll, 3), gil, 0, 0)
'''

# works on chunks of the present job until none is left; `done` is how many it did, `share` what one takes
CLAIM_CHUNKS = f'''
done, worked = 0, 0
while True:
    word = atomic_get(pool, {CLAIM})
    left = word & 0xFFFFFFFF
    if left == 0:
        break
    if exchange(pool, {CLAIM}, word, word - 1):
        begin = (get(pool, {JOB} + 5) - left) * get(pool, {JOB} + 4)
        end = smaller(begin + get(pool, {JOB} + 4), get(pool, {JOB} + 3))
        code = 0
        if get(pool, {JOB} + 6) == 0:
            code = call_kernel(get(pool, {JOB}), get(pool, {JOB} + 1), get(pool, {JOB} + 2), begin, end)
        if share != 0:
            worked += share
            if worked > {POLL_NANOSECONDS} and code == 0:
                worked = 0
{indent(CHECK_SIGNALS, " " * 16)}
        if code != 0:
            put(pool, {JOB} + 6, code)
        atomic_add(pool, {DONE}, 1)
        done += 1
'''

SOURCE = f'''
def run_table(table, count, slots, index, arguments, args, sizes, pool, poll):
    code, share = 0, 0
    if count < 0:                               # a worker
        spins = 0
        while get(pool, {STOP}) == 0:
{indent(CLAIM_CHUNKS, " " * 12)}
            if done > 0:
                spins = 0
            elif spins < {SPINS}:
                spins += 1
                pause()
            else:
                atomic_add(pool, {SLEEPERS}, 1)
                if atomic_get(pool, {CLAIM}) & 0xFFFFFFFF == 0 and get(pool, {STOP}) == 0:
                    semaphore_wait(pool, {SEMAPHORE})
                atomic_add(pool, {SLEEPERS}, -1)
                spins = 0
        return 0
    for k in range(arguments):
        put(args, k, get(slots, get(index, k)))
    spent = 0
    for k in range(count):
        row = table + k * {ROW * 8}
        items, grain = get(row, 3), get(row, 4)
        if items <= 0:
            continue
        fn, a, s = get(row, 0), args + get(row, 1) * 8, sizes + get(row, 2) * 8
        shared = pool != 0 and items > grain
        if shared:
            shared = exchange(pool, {BUSY}, 0, 1)   # another run is using the pool -> alone
        if shared:
            chunks = quotient(items + grain - 1, grain)
            put(pool, {JOB}, fn)
            put(pool, {JOB} + 1, a)
            put(pool, {JOB} + 2, s)
            put(pool, {JOB} + 3, items)
            put(pool, {JOB} + 4, grain)
            put(pool, {JOB} + 5, chunks)
            put(pool, {JOB} + 6, 0)
            atomic_put(pool, {DONE}, 0)
            atomic_put(pool, {CLAIM}, (((atomic_get(pool, {CLAIM}) >> 32) + 1) << 32) + chunks)
            for w in range(smaller(atomic_get(pool, {SLEEPERS}), chunks - 1)):
                semaphore_post(pool, {SEMAPHORE})
            share = quotient(get(row, 5), chunks) + 1
{indent(CLAIM_CHUNKS, " " * 12)}
            spins = 0
            while atomic_get(pool, {DONE}) < chunks:
                spins += 1
                if spins > {SPINS}:
                    yield_thread()
                else:
                    pause()
            code = get(pool, {JOB} + 6)
            atomic_put(pool, {BUSY}, 0)
        else:
            code = call_kernel(fn, a, s, 0, items)
        if code == 0:
            spent += get(row, 5)
            if spent > {POLL_NANOSECONDS}:
                spent = 0
{indent(CHECK_SIGNALS, " " * 16)}
        if code != 0:
            return ((k + 1) << 8) + code if code > 0 else code
    return 0
'''


def build(symbol: str) -> bytes:
    """Object code for `run_table` of SOURCE."""
    native.import_numba()
    from numba.core import types

    from .interpreter_intrinsics import intrinsics

    return native.compile_function(SOURCE, "run_table", [types.int64] * 9, symbol, "<jitgraph interpreter>", intrinsics(),
                                   shell=False, noalias=False)


def parts() -> dict[str, str]:
    """Key parts of the interpreter's object code."""
    names = native.source_digest(Path(__file__).with_name("interpreter_intrinsics.py"))
    return {"name": "run_table", "text": SOURCE, "types": "", "target": "cpu", "names": names, **native.target_key()}
