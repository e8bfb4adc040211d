"""`jitgraph inspect`: what a program's runs are compiled to, as text and as an HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jitgraph.cli.description import Kernel, Signature, kernel_of_node, listed, quantity
from jitgraph.cli.failure import Failure, Interrupted
from jitgraph.cli.run import Arguments, AsModule, Jit, Script, settle

if TYPE_CHECKING:
    from rich.console import Console

LISTED = 20         # titles that an error names

EXAMPLES = """\b
Examples:
  jitgraph inspect train.py --epochs 1            run it, then show every distinct run
  jitgraph inspect --html page.html train.py      the same with the graph drawn; open it in a browser
  jitgraph inspect --only minimize train.py       only the runs whose title holds that text
  jitgraph inspect --times train.py               where the time of every run went
Ctrl-C ends the program early and shows what was compiled until then."""


def inspect(
    script: Script,
    args: Arguments = None,
    as_module: AsModule = False,
    jit: Jit = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one self-contained page with the graphs drawn.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Show only run signatures whose title holds TEXT.")
    ] = None,
    graph: Annotated[bool, typer.Option(help="List the ops of the pruned graph.")] = True,
    source: Annotated[bool, typer.Option(help="Print the source of each kernel.")] = True,
    times: Annotated[
        bool, typer.Option("--times", help="Show where the time of each run went instead: per kernel, beside the machine's limits.")
    ] = False,
) -> int:
    """Run a program and show, for each distinct run signature, its pruned graph, plan and kernels."""
    from jitgraph.cli.script import execute, flush_output

    settle(jit=jit)
    if times and html is not None:
        raise Failure("--times prints tables, --html writes a page of graphs and kernels: give one of them")
    if html is not None and not (graph and source):
        raise Failure("--no-graph and --no-source are for text; the page of --html has both")
    if html is not None and not html.parent.is_dir():
        raise Failure(f"no such folder: {html.parent}")
    show = _timer() if times else _recorder()
    show.record()
    try:
        code = execute(script, args or [], as_module)
    except Interrupted:
        print("jitgraph: the program was interrupted; what was compiled until then:", file=sys.stderr)
        code = 0
    found = show.recorded()
    flush_output()
    if times:
        from jitgraph.cli.times import print_runs

        print_runs(_chosen([(one.title, one) for one in found], only, "made", code))
        return code
    signatures = _chosen([(one["title"], one) for one in found], only, "compiled", code)
    if html is None:
        print_all(signatures, graph, source)
    else:
        from jitgraph.cli.page import render

        html.write_text(render(signatures, f"{script}, as compiled by jitgraph"), encoding="utf-8")
        print(f"{len(signatures)} run signatures, {sum(len(one['kernels']) for one in signatures)} kernels: {html}")
    return code


def _chosen(found: list[tuple[str, Any]], only: str | None, done: str, code: int) -> list[Any]:
    """Return what has `only` in its title. Raises Failure, which names the titles there are, if nothing has."""
    chosen = [one for title, one in found if only is None or only in title]
    if not found:
        raise Failure(f"no run was {done}: nothing to show", code or 1)
    if not chosen:
        titles = list(dict.fromkeys(title for title, _ in found))
        more = [f"... and {len(titles) - LISTED} more"] if len(titles) > LISTED else []
        listing = "".join(f"\n  {line}" for line in [*titles[:LISTED], *more])
        raise Failure(f"no run with {only!r} in its title was {done}; there are:{listing}", code or 1)
    return chosen


def _recorder() -> Any:
    """Return what records compiled plans: record() begins, recorded() gives a list of `description.Signature`."""
    from jitgraph.compiler import show

    return show


def _timer() -> Any:
    """Return what tallies all runs: record() begins, recorded() gives a list of explanations."""
    from jitgraph.runtime import recording

    return recording


def print_all(signatures: list[Signature], graph: bool = True, source: bool = True) -> None:
    """Print every signature as text."""
    from rich.text import Text

    from jitgraph.app.terminal import console, heading, say

    out = console()
    for index, signature in enumerate(signatures):
        heading(out, f"{index + 1} of {len(signatures)}   {signature['title']}")
        facts = [
            f"{len(signature['nodes'])} ops",
            f"{len(signature['kernels'])} kernels, compiled by {signature['compiler']}",
            f"{quantity(signature['total_bytes'])} moved",
            f"{quantity(signature['peak_bytes'])} peak memory",
        ]
        facts += [signature["share"]] if signature["share"] else []
        say(out, Text("   ".join(facts)))
        say(
            out,
            Text(f"feeds    {listed(signature['feeds']) or 'none'}\nfetches  {listed(signature['fetches']) or 'none'}"),
            indent="         ",
        )
        if graph:
            _print_graph(out, signature)
        _print_plan(out, signature)
        if source:
            for kernel in signature["kernels"]:
                _print_kernel(out, kernel)


def _print_graph(out: Console, signature: Signature) -> None:
    from rich.markup import escape

    from jitgraph.app.terminal import show, table

    kernels = kernel_of_node(signature)
    rows = table("op", "type", "shape", "dtype", "inputs", "line", "kernel", title="pruned graph")
    for node in signature["nodes"]:
        index = kernels.get(node["name"])
        kernel = "" if index is None else signature["kernels"][index]["name"]
        cells = [node["name"], node["type"], node["shape"], node["dtype"], "\n".join(node["inputs"]), node["site"], kernel]
        rows.add_row(*(escape(str(cell)) for cell in cells))
    show(out, rows)


def _print_plan(out: Console, signature: Signature) -> None:
    from jitgraph.app.terminal import show, table

    reasons = [step["because"] for step in signature["plan"]]
    columns = ["step", "kind", "name", "bytes moved", *(["remark"] if any(reasons) else [])]
    rows = table(*columns, right=("step", "bytes moved"), title="plan")
    for step in signature["plan"]:
        rows.add_row(*(str(step["step"]), step["kind"], step["name"], quantity(step["bytes"]), step["because"])[: len(columns)])
    show(out, rows)


def _print_kernel(out: Console, kernel: Kernel) -> None:
    from rich.syntax import Syntax
    from rich.table import Table
    from rich.text import Text

    from jitgraph.app.terminal import ENDLESS, say

    origin = kernel["origin"] if kernel["compile_ms"] is None else f"{kernel['origin']} {kernel['compile_ms']:.0f} ms"
    ops = len(kernel["ops"])
    heading = [f"{ops} op{'' if ops == 1 else 's'}", f"reads {listed(kernel['reads'])}", f"writes {listed(kernel['writes'])}"]
    heading += [quantity(kernel["bytes"]), "parallel" if kernel["parallel"] else "serial", origin]
    say(out, Text.assemble(("kernel " + kernel["name"], "bold"), "   " + "   ".join(part for part in heading if part)))
    rows = kernel["lines"]
    code = Syntax("\n".join(line for line, _ in rows), "python", background_color="default", theme="ansi_dark")
    beside = Text("\n".join(note for _, note in rows), style="dim")
    page = Table.grid(padding=(0, 4, 0, 2))
    page.add_column(no_wrap=True)
    page.add_column(no_wrap=True)
    page.add_row(code, beside)
    out.print(page, width=ENDLESS, crop=False)  # lines of source stay lines
    out.print()
