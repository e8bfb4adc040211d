"""The command line: `jitgraph run | inspect | bench | cache | doctor`, one file per command.

Exit codes: 0 done, 1 the user's script or the measured code raised, 2 wrong usage or something named is not there,
130 interrupted. Our own errors are one or two lines on standard error, never a traceback.
"""

from __future__ import annotations

import os
import sys

from jitgraph.cli.failure import Failure


def main(arguments: list[str] | None = None) -> int:
    """Run the command that `arguments` (default: the process's) name and return the exit code."""
    from jitgraph.cli import app

    try:
        result = app.application()(args=arguments, prog_name="jitgraph", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except Failure as failure:
        print(f"jitgraph: {failure}", file=sys.stderr)
        return failure.exit_code
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is left to say, also not when Python flushes at exit.
        sys.stdout = None  # type: ignore[assignment]
        return 0
    except Exception as error:
        # The parser's own errors are told by what they can do: their classes have moved between releases.
        if hasattr(error, "format_message"):
            return app.usage_error(error)
        if os.environ.get("JITGRAPH_TRACEBACK"):
            raise
        print(
            f"jitgraph: this is a bug of jitgraph's own: {type(error).__name__}: {error}\n"
            "JITGRAPH_TRACEBACK=1 shows where; please report it with the output of: jitgraph doctor",
            file=sys.stderr,
        )
        return 1
