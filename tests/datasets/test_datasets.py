"""The data sets of the tutorials give what TensorFlow 1.15 gives, and their files come whole or not at all."""
import functools
import hashlib
import http.server
import importlib.util
import json
import signal
import subprocess
import sys
import threading
import time
import urllib.error
from pathlib import Path

import numpy as np
import pytest

from jitgraph.datasets import base, catalogue, download, mnist
from jitgraph.graph import errors

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("dataset_programs", _HERE / "programs.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)
OF_TENSORFLOW = json.loads((_HERE / "data" / "tf115_datasets.json").read_text())


@functools.cache
def found():
    import jitgraph

    return programs.results(jitgraph, mnist.read_data_sets, catalogue)


@pytest.mark.parametrize("name", sorted({*OF_TENSORFLOW} - {*programs.MADE}))
def test_results_are_tensorflows(name):
    assert found()[name] == OF_TENSORFLOW[name]


@pytest.mark.parametrize("name", sorted(programs.MADE))
def test_made_points_are_tensorflows(name):
    """But for the last bits of NumPy's exponential and cosine, which have changed since."""
    points, labels, dtype = found()[name]
    expected, *rest = OF_TENSORFLOW[name]
    np.testing.assert_allclose(points, expected, rtol=1e-12)
    assert [labels, dtype] == rest


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    programs.write_files(folder)
    return folder


@pytest.fixture
def server(files):
    """A server of the small files on this machine; gives its address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=files)

        def do_GET(self):
            if "slow" in self.path:
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                return time.sleep(5)            # the test needs less
            if "cut" not in self.path:
                return super().do_GET()
            self.send_response(200)             # an answer that ends before it is whole
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"half")

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()


def test_missing_files_are_fetched_and_kept(tmp_path, files, server):
    folder = tmp_path / "new" / "folder"
    sets = mnist.read_data_sets(str(folder), source_url=server, validation_size=3)
    assert (sets.train.num_examples, sets.validation.num_examples, sets.test.num_examples) == (20, 3, 7)
    for path in files.iterdir():
        assert (folder / path.name).read_bytes() == path.read_bytes()
    again = mnist.read_data_sets(str(folder), source_url="http://127.0.0.1:9/", validation_size=0)
    assert again.train.num_examples == 23


def test_each_download_is_told(tmp_path, server, capsys):
    mnist.read_data_sets(str(tmp_path), source_url=server, validation_size=0)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["Successfully", "Extracting"] * 4
    assert lines[0].startswith("Successfully downloaded train-images-idx3-ubyte.gz ")


def test_the_original_files_are_checked(tmp_path, server, monkeypatch):
    monkeypatch.setattr(mnist, "DEFAULT_SOURCE_URL", server)
    with pytest.raises(urllib.error.URLError, match="bytes where 9,912,422 were expected; get train-images"):
        mnist.read_data_sets(str(tmp_path), source_url="")
    assert [path.name for path in tmp_path.iterdir()] == ["files"]


def test_a_file_of_the_right_size_with_other_bytes_is_refused(tmp_path, files, server):
    path = next(files.iterdir())
    data = path.read_bytes()
    right = download.Expected(len(data), hashlib.sha256(data).hexdigest())
    assert download.fetch(server + path.name, str(tmp_path / "right"), right) == len(data)
    with pytest.raises(download.DownloadError, match="another file than was expected"):
        download.fetch(server + path.name, str(tmp_path / "wrong"), download.Expected(len(data), "0" * 64))
    assert {p.name for p in tmp_path.iterdir()} == {"files", "right"}


@pytest.mark.parametrize("name, words", [("cut", "cut"), ("absent", "404")])
def test_what_comes_in_part_or_not_at_all_leaves_nothing(tmp_path, server, name, words):
    with pytest.raises(download.DownloadError, match=words):
        download.fetch(server + name, str(tmp_path / "x"))
    assert {p.name for p in tmp_path.iterdir()} == {"files"}


def test_without_a_network_one_sentence_says_what_to_do(tmp_path, files):
    (files / "train-images-idx3-ubyte.gz").rename(tmp_path / "train-images-idx3-ubyte.gz")
    with pytest.raises(urllib.error.URLError) as caught:
        mnist.read_data_sets(str(tmp_path), source_url="http://127.0.0.1:9/")
    sentence = str(caught.value)
    assert "\n" not in sentence and "cannot be fetched" in sentence and str(tmp_path) in sentence
    assert "t10k-labels-idx1-ubyte.gz" in sentence and "train-images" not in sentence


def test_damaged_files_are_named(files):
    path = files / "train-labels-idx1-ubyte.gz"
    whole = path.read_bytes()
    for data in (whole[:-9], whole[:12] + b"\xff" * 20, whole[:-4], b"no gzip"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="train-labels-idx1-ubyte.gz is damaged .* delete it"):
            mnist.read_data_sets(str(files), validation_size=0)
    path.write_bytes((files / "train-images-idx3-ubyte.gz").read_bytes())
    with pytest.raises(ValueError, match="Invalid magic number 2051 in MNIST label file"):
        mnist.read_data_sets(str(files), validation_size=0)


def test_arguments_that_do_not_suit(files):
    with pytest.raises(ValueError, match="between 0 and 23. Received: 24."):
        mnist.read_data_sets(str(files), validation_size=24)
    with pytest.raises(TypeError, match="expected uint8 or float32"):
        mnist.read_data_sets(str(files), validation_size=0, dtype="int32")
    with pytest.raises(ValueError, match="no-such"):
        catalogue.load_dataset("no-such")


def test_tables_of_csv_files(tmp_path):
    (tmp_path / "a.csv").write_text("2,3,x,y\n1,2,3,7\n4,5,6,8\n")
    found = base.load_csv_with_header(tmp_path / "a.csv", np.int32, np.float32)
    assert found.data.tolist() == [[1, 2, 3], [4, 5, 6]] and found.target.tolist() == [7, 8]
    assert found.data.dtype == np.float32 and found.target.dtype == np.int32
    (tmp_path / "b.csv").write_text("1,2,3\n4,5,6\n7,8,9\n")
    found = base.load_csv_without_header(tmp_path / "b.csv", np.int64, np.float64, target_column=0)
    assert found.data.tolist() == [[2, 3], [5, 6], [8, 9]] and found.target.tolist() == [1, 4, 7]
    base.shrink_csv(str(tmp_path / "b.csv"), 2)
    assert (tmp_path / "b_small.csv").read_text().split() == ["1,2,3", "7,8,9"]
    for read in (base.load_csv_with_header, base.load_csv_without_header):
        with pytest.raises(errors.NotFoundError, match="no.csv; No such file or directory"):
            read(tmp_path / "no.csv", np.int32, np.float32)


SLOW = """
import sys
from jitgraph.datasets import base
base.maybe_download("slow", sys.argv[1], sys.argv[2])
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_killed_meanwhile_leaves_no_file(tmp_path, server, number):
    """Nothing stands under its name, so that the next one fetches it anew."""
    folder = tmp_path / "data"
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(folder), server + "slow"], stderr=subprocess.DEVNULL)
    while not (folder.exists() and [*folder.iterdir()]):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(30) == -number and not (folder / "slow").exists()


PROGRAM = """
from tensorflow.examples.tutorials.mnist import input_data, mnist
from tensorflow.contrib.learn.python.learn.datasets.mnist import DataSet
from tensorflow.contrib.learn.python.learn.datasets import base
import tensorflow as tf
sets = input_data.read_data_sets(FOLDER, one_hot=False, validation_size=0, seed=1)
assert isinstance(sets, base.Datasets) and isinstance(sets.train, DataSet)
images, labels = tf.placeholder(tf.float32, [None, mnist.IMAGE_PIXELS]), tf.placeholder(tf.int32, [None])
logits = mnist.inference(images, 8, 4)
loss = mnist.loss(logits, labels)
step, correct = mnist.training(loss, 0.1), mnist.evaluation(logits, labels)
x, y = sets.train.next_batch(20)
x = x.repeat(131, 1)[:, :784]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    losses = [session.run([loss, step], {images: x, labels: y})[0] for _ in range(30)]
    print(losses[-1] < losses[0], 0 <= session.run(correct, {images: x, labels: y}) <= 20)
"""


def test_a_program_imports_them_from_tensorflow(tmp_path, files):
    script = tmp_path / "train.py"
    script.write_text(PROGRAM.replace("FOLDER", repr(str(files))))
    done = subprocess.run([sys.executable, "-m", "jitgraph", "run", str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "True True"


def test_they_are_public_names(tf):
    assert tf.examples.tutorials.mnist.input_data.read_data_sets is mnist.read_data_sets
    assert tf.contrib.learn.datasets.base.Dataset is base.Dataset
    assert tf.contrib.learn.datasets.load_iris().data.shape == (150, 4)
