"""Checkpoints of objects: TensorFlow's files are read, what is written has its names and values, statuses refuse what they do."""
import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parent / "data"
RECORDED = json.loads((DATA / "tf115_values.json").read_text())
_spec = importlib.util.spec_from_file_location("object_programs", Path(__file__).parent / "object_programs.py")
programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(programs)


def _agree(found, wanted):
    assert found.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-5, err_msg=name)


def test_what_is_written_has_tensorflows_names_and_values(tf, tmp_path):
    _agree(programs.write(tf, str(tmp_path)), RECORDED["write"])


def test_the_graph_of_objects_is_tensorflows(tf, tmp_path):
    programs.write(tf, str(tmp_path))
    mine, theirs = (tf.train.NewCheckpointReader(str(folder / "ckpt-2")).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
                    for folder in (tmp_path, DATA))
    from jitgraph.protobuf import messages

    found, wanted = messages.TrackableObjectGraph(), messages.TrackableObjectGraph()
    found.ParseFromString(mine)
    wanted.ParseFromString(theirs)

    def edges(graph):
        return [sorted((child.local_name, child.node_id) for child in node.children) for node in graph.nodes]

    assert edges(found)[0] == edges(wanted)[0]
    assert {a.checkpoint_key for node in found.nodes for a in node.attributes} == {
        a.checkpoint_key for node in wanted.nodes for a in node.attributes}


def test_tensorflows_files_are_read(tf):
    _agree(programs.read(tf, str(DATA)), RECORDED["read"])


def _saved(tf, folder, **objects):
    checkpoint = tf.train.Checkpoint(**objects)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return checkpoint.save(str(folder / "c"), session)


def test_objects_that_are_not_there_are_refused_only_by_assert_consumed(tf, tmp_path):
    v = tf.Variable(3.0)
    path = _saved(tf, tmp_path, v=v, w=tf.Variable(4.0))
    checkpoint = tf.train.Checkpoint(v=v)
    status = checkpoint.restore(path)
    status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial()
    with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
        status.assert_consumed()
    other = tf.train.Checkpoint(v=v, new=tf.Variable(5.0))
    with pytest.raises(AssertionError, match="Some Python objects were not bound"):
        other.restore(path).assert_existing_objects_matched()
    with tf.Session() as session:
        other.restore(path).initialize_or_restore(session)
        assert session.run([v, other.new, other.save_counter]) == [3.0, 5.0, 1]


def test_variables_made_after_restore_are_read_too(tf, tmp_path):
    path = _saved(tf, tmp_path, v=tf.Variable([1.0, 2.0]))
    checkpoint = tf.train.Checkpoint()
    status = checkpoint.restore(path)
    checkpoint.v = tf.Variable([0.0, 0.0])
    with tf.Session() as session:
        status.assert_consumed().run_restore_ops(session)
        assert session.run(checkpoint.v).tolist() == [1.0, 2.0]


def test_without_a_checkpoint_variables_are_initialized(tf):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(3.0))
    status = checkpoint.restore(None)
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        status.assert_consumed()
    with tf.Session() as session:
        status.initialize_or_restore(session)
        assert session.run([checkpoint.v, checkpoint.save_counter]) == [3.0, 0]


def test_checkpoints_of_savers_are_read_by_names(tf, tmp_path):
    v = tf.Variable(3.0, name="v")
    with tf.Session() as session:
        session.run(v.initializer)
        path = tf.train.Saver([v]).save(session, str(tmp_path / "s"))
        session.run(v.assign(0.0))
        status = tf.train.Checkpoint(anything=v).restore(path)
        status.assert_consumed().run_restore_ops(session)
        assert session.run(v) == 3.0
        with pytest.raises(AssertionError):
            tf.train.Checkpoint(v=v, w=tf.Variable(1.0, name="w")).restore(path).assert_existing_objects_matched()


def test_other_objects_and_sessions_are_asked_for(tf, tmp_path):
    with pytest.raises(ValueError, match="expecting a trackable object"):
        tf.train.Checkpoint(v=3)
    with pytest.raises(ValueError, match="session"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).save(str(tmp_path / "c"))
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(str(tmp_path / "none"))
    path = _saved(tf, tmp_path, v=tf.Variable([1.0, 2.0]))
    with tf.Session() as session, pytest.raises(ValueError, match="shape"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(path).run_restore_ops(session)


def test_python_state(tf, tmp_path):
    class Counted(tf.train.experimental.PythonState):
        text = "first"

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value.decode()

    state = Counted()
    checkpoint = tf.train.Checkpoint(state=state, v=tf.Variable(1.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        paths = [checkpoint.save(str(tmp_path / "c"), session)]
        state.text = "second"
        paths.append(checkpoint.save(str(tmp_path / "c"), session))
        for path, text in zip(paths, ("first", "second")):
            checkpoint.restore(path).assert_consumed().run_restore_ops(session)
            assert state.text == text
    assert "state/.ATTRIBUTES/py_state" in dict(tf.train.list_variables(paths[0]))
    with pytest.raises(TypeError):
        tf.train.experimental.PythonState()


def test_managers_keep_the_newest(tf, tmp_path):
    v = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.checkpoints == []
    with tf.Session() as session:
        session.run(v.initializer)
        paths = [manager.save() for _ in range(3)]
        assert paths == [str(tmp_path / f"ckpt-{k}") for k in (1, 2, 3)] and manager.checkpoints == paths[1:]
        assert manager.latest_checkpoint == tf.train.latest_checkpoint(str(tmp_path)) == paths[2]
        assert sorted({name.partition(".")[0] for name in os.listdir(tmp_path)}) == ["checkpoint", "ckpt-2", "ckpt-3"]
        again = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2, checkpoint_name="other")
        assert again.checkpoints == paths[1:] and again.latest_checkpoint == paths[2]
        assert again.save(checkpoint_number=17) == str(tmp_path / "other-17")
        assert again.checkpoints == [paths[2], str(tmp_path / "other-17")]
    with pytest.raises(ValueError, match="positive integer"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=0)
