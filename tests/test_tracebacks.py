"""Tracebacks show the user's program, in plain Python, in threads, in logs and notebooks; errors show the way to the op."""

import os
import subprocess
import sys
import traceback

import pytest

import jitgraph as tf
from jitgraph import tracebacks

PROGRAM = """
import sys
import threading

import numpy as np
import jitgraph as tf

x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.placeholder(tf.float32, [None, 2], name="w")
y = tf.matmul(x, w)
session = tf.Session()

def broken(a):
    return np.linalg.inv(a)

CALLS = {
    "run": lambda: session.run(y, {x: np.ones((2, 3)), w: np.ones((2, 2))}),
    "unfed": lambda: session.run(y),
    "eval": lambda: y.eval(session=session),
    "callable": lambda: session.make_callable(y)(),
    "partial run": lambda: session.partial_run("none", y),
    "builder": lambda: tf.matmul(tf.ones([2, 3]), tf.ones([4, 5])),
    "operator": lambda: x + tf.ones([2, 2]),
    "optimizer": lambda: tf.train.AdamOptimizer().minimize(tf.constant(1.0)),
    "loop": lambda: tf.while_loop(lambda i: i < 3, lambda i: tf.matmul(i, i), [0]),
    "py_func": lambda: session.run(tf.py_func(broken, [tf.zeros([2, 2])], tf.float32)),
    "name": lambda: tf.no_such_name,
    "module": lambda: tf.nn.no_such_name,
}

def in_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    sys.exit(1)

if __name__ == "__main__":
    call = CALLS[sys.argv[1]]
    in_thread(call) if "thread" in sys.argv else call()
"""
CALLS = ["run", "unfed", "eval", "callable", "partial run", "builder", "operator", "optimizer", "loop", "py_func", "name", "module"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    return path


def ours(text):
    return [line for line in text.splitlines() if any(f'File "{folder}' in line for folder in tracebacks.OWN)]


def stderr(program, *arguments, **environment):
    done = subprocess.run([sys.executable, str(program), *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "JITGRAPH_TRACEBACK": "", **environment})
    assert done.returncode == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("call", CALLS)
def test_an_uncaught_error_shows_no_frame_of_ours(program, call):
    text = stderr(program, call)
    assert "Traceback" in text and str(program) in text and not ours(text), text


def test_nor_in_a_thread(program):
    text = stderr(program, "optimizer", "thread")
    assert "Exception in thread" in text and str(program) in text and not ours(text), text


def test_all_frames_are_there_on_request(program):
    assert len(ours(stderr(program, "run", JITGRAPH_TRACEBACK="1"))) > 5
    assert ours(stderr(program, "optimizer", "thread", JITGRAPH_TRACEBACK="1"))


def test_what_the_users_function_called_stays(program):
    text = stderr(program, "py_func")
    assert "in broken" in text and "linalg" in text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before, a frame that raises again keeps the traceback it had")
@pytest.mark.parametrize("call", ["run", "unfed", "callable", "partial run"])
def test_a_caught_error_is_short_too(program, call):
    space = {"__name__": "program"}
    exec(compile(PROGRAM, str(program), "exec"), space)
    with pytest.raises(Exception) as caught:
        space["CALLS"][call]()
    assert not ours("".join(traceback.format_exception(caught.value)))


def test_a_debugger_still_gets_every_frame(monkeypatch):
    """The hook shows a copy: the error itself, and so `python -i` and pdb.pm(), keep all."""
    shown = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: shown.append((trace, error.__traceback__)))
    tracebacks.hook()
    try:
        tf.train.AdamOptimizer().minimize(tf.constant(1.0))
    except ValueError as error:
        before = traceback.extract_tb(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        assert traceback.extract_tb(error.__traceback__) == before and len(before) > 1
    assert [len(traceback.extract_tb(trace)) for trace in shown[0]] == [1, 1]


@pytest.mark.parametrize("jit", ["always", "off"])
def test_an_error_while_running_shows_the_way_to_the_op(jit):
    tf.reset_default_graph()

    def layer(where):
        return tf.gather([1.0, 2.0], where)

    def network(where):
        return layer(where)

    where = tf.placeholder(tf.int32, [])
    y = network(where)
    with tf.Session(jit=jit) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(y, {where: 7})
            text = str(caught.value)
            at = [text.index(part) for part in ("Original stack trace for", "y = network(where)", "return layer(where)",
                                                "return tf.gather([1.0, 2.0], where)")]
            assert at == sorted(at) and not ours(text)


def test_a_notebook_shows_no_frame_of_ours():
    """IPython prints through an object of the running shell."""
    class Printer:
        def structured_traceback(self, kind, error, trace, tb_offset=None):
            return [entry.name for entry in traceback.extract_tb(trace)][tb_offset:]

    class Shell:
        InteractiveTB = Printer()

    class IPython:
        get_ipython = staticmethod(lambda: Shell)

    tracebacks._install_in_notebook(IPython)

    def cell():
        tf.train.AdamOptimizer().minimize(tf.constant(1.0))

    try:
        cell()
    except ValueError as error:
        got = Shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__, tb_offset=1)
        assert got == ["cell"]
