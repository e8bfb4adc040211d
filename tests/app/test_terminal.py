"""Tables in narrow terminals, wide ones and pipes: no word is ever broken."""

import io
import sys

import pytest

from jitgraph.app import terminal

WORDS = ["convolve_f32", "train/gradients/hidden1/MatMul_grad/MatMul_1", "2.1 KB", "7", "several words in one cell"]


class Screen(io.StringIO):
    def isatty(self):
        return True


def rows():
    result = terminal.table("name", "operation", "size", "calls", "what", right=("size", "calls"), title="a table")
    result.add_row(*WORDS)
    result.add_row("[bold]second[/]", "x", "12.5 MB", "12", "")
    return result


def shown(monkeypatch, columns):
    monkeypatch.setattr(sys, "stdout", Screen() if columns else io.StringIO())
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    out = terminal.console()
    out.no_color, out._color_system = True, None
    terminal.show(out, rows())
    terminal.say(out, "and a sentence after it, which is longer than a narrow screen is wide")
    return sys.stdout.getvalue()


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 120, 200])
def test_no_word_is_broken_and_no_line_too_long(monkeypatch, columns):
    text = shown(monkeypatch, columns)
    longest = max(len(part) for word in WORDS for part in terminal.WORD.findall(word))
    for line in text.splitlines():
        assert len(line.rstrip()) <= max(columns, longest + len("  operation  ")), line
    for word in WORDS:
        assert all(part in text for part in terminal.WORD.findall(word)), word
    assert "2.1 KB" in text and "12.5 MB" in text and "…" not in text and "second" in text


def test_a_row_is_a_line_in_a_pipe(monkeypatch):
    text = shown(monkeypatch, 0)
    first, = (line for line in text.splitlines() if "convolve_f32" in line)
    assert first.split() == " ".join(WORDS).split()
    assert "and a sentence after it, which is longer than a narrow screen is wide\n" in text
