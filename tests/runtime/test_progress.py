"""A line on the terminal while a run waits for the compiler: shown, rewritten, erased; nothing elsewhere."""

import io
import sys
import threading
import time

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.runtime import plan, progress, stored_programs


class Screen(io.StringIO):
    def isatty(self):
        return True


def on_screen(monkeypatch):
    """A terminal as standard error, and less patience."""
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "INTERVAL", 0.02)
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm")
    return sys.stderr


def slow(monkeypatch, seconds=0.4):
    """Has compiling take some time."""
    compile_ops = stored_programs.compile_ops

    def slowly(program, **given):
        time.sleep(seconds)
        return compile_ops(program, **given)

    monkeypatch.setattr(stored_programs, "compile_ops", slowly)


def program():
    x = tf.placeholder(tf.float32, [None])
    return x, tf.exp(x) + 1.0


@pytest.mark.parametrize("jit, runs", [("always", 1), ("auto", 2)])
def test_a_run_that_waits_says_so_and_leaves_nothing(monkeypatch, jit, runs):
    screen = on_screen(monkeypatch)
    slow(monkeypatch)
    tf.reset_default_graph()
    x, y = program()
    with tf.Session(jit=jit) as session:
        for _ in range(runs):           # the second one waits for the thread that compiles in the background
            session.run(y, {x: np.ones(3)})
    text = screen.getvalue()
    assert "jitgraph: compiling 3 operations: pass 1, 0 s" in text
    assert text.startswith("\r\x1b[K") and text.endswith("\r\x1b[K")


def test_what_is_compiled_quickly_or_in_the_background_says_nothing(monkeypatch):
    screen = on_screen(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 30.0)
    tf.reset_default_graph()
    x, y = program()
    with tf.Session(jit="always") as session:
        session.run(y, {x: np.ones(3)})
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    slow(monkeypatch)
    with tf.Session(jit="auto") as session:
        session.run(y, {x: np.ones(3)})
        plan.BACKGROUND.wait()
    assert screen.getvalue() == ""


@pytest.mark.parametrize("stream, term", [(io.StringIO, "xterm"), (Screen, "dumb"), (lambda: None, "xterm")])
def test_no_line_where_it_could_not_be_erased(monkeypatch, stream, term):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setenv("TERM", term)
    count = threading.active_count()
    with progress.line(progress.Progress()):
        time.sleep(0.05)
        assert threading.active_count() == count
    assert sys.stderr is None or sys.stderr.getvalue() == ""


def test_how_far_it_is():
    found = progress.Progress()
    found.start(5104)
    found.passed("specialize", None)
    assert found.text() == "compiling 5,104 operations: pass 2"
    found.made(6, 1200)
    assert found.text() == "compiling 5,104 operations: kernel 7 of 1,200"
