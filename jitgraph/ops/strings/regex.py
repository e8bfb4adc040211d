"""Regular expressions on strings: ``tf.regex_replace`` and ``tf.strings.regex_full_match``.

Patterns are those of RE2 (see re2_syntax.py); a character is a UTF-8 character.
"""
from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np

from jitgraph.declare.invalid import invalid
from jitgraph.declare.op import NOT_DIFFERENTIABLE, op
from jitgraph.declare.samples import texts
from jitgraph.graph import shape_rules
from jitgraph.graph.convert import convert_to_tensor
from jitgraph.graph.tensor import Tensor
from jitgraph.ops.strings.re2_syntax import SyntaxProblem, translated
from jitgraph.ops.strings.strings import each

# within a rewrite: a group, a backslash, or a backslash that stands for nothing
_REFERENCE = re.compile(r"\\([0-9\\])|\\")


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes | str) -> tuple[re.Pattern[str], bool]:
    """(the compiled pattern, whether its matches surely have characters).

    Raises InvalidArgumentError if it is no regular expression.
    """
    text = pattern if isinstance(pattern, str) else _text(pattern)
    try:
        expression, consumes = translated(text)
        return re.compile(expression), consumes
    except (SyntaxProblem, re.error) as error:
        shown = _bytes(text).decode("utf-8", "backslashreplace")
        raise invalid(f"Invalid pattern: {shown}, error: {error}") from None


def _text(item: bytes) -> str:
    return item.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=256)
def _rewriter(rewrite: bytes | str) -> tuple[list[str | int], bool]:
    r"""(what a match becomes: texts, and the numbers of groups that stand between them; whether the rewrite is right).

    ``\1`` is the first group, ``\0`` the whole match, ``\\`` a backslash.  Behind another backslash, which is wrong, RE2 reads
    no further.
    """
    text = rewrite if isinstance(rewrite, str) else _text(rewrite)
    parts: list[str | int] = []
    place = 0
    for found in _REFERENCE.finditer(text):
        parts.append(text[place:found.start()])
        place = found.end()
        if found.group(1) is None:
            return parts, False
        parts.append("\\" if found.group(1) == "\\" else int(found.group(1)))
    return [*parts, text[place:]], True


def _template(parts: list[str | int], groups: int) -> str:
    """The rewrite as Python writes it; groups that the pattern does not have are empty."""
    return "".join(part.replace("\\", r"\\") if isinstance(part, str) else rf"\g<{part}>" if part <= groups else ""
                   for part in parts)


def _all_replaced(text: str, expression: re.Pattern[str], template: str) -> str:
    """The text with all matches replaced, but for an empty match right behind another one, which RE2 skips."""
    out: list[str] = []
    place, last = 0, -1
    while place <= len(text):
        match = expression.search(text, place)
        if match is None:
            break
        begin, end = match.span()
        if begin == end == last:
            out.append(text[place:place + 1])
            place += 1
            continue
        out += [text[place:begin], match.expand(template)]
        place = last = end
    return "".join(out) + text[place:]


def _replaced(strings: np.ndarray, pattern: Any, rewrite: Any, everywhere: bool) -> np.ndarray:
    expression, consumes = compiled(pattern)
    parts, right = _rewriter(rewrite)
    if not everywhere and not right:                    # RE2 leaves the text as it is
        return strings
    template = _template(parts, expression.groups)
    if everywhere and not consumes:
        return each(lambda item: _bytes(_all_replaced(_text(item), expression, template)), strings)
    count = 0 if everywhere else 1
    return each(lambda item: _bytes(expression.sub(template, _text(item), count=count)), strings)


def _with_scalars(c: Any) -> Any:
    """The shape of the texts; what else is given must be scalar."""
    for shape in c.shapes[1:]:
        shape_rules.with_rank(shape, 0)
    return c.shapes[0]


@op("RegexReplace(input: string, pattern: string, rewrite: string; replace_global: bool = true) -> output: string",
    shape=_with_scalars, host=True, grad=NOT_DIFFERENTIABLE,
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
    expression, _ = compiled(pattern)
    return each(lambda item: expression.fullmatch(_text(item)) is not None, strings, bool)


@op("RegexFullMatch(input: string, pattern: string) -> output: bool", shape=_with_scalars, host=True,
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
