"""`jitgraph cache` on a store with two entries."""

import io
import json
import sys

import pytest

from jitgraph.cli import main
from jitgraph.runtime import store as runtime_store


@pytest.fixture
def store(monkeypatch, tmp_path):
    """An empty store in a folder of its own."""
    monkeypatch.setenv("JITGRAPH_CACHE", str(tmp_path / "store"))
    return runtime_store


@pytest.fixture
def filled(store):
    """A store with two kernels, the second the newer."""
    import os

    for index, name in enumerate(("exp_mul", "softmax_rows")):
        parts = {"name": name, "text": "def kernel():\n    pass", "target": "cpu"}
        assert store.save(f"3f9{index}" + 36 * "0", parts, "symbol", b"code" * 100, 0.25)
    for entry in store.entries():
        moment = 1_700_000_000 + (entry.parts["name"] == "softmax_rows")
        os.utime(entry.path, (moment, moment))
    return store


def test_list_shows_the_newest_first(filled, capsys):
    assert main(["cache", "list"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("2 kernels, ") and "250 ms" in out and "cpu" in out
    assert out.index("softmax_rows") < out.index("exp_mul")
    assert main(["cache", "list", "--limit", "1"]) == 0
    assert "and 1 more" in capsys.readouterr().out


def test_list_as_json(filled, capsys):
    assert main(["cache", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [entry["parts"]["name"] for entry in listed] == ["softmax_rows", "exp_mul"]


def test_an_empty_store_is_listed(store, capsys):
    assert main(["cache", "list"]) == 0
    assert capsys.readouterr().out.startswith("0 kernels")


def test_explain_takes_the_beginning_of_a_key(filled, capsys):
    assert main(["cache", "explain", "3f90"]) == 0
    out = capsys.readouterr().out
    assert "exp_mul" in out and "2 lines: def kernel():" in out
    assert "name" in out.splitlines()[-1], "the other entry differs in its name"
    assert main(["cache", "explain", "3f9"]) == 2
    assert "2 kernels begin with '3f9'" in capsys.readouterr().err
    assert main(["cache", "explain", "aa"]) == 2
    assert capsys.readouterr().err == "jitgraph: no kernel begins with 'aa'; see: jitgraph cache list\n"


def test_clear_asks_unless_told(filled, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    assert main(["cache", "clear"]) == 0
    assert len(filled.entries()) == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))      # no terminal: nobody to answer
    assert main(["cache", "clear"]) == 2
    assert capsys.readouterr().err.endswith("to remove them unasked: jitgraph cache clear --yes\n")
    assert len(filled.entries()) == 2
    assert main(["cache", "clear", "--yes"]) == 0
    assert filled.entries() == [] and "removed 2 kernels" in capsys.readouterr().out
    assert main(["cache", "clear", "--yes"]) == 0
    assert "empty already" in capsys.readouterr().out
