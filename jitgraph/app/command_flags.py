"""``tf.flags`` and ``tf.app``: command line flags of a script, and running its ``main``."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any


class Error(Exception):
    """A flag is unknown, misses its value, or has one that does not suit."""


class Flag:
    """One flag: ``name``, ``value``, ``default``, ``help``, ``present`` (how often it was given)."""

    def __init__(self, name: str, default: Any, help_text: str | None, parse: Callable[[str], Any],
                 boolean: bool = False, multiple: bool = False):
        self.name, self.default, self.help = name, default, help_text or ""
        self.value = default
        self.boolean, self.multiple = boolean, multiple
        self.present = 0
        self.required = False
        self._parse = parse

    def take(self, text: str) -> None:
        """Sets the value from the command line.  Raises Error if it does not suit."""
        try:
            parsed = self._parse(text)
        except ValueError as error:
            raise Error(f"flag --{self.name}={text}: {error}") from None
        if self.multiple:
            parsed = [*(self.value if self.present else []), *parsed]
        self.value = parsed
        self.present += 1


class FlagValues:
    """All flags of the program (``tf.flags.FLAGS``): ``FLAGS.name`` is a value, ``FLAGS(argv)`` parses a command line.

    Reading a value before anything was parsed parses ``sys.argv``.
    """

    def __init__(self) -> None:
        self.__dict__["_flags"] = {}
        self.__dict__["_parsed"] = False

    def __call__(self, argv: list[str], known_only: bool = False) -> list[str]:
        """Parses `argv` (with the program's name) and returns what is not a flag.  Raises Error for unknown flags."""
        self.__dict__["_parsed"] = True
        rest, items = [argv[0]], list(argv[1:])
        while items:
            item = items.pop(0)
            if item == "--":
                rest.extend(items)
                break
            if not item.startswith("-") or item == "-":
                rest.append(item)
                continue
            if not self._take(item, items):
                if not known_only:
                    raise Error(f"Unknown command line flag '{item.lstrip('-').partition('=')[0]}'")
                rest.append(item)
        for flag in self._flags.values():
            if flag.required and flag.value is None:
                raise Error(f"flag --{flag.name}=None: Flag --{flag.name} must have a value other than None.")
        return rest

    def _take(self, item: str, following: list[str]) -> bool:
        name, equals, value = item.lstrip("-").partition("=")
        flag = self._flags.get(name)
        if flag is None:
            other = self._flags.get(name[2:]) if name.startswith("no") and not equals else None
            if other is None or not other.boolean:
                return False
            other.take("false")
            return True
        if not equals:
            if flag.boolean:
                value = "true"
            elif following:
                value = following.pop(0)
            else:
                raise Error(f"Missing value for flag --{name}")
        flag.take(value)
        return True

    def __getattr__(self, name: str) -> Any:
        flags = self.__dict__["_flags"]
        if name not in flags:
            raise AttributeError(f"there is no flag --{name}: define it with tf.flags.DEFINE_string({name!r}, default, "
                                 "help)")
        if not self.__dict__["_parsed"]:
            self(sys.argv, known_only=True)
        return flags[name].value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags:
            raise AttributeError(f"there is no flag --{name}")
        self._flags[name].value = value

    def __getitem__(self, name: str) -> Flag:
        return self._flags[name]

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(self._flags)

    def __len__(self) -> int:
        return len(self._flags)

    def __dir__(self) -> list[str]:
        return sorted(self._flags)

    def __delattr__(self, name: str) -> None:
        del self._flags[name]

    def is_parsed(self) -> bool:
        """Whether a command line was parsed."""
        return self._parsed

    def mark_as_parsed(self) -> None:
        """Makes values readable without parsing a command line."""
        self.__dict__["_parsed"] = True

    def unparse_flags(self) -> None:
        """Forgets that a command line was parsed."""
        self.__dict__["_parsed"] = False

    def flag_values_dict(self) -> dict[str, Any]:
        """All values by name."""
        return {name: flag.value for name, flag in self._flags.items()}

    def set_default(self, name: str, value: Any) -> None:
        """Changes a default, and the value unless the command line gave one."""
        flag = self._flags[name]
        flag.default = value
        if not flag.present:
            flag.value = value

    def get_help(self, prefix: str = "", include_special_flags: bool = True) -> str:
        """All flags with their descriptions, each line after `prefix`."""
        return "\n".join(f"{prefix}  --{flag.name}: {flag.help}\n{prefix}    (default: {flag.default!r})"
                         for flag in self._flags.values())


FLAGS = FlagValues()


def _define(name: str, default: Any, help_text: str | None, parse: Callable[[str], Any], flag_values: FlagValues | None,
            required: bool, **options: Any) -> None:
    if isinstance(default, str):
        default = parse(default)
    values = FLAGS if flag_values is None else flag_values
    values._flags[name] = Flag(name, default, help_text, parse, **options)
    values._flags[name].required = required


def _boolean(text: str) -> bool:
    lowered = text.lower()
    if lowered in ("true", "t", "1", "yes", "y"):
        return True
    if lowered in ("false", "f", "0", "no", "n"):
        return False
    raise ValueError(f"Non-boolean argument to boolean flag: {text!r}")


def _integer(text: str) -> int:
    return int(text, 0) if text.lower().startswith(("0x", "-0x")) else int(text)


def _within(parse: Callable[[str], Any], lower: Any, upper: Any) -> Callable[[str], Any]:
    """`parse`, with a ValueError for what is not within the bounds."""

    def checked(text: str) -> Any:
        value = parse(text)
        if lower is not None and value < lower or upper is not None and value > upper:
            raise ValueError(f"{value} is not in [{lower}, {upper}]")
        return value

    return checked


def DEFINE_string(name: str, default: Any, help: str | None, flag_values: Any = None, required: bool = False,
                  **args: Any) -> None:
    """Defines a flag with a string."""
    _define(name, default, help, str, flag_values, required)


def DEFINE_integer(name: str, default: Any, help: str | None, lower_bound: int | None = None,
                   upper_bound: int | None = None, flag_values: Any = None, required: bool = False, **args: Any) -> None:
    """Defines a flag with an integer (decimal, or hexadecimal with 0x), within the bounds if there are any."""
    _define(name, default, help, _within(_integer, lower_bound, upper_bound), flag_values, required)


def DEFINE_float(name: str, default: Any, help: str | None, lower_bound: float | None = None,
                 upper_bound: float | None = None, flag_values: Any = None, required: bool = False, **args: Any) -> None:
    """Defines a flag with a number, within the bounds if there are any."""
    _define(name, float(default) if isinstance(default, int) else default, help,
            _within(float, lower_bound, upper_bound), flag_values, required)


def DEFINE_boolean(name: str, default: Any, help: str | None, flag_values: Any = None, module_name: str | None = None,
                   required: bool = False, **args: Any) -> None:
    """Defines a flag that is on (``--name``, ``--name=true``) or off (``--noname``)."""
    _define(name, default, help, _boolean, flag_values, required, boolean=True)


DEFINE_bool = DEFINE_boolean


def DEFINE_enum(name: str, default: Any, enum_values: list[str], help: str | None, flag_values: Any = None,
                module_name: str | None = None, required: bool = False, **args: Any) -> None:
    """Defines a flag with one of `enum_values`."""

    def parse(text: str) -> str:
        if text not in enum_values:
            raise ValueError(f"value should be one of <{'|'.join(enum_values)}>")
        return text

    _define(name, default, help, parse, flag_values, required)


def DEFINE_list(name: str, default: Any, help: str | None, flag_values: Any = None, required: bool = False,
                  **args: Any) -> None:
    """Defines a flag with a list of strings, separated by commas."""
    _define(name, default, help, lambda text: [part.strip() for part in text.split(",")] if text else [], flag_values,
            required)


def DEFINE_multi_string(name: str, default: Any, help: str | None, flag_values: Any = None, required: bool = False,
                        **args: Any) -> None:
    """Defines a flag that may be given several times; its value is the list of strings."""
    _define(name, default, help, lambda text: [text], flag_values, required, multiple=True)


def DEFINE_multi_integer(name: str, default: Any, help: str | None, lower_bound: int | None = None,
                         upper_bound: int | None = None, flag_values: Any = None, required: bool = False, **args: Any) -> None:
    """Defines a flag that may be given several times; its value is the list of integers."""
    parse = _within(_integer, lower_bound, upper_bound)
    _define(name, [default] if isinstance(default, int) else default, help, lambda text: [parse(text)], flag_values,
            required, multiple=True)


def mark_flag_as_required(flag_name: str, flag_values: FlagValues | None = None) -> None:
    """Makes parsing raise Error if the flag has no value."""
    (FLAGS if flag_values is None else flag_values)._flags[flag_name].required = True


def mark_flags_as_required(flag_names: list[str], flag_values: FlagValues | None = None) -> None:
    """Makes parsing raise Error if one of the flags has no value."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> None:
    """``tf.app.run``: parses the flags, calls ``main(argv)`` (of the script if not given), and exits with its result.

    Unknown flags stay in `argv`.  Ends the program with status 1 and a message if a flag is not right; ``--help``
    prints all flags.
    """
    argv = sys.argv if argv is None else argv
    if main is None:
        main = sys.modules["__main__"].main
    if "--help" in argv or "--helpfull" in argv:
        print(f"{sys.modules['__main__'].__doc__ or ''}\nflags:\n{FLAGS.get_help()}")
        sys.exit(1)
    try:
        rest = FLAGS(argv, known_only=True)
    except Error as error:
        print(f"FATAL Flags parsing error: {error}\nPass --help to see help on flags.", file=sys.stderr)
        sys.exit(1)
    sys.exit(main(rest))
