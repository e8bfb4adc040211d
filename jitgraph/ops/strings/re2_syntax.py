"""The syntax of RE2, TensorFlow's regular expressions, put into that of Python's ``re``.

What differs: classes such as ``\\pN``, ``[[:alpha:]]`` and ``\\d`` (which is ASCII), ``\\Q...\\E``, ``\\z``, ``\\x{e9}`` and flags
in the middle of a pattern; a ``$`` that matches at the end of the text alone; no references, no looking ahead or behind.  In
texts bytes that are no UTF-8 stand as U+DC80 to U+DCFF (Python's "surrogateescape"), and no class of RE2 matches these.
"""
from __future__ import annotations

import functools
import re
import unicodedata

import numpy as np

from jitgraph.ops.strings.unicode_script import CODES, script_table

_BYTES = "\udc80-\udcff"                                # what is no UTF-8
_WORD, _DIGIT, _SPACE = "0-9A-Za-z_", "0-9", "\\t\\n\\f\\r "
_PERL = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_POSIX = {"alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7f", "blank": "\\t ", "cntrl": "\\x00-\\x1f\\x7f",
          "digit": _DIGIT, "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\t\\n\\v\\f\\r ",
          "upper": "A-Z", "word": _WORD, "xdigit": "0-9A-Fa-f"}
_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ASSERTIONS = {"A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?a:\b)", "B": r"(?:(?a:\B)|\A\Z)"}    # Python's \B is not in empty texts
_REPEAT = re.compile(r"[*+?]|\{(\d+)(,?)(\d*)\}")
_GROUP = re.compile(r"\?P<([0-9A-Za-z_]+)>|\?([imsU]*(?:-[imsU]+)?)([:)])")
_MOST = 1000                                            # repetitions


class SyntaxProblem(ValueError):
    """What RE2 says about a pattern that is none."""


def translated(pattern: str) -> tuple[str, bool]:
    """(the pattern of Python's ``re`` that matches what RE2 matches, whether a match surely has characters).

    Raises SyntaxProblem for a pattern that RE2 refuses.
    """
    if re.search(f"[{_BYTES}]", pattern):
        raise SyntaxProblem("invalid UTF-8: ")
    reader = _Reader(pattern)
    return reader.read(), reader.consumes and not reader.chooses


class _Reader:
    """Reads a pattern from its beginning to its end."""

    def __init__(self, pattern: str):
        self.pattern, self.place = pattern, 0
        self.out: list[str] = []
        self.flags = frozenset("")
        self.outer: list[frozenset[str]] = []           # the flags around each open group
        self.consumes, self.chooses = False, False      # whether something takes a character, and whether anything may be left out
        self.can_repeat, self.repeated = False, ""      # whether there is something to repeat, and by what it is already

    def read(self) -> str:
        while self.place < len(self.pattern):
            self._next()
        if self.outer:
            raise SyntaxProblem(f"missing ): {self.pattern}")
        return "".join(self.out)

    def _next(self) -> None:
        letter = self.pattern[self.place]
        repeat = _REPEAT.match(self.pattern, self.place)
        if repeat:
            self._repeat(repeat)
            return
        if letter == "(":
            self._open()
            return
        self.place += 1
        if letter == ")":
            if not self.outer:
                raise SyntaxProblem(f"missing ): {self.pattern}")
            self.flags = self.outer.pop()
            self._put(")")
        elif letter == "|":
            self.chooses = True
            self._put("|", repeats=False)
        elif letter == "^":
            self._put("(?m:^)" if "m" in self.flags else _ASSERTIONS["A"])
        elif letter == "$":
            self._put("(?m:$)" if "m" in self.flags else _ASSERTIONS["z"])
        elif letter == ".":
            self.consumes = True
            self._put(f"[^{_BYTES}]" if "s" in self.flags else f"[^\\n{_BYTES}]")
        elif letter == "[":
            self.place -= 1
            self._cased(self._class())
        elif letter == "\\":
            self.place -= 1
            self._escaped()
        else:
            self._cased(re.escape(letter))

    def _put(self, piece: str, repeats: bool = True) -> None:
        self.out.append(piece)
        self.can_repeat, self.repeated = repeats, ""

    def _cased(self, piece: str) -> None:
        self.consumes = True
        self._put(f"(?i:{piece})" if "i" in self.flags else piece)

    def _repeat(self, found: re.Match[str]) -> None:
        text = found.group()
        if text[0] == "{":
            least = int(found.group(1))
            most = int(found.group(3)) if found.group(3) else least
            if least > _MOST or most > _MOST or most < least:
                raise SyntaxProblem(f"invalid repetition size: {text}")
        if self.repeated:
            raise SyntaxProblem(f"bad repetition operator: {self.repeated}{text}")
        if not self.can_repeat:
            raise SyntaxProblem(f"no argument for repetition operator: {text}")
        self.chooses |= text != "+"
        self.place = found.end()
        lazy = self.pattern.startswith("?", self.place)
        self.place += lazy
        self.out.append(text + "?" * (lazy != ("U" in self.flags)))
        self.repeated = text + "?" * lazy

    def _open(self) -> None:
        self.place += 1
        if not self.pattern.startswith("?", self.place):
            self.outer.append(self.flags)
            self._put("(", repeats=False)
            return
        found = _GROUP.match(self.pattern, self.place)
        if not found:
            self._refuse_group()
        assert found
        self.place = found.end()
        name, flags, end = found.groups()
        if name:                                        # no rewrite names a group, and so they need no names here
            self.outer.append(self.flags)
            self._put("(", repeats=False)
            return
        on, _, off = flags.partition("-")
        changed = (self.flags | frozenset(on)) - frozenset(off)
        if end == ":":
            self.outer.append(self.flags)
            self._put("(?:", repeats=False)
        self.flags = changed

    def _refuse_group(self) -> None:
        rest = self.pattern[self.place - 1:]
        if rest.startswith("(?P<"):
            raise SyntaxProblem(f"invalid named capture group: {rest.partition('>')[0]}")
        if rest == "(?":
            raise SyntaxProblem("missing ): (?")
        allowed = re.match(r"\(\?[imsU-]*", rest)
        assert allowed
        raise SyntaxProblem(f"invalid perl operator: {rest[:allowed.end() + 1]}")

    def _escaped(self) -> None:
        mark = self.pattern[self.place + 1:self.place + 2]
        if mark == "Q":
            quoted, end, _ = self.pattern[self.place + 2:].partition(r"\E")
            self.place += 2 + len(quoted) + len(end)
            for letter in quoted:
                self._cased(re.escape(letter))
            return
        if mark in _ASSERTIONS:
            self.place += 2
            self._put(_ASSERTIONS[mark])
            return
        known = self._named_class()
        self._cased(f"[{known}]" if known is not None else re.escape(self._character()))

    def _named_class(self) -> str | None:
        r"""What stands between brackets for the ``\d`` or ``\pL`` that comes next; None if there is none."""
        mark = self.pattern[self.place + 1:self.place + 2]
        if mark.lower() in _PERL and mark:
            self.place += 2
            return _PERL[mark] if mark.islower() else _all_but(_PERL[mark.lower()])
        if mark not in ("p", "P"):
            return None
        found = re.compile(r"\\[pP](\{(\^?)([^}]*)\}|[^{])").match(self.pattern, self.place)
        if not found:
            raise SyntaxProblem(f"invalid character class range: {self.pattern[self.place:]}")
        name = found.group(3) if found.group(3) is not None else found.group(1)
        inside = _unicode_class(name)
        if inside is None:
            raise SyntaxProblem(f"invalid character class range: {found.group()}")
        self.place = found.end()
        return inside if (mark == "P") == bool(found.group(2)) else _all_but(inside)

    def _character(self) -> str:
        """The character that the backslash that comes next stands for."""
        start = self.place
        rest = self.pattern[start + 1:]
        if not rest:
            raise SyntaxProblem("trailing \\ at end of regexp: ")
        octal = re.match(r"0[0-7]{0,2}|[1-7][0-7]{1,2}", rest)
        if octal:
            self.place += 1 + octal.end()
            return chr(int(octal.group(), 8))
        if rest[0] == "x":
            number = re.match(r"x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})", rest)
            code = int(number.group(1) or number.group(2), 16) if number else 0x110000
            if not number or code > 0x10FFFF:
                shown = re.match(r"x.?[0-9A-Fa-f]*", rest)
                raise SyntaxProblem(f"invalid escape sequence: \\{shown.group() if shown else rest}")
            self.place += 1 + number.end()
            return chr(code)
        if rest[0] in _ESCAPES or rest[0] < "\x80" and not rest[0].isalnum():
            self.place += 2
            return _ESCAPES.get(rest[0], rest[0])
        raise SyntaxProblem(f"invalid escape sequence: \\{rest[0]}")

    def _class(self) -> str:
        """The class in brackets that comes next."""
        start = self.place
        self.place += 1
        negated = self.pattern.startswith("^", self.place)
        self.place += negated
        parts: list[str] = []
        first = True
        while first or not self.pattern.startswith("]", self.place):
            if self.place >= len(self.pattern):
                raise SyntaxProblem(f"missing ]: {self.pattern[start:]}")
            parts.append(self._class_part(start))
            first = False
        self.place += 1
        inside = "".join(parts)
        if not negated:
            return f"[{inside}]"
        return f"[^{inside}{_BYTES}]"

    def _class_part(self, start: int) -> str:
        """A class within brackets, a range, or a character."""
        posix = re.compile(r"\[:(\^?)(\w*):\]").match(self.pattern, self.place)
        if posix:
            if posix.group(2) not in _POSIX:
                raise SyntaxProblem(f"invalid character class range: {posix.group()}")
            self.place = posix.end()
            return _all_but(_POSIX[posix.group(2)]) if posix.group(1) else _POSIX[posix.group(2)]
        if self.pattern[self.place] == "\\":
            known = self._named_class()
            if known is not None:
                return known
        place = self.place
        low = self._class_character(start)
        if not re.compile(r"-[^\]]").match(self.pattern, self.place):
            if self.pattern.endswith("-") and self.place == len(self.pattern) - 1:
                raise SyntaxProblem(f"missing ]: {self.pattern[start:]}")
            return re.escape(low)
        self.place += 1
        high = self._class_character(start)
        if high < low:
            raise SyntaxProblem(f"invalid character class range: {self.pattern[place:self.place]}")
        return f"{re.escape(low)}-{re.escape(high)}"

    def _class_character(self, start: int) -> str:
        if self.place >= len(self.pattern):
            raise SyntaxProblem(f"missing ]: {self.pattern[start:]}")
        if self.pattern[self.place] == "\\":
            return self._character()
        self.place += 1
        return self.pattern[self.place - 1]


def _range(first: int, last: int) -> str:
    return f"\\U{first:08x}-\\U{last:08x}"


def _ranges(codes: list[int]) -> str:
    """Sorted code points, as they stand between brackets."""
    out, k = [], 0
    while k < len(codes):
        first = k
        while k + 1 < len(codes) and codes[k + 1] == codes[k] + 1:
            k += 1
        out.append(_range(codes[first], codes[k]))
        k += 1
    return "".join(out)


def _is_text(code: int) -> bool:
    return not 0xDC80 <= code <= 0xDCFF


@functools.cache
def _all_texts() -> list[str]:
    """The characters below those that stand for bytes, and those above, in order."""
    whole = np.arange(CODES, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [whole[:0xDC80], whole[0xDD00:]]


@functools.lru_cache(64)
def _all_but(inside: str) -> str:
    """The characters that are not in a class, as they stand between brackets."""
    others = re.compile(f"[^{inside}]+" if inside else "(?s:.+)")
    return "".join(_range(ord(run[0]), ord(run[-1])) for text in _all_texts() for run in others.findall(text))


@functools.lru_cache(64)
def _unicode_class(name: str) -> str | None:
    """The characters of a general category ("N", "Lu") or a script ("Greek"), as they stand between brackets."""
    if name == "Any":
        return _all_but("")
    if name in _SCRIPTS:
        firsts, scripts = script_table()
        rows = zip(firsts.tolist(), [*firsts[1:].tolist(), CODES], scripts.tolist())
        return "".join(_range(first, end - 1) for first, end, script in rows if script == _SCRIPTS[name])
    categories = _categories()
    if not name or name == "Cn" or not any(category.startswith(name) for category in set(categories)):
        return None
    # RE2 knows no characters that are not assigned
    return _ranges([code for code, category in enumerate(categories)
                    if category.startswith(name) and category != "Cn" and _is_text(code)])


@functools.cache
def _categories() -> list[str]:
    """The general category of each code point."""
    return [unicodedata.category(chr(code)) for code in range(CODES)]


# the names of scripts, and the numbers that ICU gives them
_SCRIPTS = {"Common": 0, "Inherited": 1, "Arabic": 2, "Armenian": 3, "Bengali": 4, "Bopomofo": 5, "Cherokee": 6, "Coptic": 7,
            "Cyrillic": 8, "Deseret": 9, "Devanagari": 10, "Ethiopic": 11, "Georgian": 12, "Gothic": 13, "Greek": 14,
            "Gujarati": 15, "Gurmukhi": 16, "Han": 17, "Hangul": 18, "Hebrew": 19, "Hiragana": 20, "Kannada": 21,
            "Katakana": 22, "Khmer": 23, "Lao": 24, "Latin": 25, "Malayalam": 26, "Mongolian": 27, "Myanmar": 28, "Ogham": 29,
            "Old_Italic": 30, "Oriya": 31, "Runic": 32, "Sinhala": 33, "Syriac": 34, "Tamil": 35, "Telugu": 36, "Thaana": 37,
            "Thai": 38, "Tibetan": 39, "Canadian_Aboriginal": 40, "Yi": 41, "Tagalog": 42, "Hanunoo": 43, "Buhid": 44,
            "Tagbanwa": 45, "Braille": 46, "Cypriot": 47, "Limbu": 48, "Linear_B": 49, "Osmanya": 50, "Shavian": 51,
            "Tai_Le": 52, "Ugaritic": 53}
