"""Consoles for tables and source, wide enough where the output goes to a file or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPE_WIDTH = 160


def console() -> Console:
    """Return the console for standard output, as it is now: tests and scripts replace sys.stdout."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, soft_wrap=False)


def table(*columns: str, right: tuple[str, ...] = (), title: str | None = None) -> Table:
    """Return an empty table with light rules; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for column in columns:
        result.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return result
