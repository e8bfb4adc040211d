"""The commands put together, and what the parser's own errors look like."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from jitgraph.cli import bench, cache, doctor, inspect, run

# A script's own options belong to the script: everything after its name is handed on untouched.
_SCRIPT_SETTINGS = {"allow_interspersed_args": False}


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"jitgraph {version('jitgraph')}")
        raise typer.Exit()


def application() -> typer.Typer:
    """Return the typer application with all commands."""
    app = typer.Typer(
        name="jitgraph",
        help="The TensorFlow 1 graph language on modern Python, compiled to fused kernels.",
        epilog="Try: jitgraph run examples/digits_mlp.py",
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
        ] = False,
    ) -> None:
        pass

    app.command(
        "run", short_help="Run a TensorFlow 1 program.", context_settings=_SCRIPT_SETTINGS, epilog=run.EXAMPLES
    )(run.run)
    app.command(
        "inspect",
        short_help="Show what a program is compiled to.",
        context_settings=_SCRIPT_SETTINGS,
        epilog=inspect.EXAMPLES,
    )(inspect.inspect)
    app.command("bench", short_help="Measure, beside the installed peers.", epilog=bench.EXAMPLES)(bench.bench)
    app.command("doctor", short_help="Say what is found on this machine.", epilog=doctor.EXAMPLES)(doctor.doctor)
    app.add_typer(cache.application(), name="cache")
    return app


def usage_error(error: Any) -> int:
    """Print an error of the parser's in one or two lines and return the exit code."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "jitgraph"
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        print(message)
        return 2
    print(f"{command}: {message[:1].lower()}{message[1:]}\nSee: {command} --help", file=sys.stderr)
    return 2
