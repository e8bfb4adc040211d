"""Functions of Python's library give, rewritten with all that they call, what they gave before."""
import ast
import configparser
import copy
import difflib
import email
import inspect
import json
import pprint
import shlex
import statistics
import textwrap
import tokenize

import pytest

from jitgraph.autograph import conversion
from jitgraph.autograph.features import Options

TEXT = inspect.getsource(textwrap)


def _configured():
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nx=1\ny: 2\n[b]\nz = %(q)s\nq=4\n")
    return {section: dict(parser[section]) for section in parser.sections()}


def _tokens():
    lines = iter(TEXT.splitlines(True))
    return [token.string for token in tokenize.generate_tokens(lambda: next(lines, ""))][:300]


@pytest.mark.parametrize("program", [
    lambda: textwrap.wrap(TEXT[:2000], 60), lambda: textwrap.dedent(TEXT[:2000]),
    lambda: list(difflib.ndiff(["a", "b", "c"], ["a", "c", "d"])), lambda: statistics.median([3, 1, 2]),
    lambda: shlex.split("a 'b c' d\\ e --x=\"1 2\""), lambda: json.dumps({"a": [1, 2, {"b": None}]}, indent=2),
    lambda: ast.unparse(ast.parse(TEXT)), lambda: email.message_from_string("To: a\n\nhi").items(),
    lambda: pprint.pformat({"a": list(range(40)), "b": "x" * 90}), lambda: copy.deepcopy({"a": [1, {2}]}), _configured, _tokens])
def test_results_are_the_same(monkeypatch, program):
    monkeypatch.setattr(conversion, "_LIBRARY", ("/nowhere",))
    monkeypatch.setattr(conversion, "_LEFT_MODULES", frozenset(("jitgraph", "numpy")))
    assert conversion.call_converted(program, Options.of(None), (), {}) == program()
