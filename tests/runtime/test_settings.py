"""The environment variables: what they may say, and the sentence for what means nothing."""

import pytest

import jitgraph as tf
from jitgraph.cli import main
from jitgraph.runtime import settings

WRONG = {
    "JITGRAPH_JIT": ("fast", "auto, always, off"),
    "JITGRAPH_SHOW": ("plan,foo", "graph, plan, kernels, times, cache"),
    "JITGRAPH_THREADS": ("0", "1 or more"),
    "JITGRAPH_CACHE": (__file__, "is a file"),
    "JITGRAPH_COMPILE_PROCESS": ("no", "0 or 1"),
    "JITGRAPH_COMPILER": ("gcc", "direct, numba"),
    "JITGRAPH_TARGET": ("abacus", "cpu, cuda, cuda-simulator"),
    "JITGRAPH_WITHOUT": ("fusion,fussion", "late_broadcasts"),
    "JITGRAPH_CHECK": ("yes", "0 or 1"),
    "JITGRAPH_VERIFY": ("yes", "0 or 1"),
    "JITGRAPH_TF32": ("fast", "0 or 1"),
    "JITGRAPH_TRACEBACK": ("full", "0 or 1"),
}


def test_all_variables_are_tried_here():
    assert WRONG.keys() == settings.VARIABLES.keys()


@pytest.mark.parametrize("name", WRONG)
def test_a_word_that_means_nothing_is_refused(monkeypatch, capsys, tmp_path, name):
    value, words = WRONG[name]
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=words) as caught:
        tf.Session()
    assert name in str(caught.value) and (value.split(",")[-1]) in str(caught.value)
    script = tmp_path / "program.py"
    script.write_text("print('ran')")
    assert main(["run", str(script)]) == 2
    captured = capsys.readouterr()
    assert "ran" not in captured.out and captured.err == f"jitgraph: {caught.value}\n"


@pytest.mark.parametrize("name", WRONG)
def test_an_empty_variable_is_as_good_as_none(monkeypatch, name):
    monkeypatch.setenv(name, "")
    tf.Session().close()


@pytest.mark.parametrize("threads", ["abc", "-1", "1.5", "²"])
def test_numbers_of_threads(monkeypatch, threads):
    monkeypatch.setenv("JITGRAPH_THREADS", threads)
    with pytest.raises(ValueError, match="whole number"):
        tf.Session()


def test_an_option_is_called_by_its_name(capsys, tmp_path):
    script = tmp_path / "program.py"
    script.write_text("")
    assert main(["run", "--show", "foo", str(script)]) == 2
    assert capsys.readouterr().err.startswith("jitgraph: --show holds words among graph, plan")
