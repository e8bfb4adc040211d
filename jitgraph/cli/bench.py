"""`jitgraph bench`: the workloads, here and on the installed peers, as ratios measured in one run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from jitgraph.cli.failure import Failure, Interrupted
from jitgraph.cli.run import settle

EXAMPLES = """\b
Examples:
  jitgraph bench                                     the standard workloads beside every peer installed here
  jitgraph bench --only fused --only 'mlp*'          some of them; --list shows all
  jitgraph bench --peers jax=/opt/jax/bin/python,numpy
  jitgraph bench --peers /opt/peers/bin/python       all peers that Python has
  jitgraph bench --all --html bench.html             everything, as bars
  jitgraph bench --models --only 'resnet50-*'        whole networks, forward and training
  jitgraph bench --all --scaling                     two cores against one, for all that takes 1 ms or more
  jitgraph bench --device gpu --markdown gpu.md      on a GPU, beside torch and JAX there
A ratio is ours / theirs in medians: below 1, jitgraph is the faster. JITGRAPH_BENCH_PEERS is the default of --peers."""


def bench(
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Workloads by name; may be given again.")
    ] = None,
    models: Annotated[bool, typer.Option("--models", help="Whole networks instead.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All workloads; about an hour with every peer.")] = False,
    peers: Annotated[
        str | None, typer.Option(metavar="LIST", help="Peers, PEER=PYTHON or PYTHON, joined by commas.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each peer has its turn.")] = 3,
    seconds: Annotated[float, typer.Option(min=0.01, help="How long each turn measures.")] = 1.0,
    cores: Annotated[int | None, typer.Option(min=1, help="Let every process use only so many cores.")] = None,
    scaling: Annotated[
        bool, typer.Option("--scaling", help="Measure jitgraph alone, on one core and on two (or on --cores).")
    ] = False,
    small: Annotated[
        bool, typer.Option("--small", help="Tiny sizes, to see that everything runs; times mean nothing.")
    ] = False,
    device: Annotated[
        str | None, typer.Option(metavar="gpu", help="Measure on a GPU, in under ten minutes.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table of --device.")] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all that was measured; - is the screen.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with bars.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the workloads and stop.")] = False,
) -> int:
    """Measure workloads here and on installed peers, and print ratios with absolute times beside."""
    from jitgraph.bench import peers as interpreters
    from jitgraph.bench import report, runner

    if listing:
        return _list(runner)
    for file in (json, html, markdown):
        if file is not None and not file.parent.is_dir():
            raise Failure(f"no such folder: {file.parent}")
    tell = _teller()
    settle()
    if device is not None or markdown is not None:
        return _on_device(device, only or [], seconds, small, json, markdown, tell)
    try:
        names = runner.choose(only or [], everything, models)
        if scaling:
            if peers is not None or html is not None:
                raise ValueError("--scaling compares jitgraph with itself, in a table: leave out --peers and --html")
            measured: Iterator[Any] = runner.scale(names, cores or 2, rounds, seconds, small, tell=tell)
        else:
            wanted = peers if peers is not None else os.environ.get("JITGRAPH_BENCH_PEERS", "")
            chosen = interpreters.find([item.strip() for item in wanted.split(",") if item.strip()])
            measured = runner.run(names, chosen, rounds, seconds, small, cores, tell=tell)
    except ValueError as error:
        raise Failure(str(error)) from None
    try:
        rows = list(measured)
    except KeyboardInterrupt:
        raise Interrupted() from None
    finally:
        tell("")
    if scaling:
        _print([report.scaling_table(rows)], report.scaling_as_json(rows), json)
        return 1 if any(row.one.error or row.several.error for row in rows) else 0
    _write(report, rows, json, html)
    return 1 if any(row.measurements["jitgraph"].error for row in rows if "jitgraph" in row.measurements) else 0


def _on_device(
    device: str | None,
    only: list[str],
    seconds: float,
    small: bool,
    json: Path | None,
    markdown: Path | None,
    tell: Callable[[str], None],
) -> int:
    """Measure on a GPU, or on the simulated one that JITGRAPH_TARGET asks for, where times mean nothing."""
    import json as encoder

    from jitgraph.bench import device as measured
    from jitgraph.compiler import targets
    from jitgraph.runtime.cuda.driver import NoDriver
    from jitgraph.runtime.cuda.machine import machine_of

    if device != "gpu":
        raise Failure("--device gpu is what can be asked for, and --markdown is its table")
    target = targets.present()
    try:
        names = measured.choose(only)
        gpu = machine_of(target if target.has_memory else targets.CUDA).devices[0].properties.name
        rows = measured.run(names, min(seconds, 0.3), small, tell=tell)
    except (NoDriver, ValueError) as error:
        raise Failure(str(error)) from None
    tell("")
    table = measured.markdown(rows, gpu)
    if markdown is not None:
        markdown.write_text(table, encoding="utf-8")
    if json is not None and str(json) != "-":
        json.write_text(encoder.dumps(measured.as_json(rows, gpu), indent=1) + "\n", encoding="utf-8")
    print(encoder.dumps(measured.as_json(rows, gpu), indent=1) if str(json) == "-" else table)
    return 1 if any("error" in row.peers.get("jitgraph", {}) for row in rows) else 0


def _list(runner: Any) -> int:
    from jitgraph.app.terminal import console, say, show, table

    rows = table("name", "workload", "goal, ours / theirs")
    for name, workload in runner.workloads().items():
        goals = ", ".join(f"{goal}x of {peer}" for peer, goal in workload.goals.items())
        rows.add_row(name + (" *" if name in runner.STANDARD else ""), workload.title, goals)
    out = console()
    show(out, rows)
    say(out, "* runs without --only or --all")
    return 0


def _teller() -> Callable[[str], None]:
    """Return what shows progress on a terminal: one line that rewrites itself; nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _write(report: Any, rows: list[Any], json: Path | None, html: Path | None) -> None:
    if html is not None:
        html.write_text(report.page(rows), encoding="utf-8")
    from rich.markup import escape

    parts = [
        report.table(rows),
        "[dim]ours / theirs, medians; below 1x jitgraph is the faster[/]",
        report.memory_table(rows),
        "[dim]ours / theirs, the most memory that each process held; below 1x jitgraph takes less[/]",
        *(escape(line) for line in report.remarks(rows)),
    ]
    _print(parts, report.as_json(rows), json)


def _print(parts: list[Any], data: dict[str, Any], json: Path | None) -> None:
    """Write the data as JSON where that is asked for, and print the parts unless the JSON goes to the screen."""
    import json as encoder

    from jitgraph.app.terminal import console, say, show

    if json is not None:
        text = encoder.dumps(data, indent=1)
        if str(json) == "-":
            print(text)
            return
        json.write_text(text + "\n", encoding="utf-8")
    out = console()
    for part in parts:
        if isinstance(part, str):
            say(out, part)
        else:
            show(out, part)
