"""The error for a kernel that a compiler refuses."""
from __future__ import annotations


class CompileError(RuntimeError):
    """A kernel that could not be compiled: an internal error of jitgraph, reported with the kernel's text."""

    def __init__(self, source: str, error: Exception) -> None:
        reason = str(error).strip().splitlines()
        super().__init__("jitgraph made a kernel that does not compile; please report it with this text.\n"
                         + source + "\n" + "\n".join(reason[:6]))
