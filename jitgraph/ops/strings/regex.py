"""Regular expressions on strings: ``tf.regex_replace`` and ``tf.strings.regex_full_match``.

Patterns are those of RE2: letters and digits classes are ASCII, a character is a UTF-8 character.
"""
from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import texts
from jitgraph.graph import shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.strings.strings import each

_REFERENCE = re.compile(r"\\([0-9\\])")


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes | str) -> re.Pattern[str]:
    """The compiled pattern.  Raises InvalidArgumentError if it is no regular expression."""
    text = pattern if isinstance(pattern, str) else pattern.decode("utf-8", "surrogateescape")
    try:
        return re.compile(re.sub(r"\\z", r"\\Z", text), re.ASCII)
    except re.error as error:
        raise invalid(f"Invalid pattern: {text}, error: {error}") from None


def _text(item: bytes) -> str:
    return item.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _rewriter(rewrite: bytes | str) -> Callable[[re.Match[str]], str]:
    r"""What a match becomes: ``\1`` is the first group, ``\0`` the whole match, ``\\`` a backslash."""
    text = rewrite if isinstance(rewrite, str) else _text(rewrite)

    def part(found: re.Match[str], match: re.Match[str]) -> str:
        mark = found.group(1)
        if mark == "\\":
            return mark
        number = int(mark)
        return (match.group(number) or "") if number <= (match.re.groups or 0) else ""

    return lambda match: _REFERENCE.sub(lambda found: part(found, match), text)


def _replaced(strings: np.ndarray, pattern: Any, rewrite: Any, everywhere: bool) -> np.ndarray:
    expression, become = compiled(pattern), _rewriter(rewrite)
    count = 0 if everywhere else 1
    return each(lambda item: _bytes(expression.sub(become, _text(item), count=count)), strings)


@op("RegexReplace(input: string, pattern: string, rewrite: string; replace_global: bool = true) -> output: string",
    shape=shape_rules.same_as_input, host=True, grad=NOT_DIFFERENTIABLE,
    samples=lambda rng, dtype: [([texts(b"abab", b"b"), np.array(b"(a)b", object), np.array(rb"\1-", object)],
                                 {"replace_global": every}) for every in (True, False)])
def _regex_replace(input, pattern, rewrite, replace_global):
    """Each string with the matches of `pattern` (all, or the first) replaced."""
    return _replaced(input, pattern[()], rewrite[()], replace_global)


@op("StaticRegexReplace(input: string; pattern: string, rewrite: string, replace_global: bool = true) -> output: string",
    shape=shape_rules.same_as_input, host=True,
    samples=lambda rng, dtype: [([texts(b"abab", b"b")], {"pattern": "(a)b", "rewrite": r"\1-", "replace_global": every})
                                for every in (True, False)])
def _static_regex_replace(input, pattern, rewrite, replace_global):
    """As RegexReplace, with a fixed pattern."""
    return _replaced(input, pattern, rewrite, replace_global)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None) -> Tensor:
    r"""Each string of `input` with the matches of the regular expression `pattern` replaced by `rewrite`.

    In `rewrite`, ``\1`` to ``\9`` are the groups of the match and ``\0`` all of it.  `replace_global=False` replaces the
    first match only.  A run raises InvalidArgumentError for a pattern that is none.
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return _static_regex_replace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return _regex_replace(input, pattern, rewrite, replace_global=replace_global, name=name)


def _matches(strings: np.ndarray, pattern: Any) -> np.ndarray:
    expression = compiled(pattern)
    return each(lambda item: expression.fullmatch(_text(item)) is not None, strings, bool)


@op("RegexFullMatch(input: string, pattern: string) -> output: bool", shape=shape_rules.same_as_input, host=True,
    samples=lambda rng, dtype: [[texts(b"abc", b"ab", b""), np.array(b"a.c", object)]])
def _regex_full_match(input, pattern):
    """Whether `pattern` matches each string as a whole."""
    return _matches(input, pattern[()])


@op("StaticRegexFullMatch(input: string; pattern: string) -> output: bool", shape=shape_rules.same_as_input, host=True,
    samples=lambda rng, dtype: [([texts(b"abc", b"ab", b"")], {"pattern": "a.c"})])
def static_regex_full_match(input, pattern):
    """As RegexFullMatch, with a fixed pattern."""
    return _matches(input, pattern)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether the regular expression `pattern` matches each string of `input` as a whole: bool."""
    if isinstance(pattern, (str, bytes)):
        return static_regex_full_match(convert_to_tensor(input), pattern=pattern, name=name)
    return _regex_full_match(input, pattern, name=name)
