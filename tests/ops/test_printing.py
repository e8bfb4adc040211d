"""tf.Print, tf.print and tf.strings.format, letter by letter as TensorFlow 1.15 writes them."""

import sys

import numpy as np
import pytest


@pytest.fixture(params=["always", "off"], autouse=True)
def jit(request, monkeypatch):
    monkeypatch.setenv("JITGRAPH_JIT", request.param)


@pytest.fixture
def printed(tf, run, capfd):
    """printed(make): what running the node writes to the standard error stream."""
    def _printed(node):
        capfd.readouterr()
        run(node)
        return capfd.readouterr().err
    return _printed


@pytest.mark.parametrize("value, options, text", [
    ([1, 2, 3, 4, 5], {}, "[1 2 3...]"), ([1, 2, 3, 4, 5], {"summarize": -1}, "[1 2 3 4 5]"),
    ([1, 2], {"summarize": 0}, "[...]"), ([[1, 2], [3, 4], [5, 6]], {}, "[[1 2][3...]...]"),
    ([[1, 2], [3, 4], [5, 6]], {"summarize": 4}, "[[1 2][3 4]...]"), (np.zeros([2, 2, 2], np.int32), {"summarize": 5},
                                                                     "[[[0 0][0 0]][[0...]]...]"),
    (np.zeros([2, 0], np.float32), {}, "[]"), (3, {}, "[3]"), (b'a"\xff', {}, '[a\\"\\377]'), ([True, False], {}, "[1 0]"),
    (np.float32([0.1, 1 / 3, 1e10, 123456.789, 1e6, np.nan, -np.inf, -0.0]), {"summarize": 9},
     "[0.1 0.333333343 1e+10 123456.789 1e+06 nan -inf -0]"),
    (np.float64([1 / 3, 1e10, 0.1]), {}, "[0.33333333333333331 10000000000 0.1]"),
    (np.float16([0.1]), {}, "[0.0999755859]"), (1.5, {"message": "it is "}, "it is [1.5]")])
def test_print_format(tf, printed, value, options, text):
    assert printed(tf.Print(0, [value], **options)) == text + "\n"


def test_print_first_n_counts_per_session(tf, capfd):
    node = tf.Print(1, ["hi"], first_n=2)
    for _ in range(2):
        with tf.Session() as session:
            assert [session.run(node) for _ in range(4)] == [1] * 4
        assert capfd.readouterr().err == "[hi]\n[hi]\n"


def test_print_passes_gradients(tf, run):
    x = tf.constant(2.0)
    assert run(tf.gradients(tf.Print(x, [x]) ** 2.0, x)) == [4.0]


CUBE = """[[[0 ... 2]
  ...
  [6 ... 8]]

 ...

 [[18 ... 20]
  ...
  [24 ... 26]]]
"""


def test_new_print_format(tf, printed):
    assert printed(tf.print(tf.range(10))) == "[0 1 2 ... 7 8 9]\n"
    assert printed(tf.print(tf.reshape(tf.range(27), [3, 3, 3]), summarize=1)) == CUBE
    text = printed(tf.print("hello", tf.constant([1.5, 2]), 3, [1, tf.constant(2)], {"a": tf.constant("x"), "b": "y"},
                            (tf.constant(1),), "a{}b"))
    assert text == "hello [1.5 2] 3 [1, 2] {'a': \"x\", 'b': 'y'} (1,) a{}b\n"
    assert printed(tf.print("a", "b", sep="|", end="!")) == "a|b!"
    assert printed(tf.print(tf.SparseTensor([[0, 1]], [5], [2, 2]))) == \
        "'SparseTensor(indices=[[0 1]], values=[5], shape=[2 2])'\n"
    assert printed(tf.print(tf.constant(b"as it is\n"), end="")) == "as it is\n"
    with pytest.raises(ValueError, match="Unrecognized keyword arguments for tf.print: {'nope': 1}"):
        tf.print("x", nope=1)


def test_new_print_streams(tf, run, capfd, tmp_path):
    run(tf.print("out", output_stream=sys.stdout))
    run(tf.print("file", output_stream=f"file://{tmp_path / 'log'}"))
    assert capfd.readouterr().out == "out\n" and (tmp_path / "log").read_text() == "file\n"
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print("x", output_stream="elsewhere")


def test_new_print_runs_only_when_something_waits_for_it(tf, run, capfd):
    x = tf.constant(1.0)
    say = tf.print("said")
    run(x)
    assert capfd.readouterr().err == ""
    with tf.control_dependencies([say]):
        y = tf.identity(x)
    assert run(y) == 1.0 and capfd.readouterr().err == "said\n"


def test_string_format(tf, run):
    assert run(tf.strings.format("a {} b {}", (tf.constant([1, 2]), "x"))) == b'a [1 2] b "x"'
    assert run(tf.strings.format("#", tf.range(10), placeholder="#", summarize=2)) == b"[0 1 ... 8 9]"
    with pytest.raises(ValueError, match="placeholder"):
        tf.strings.format("{} {}", tf.constant(1))
