"""`jitgraph inspect`: runs the program, then shows what was recorded, as text or as a page."""

import sys
from html.parser import HTMLParser

import pytest

from jitgraph import compat
from jitgraph.cli import main
from jitgraph.cli.description import kernel_of_node, listed, quantity
from jitgraph.cli.page import picture, render
from jitgraph.compiler import show


@pytest.fixture
def recorded(monkeypatch, signature):
    """What the compiler would record; programs run in this process, and leave it as it was."""
    signatures = [signature, {**signature, "title": "init", "nodes": [], "kernels": [], "plan": []}]
    monkeypatch.setattr(show, "record", lambda: None)
    monkeypatch.setattr(show, "recorded", lambda: signatures)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    compat.uninstall()


def test_text_shows_graph_plan_and_kernels(recorded, script, capsys):
    assert main(["inspect", str(script("import sys; print('ran', sys.argv[1:])")), "--epochs", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ran ['--epochs', '1']\n")
    for part in (
        "run scope/Relu with x",
        "4.0 KB moved",
        "120.6 KB peak",
        "scope/MatMul",
        "^init<&>",
        "matmul_relu",
        "model.py:3",
    ):
        assert part in out
    assert "for i in range(begin, end):" in out
    _, note = next(line for line in out.splitlines() if "out[i]" in line).split("0)")
    assert note.strip() == "Relu  model.py:4", "the op and the user's line stand beside the line of the kernel"


def test_sections_can_be_left_out(recorded, script, capsys):
    assert main(["inspect", "--no-graph", "--no-source", "--only", "init", str(script(""))]) == 0
    out = capsys.readouterr().out
    assert "1 of 1   init" in out and "pruned graph" not in out and "def " not in out


def test_nothing_recorded_is_said_in_one_line(recorded, script, capsys):
    assert main(["inspect", "--only", "absent", str(script(""))]) == 1
    assert capsys.readouterr().err == (
        "jitgraph: no run with 'absent' in its title was compiled; there are:\n  run scope/Relu with x\n  init\n")


def test_options_that_do_nothing_together_are_refused(recorded, script, capsys):
    for options, words in [(["--times", "--html", "page.html"], "give one of them"),
                           (["--html", "page.html", "--no-graph"], "the page of --html has both")]:
        assert main(["inspect", *options, str(script("raise AssertionError('not run'"))]) == 2
        assert words in capsys.readouterr().err


def test_a_failing_program_still_shows_what_it_ran(recorded, script, capsys):
    assert main(["inspect", str(script("raise KeyError('mine')"))]) == 1
    captured = capsys.readouterr()
    assert "KeyError: 'mine'" in captured.err and "matmul_relu" in captured.out


def test_an_interrupted_program_shows_what_it_ran(recorded, script, capsys):
    assert main(["inspect", str(script("raise KeyboardInterrupt"))]) == 0
    captured = capsys.readouterr()
    assert "interrupted" in captured.err and "matmul_relu" in captured.out


def test_page_is_written(recorded, script, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["inspect", "--html", str(page), str(script(""))]) == 0
    assert "2 run signatures, 1 kernels" in capsys.readouterr().out
    assert page.read_text().startswith("<!doctype html>")
    assert main(["inspect", "--html", str(tmp_path / "absent" / "page.html"), str(script(""))]) == 2


class _Parser(HTMLParser):
    """Collects tags with attributes, and checks that they close in order."""

    VOID = {"meta", "path", "rect", "br"}

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_is_whole_self_contained_and_escaped(signature):
    html = render([signature], "model.py <compiled>")
    parser = _Parser()
    parser.feed(html)
    assert parser.open == []
    assert not [
        attrs for _, attrs in parser.tags if {"src", "href"} & set(attrs) and not attrs.get("href", "#").startswith("#")
    ]
    names = [attrs["data-name"] for tag, attrs in parser.tags if tag == "g" and "data-name" in attrs]
    assert sorted(names) == sorted(node["name"] for node in signature["nodes"])
    assert "model.py &lt;compiled&gt;" in html and "init<&>" not in html
    assert '<span class="c-k">def</span>' in html
    assert '<td class="note">Relu  model.py:4</td>' in html


def test_page_draws_colours_and_roles(signature):
    drawn = picture(signature)
    boxes = {box.node["name"]: box for box in drawn.nodes}
    assert boxes["x"].role == "feed" and boxes["scope/Relu"].role == "fetch"
    assert boxes["scope/MatMul"].kernel == 0 and boxes["scope/w"].kernel is None
    assert boxes["scope/w"].label == "w"
    assert {(a, b) for a, b, _, control in drawn.curves if control} == {("init<&>", "scope/Relu")}
    assert boxes["x"].y < boxes["scope/MatMul"].y < boxes["scope/Relu"].y


def test_page_draws_what_is_fed_though_pruning_ends_there(signature):
    signature["nodes"] = [node for node in signature["nodes"] if node["name"] != "x"]
    boxes = {box.node["name"]: box for box in picture(signature).nodes}
    assert boxes["x"].role == "feed"


def test_small_words():
    assert [quantity(n) for n in (0, 999, 1536, 10**9, None, "12 n bytes")] == [
        "0 B",
        "999 B",
        "1.5 KB",
        "953.7 MB",
        "",
        "12 n bytes",
    ]
    assert listed(["a", 1]) == "a 1" and listed(None) == "" and listed(3) == "3"


def test_ops_know_their_kernel(signature):
    assert kernel_of_node(signature) == {"scope/MatMul": 0, "scope/Relu": 0}


PROGRAM = """
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 8], name="x")
w = tf.Variable(tf.ones([8, 3]), name="w")
y = tf.nn.softmax(tf.matmul(x, w) * 0.5, name="y")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        session.run(y, {x: np.ones([4, 8])})
"""


def test_a_real_program_is_shown_with_its_lines(jitgraph, script):
    path = script(PROGRAM)
    done = jitgraph("inspect", path)
    assert done.returncode == 0, done.stderr
    assert "program.py:7" in done.stdout and "MatMul" in done.stdout and "range(begin, end)" in done.stdout
    done = jitgraph("inspect", "--html", "page.html", path)
    assert done.returncode == 0, done.stderr
    html = (path.parent / "page.html").read_text()
    parser = _Parser()
    parser.feed(html)
    drawn = {attrs["data-name"]: attrs for tag, attrs in parser.tags if "data-name" in attrs}
    assert {"x", "w", "y"} <= set(drawn)
    assert "feed" in drawn["x"]["class"] and "fetch" in drawn["y"]["class"] and "data-kernel" in drawn["y"]
    assert '<td class="note">y (Softmax)  program.py:7' in html


def test_times_of_every_run(script, jitgraph):
    path = script("import jitgraph as tf\nx = tf.ones([50, 50]) + 0\ny = tf.matmul(x, x)\n"
                  "with tf.Session(jit='always') as s:\n    for _ in range(3):\n        s.run(y)\n")
    done = jitgraph("inspect", "--times", path)
    assert done.returncode == 0, done.stderr
    assert "run MatMul   3 runs" in done.stdout and "matmul_tiles_f32" in done.stdout and "limits measured" in done.stdout
    assert "around them: what Session.run does" in done.stdout
    done = jitgraph("inspect", "--times", "--only", "absent", path)
    assert done.returncode == 1 and done.stderr.endswith("was made; there are:\n  run MatMul\n")
