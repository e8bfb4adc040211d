"""Consoles for tables and source.  Nothing is broken inside a word: what does not fit becomes a list, and where the output
goes to a file or a pipe, a line is as long as it has to be."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

ENDLESS = 100_000  # columns of what is no terminal
RULE = 78  # columns of a line under a heading there
WORD = re.compile(r"[^\s/]*/|[^\s/]+")  # names of operations and files may be broken after a slash


def console(stream: TextIO | None = None) -> Console:
    """Return the console for a stream, standard output without one, as it is now: tests and scripts replace sys.stdout."""
    from rich.console import Console

    stream = stream or sys.stdout
    return Console(file=stream, width=None if stream.isatty() else ENDLESS, highlight=False, soft_wrap=False)


def table(*columns: str, right: tuple[str, ...] = (), title: str | None = None) -> Table:
    """Return an empty table with light rules, for `show`; the columns named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for column in columns:
        result.add_column(column, justify="right" if column in right else "left")
    return result


def say(out: Console, text: Text | str, style: str = "", indent: str = "") -> None:
    """Print a text (markup, if it is a str), broken between words only; `indent` goes before the lines after the first."""
    from rich.text import Text

    whole = Text.from_markup(text) if isinstance(text, str) else text
    for line in whole.split("\n"):
        for number, part in enumerate(_parts(line, out.width, len(indent))):
            out.print(Text(indent if number else "").append_text(part), style=style, overflow="ignore", crop=False)


def heading(out: Console, text: str) -> None:
    """Print a plain text above a rule."""
    from rich.text import Text

    say(out, Text(text, "bold"))
    out.print(Text("─" * min(out.width, RULE), "bright_black"))


def show(out: Console, rows: Table) -> None:
    """Print a table; where its words do not fit side by side, each row as a list of its cells."""
    if rows.title:
        say(out, f"[bold]{rows.title}[/]")
        rows.title = None
    names = [str(column.header) for column in rows.columns]
    cells = [[_as_text(cell) for cell in column.cells] for column in rows.columns]
    best = [max(map(_longest_line, [_as_text(name), *column])) for name, column in zip(names, cells)]
    words = [max(map(_longest_word, [_as_text(name), *column])) for name, column in zip(names, cells)]
    least = [b if column.justify == "right" else w for column, b, w in zip(rows.columns, best, words)]  # 2.1 KB is one
    room = out.width - 3 * (len(least) - 1) - 2  # without what lies between and beside columns
    if sum(least) > room:
        _show_list(out, names, cells)
        return
    widths = _widths(least, best, room)
    whole = table()
    for column, width in zip(rows.columns, widths):
        whole.add_column(column.header, justify=column.justify, width=width)
    for row in zip(*cells):
        whole.add_row(*(_folded(cell, width) for cell, width in zip(row, widths)))
    out.print(whole, crop=False)


def _widths(least: list[int], best: list[int], room: int) -> list[int]:
    """Widths between the least and the best that fit into the room; the widest give way first."""
    low, high = 0, max(best, default=0)
    while low < high:  # the greatest common limit
        limit = (low + high + 1) // 2
        fits = sum(max(a, min(b, limit)) for a, b in zip(least, best)) <= room
        low, high = (limit, high) if fits else (low, limit - 1)
    return [max(a, min(b, low)) for a, b in zip(least, best)]


def _show_list(out: Console, names: list[str], cells: list[list[Text]]) -> None:
    from rich.text import Text

    for row in zip(*cells):
        first = True
        for name, text in zip(names, row):
            if text.plain.strip():
                before = Text() if first else Text.assemble("  ", (f"{name}  " if name else "", "dim"))
                say(out, before.append_text(text), indent="    ")
                first = False
    out.print()


def _as_text(cell: Any) -> Text:
    """A cell as text of its own; a str is markup."""
    from rich.text import Text

    return Text.from_markup(cell) if isinstance(cell, str) else cell.copy() if isinstance(cell, Text) else Text(str(cell))


def _longest_line(text: Text) -> int:
    return max((len(line) for line in text.plain.split("\n")), default=0)


def _longest_word(text: Text) -> int:
    return max((len(word) for word in WORD.findall(text.plain)), default=0)


def _folded(text: Text, width: int) -> Text:
    """A text in lines of this width, broken between words."""
    from rich.text import Text

    return Text("\n").join(part for line in text.split("\n") for part in _parts(line, width, 0))


def _parts(line: Text, width: int, indent: int) -> list[Text]:
    """A line in parts that are no wider than `width`, where words allow that; all but the first leave room for an
    indent."""
    offsets: list[int] = []
    start = 0
    for word in WORD.finditer(line.plain):
        room = width - (indent if offsets else 0)
        if word.end() - start > room and line.plain[start : word.start()].strip():
            offsets.append(word.start())
            start = word.start()
    parts = list(line.divide(offsets))
    for part in parts:
        part.rstrip()
    return parts
