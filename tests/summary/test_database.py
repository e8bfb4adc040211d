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
                "(experiment_id) WHERE finished_time >= started_time") == [("someone", "tests", "first")]
    assert rows("SELECT tag_name, plugin_name FROM Tags ORDER BY tag_name") == []
