"""Programs that an earlier process compiled: from the store, in a tenth of the time that the passes take.

They hold for the same operations, shapes and options alone (`jitgraph.compiler.stored`), and are what the passes would make: runs
give the same bits.
"""
from __future__ import annotations

import functools
from collections.abc import Callable

from jitgraph.compiler import CPU, Program, VerifyError, compile_ops, show
from jitgraph.compiler.place import kernels_by_hand
from jitgraph.compiler.stored import Stored

from . import compile_process, store
from .library import LIBRARY


def compiled(program: Program, tell: Callable[[str, Program], None]) -> tuple[Program, Callable[[], object] | None]:
    """`compile_ops(program, show=tell)`, or what it made of the same program some time ago; and what puts it into the store, None
    where nothing is to be put there."""
    if show.is_asked():                 # for how long passes took, among others
        return compile_ops(program, show=tell), None
    stored, verify = Stored(program), program.options.verify
    kept = stored.address is not None and not verify
    data = store.load_program(stored.address) if stored.address is not None and kept else None
    if data is not None and stored.restore(data) is not None:
        return program, None
    if kept and not LIBRARY.symbols and compile_process.wanted():
        compile_process.HELPERS.prepare()       # it is there when the passes have found out which kernels are missing
    compile_ops(program, show=functools.partial(_passed, tell))
    if verify:
        _verify(stored)
    return program, functools.partial(_save, stored) if kept else None


def _passed(tell: Callable[[str, Program], None], name: str, program: Program) -> None:
    """After a pass: primitives with kernels of their own are final before others have been fused, and take longest to compile."""
    tell(name, program)
    if name == "simplify" and program.target is CPU and not program.options.verify:
        LIBRARY.begin(kernels_by_hand(program), program.options.compiler)


def _verify(stored: Stored) -> None:
    """Has the run do what a file would say of the program."""
    data = stored.dump() if stored.address is not None else None
    if data is not None and stored.restore(data) is None:
        raise VerifyError("what was written of a program cannot be read")


def _save(stored: Stored) -> None:
    data = stored.dump()
    if data is not None and stored.address is not None:
        store.save_program(stored.address, data)
