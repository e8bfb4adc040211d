"""tf.gfile does what TensorFlow 1.15 does with local files, and the same behind the schemes of fsspec."""
import importlib.util
import json
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from jitgraph.filesystem import file_io

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("gfile_programs", _HERE / "programs.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)
OF_TENSORFLOW = json.loads((_HERE / "data" / "tf115_gfile.json").read_text())


@pytest.fixture(scope="module")
def found():
    import jitgraph

    return programs.results(jitgraph, file_io)


@pytest.mark.parametrize("number", range(len(OF_TENSORFLOW)), ids=[step for step, _ in OF_TENSORFLOW])
def test_steps_are_tensorflows(found, number):
    assert found[number] == OF_TENSORFLOW[number]


def test_times_are_exact(tf, tmp_path):
    """TensorFlow cuts them to whole seconds."""
    path = tmp_path / "x"
    path.write_text("1")
    assert tf.gfile.Stat(str(path)).mtime_nsec == path.stat().st_mtime_ns


def test_paths_may_be_path_objects(tf, tmp_path):
    with tf.gfile.GFile(tmp_path / "x", "w") as file:
        file.write("1")
    assert tf.io.gfile.exists(tmp_path / "x") and tf.gfile.ListDirectory(tmp_path) == ["x"]


def test_a_copy_of_a_folder_is_refused_before_anything_is_made(tf, tmp_path):
    (tmp_path / "d").mkdir()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Is a directory"):
        tf.gfile.Copy(str(tmp_path / "d"), str(tmp_path / "e"))
    assert not (tmp_path / "e").exists()


def test_walk_tells_what_it_cannot_list(tf, tmp_path):
    told = []
    assert list(tf.io.gfile.walk(str(tmp_path / "no"), onerror=told.append)) == []
    assert [type(error) for error in told] == [tf.errors.NotFoundError]


@pytest.fixture
def remote(tf):
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    yield "memory://bucket"
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_files_behind_a_scheme(tf, remote):
    g = tf.gfile
    g.MakeDirs(remote + "/a/b")
    with g.GFile(remote + "/a/x.txt", "w") as file:
        file.write("one\ntwo\n")
    with g.GFile(remote + "/a/x.txt", "a") as file:
        file.write("three")
    assert list(g.GFile(remote + "/a/x.txt")) == ["one\n", "two\n", "three"]
    assert g.Exists(remote + "/a/x.txt") and not g.Exists(remote + "/a/y") and g.IsDirectory(remote + "/a/b")
    assert g.ListDirectory(remote + "/a") == ["b", "x.txt"] and g.Glob(remote + "/a/*.txt") == [remote + "/a/x.txt"]
    found = g.Stat(remote + "/a/x.txt")
    assert found.length == 13 and not found.is_directory and found.mtime_nsec > 10 ** 18
    g.Copy(remote + "/a/x.txt", remote + "/a/b/y.txt")
    g.Rename(remote + "/a/x.txt", remote + "/a/z.txt")
    assert list(g.Walk(remote + "/a")) == [(remote + "/a", ["b"], ["z.txt"]), (remote + "/a/b", [], ["y.txt"])]
    g.Remove(remote + "/a/z.txt")
    g.DeleteRecursively(remote + "/a")
    assert not g.Exists(remote + "/a")


def test_errors_behind_a_scheme(tf, remote):
    g, errors = tf.gfile, tf.errors
    for call, kind in ((lambda: g.GFile(remote + "/no").read(), errors.NotFoundError),
                       (lambda: g.Stat(remote + "/no"), errors.NotFoundError),
                       (lambda: g.Remove(remote + "/no"), errors.NotFoundError),
                       (lambda: g.Rename(remote + "/no", remote + "/n"), errors.NotFoundError),
                       (lambda: g.DeleteRecursively(remote + "/no"), errors.NotFoundError),
                       (lambda: g.ListDirectory(remote + "/no"), errors.NotFoundError)):
        with pytest.raises(kind):
            call()
    for name in ("/x", "/y"):
        with g.GFile(remote + name, "w") as file:
            file.write(name)
    with pytest.raises(errors.AlreadyExistsError):
        g.Copy(remote + "/x", remote + "/y")
    with pytest.raises(errors.FailedPreconditionError):
        g.DeleteRecursively(remote + "/x")


def test_between_here_and_there(tf, remote, tmp_path):
    (tmp_path / "x").write_bytes(b"\x00\xff")
    tf.gfile.Copy(str(tmp_path / "x"), remote + "/x")
    tf.gfile.Rename(remote + "/x", str(tmp_path / "y"))
    assert (tmp_path / "y").read_bytes() == b"\x00\xff" and not tf.gfile.Exists(remote + "/x")
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(remote + "/x", str(tmp_path / "y"))


def test_an_unknown_scheme_is_refused_in_one_sentence(tf, monkeypatch):
    with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'foo' not implemented .file: 'foo://x/y'.: "):
        tf.gfile.GFile("foo://x/y").read()
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(tf.errors.UnimplementedError, match="install fsspec"):
        tf.gfile.Exists("gs://bucket/x")


def test_arrays_may_be_pickled_into_a_file(tf, tmp_path):
    with tf.gfile.Open(str(tmp_path / "a"), "wb") as file:
        pickle.dump(np.arange(3), file, protocol=pickle.HIGHEST_PROTOCOL)
    with tf.gfile.Open(str(tmp_path / "a"), "rb") as file:
        assert pickle.loads(file.read()).tolist() == [0, 1, 2]


def test_the_empty_path_is_the_folder_where_the_program_runs(tf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert tf.gfile.MakeDirs("") is None and tf.gfile.MkDir("") is None
    with tf.summary.FileWriter("") as writer:
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 1)
    assert len(os.listdir(tmp_path)) == 1
