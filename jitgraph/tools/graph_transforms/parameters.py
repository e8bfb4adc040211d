"""The texts that name transforms: ``fold_constants(ignore_errors=true, exclude_op=Sub) strip_unused_nodes``."""
from __future__ import annotations

import re
from typing import Any

from jitgraph.graph import errors

_NAME = re.compile(r"\s*(\w+)(\(?)")
_PARAMETER = re.compile(r"""(,?\s*)(?:(\w+)=(?:"((?:[^"\\]|\\.)*)"|([\w\-./]+))["']?)?""")


class Parameters:
    """What a transform is given: inputs and outputs of the graph, and values by the names of parameters."""

    def __init__(self, inputs: list[str], outputs: list[str], values: dict[str, list[str]]):
        self.inputs, self.outputs, self.values = inputs, outputs, values

    def one(self, name: str, default: Any = None) -> Any:
        """The only value of a parameter, as the kind of `default`.  Raises InvalidArgumentError for several or a bad one."""
        found = self.values.get(name)
        if not found:
            return default
        if len(found) > 1:
            raise invalid(f"Expected a single {name} argument, but found {len(found)} occurrences")
        try:
            if isinstance(default, bool):
                return {"true": True, "1": True, "false": False, "0": False}[found[0]]
            return type(default)(found[0]) if default is not None else found[0]
        except (KeyError, ValueError):
            raise invalid(f"{name} was expected to be {type(default).__name__}, but was {found[0]}") from None

    def wanted(self, transform: str, *names: str) -> list[str]:
        """The values of parameters that must be given once each.  Raises InvalidArgumentError."""
        if any(len(self.values.get(name, ())) != 1 for name in names):
            raise invalid(f"{transform} expects exactly one {' and one '.join(map(repr, names))} argument, "
                          f"e.g. {transform}({', '.join(f'{name}=foo' for name in names)})")
        return [self.values[name][0] for name in names]


def invalid(message: str) -> errors.InvalidArgumentError:
    """The error of a graph or a text that is not as a transform needs it."""
    return errors.InvalidArgumentError(None, None, message)


def parsed(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """(name, its parameters) of each transform.  Raises InvalidArgumentError where the text is no list of transforms."""
    found, at = [], 0
    while text[at:].strip():
        name = _NAME.match(text, at)
        if name is None:
            raise invalid(f"Looking for transform name, but found {text[at:].lstrip()}")
        at = name.end()
        values: dict[str, list[str]] = {}
        if name[2]:
            at = _parsed_parameters(text, at, values)
        found.append((name[1], values))
    return found


def _parsed_parameters(text: str, at: int, values: dict[str, list[str]]) -> int:
    while text[at:at + 1] != ")":
        one = _PARAMETER.match(text, at)
        assert one is not None          # every part of the pattern may be empty
        if one[2] is None:
            what = "=" if re.match(r"\w", text[one.end():]) else "parameter name"
            raise invalid(f"Looking for {what}, but found {text[one.end():]}")
        values.setdefault(one[2], []).append(one[4] if one[3] is None else one[3])
        at = one.end()
    return at + 1
