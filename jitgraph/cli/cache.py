"""`jitgraph cache`: what the store of compiled kernels holds, and why one was not found in it."""

from __future__ import annotations

import datetime
import sys
from typing import Annotated, Any

import typer

from jitgraph.cli.description import quantity
from jitgraph.cli.failure import Failure, Interrupted

EXAMPLES = """\b
Examples:
  jitgraph cache list                 all stored kernels, newest first
  jitgraph cache explain 3f9c         what that kernel's key is made of, and what sets it apart
  jitgraph cache clear                remove them all; the next run compiles anew
JITGRAPH_SHOW=cache, on any run, says of each kernel that was not found which part of its key differed.
The store lies where JITGRAPH_CACHE says (see: jitgraph doctor)."""


def application() -> typer.Typer:
    """Return the group of the `cache` commands."""
    app = typer.Typer(
        help="List, explain and clear the store of compiled kernels.",
        epilog=EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    app.command("list")(list_entries)
    app.command("explain", short_help="Say what a key is made of.")(explain)
    app.command("clear")(clear)
    return app


def _store() -> Any:
    """Return the store's module, only now: its imports are not needed to parse a command line."""
    from jitgraph.runtime import store

    return store


def list_entries(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many to show.")] = 50,
    json: Annotated[bool, typer.Option("--json", help="All of them as JSON.")] = False,
) -> int:
    """List the stored kernels, newest first."""
    store = _store()
    entries = store.entries()
    if json:
        import json as encoder

        fields = ("key", "parts", "symbol", "seconds", "size", "created")
        print(encoder.dumps([{name: getattr(entry, name) for name in fields} for entry in entries], indent=1))
        return 0
    from rich.text import Text

    from jitgraph.app.terminal import console, say, show, table

    out = console()
    say(out, Text(f"{_content(store, entries)} in {store.directory()}"))
    if not entries:
        return 0
    rows = table("key", "kernel", "target", "size", "compiled in", "made", right=("size", "compiled in"))
    for entry in entries[:limit]:
        made = datetime.datetime.fromtimestamp(entry.created).strftime("%Y-%m-%d %H:%M:%S")
        name, target = (str(entry.parts.get(part, "")) for part in ("name", "target"))
        rows.add_row(entry.key[:12], name, target, quantity(entry.size), f"{1000 * entry.seconds:.0f} ms", made)
    show(out, rows)
    if len(entries) > limit:
        say(out, f"... and {len(entries) - limit} more (--limit)")
    return 0


def _content(store: Any, entries: list[Any]) -> str:
    """Return how much the store holds, as words."""
    programs = store.programs()
    total = quantity(sum(entry.size for entry in entries) + sum(programs))
    return f"{len(entries)} kernels" + (f" and {len(programs)} programs" if programs else "") + f", {total}"


def explain(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="The key of a kernel, or how it begins.", show_default=False)
    ],
) -> int:
    """Say what a kernel's key is made of, and in which parts the nearest other kernel differs."""
    store = _store()
    found = [entry for entry in store.entries() if entry.key.startswith(key)]
    if not found:
        raise Failure(f"no kernel begins with {key!r}; see: jitgraph cache list")
    if len(found) > 1:
        raise Failure(f"{len(found)} kernels begin with {key!r}: {', '.join(one.key[:12] for one in found[:4])} ...")
    entry = found[0]
    print(f"{entry.key}\nThe address is the hash of these parts; a kernel that differs in one is another kernel:")
    for name, value in entry.parts.items():
        lines = str(value).splitlines()
        print(f"  {name:12} " + (lines[0] if len(lines) == 1 else f"{len(lines)} lines: {lines[0]} ..."))
    print(f"Beside the others in the store: {store.explain(entry.parts)}")
    return 0


def _agreed(question: str) -> bool:
    """Return what the user answers. Raises Failure where nobody answers, Interrupted at Ctrl-C."""
    try:
        return typer.confirm(question)
    except typer.Abort:
        print()
        if sys.stdin is not None and sys.stdin.isatty():
            raise Interrupted() from None
        raise Failure("there is no terminal to answer on; to remove them unasked: jitgraph cache clear --yes") from None


def clear(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> int:
    """Remove all that is stored; nothing but time is lost."""
    store = _store()
    entries = store.entries()
    if not entries and not store.programs():
        print(f"{store.directory()} is empty already")
        return 0
    content = _content(store, entries)
    if not yes and not _agreed(f"Remove {content}, in {store.directory()}?"):
        return 0
    store.clear()
    print(f"removed {content}")
    return 0
