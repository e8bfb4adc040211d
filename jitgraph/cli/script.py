"""A user's program, run as `python program.py` would, with `import tensorflow` meaning jitgraph."""

from __future__ import annotations

import builtins
import contextlib
import os
import runpy
import sys
import traceback
from pathlib import Path
from types import ModuleType

from jitgraph import compat, old_names, tracebacks
from jitgraph.cli import children
from jitgraph.cli.failure import Failure, Interrupted


def execute(script: str, arguments: list[str], as_module: bool = False, whole_traceback: bool = False) -> int:
    """Run a script file, a module by name, or what standard input holds (`-`), as `__main__`, and return its exit code.

    Returns 1 where it raised, after its traceback, without our frames, was printed. Its own SystemExit gives its own
    code. Raises Failure where there is nothing to run and Interrupted where the user pressed Ctrl-C.
    """
    from_input = script == "-" and not as_module
    if not as_module and not from_input:
        _check(script)
    prepare()
    children.follow()
    sys.argv = [script, *arguments]
    # What stood first is the folder of the `jitgraph` command; Python puts the script's there.
    sys.path[0] = os.getcwd() if as_module else "" if from_input else str(Path(script).resolve().parent)
    try:
        if as_module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        elif from_input:
            _run_input()
        else:
            if Path(script).is_dir():
                del sys.path[0]  # runpy puts the folder itself there
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


def prepare() -> None:
    """Have `import tensorflow` mean jitgraph in this process, and names that programs of TensorFlow 1 expect of libraries."""
    compat.install()
    old_names.put_back()


def _run_input() -> None:
    """Run standard input as Python runs it: as a module `__main__` without a file."""
    text = sys.stdin.buffer.read()
    module = sys.modules["__main__"] = ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    exec(compile(text, "<stdin>", "exec"), module.__dict__)


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
