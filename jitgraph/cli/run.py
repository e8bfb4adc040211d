"""`jitgraph run`: an unmodified TensorFlow 1 program, compiled."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Annotated

import typer

EXAMPLES = """\b
Examples:
  jitgraph run train.py --epochs 3                  everything after the script is the script's
  jitgraph run -m package.train                     like python -m
  generate | jitgraph run - --epochs 3              the program comes from standard input
  jitgraph run --times train.py                     say at the end where the time went
  JITGRAPH_SHOW=plan,times jitgraph run train.py    say what was compiled and how long it took"""

Jit = Annotated[
    str | None,
    typer.Option(
        metavar="auto|always|off", help="When plans are compiled: from their second run, from the first, never."
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, help="How many threads a kernel may use; all cores without it.")]
AsModule = Annotated[bool, typer.Option("-m", help="SCRIPT is the name of a module.")]
Script = Annotated[
    str, typer.Argument(metavar="SCRIPT", help="The program; it may `import tensorflow as tf`.", show_default=False)
]
Arguments = Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="What the program sees in sys.argv.")]


def run(
    script: Script,
    args: Arguments = None,
    as_module: AsModule = False,
    jit: Jit = None,
    threads: Threads = None,
    show: Annotated[
        str | None, typer.Option(metavar="WORDS", help="What to print: graph,plan,kernels,times,cache.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Run the reference beside each kernel; name the first that differs.")
    ] = False,
    times: Annotated[
        bool, typer.Option("--times", help="Say at the end where the time of the program went.")
    ] = False,
    whole_traceback: Annotated[
        bool, typer.Option("--traceback", help="Show jitgraph's frames in tracebacks too.")
    ] = False,
) -> int:
    """Run a TensorFlow 1 program; `import tensorflow` means jitgraph in it."""
    from jitgraph.cli.script import execute

    settle(jit=jit, threads=threads, show=show, check=check)
    if times:
        return _timed(lambda: execute(script, args or [], as_module, whole_traceback))
    return execute(script, args or [], as_module, whole_traceback)


def _timed(program: Callable[[], int]) -> int:
    """Run a program and say where its time went, also where it was interrupted."""
    from jitgraph.cli.script import flush_output
    from jitgraph.cli.times import print_program
    from jitgraph.runtime import recording

    recording.record()
    begin, process = time.perf_counter(), os.getpid()
    try:
        return program()
    finally:
        seconds = time.perf_counter() - begin
        flush_output()
        if os.getpid() == process:  # and not one that the program forked
            print_program(seconds, recording.recorded(beside_limits=False))


def settle(jit: str | None = None, threads: int | None = None, show: str | None = None, check: bool = False) -> None:
    """Put options where the runtime reads them: the environment.

    Raises Failure for words that mean nothing, in options and in the environment.
    """
    if jit is not None and jit not in ("auto", "always", "off"):
        raise typer.BadParameter(f"--jit is auto, always or off, not {jit!r}")
    settings = {
        "JITGRAPH_JIT": jit,
        "JITGRAPH_THREADS": None if threads is None else str(threads),
        "JITGRAPH_SHOW": show,
        "JITGRAPH_CHECK": "1" if check else None,
    }
    from jitgraph import environment
    from jitgraph.cli.failure import Failure
    from jitgraph.compiler.show import WORDS
    from jitgraph.runtime.settings import check_all

    try:
        if show is not None:
            environment.words("--show", WORDS, show)
        os.environ.update({name: value for name, value in settings.items() if value is not None})
        check_all()
    except ValueError as error:
        raise Failure(str(error)) from None
