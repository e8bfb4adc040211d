"""One line on the terminal while a run waits for the compiler: what takes more than a second should say so."""
from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from jitgraph.compiler.program import Program

PATIENCE = 1.0          # seconds without a word
INTERVAL = 0.2          # seconds between two looks


class Progress:
    """How far the compilation of a program is; the thread that compiles writes it, those that wait read it."""

    def __init__(self) -> None:
        self.operations = self.passes = 0
        self.kernels = (0, 0)           # done, of all

    def start(self, operations: int) -> None:
        self.operations, self.passes, self.kernels = operations, 0, (0, 0)

    def passed(self, name: str, program: Program) -> None:
        """Called after each pass of the compiler."""
        self.passes += 1

    def made(self, done: int, total: int) -> None:
        """Called while kernels are made."""
        self.kernels = done, total

    def text(self) -> str:
        done, total = self.kernels
        stage = f"kernel {min(done + 1, total):,} of {total:,}" if total else f"pass {self.passes + 1}"
        return f"compiling {self.operations:,} operations: {stage}"


@contextmanager
def line(progress: Progress) -> Iterator[None]:
    """Shows how far it is while the block lasts, on a terminal, from the second second on; nothing is left of it."""
    stream = sys.stderr
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_show, args=(stream, progress, over), name="jitgraph-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _show(stream: TextIO, progress: Progress, over: threading.Event) -> None:
    begin = time.monotonic()
    if over.wait(PATIENCE):
        return
    while True:
        text = f"jitgraph: {progress.text()}, {time.monotonic() - begin:.0f} s"
        stream.write(f"\r\x1b[K{text[:_columns(stream) - 1]}")
        stream.flush()
        if over.wait(INTERVAL):
            break
    stream.write("\r\x1b[K")
    stream.flush()


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
