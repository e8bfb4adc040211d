"""Where in the user's program a node was made.

Recording must cost next to nothing, so a node keeps raw (code, instruction) pairs; lines and text are found when asked.
"""
from __future__ import annotations

import linecache
import os
import sys
from traceback import FrameSummary
from types import CodeType, FrameType

import numpy as np

from jitgraph import tracebacks

_MAX_FRAMES = 32            # innermost frames kept per node: enough for a user's stack, little memory

_INTERNAL = (*tracebacks.OWN, os.path.join(os.path.dirname(os.path.abspath(np.__file__)), ""))
_internal_code: dict[CodeType, bool] = {}

Frames = tuple


def capture(depth: int = 1) -> Frames:
    """The stack above the caller's caller as a flat tuple (code, instruction, code, instruction, ...), innermost first.

    Frames of jitgraph itself at the inner end are left out.
    """
    frame: FrameType | None = sys._getframe(depth)
    known = _internal_code
    while frame is not None:
        code = frame.f_code
        internal = known.get(code)
        if internal is None:
            internal = known[code] = is_internal(code.co_filename)
        if not internal:
            break
        frame = frame.f_back
    pairs: list = []
    room = _MAX_FRAMES
    while frame is not None and room:
        pairs.append(frame.f_code)
        pairs.append(frame.f_lasti)
        frame = frame.f_back
        room -= 1
    return tuple(pairs)


def is_internal(filename: str) -> bool:
    """Whether a file belongs to jitgraph or NumPy rather than to the user's program."""
    return filename.startswith(_INTERNAL) or filename.startswith("<frozen ")


def _line(code: CodeType, instruction: int) -> int:
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno


def site(frames: Frames) -> tuple[str, int] | None:
    """(file, line) of the innermost frame that is the user's, or None if there is none."""
    for code, instruction in zip(frames[::2], frames[1::2]):
        if not is_internal(code.co_filename):
            return code.co_filename, _line(code, instruction)
    return None


def summary(frames: Frames) -> list[FrameSummary]:
    """The stack outermost first, as ``traceback`` has it: each entry unpacks to (filename, lineno, name, line)."""
    entries = []
    for code, instruction in zip(frames[::2], frames[1::2]):
        line = _line(code, instruction)
        text = linecache.getline(code.co_filename, line).strip()
        entries.append(FrameSummary(code.co_filename, line, code.co_name, lookup_line=False, line=text))
    return entries[::-1]


def with_start_lines(frames: Frames) -> list[tuple[str, int, str, str, int]]:
    """The same as tuples, with the line on which the function begins as a fifth part."""
    starts = [code.co_firstlineno for code in frames[::2]][::-1]
    return [(*entry, start) for entry, start in zip(summary(frames), starts)]


def way(frames: Frames) -> list[FrameSummary]:
    """The user's part of the stack, outermost first."""
    entries = summary(frames)
    kept = tracebacks.users([entry.filename for entry in entries], inside=True)
    return [entry for entry, wanted in zip(entries, kept) if wanted and not is_internal(entry.filename)]


def where(frames: Frames) -> str:
    """``file:line`` of the user's frame, or an empty string."""
    found = site(frames)
    return f"{found[0]}:{found[1]}" if found else ""
