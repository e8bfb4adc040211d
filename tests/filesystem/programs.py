"""What tf.gfile does, step by step, compared with TensorFlow 1.15.

Each step is an expression; its value, or class and words of its error, is what is compared.
data/tf115_gfile.json is written under TensorFlow 1.15 by ``python tests/filesystem/programs.py``.
"""
import json
import os
import shutil
import tempfile

STEPS = r"""
g.GFile("a.txt", "x") | g.GFile("a.txt", "rb").read() | g.GFile("a.txt").read() | g.GFile("a.txt").read(5)
g.GFile("a.txt").readlines()
[line for line in g.GFile("a.txt", "rb")] | g.GFile("a.txt").size() | g.GFile("nope").read() | g.GFile("nope").mode
g.GFile("dir").read() | g.GFile("a.txt").write("x") | g.GFile("w.txt", "w").read() | g.Exists("w.txt")
use(g.GFile("w.txt", "w")) | f.write("abc") | f.tell() | f.flush() | text("w.txt") | f.close() | f.close() | f.write("zz")
f.close()
text("w.txt") | use(g.GFile("w2", "wb")) | f.write(b"x\xff") | f.write(3) | f.close() | g.GFile("w2", "rb").read()
g.GFile("nodir/w2", "w").write("3") | use(g.GFile("w.txt", "a")) | f.write("def") | f.close() | text("w.txt")
use(g.GFile("w.txt", "r+")) | f.read(2) | f.write("Q") | f.close() | text("w.txt") | use(g.GFile("w3.txt", "w+")) | f.write("Q")
f.flush() | f.read() | f.close() | text("w3.txt") | use(g.GFile("w.txt", "a+")) | f.read() | f.write("R") | f.close()
text("w.txt")
use(g.GFile("a.txt")) | f.seek(4) | f.tell() | f.readline() | f.seek(-2, 2) | f.read() | f.seek(-3, 1) | f.read() | f.seek(0, 5)
f.seek() | f.seek(position=1) | f.seek(1, position=1) | f.tell() | f.seek(-1) | f.seek(1000) | f.read() | f.seekable() | f.name
f.next() | f.seek(0) | f.next() | next(f) | g.GFile("u.txt").read() | g.GFile("u.txt").readline()
g.GFile("u.txt", "rb").readlines()
g.Copy("a.txt", "c.txt") | g.Copy("a.txt", "c.txt") | g.Copy("b.txt", "c.txt", overwrite=True) | text("c.txt")
g.Copy("nope", "d.txt")
g.Copy("a.txt", "dir") | g.Copy("a.txt", "dir", True) | g.Exists("a.txt") | g.Exists("dir") | g.Exists("nope") | g.Exists("")
sorted(g.Glob("*.txt")) | sorted(g.Glob(["a*", "p/*"])) | g.Glob("zz*")
g.Glob(os.getcwd() + "/a*") == [os.getcwd() + "/a.txt"]
sorted(g.Glob("p/*/*")) | sorted(g.Glob("?.txt")) | sorted(g.Glob("[ac].txt")) | g.Glob("a.txt") | g.Glob("./a.*")
sorted(g.Glob("*")) | g.Glob("{a,c}.txt") | g.Glob("nodir/*") | sorted(g.Glob("*/f")) | g.Glob("p/f")
g.IsDirectory("dir") | g.IsDirectory("a.txt") | g.IsDirectory("nope") | sorted(g.ListDirectory("p")) | g.ListDirectory("nope")
g.ListDirectory("a.txt") | g.MkDir("m") | g.MkDir("m") | g.MkDir("m/n/o") | g.MakeDirs("m/n/o") | g.MakeDirs("m/n/o")
g.MakeDirs("a.txt") | g.MakeDirs("a.txt/b") | g.IsDirectory("m/n/o") | g.Remove("dir") | g.Remove("nope") | g.Remove("c.txt")
g.Exists("c.txt") | g.Rename("a.txt", "e.txt") | g.Rename("a.txt", "ee.txt") | g.Rename("e.txt", "w.txt")
g.Rename("e.txt", "w.txt", overwrite=True) | text("w.txt") | g.Rename("full", "full2") | g.Rename("full2", "p")
g.Rename("full2", "p", True) | g.Stat("w.txt").length | g.Stat("w.txt").is_directory | g.Stat("nope") | g.Stat("p").is_directory
g.Stat("w.txt").mtime_nsec // 10**9 == int(os.stat("w.txt").st_mtime)
[(a, sorted(b), sorted(c)) for a, b, c in g.Walk("p")] | [(a, sorted(b), sorted(c)) for a, b, c in g.Walk("p", False)]
list(g.Walk("nope")) | [a for a, _, _ in g.Walk("p/")] | list(g.Walk("w.txt"))
[(a, sorted(b), sorted(c)) for a, b, c in v2.walk("p", topdown=False)] | v2.exists("p") | v2.isdir("p")
sorted(v2.listdir("p"))
v2.glob("u*") | v2.stat("u.txt").length | v2.mkdir("m2") | v2.makedirs("m2/a/b") | v2.copy("u.txt", "m2/u")
v2.rename("m2/u", "m2/v")
v2.copy("u.txt", "m2/v") | v2.remove("m2/v") | v2.rmtree("m2") | v2.exists("m2")
g.DeleteRecursively("p") | g.DeleteRecursively("p") | g.DeleteRecursively("w.txt") | g.Exists("p")
g.Exists("file://" + os.getcwd() + "/u.txt") | g.Exists(b"u.txt") | g.Exists(3)
g.FastGFile("u.txt").mode | g.FastGFile("u.txt", "rb").read() | g.Open is g.GFile
io.file_exists("u.txt") | io.read_file_to_string("b.txt") | io.write_string_to_file("s", "12")
io.read_file_to_string("s", True)
io.atomic_write_string_to_file("s", "34", overwrite=False) | io.atomic_write_string_to_file("s", "56") | text("s")
sorted(os.listdir("."))
sorted(g.Glob("[^a].txt")) | sorted(g.Glob("[!a].txt")) | g.Glob("[b^].txt") | g.Glob("full/") | g.Glob("*/") | g.Glob("b.txt/x")
g.Glob("b.txt/*") | [path[-6:] for path in g.Glob("file://" + os.getcwd() + "/b.t*")]
g.Glob("file://" + os.getcwd() + "/b.t*")[0][:8] | g.MkDir("b.txt") | g.MakeDirs("b.txt") | g.MkDir("b.txt/x")
g.Copy("b.txt", "nodir/x") | io.write_string_to_file("nodir/x", "1")
io.filecmp("b.txt", "b.txt") | io.filecmp("b.txt", "u.txt") | io.filecmp("b.txt", "nope") | io.filecmp("nope", "b.txt")
io.file_crc32("b.txt") | io.file_crc32("b.txt", 2) | io.file_crc32("nope")
"""


def steps():
    return [step.strip() for line in STEPS.strip().splitlines() for step in line.split(" | ")]


def results(tf, io):
    """[[step, result]] of all steps, in a folder of their own."""
    folder, before = tempfile.mkdtemp(), os.getcwd()
    os.chdir(folder)
    try:
        for path in ("dir", "full", "p/q/r"):
            os.makedirs(path)
        for path, content in (("a.txt", b"one\ntwo\nthree"), ("b.txt", b"other"), ("full/x", b"x"), ("p/f", b""), ("p/q/g", b""),
                              ("u.txt", "h\u00e9llo\r\nx".encode("utf-8"))):
            with open(path, "wb") as file:
                file.write(content)
        names = {"tf": tf, "g": tf.gfile, "v2": tf.io.gfile, "io": io, "os": os, "text": _text}
        names["use"] = lambda file: names.update(f=file)
        return [[step, _result(step, names)] for step in steps()]
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def _text(path):
    with open(path) as file:
        return file.read()


def _result(step, names):
    try:
        return repr(eval(step, names))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    import tensorflow
    from tensorflow.python.lib.io import file_io

    here = os.path.dirname(os.path.abspath(__file__))
    found = results(tensorflow, file_io)
    with open(os.path.join(here, "data", "tf115_gfile.json"), "w") as file:
        json.dump(found, file, indent=0)
