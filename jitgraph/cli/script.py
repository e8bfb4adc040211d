"""A user's program, run as `python program.py` would, with `import tensorflow` meaning jitgraph."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
from pathlib import Path

from jitgraph import compat, old_names, tracebacks
from jitgraph.cli.failure import Failure, Interrupted


def execute(script: str, arguments: list[str], as_module: bool = False, whole_traceback: bool = False) -> int:
    """Run a script file, or a module by name, as `__main__`, and return its exit code.

    Returns 1 where it raised, after its traceback, without our frames, was printed. Its own SystemExit gives its own
    code. Raises Failure where there is nothing to run and Interrupted where the user pressed Ctrl-C.
    """
    if not as_module:
        _check(script)
    compat.install()
    old_names.put_back()
    sys.argv = [script, *arguments]
    # What stood first is the folder of the `jitgraph` command; Python puts the script's there.
    sys.path[0] = os.getcwd() if as_module else str(Path(script).resolve().parent)
    try:
        if as_module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(script, run_name="__main__")
    except SystemExit as stop:
        return _exit_code(stop)
    except KeyboardInterrupt:
        # Here rather than in main(): the parser would turn it into an exit of its own, without a word.
        raise Interrupted() from None
    except BaseException as error:
        if as_module and _is_missing(error, script):
            raise Failure(f"no module named {script!r} (sought in {os.getcwd()} and the installed packages)") from None
        flush_output()
        print(traceback.format_exc() if whole_traceback else trimmed(error), end="", file=sys.stderr)
        return 1
    return 0


def flush_output() -> None:
    """Write out what a program printed, before what is said about it: what it put in the place of `sys.stdout` may have no
    `flush`, or be closed."""
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.flush()


def _check(script: str) -> None:
    path = Path(script)
    if not path.exists():
        raise Failure(f"no such script: {script}")
    if path.is_dir() and not (path / "__main__.py").exists():
        raise Failure(f"{script} is a folder without a __main__.py; name the script in it")
    if not os.access(path, os.R_OK):
        raise Failure(f"cannot read {script}: permission denied")


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print(stop.code, file=sys.stderr)
    return 1


def _is_missing(error: BaseException, module: str) -> bool:
    """Return whether runpy itself did not find the module, rather than an import inside it."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, ImportError) and bool(frames) and frames[-1].filename in (runpy.__file__, "<frozen runpy>")


def trimmed(error: BaseException) -> str:
    """Return the traceback of an error with only the frames that the user wrote, of its causes too."""
    with tracebacks.short(error, inside=True):
        return "".join(traceback.TracebackException.from_exception(error, compact=True).format())
