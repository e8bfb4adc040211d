"""Other processes that compile: they take part, and nothing depends on them."""
import os
import subprocess
import sys
import threading

import pytest

from jitgraph.runtime import compile_process

MANY = """
import sys
import numpy as np, jitgraph as tf
{before}
fetches, feeds = [], {{}}
for k in range(12):         # twelve kernels of different structure, over data of different size
    x = y = tf.placeholder(tf.float32, [None, 50 + k])
    feeds[x] = np.linspace(0, 1, 500 + 10 * k).reshape(10, 50 + k)
    for step in range(k + 1):
        y = tf.tanh(y) * 1.5 if step % 2 else tf.exp(-y)
    fetches.append(tf.reduce_sum(y, 1) if k % 2 else tf.reduce_max(y, 0))
with tf.Session(jit="always") as s, tf.Session(jit="off") as reference:
    found, wanted = s.run(fetches, feeds), reference.run(fetches, feeds)
assert all(np.allclose(a, b, rtol=1e-5) for a, b in zip(found, wanted))
from jitgraph.runtime.compile_process import HELPERS
from jitgraph.runtime.library import LIBRARY
print(LIBRARY.statistics.compiled, sum(h.process is not None for h in HELPERS.all))
"""


def run(tmp_path, before="", **environment):
    done = subprocess.run([sys.executable, "-c", MANY.format(before=before)], capture_output=True, text=True, timeout=150, env={
        **os.environ, "JITGRAPH_CACHE": str(tmp_path), "JITGRAPH_THREADS": "2", **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_both_processes_compile_each_kernel_once(tmp_path):
    compiled, helped = run(tmp_path)
    assert int(compiled) >= 12 and helped == "1"
    assert run(tmp_path) == ["0", "0"]              # all of them are in the store now


def test_it_starts_beside_the_passes(tmp_path):
    """It loads what it needs while they find out which kernels are missing."""
    before = """
from jitgraph.runtime import compile_process, stored_programs
passes = stored_programs.compile_ops
def watched(*args, **options):
    assert compile_process.HELPERS.all[0].process is not None
    return passes(*args, **options)
stored_programs.compile_ops = watched"""
    assert run(tmp_path, before, JITGRAPH_VERIFY="0")[1] == "1"


def test_it_makes_the_interpreter_meanwhile(tmp_path, monkeypatch):
    """In the program's store, also where that is named from the program's folder."""
    from jitgraph.compiler import key
    from jitgraph.runtime import interpreter, store
    from jitgraph.runtime.compile_process import Helper

    monkeypatch.setenv("JITGRAPH_CACHE", "here")
    monkeypatch.chdir(tmp_path)
    helper, address = Helper(), key.digest(interpreter.parts())
    assert not store.has(address)
    helper.prepare()
    try:
        assert helper._running() is not None and helper.ready       # it says so when it has done that
        assert store.has(address) and (tmp_path / "here" / (address + store.SUFFIX)).exists()
    finally:
        helper._end()


HEAVY = """
import numpy as np, jitgraph as tf
from jitgraph.runtime.library import LIBRARY
begun, asked = [], []
def noting(calls, method):
    def noted(kernels, *rest):
        calls.append({{kernel.source for kernel in kernels}})
        return method(kernels, *rest)
    return noted
LIBRARY.begin, LIBRARY.addresses = noting(begun, LIBRARY.begin), noting(asked, LIBRARY.addresses)
x = y = tf.placeholder(tf.float32, [2, 16, 16, 3])
for size, filters in ((3, 8), (1, 16), (5, 16)):
    y = tf.nn.relu(tf.nn.conv2d(y, tf.Variable(tf.random.normal([size, size, y.shape[-1], filters], seed=1)), 1, "SAME"))
y = tf.matmul(tf.reshape(tf.nn.max_pool(y, 2, 2, "SAME"), [2, -1]), tf.Variable(tf.random.normal([1024, 40], seed=2)))
loss = tf.reduce_sum(tf.square(y))
step = tf.gradients(loss, tf.trainable_variables())
feeds = {{x: np.random.RandomState(0).standard_normal((2, 16, 16, 3))}}
with tf.Session(jit="always") as s:
    s.run(tf.global_variables_initializer())
    begun.clear(), asked.clear()
    {before}
    s.run([loss, step], feeds)
print(len(begun[0]), len(begun[0] - asked[0]), LIBRARY.statistics.compiled)
"""


def test_kernels_written_by_hand_are_compiled_beside_the_passes(tmp_path):
    """All of them are needed, and none is compiled twice."""
    def run(folder, before="pass"):
        settings = {"JITGRAPH_CACHE": str(tmp_path / folder), "JITGRAPH_THREADS": "2", "JITGRAPH_VERIFY": "0"}
        done = subprocess.run([sys.executable, "-c", HEAVY.format(before=before)], capture_output=True, text=True, timeout=150,
                              env={**os.environ, **settings})
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    early, useless, compiled = run("beside")
    assert early >= 8 and useless == 0
    assert run("alone", "LIBRARY.begin = lambda kernels, compiler: begun.append(set())") == [0, 0, compiled]


def test_many_cores_take_part(tmp_path):
    compiled, helped = run(tmp_path, JITGRAPH_THREADS="4")
    assert int(compiled) >= 12 and helped == str(min(int(compiled) // 4, 3))
    assert run(tmp_path) == ["0", "0"]


def test_it_can_be_done_without(tmp_path):
    compiled, helped = run(tmp_path, JITGRAPH_COMPILE_PROCESS="0")
    assert int(compiled) >= 12 and helped == "0"


def test_a_python_that_is_none_changes_nothing(tmp_path):
    compiled, helped = run(tmp_path, before="sys.executable = '/nothing/here'")
    assert int(compiled) >= 12 and helped == "0"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_process_that_dies_changes_nothing(tmp_path):
    killer = ("from jitgraph.runtime import compile_process as c\n"
              "ask = c.Helper._ask\n"
              "def fatal(self, process, job):\n    process.kill()\n    return ask(self, process, job)\n"
              "c.Helper._ask = fatal")
    assert int(run(tmp_path, before=killer)[0]) >= 12


def test_python_that_ends_starts_no_thread(monkeypatch):
    """From 3.12 on starting one raises RuntimeError then."""
    def start(thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", start)
    helper = compile_process.Helper()
    assert helper.start([("address", {})], {}) is None and not helper.busy.locked()
    helper.busy.acquire()
    helper._rest()
    assert helper.timer is None and not helper.busy.locked()
