"""``tf.flags`` and ``tf.app.run``: absl-py's flags, as in TensorFlow 1.15, which adds three things.

Reading a flag parses the command line of the program if nobody did before; ``DEFINE_string`` and its like take the older names
of arguments; ``tf.app.run`` leaves unknown flags to the program.  Importing this module loads absl-py, so nothing does before a
program asks for a flag.
"""
from __future__ import annotations
import __future__

import functools
import logging
import sys
from collections.abc import Callable, Iterator
from typing import Any

from absl import app, flags
from absl.flags import *  # noqa: F403  (the names of `tf.flags` are those of absl)

# flags that a module defines for its callers are theirs, not this module's: `--help` lists them under the caller
flags.disclaim_key_flags()
# programs older than TensorFlow 1.14, which did not load absl's logs, define a flag of this name
flags.FLAGS["log_dir"].allow_override = True

_OLDER = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _with_older_names(define: Callable) -> Callable:
    """`define`, which takes ``flag_name``, ``default_value`` and ``docstring`` as well."""

    @functools.wraps(define)
    def defined(*args: Any, **kwargs: Any) -> Any:
        if _OLDER.keys() & kwargs.keys():
            logging.warning("Use of the keyword argument names (flag_name, default_value, docstring) is deprecated, please "
                            "use (name, default, help) instead.")
            kwargs = {_OLDER.get(key, key): value for key, value in kwargs.items()}
        return define(*args, **kwargs)

    return defined


class _ParsedWhenRead:
    """absl's FLAGS, except that reading a value parses ``sys.argv`` if no command line was parsed before."""

    def __init__(self, values: flags.FlagValues):
        self.__dict__["_values"] = values

    def __getattribute__(self, name: str) -> Any:
        held = object.__getattribute__(self, "__dict__")
        return held if name == "__dict__" else object.__getattribute__(held["_values"], name)

    def __getattr__(self, name: str) -> Any:            # what FlagValues has no attribute for: the flags
        values = self.__dict__["_values"]
        if not values.is_parsed() and not name.startswith("__"):      # Python asks for these by itself
            values(sys.argv)
        return getattr(values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_values"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_values"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_values"])

    def __getitem__(self, name: str) -> flags.Flag:
        return self.__dict__["_values"][name]

    def __setitem__(self, name: str, flag: flags.Flag) -> None:
        self.__dict__["_values"][name] = flag

    def __len__(self) -> int:
        return len(self.__dict__["_values"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["_values"])

    def __str__(self) -> str:
        return str(self.__dict__["_values"])

    def __call__(self, *args: Any, **kwargs: Any) -> list[str]:
        return self.__dict__["_values"](*args, **kwargs)


DEFINE_string = _with_older_names(flags.DEFINE_string)
DEFINE_boolean = DEFINE_bool = _with_older_names(flags.DEFINE_boolean)
DEFINE_float = _with_older_names(flags.DEFINE_float)
DEFINE_integer = _with_older_names(flags.DEFINE_integer)

# names of `tf.flags` only because absl's module imported them when TensorFlow's was made
absolute_import, division, print_function = __future__.absolute_import, __future__.division, __future__.print_function

FLAGS: Any = _ParsedWhenRead(flags.FLAGS)  # type: ignore[no-redef]


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> None:
    """``tf.app.run``: parses the flags, calls ``main(argv)`` (of the script if not given), and exits with its result.

    `argv` holds the program's name, what is no flag, and the flags that nobody defined.  A flag that is not right ends the program
    with status 1 and a message; ``--help`` prints those of the script, ``--helpfull`` all.
    """
    app.run(main=main or sys.modules["__main__"].main, argv=argv,
            flags_parser=lambda argv: FLAGS(sys.argv if argv is None else argv, known_only=True))
