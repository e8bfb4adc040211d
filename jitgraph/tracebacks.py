"""Tracebacks without jitgraph's own frames: they begin and end in the user's program.

An error loses them where it leaves a run or the builder of an operation, so that logs, test tools and notebooks show it
short; for the rest, Python's hook for uncaught errors, and IPython's printer, get a shortened copy to show.
JITGRAPH_TRACEBACK=1 leaves everything as it is.
"""
from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
OWN = tuple(os.path.join(folder, "") for folder in [
    _HERE, os.path.join(os.path.dirname(_HERE), "compiler"), os.path.join(os.path.dirname(_HERE), "runtime")])
"""The folders of jitgraph, jitgraph.compiler and jitgraph.runtime, from a checkout and installed."""


def users(filenames: Sequence[str], inside: bool = False) -> list[bool]:
    """Which frames of a stack, outermost first, to show: neither ours nor what these called in libraries; what the user's
    own function called through us stays.  `inside`: whether a library called the first one."""
    kept = []
    for filename in filenames:
        if filename.startswith(OWN) or filename.startswith("<frozen"):
            inside = True
        elif inside and not _is_library(filename) and not _is_generated(filename):
            inside = False
        kept.append(not inside)
    return kept


@functools.cache
def _libraries() -> tuple[str, ...]:
    import sysconfig

    return tuple({os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "purelib", "platlib", "scripts")})


def _is_library(filename: str) -> bool:
    return filename.startswith(_libraries()) or any(f"{os.sep}{name}-packages{os.sep}" in filename for name in ("site", "dist"))


def _is_generated(filename: str) -> bool:
    """Whether a file name stands for code that a library made, rather than for what somebody typed in."""
    return filename.startswith("<") and not filename.startswith(("<stdin>", "<ipython-input", "<console>", "<python-input"))


def hidden() -> bool:
    """Whether our frames are left out."""
    from jitgraph import environment

    return environment.text("JITGRAPH_TRACEBACK") in ("", "0")


def shortened(trace: TracebackType | None, inside: bool = False) -> TracebackType | None:
    """A traceback without our frames."""
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    kept = users([entry.tb_frame.f_code.co_filename for entry in entries], inside)
    for entry, wanted in zip(reversed(entries), reversed(kept)):
        if wanted:
            trace = TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return trace


def shorten(error: BaseException) -> None:
    """Takes our frames from the traceback of an error that leaves us, and of its causes; a cause that arose in us wholly
    goes, for the error says what it means."""
    if not hidden():
        return
    for one in _chain(error):
        cause = one.__cause__ or one.__context__
        if cause is not None and cause.__traceback__ is not None and shortened(cause.__traceback__) is None:
            one.__cause__ = None        # which keeps the context from being shown, too
    for one in _chain(error):
        one.__traceback__ = shortened(one.__traceback__)


@contextmanager
def short(error: BaseException | None, inside: bool = False) -> Iterator[None]:
    """In the block, an error and its causes have no frames of ours; afterwards they have them again, for a debugger."""
    before = [(one, one.__traceback__) for one in _chain(error)] if error is not None and hidden() else []
    for one, trace in before:
        one.__traceback__ = shortened(trace, inside)
    try:
        yield
    finally:
        for one, trace in before:
            one.__traceback__ = trace


def _chain(error: BaseException) -> list[BaseException]:
    """An error with all that it names as its causes."""
    found: list[BaseException] = []
    pending: list[Any] = [error]
    while pending:
        one = pending.pop()
        if one is not None and not any(one is known for known in found):
            found.append(one)
            pending += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return found


@functools.cache
def install() -> None:
    """Has uncaught errors shown short from now on, by whatever shows them now; once."""
    hook()


def hook() -> None:
    """Puts itself before what shows uncaught errors: it gets shortened ones."""
    before = sys.excepthook

    def show(kind: Any, error: Any, trace: Any) -> None:
        with short(error):
            before(kind, error, shortened(trace) if hidden() else trace)

    sys.excepthook = show
    if "IPython" in sys.modules:
        _install_in_notebook(sys.modules["IPython"])


def install_in_threads() -> None:
    """The same for errors that end a thread.  Apart, so that `import jitgraph` alone need not import threading."""
    import threading

    before = threading.excepthook

    def show(given: Any) -> None:
        with short(given.exc_value):
            before(given)

    threading.excepthook = show


def _install_in_notebook(ipython: Any) -> None:
    shell = getattr(ipython, "get_ipython", lambda: None)()
    printer = getattr(shell, "InteractiveTB", None)
    if printer is None:
        return
    before = printer.structured_traceback

    def structured_traceback(kind: Any, error: Any, trace: Any = None, *args: Any, **kwargs: Any) -> Any:
        with short(error):
            return before(kind, error, shortened(trace) if hidden() else trace, *args, **kwargs)

    printer.structured_traceback = structured_traceback
