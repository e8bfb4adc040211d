"""The store: atomic, checked, private; nothing wrong with it ever reaches a run."""
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import jitgraph as tf
from jitgraph.runtime import library, store
from jitgraph.runtime.background import BACKGROUND

PARTS = {"name": "f", "text": "def f(): ...", "cpu": "x"}


@pytest.fixture
def empty_store(tmp_path, monkeypatch):
    BACKGROUND.wait()           # what other tests compile ahead would be stored here
    monkeypatch.setenv("JITGRAPH_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


def test_what_is_saved_is_loaded(empty_store):
    assert store.load("k") is None
    assert store.save("k", PARTS, "jg_k", b"\x7fELF\ncode", 0.5)
    header, code = store.load("k")
    assert code == b"\x7fELF\ncode" and header["symbol"] == "jg_k"
    (entry,) = store.entries()
    assert entry.key == "k" and entry.parts == PARTS and entry.seconds == 0.5


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_the_directory_belongs_to_its_owner_alone(empty_store):
    store.save("k", PARTS, "s", b"c", 0)
    assert stat.S_IMODE(empty_store.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [lambda d: d[: len(d) // 2], lambda d: b"", lambda d: b"#!/bin/sh\n" + d,
                                    lambda d: d[:-1] + bytes([d[-1] ^ 1]), lambda d: d.replace(b'"symbol"', b'"symbal"')])
def test_a_damaged_file_is_a_miss(empty_store, damage):
    store.save("k", PARTS, "s", b"code", 0)
    path = empty_store / "k.jgo"
    path.write_bytes(damage(path.read_bytes()))
    assert store.load("k") is None and store.entries() == []
    assert store.save("k", PARTS, "s", b"code", 0) and store.load("k")[1] == b"code"


def test_a_miss_names_the_part_that_differs(empty_store):
    assert "empty" in store.explain(PARTS)
    store.save("k", PARTS, "s", b"c", 0)
    assert store.explain({**PARTS, "cpu": "y"}).endswith("cpu")


def test_clear_removes_everything(empty_store):
    store.save("a", PARTS, "s", b"c", 0)
    store.save("b", PARTS, "s", b"c", 0)
    assert store.clear() == 2 and store.entries() == [] and store.clear() == 0


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    monkeypatch.setenv("JITGRAPH_CACHE", str(blocked / "store"))
    assert not store.save("k", PARTS, "s", b"c", 0)
    assert store.load("k") is None and store.entries() == [] and store.clear() == 0
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [3])
    with tf.Session(jit="always") as session:
        assert session.run(x * 3.25, {x: [1, 2, 3]}).tolist() == [3.25, 6.5, 9.75]


def test_many_writers_at_once(empty_store):
    def write(n):
        for _ in range(20):
            store.save("k", PARTS, "s", b"code" * 1000, 0)
            assert store.load("k")[1] == b"code" * 1000
    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [p.name for p in empty_store.iterdir()] == ["k.jgo"]


PROGRAM = """
import sys, numpy as np, jitgraph as tf
x = tf.placeholder(tf.float32, [None, 5])
y = tf.nn.softmax(x * 1.5 + 0.25)
with tf.Session(jit="always") as s:
    out = s.run(y, {x: np.arange(10, dtype="f").reshape(2, 5)})
from jitgraph.runtime.library import LIBRARY
print(out.tobytes().hex(), LIBRARY.statistics.compiled, LIBRARY.statistics.hits, "numba" in sys.modules)
"""


def run_program(directory):
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, "JITGRAPH_CACHE": str(directory)},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_second_process_starts_from_the_store_and_neither_needs_numba(tmp_path):
    cold, warm = run_program(tmp_path / "s"), run_program(tmp_path / "s")
    assert cold[1] != "0" and cold[3] == "False"
    assert warm == [cold[0], "0", cold[1], "False"]


def test_foreign_object_code_is_rebuilt(empty_store, monkeypatch):
    """A file of ours whose object code does not load (or lacks the symbol) is a miss, too."""
    fresh = library.Library()
    built = []

    def build(symbol):
        built.append(symbol)
        from jitgraph.compiler.emit import native
        return native.compile_function("def one(sizes, begin, end):\n    return end + 1\n", "one", [], symbol)

    from jitgraph.compiler import key
    store.save(key.digest(PARTS), PARTS, "jg_nothing", b"not an object file", 0)
    assert fresh.find(PARTS, build) and built


def test_results_survive_a_cleared_store(empty_store):
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [2])
    y = x * 2.0
    with tf.Session(jit="always") as session:
        first = session.run(y, {x: [1, 2]})
        store.clear()
        np.testing.assert_array_equal(session.run(y, {x: [1, 2]}), first)
