"""The line of a training loop: step, steps a second and loss, on the terminal that takes the messages of level INFO.

The line is drawn in its place a few times a second, and gives way to messages and to what the program prints.  Where messages go
to a file or a pipe, are not shown, or are left to the program, there is none.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from jitgraph.app import logs

if TYPE_CHECKING:
    from rich.console import Console

BETWEEN = 0.1  # seconds between two drawings
ERASE = "\x1b[K"  # what takes away the line of kernels that are being compiled, which is another one
WINDOW = 1.0  # seconds, at least, that a rate is the mean of


class StepLine:
    """What is known of the loop, and how it is drawn; ``clock`` gives seconds."""

    def __init__(self, clock: Any = time.monotonic):
        self._clock = clock
        self._console: Console | None = None
        self._begin()

    def _begin(self) -> None:
        self._step: int | None = None
        self._loss: float | None = None
        self._mark: tuple[float, int] | None = None     # when a rate begins, and at which step
        self._rate: float | None = None
        self._drawn_at = float("-inf")
        self._shown = False
        self._printing = False          # whether the program has begun a line of its own, and not ended it

    def wanted(self) -> bool:
        """Whether a loop that begins now has a line: whether its messages go to a terminal that can draw one."""
        stream = logs.terminal()
        if stream is None:
            return False
        from jitgraph.app import terminal

        self._console = terminal.console(stream.stream if isinstance(stream, _Printed) else stream)
        if self._console.is_dumb_terminal:
            return False
        for name in ("stdout", "stderr"):
            given = getattr(sys, name)
            if given is not None and given.isatty() and not isinstance(given, _Printed):
                setattr(sys, name, _Printed(given, self))
        return True

    def give_way(self, text: str) -> None:
        """Makes room for a text that the program prints."""
        self.clear()
        if text:
            self._printing = not text.endswith(("\n", "\r", ERASE))

    def saw(self, step: Any = None, loss: Any = None) -> None:
        """Takes note of a step that is done, or of its loss, and draws the line if it is time; nothing before ``wanted``."""
        if self._console is None:
            return
        if loss is not None and getattr(loss, "ndim", 0) == 0:
            self._loss = float(loss)
        if step is None:
            return
        now = self._clock()
        self._step = int(step)
        if self._mark is None or self._step < self._mark[1]:
            self._mark = now, self._step
        elapsed = now - self._mark[0]
        if elapsed >= WINDOW or self._rate is None and elapsed > 0:
            self._rate = (self._step - self._mark[1]) / elapsed
            self._mark = (now, self._step) if elapsed >= WINDOW else self._mark
        if now - self._drawn_at >= BETWEEN and not self._printing:
            self._drawn_at = now
            self._draw("\r")

    def text(self) -> str:
        """The line, with rich's markup."""
        parts = [f"step [bold]{self._step}[/]"]
        if self._rate is not None:
            parts.append(f"{self._rate:.4g} steps/s")
        if self._loss is not None:
            parts.append(f"loss [bold]{self._loss:.6g}[/]")
        return "   ".join(parts)

    def _draw(self, end: str) -> None:
        assert self._console is not None
        self.clear()
        self._console.print(self.text(), end=end, no_wrap=True, overflow="ellipsis")
        self._shown = end == "\r"
        logs.before_message(self.clear if self._shown else None)

    def clear(self) -> None:
        """Takes the line away until it is drawn again, so that something else may be written."""
        if self._shown and self._console is not None:
            from rich.control import Control
            from rich.segment import ControlType

            self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
            self._shown = False

    def finish(self) -> None:
        """Leaves the last line where it stands: the loop is over."""
        if self._console is not None and self._step is not None:
            self._draw("\n")
        for name in ("stdout", "stderr"):
            if isinstance(given := getattr(sys, name), _Printed):
                setattr(sys, name, given.stream)
        self._console = None
        self._begin()


class _Printed:
    """In the place of a stream to the terminal while there is a line: the line gives way to what is written."""

    def __init__(self, stream: Any, line: StepLine):
        self.stream, self._line = stream, line

    def write(self, text: str) -> int:
        """Writes a text."""
        self._line.give_way(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


LINE = StepLine()
