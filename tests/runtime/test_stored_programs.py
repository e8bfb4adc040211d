"""What the passes made of a program serves the next process: it runs no passes, and gives the same bits."""
import os
import subprocess
import sys

import numpy as np
import pytest

from jitgraph.compiler import show, stored
from jitgraph.runtime import store, stored_programs
from jitgraph.runtime.background import BACKGROUND


@pytest.fixture
def empty_store(tmp_path, monkeypatch):
    BACKGROUND.wait()           # what other tests compile ahead would be stored here
    monkeypatch.setenv("JITGRAPH_CACHE", str(tmp_path / "store"))
    monkeypatch.setenv("JITGRAPH_VERIFY", "0")
    monkeypatch.setattr(stored, "LEAST", 1)
    monkeypatch.setattr(show, "_recorded", None)        # whatever a command has begun in this process
    yield tmp_path / "store"
    BACKGROUND.wait()


def dense(tf):
    x = tf.placeholder("float32", [None, 8])
    h = tf.layers.dropout(tf.layers.dense(x, 16, tf.nn.relu), 0.5, training=True, seed=3)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1)))
    return [loss, tf.train.AdamOptimizer(0.1).minimize(loss)], x


def recurrent(tf):
    x = tf.placeholder("float32", [4, 8, 3])
    out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(5), x, [8, 3, 0, 5], dtype="float32")
    loss = tf.reduce_sum(out)
    return [loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)], x


def dynamic(tf):
    x = tf.placeholder("float32", [None, 3])
    kept = tf.boolean_mask(x, x[:, 0] > 0.5)
    return [tf.shape(kept), tf.cond(tf.reduce_sum(kept) > 1, lambda: tf.nn.top_k(kept[0], 2)[0], lambda: x[0])], x


SHAPES = {dense: (6, 8), recurrent: (4, 8, 3), dynamic: (7, 3)}


def run(tf, make):
    """What four runs give, in a graph and a session of their own."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        fetches, x = make(tf)
        session.run(tf.global_variables_initializer())
        value = np.random.RandomState(0).rand(*SHAPES[make]).astype(np.float32)
        found = [[r for r in session.run(fetches, {x: value}) if r is not None] for _ in range(4)]
        BACKGROUND.wait()
        return found


@pytest.mark.parametrize("make", SHAPES)
def test_a_program_that_is_there_is_not_compiled_again(tf, empty_store, monkeypatch, make):
    first = run(tf, make)
    files = set(empty_store.glob("*.jgp"))
    assert files and store.programs()
    compiled = []
    real = stored_programs.compile_ops
    monkeypatch.setattr(stored_programs, "compile_ops", lambda program, **_: compiled.append(program) or real(program))
    second = run(tf, make)
    assert all(np.array_equal(a, b) for one, other in zip(first, second) for a, b in zip(one, other))
    assert not [program for program in compiled if not program.early]
    assert set(empty_store.glob("*.jgp")) == files


def test_a_damaged_file_is_written_again(tf, empty_store):
    first = run(tf, dense)
    files = list(empty_store.glob("*.jgp"))
    for path in files:
        path.write_bytes(path.read_bytes()[:-9])
    assert np.array_equal(run(tf, dense)[3][0], first[3][0])
    assert all(store.load_program(path.stem) is not None for path in files)


def test_small_programs_leave_no_file(tf, empty_store, monkeypatch):
    monkeypatch.setattr(stored, "LEAST", 1000)
    run(tf, dense)
    assert not store.programs()


def test_verified_programs_go_through_bytes(tf, empty_store, monkeypatch):
    monkeypatch.setenv("JITGRAPH_VERIFY", "1")
    read = []
    real = stored.Stored.restore
    monkeypatch.setattr(stored.Stored, "restore", lambda self, data: read.append(self) or real(self, data))
    run(tf, dense)
    assert read and not store.programs()


def start(program, folder):
    """What another process prints, and how many programs there are in the store then."""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                           env={**os.environ, "JITGRAPH_CACHE": str(folder), "JITGRAPH_VERIFY": "0"})
    assert found.returncode == 0, found.stderr
    return found.stdout, len(list(folder.glob("*.jgp")))


PROGRAM = """
import numpy as np
import jitgraph as tf
from jitgraph.compiler import stored
stored.LEAST = 1
x = tf.placeholder("float32", [None, 8])
y = tf.reduce_sum(tf.nn.softmax(tf.matmul(x, tf.constant(np.arange(24.).reshape(8, 3), "float32"))))
with tf.Session(jit="always") as session:
    print(session.run(y, {x: np.ones([2, 8])}))
"""


@pytest.mark.parametrize("made", [True, False])
def test_another_version_of_the_sources_is_another_program(empty_store, made):
    """`made`: whether a source file is a little younger in the second process."""
    younger = "from jitgraph.compiler import stored; stored._sources = lambda: 'another'\n"
    first, second = start(PROGRAM, empty_store), start((younger if made else "") + PROGRAM, empty_store)
    assert first[0] == second[0] and second[1] == first[1] + made == 1 + made


READ = """
import numpy as np
import jitgraph as tf
from jitgraph.compiler import stored
stored.LEAST = 1
tf.train.import_meta_graph(sys.argv[1])
with tf.Session(jit="always") as session:
    print(session.run("y:0", {"x:0": np.ones([2, 9, 9, 3])}))
"""


def test_a_graph_of_a_file_is_the_same_program_in_every_process(tf, empty_store, tmp_path, monkeypatch):
    """There are several attributes, in an order that follows from the hashes of their names."""
    path = str(tmp_path / "graph.meta")
    with tf.Graph().as_default():
        x = tf.placeholder("float32", [None, 9, 9, 3], name="x")
        filters = tf.constant(np.arange(54.0).reshape(3, 3, 3, 2), "float32")
        h = tf.nn.max_pool(tf.nn.conv2d(x, filters, [1, 2, 2, 1], "SAME"), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        tf.identity(tf.reduce_sum(h), name="y")
        tf.train.export_meta_graph(path)
    program = READ.replace("sys.argv[1]", repr(path))
    found = []
    for seed in "123":
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        found.append(start(program, empty_store))
    assert found == [found[0]] * 3 and found[0][1] == 1


CALLING = """
import numpy as np
import jitgraph as tf
from jitgraph.compiler import stored
stored.LEAST = 1
x = tf.placeholder("float32", [3])
y = tf.py_func(lambda a: a * np.float32(FACTOR), [x * 2], tf.float32, stateful=STATEFUL) + 1
with tf.Session(jit="always") as session:
    print(session.run(y, {x: np.ones(3)}))
"""


@pytest.mark.parametrize("stateful", [True, False])
def test_a_program_that_calls_a_function_calls_the_one_of_its_process(empty_store, stateful):
    program = CALLING.replace("STATEFUL", str(stateful))
    printed, count = start(program.replace("FACTOR", "3"), empty_store)
    assert printed == "[7. 7. 7.]\n" and count
    assert start(program.replace("FACTOR", "5"), empty_store) == ("[11. 11. 11.]\n", count)
