"""Summaries in a database, in the tables that TensorFlow 1.15.5 makes."""
import sqlite3

import numpy as np
import pytest


def _written(tf, path):
    """The rows of a database after two steps."""
    S = tf.contrib.summary
    writer = S.create_db_writer(str(path), "tests", "first", "someone")
    step = tf.train.get_or_create_global_step()
    with writer.as_default(), S.always_record_summaries():
        nodes = [S.scalar("loss", 2.5), S.histogram("h", [1.0, 2.0, 3.0]), S.generic("g", tf.constant([[1, 2]])),
                 S.image("im", tf.zeros([1, 2, 2, 3])), S.audio("au", tf.zeros([1, 5, 1]), 100, 3)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with writer.as_default():
            S.initialize(graph=tf.get_default_graph(), session=session)
        for _ in range(2):
            session.run(nodes)
            session.run(tf.assign_add(step, 1))
        session.run(writer.close())
    with sqlite3.connect(path) as database:
        return lambda query: database.execute(query).fetchall()


def test_runs_tags_and_tensors(tf, tmp_path):
    rows = _written(tf, tmp_path / "events.sqlite")
    assert rows("SELECT user_name, experiment_name, run_name FROM Users JOIN Experiments USING (user_id) JOIN Runs USING "
                "(experiment_id) WHERE finished_time >= Runs.started_time") == [("someone", "tests", "first")]
    assert rows("SELECT tag_name, plugin_name FROM Tags ORDER BY tag_name") == [
        ("au/audio/0", "audio"), ("g", ""), ("h", "histograms"), ("im/image/0", "images"), ("loss", "scalars")]
    tensors = rows("SELECT tag_name, step, dtype, shape, data FROM Tensors JOIN Tags ON series = tag_id ORDER BY tag_name, step")
    assert [row[:4] for row in tensors[::2]] == [
        ("au/audio/0", 0, 7, "1,2"), ("g", 0, 3, "1,2"), ("h", 0, 2, "7,3"), ("im/image/0", 0, 7, "3"), ("loss", 0, 1, "")]
    assert [row[1] for row in tensors[1::2]] == [1] * 5 and tensors[8][4] == np.float32(2.5).tobytes()
    edges = np.frombuffer(tensors[4][4]).reshape(7, 3)
    np.testing.assert_allclose(edges[:3], [[2.2250738585e-308, 0.917246, 0], [0.917246, 1.008971, 1], [1.008971, 1.966199, 0]],
                               rtol=1e-5)
    texts = rows("SELECT idx, t.data FROM TensorStrings t JOIN Tensors ON tensor_rowid = Tensors.rowid WHERE step = 0 "
                 "ORDER BY series, idx")
    assert sorted(text[:4] for _, text in texts) == [b"", b"2", b"2", b"RIFF", b"\x89PNG"]
    (nodes,), (graph,) = rows("SELECT count(*) FROM Nodes"), rows("SELECT graph_def FROM Graphs")
    assert nodes[0] > 20 and len(tf.GraphDef.FromString(graph[0]).node) == 0
    assert rows("SELECT count(*) FROM NodeInputs JOIN Nodes USING (graph_id, node_id) WHERE op = 'WriteScalarSummary'") == [(4,)]


def test_runs_without_an_experiment(tf, tmp_path):
    path = tmp_path / "events.sqlite"
    for run in ("first", "second"):
        with tf.Graph().as_default(), tf.Session() as session:
            writer = tf.contrib.summary.create_db_writer(f"file:{path}", "", run, "me")
            with writer.as_default(), tf.contrib.summary.always_record_summaries():
                node = tf.contrib.summary.scalar("loss", 1.0, step=7)
            session.run(writer.init())
            session.run(node)
            session.run(writer.close())
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT run_name, step FROM Runs JOIN Tags USING (run_id) JOIN Tensors ON series = tag_id")
        assert rows.fetchall() == [("first", 7), ("second", 7)]
        assert database.execute("SELECT experiment_id FROM Runs").fetchall() == [(None,)] * 2


def test_names_and_files_that_are_refused(tf, tmp_path):
    S = tf.contrib.summary
    with pytest.raises(ValueError, match="user_name .a b. must match"):
        S.create_db_writer("x.sqlite", user_name="a b")
    with pytest.raises(ValueError, match="run_name"):
        S.create_db_writer("x.sqlite", run_name="<b>")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="unable to open"):
        session.run(S.create_db_writer(str(tmp_path / "no" / "folder.sqlite"), user_name="me").init())
