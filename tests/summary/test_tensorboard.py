"""TensorBoard itself, without TensorFlow, over a folder that FileWriter wrote: through its HTTP API, on loopback."""
import json
import os
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import numpy as np
import pytest

pytest.importorskip("tensorboard")

from tensorboard.plugins.pr_curve import plugin_data_pb2 as pr_plugin_data_pb2

STARTED = "at http://"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The events of a small training with everything in them."""
    import jitgraph as tf

    path = tmp_path_factory.mktemp("logs") / "train"
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4], name="x")
        tf.summary.scalar("loss", tf.reduce_mean(x))
        tf.summary.histogram("weights", x)
        tf.summary.image("pic", tf.reshape(x, [1, 2, 2, 1]), max_outputs=1)
        tf.summary.audio("snd", tf.reshape(x, [1, 4]) / 100, 8000.0, max_outputs=1)
        tf.summary.text("note", tf.constant("*hello*"))
        # rows of counts and rates over three thresholds, as the plugin's own op makes them
        content = pr_plugin_data_pb2.PrCurvePluginData(version=0, num_thresholds=3).SerializeToString()
        plugin = tf.SummaryMetadata.PluginData(plugin_name="pr_curves", content=content)
        tf.summary.tensor_summary("precision", tf.reshape(tf.range(18.0), [6, 3]), summary_metadata=tf.SummaryMetadata(
            display_name="pr", plugin_data=plugin))
        merged = tf.summary.merge_all()
        with tf.Session() as session, tf.summary.FileWriter(str(path), graph) as writer:
            for step in range(3):
                metadata = tf.RunMetadata()
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                data = session.run(merged, {x: np.arange(4) + step}, options, metadata)
                writer.add_summary(data, step)
                writer.add_run_metadata(metadata, f"step{step}", step)
            projector = tf.contrib.tensorboard.plugins.projector
            config = projector.ProjectorConfig()
            config.embeddings.add(tensor_name="points", metadata_path="names.tsv", tensor_path="points.tsv")
            projector.visualize_embeddings(writer, config)
    (path / "names.tsv").write_text("one\ntwo\n")
    (path / "points.tsv").write_text("1\t2\t3\n4\t5\t6\n")
    return path.parent


@pytest.fixture(scope="module")
def get(folder, tmp_path_factory):
    """Asks the server for a path: JSON, or bytes."""
    log = tmp_path_factory.mktemp("server") / "log"
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--port", "0", "--host", "127.0.0.1",
               "--load_fast", "false", "--reload_interval", "1"]
    with open(log, "w") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    try:
        yield asking(server, log)
    finally:
        server.terminate()
        server.wait()


def asking(server, log):
    deadline = time.monotonic() + 60
    while STARTED not in log.read_text():
        assert server.poll() is None and time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    address = log.read_text().split(STARTED)[1].split()[0].rstrip("/")
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(path, **query):
        with direct.open(f"http://{address}/data/{path}?{urllib.parse.urlencode(query)}", timeout=20) as answer:
            data = answer.read()
            return json.loads(data) if "json" in answer.headers["Content-Type"] else data

    while "train" not in ask("runs") or not ask("plugin/scalars/tags"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return ask


def test_scalars(get):
    found = get("plugin/scalars/scalars", run="train", tag="loss")
    assert [(step, value) for _, step, value in found] == [(0, 1.5), (1, 2.5), (2, 3.5)]


def test_histograms(get):
    found = get("plugin/histograms/histograms", run="train", tag="weights")
    assert [step for _, step, _ in found] == [0, 1, 2]
    assert sum(count for _, _, count in found[0][2]) == 4


def test_images(get):
    found = get("plugin/images/images", run="train", tag="pic/image", sample=0)
    assert [entry["step"] for entry in found] == [0, 1, 2]
    file = get("plugin/images/individualImage?" + found[0]["query"] + "&")
    assert file.startswith(b"\x89PNG")


def test_audio_and_text(get):
    assert get("plugin/audio/tags")["train"]["snd/audio"]["samples"] == 1
    assert "<em>hello</em>" in get("plugin/text/text", run="train", tag="note")[0]["text"]


def test_the_graph(get):
    assert b'name: "weights"' in get("plugin/graphs/graph", run="train", large_attrs_key="_too_large_attrs",
                                    limit_attr_size=1024)


def test_run_metadata(get):
    found = get("plugin/graphs/run_metadata", run="train", tag="step1")
    assert b"step_stats" in found and b'node_name: "' in found


def test_precision_and_recall_by_a_plugin_of_its_own(get):
    assert get("plugin/pr_curves/tags")["train"]["precision"]["displayName"] == "pr"
    found = get("plugin/pr_curves/pr_curves", run="train", tag="precision")["train"]
    assert [entry["step"] for entry in found] == [0, 1, 2]
    assert found[0]["precision"] == [12.0, 13.0, 14.0] and found[0]["recall"] == [15.0, 16.0, 17.0]


def test_the_projector_reads_its_configuration(get):
    assert get("plugin/projector/runs") == ["train"]
    found, = get("plugin/projector/info", run="train")["embeddings"]
    assert found["tensorName"] == "points"
    assert get("plugin/projector/metadata", run="train", name="points") == b"one\ntwo\n"
    assert np.frombuffer(get("plugin/projector/tensor", run="train", name="points"), np.float32).tolist() == [1, 2, 3, 4, 5, 6]
