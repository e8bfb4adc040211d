"""Objects that hold others, saved by tf.train.Checkpoint under their names and restored."""
import numpy as np
import pytest


def test_containers_are_saved_under_the_names_of_what_they_hold(tf, tmp_path):
    C = tf.contrib.checkpoint

    def objects(start):
        root = C.Checkpointable()
        root.v = tf.Variable(start, name="v")
        root.hidden = C.NoDependency(tf.Variable(start, name="hidden"))
        root.items = C.List([tf.Variable(start + 1, name="first")])
        root.items.append(tf.Variable(start + 2, name="second"))
        root.named = C.Mapping(a=tf.Variable(start + 3, name="a"))
        root.slots = C.UniqueNameTracker()
        for name in ("x", "y", "x"):
            root.slots.track(tf.Variable(start + 4, name=name), name)
        return root

    first, second = objects(1.0), objects(10.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(root=first).save(str(tmp_path / "model"))
        tf.train.Checkpoint(root=second).restore(path).assert_existing_objects_matched().run_restore_ops()
        # TensorFlow 1.15.5 writes these names
        assert sorted(name for name, _ in tf.train.list_variables(path)) == [
            "_CHECKPOINTABLE_OBJECT_GRAPH"] + [f"root/{name}/.ATTRIBUTES/VARIABLE_VALUE" for name in (
                "items/0", "items/1", "named/a", "slots/x", "slots/x_1", "slots/y", "v")] + [
                    "save_counter/.ATTRIBUTES/VARIABLE_VALUE"]
        assert session.run([second.v, *second.items, second.named["a"], second.hidden]) == [1.0, 2.0, 3.0, 4.0, 10.0]
    found = C.list_objects(first)
    assert found[0] is first and len(found) == 11 and first.v in found and first.hidden not in found
    metadata = C.object_metadata(path)
    assert isinstance(metadata, C.CheckpointableObjectGraph)
    assert sorted(child.local_name for child in metadata.nodes[0].children) == ["root", "save_counter"]
    dot = C.dot_graph_from_checkpoint(path)
    assert dot.startswith("digraph {\n") and dot.endswith("}\n")
    assert 'color=blue width=.25 tooltip="Variable a shape=[] float32"' in dot and '[label="items"]' in dot


def test_slots_of_optimizers_are_shown(tf, tmp_path):
    v = tf.Variable(1.0, name="v")
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(v * v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(v=v, optimizer=optimizer).save(str(tmp_path / "model"))
    dot = tf.contrib.checkpoint.dot_graph_from_checkpoint(path)
    assert 'color=orange width=.25 tooltip="Slot variable v/Momentum shape=[] float32"' in dot
    assert 'tooltip="Optimizer"' in dot and '[label="momentum" style=dotted]' in dot


def test_containers_refuse_what_cannot_be_saved(tf):
    C = tf.contrib.checkpoint
    with pytest.raises(ValueError, match="Only trackable objects"):
        C.List([1.0])
    with pytest.raises(TypeError, match="Mapping accepts only string keys"):
        C.Mapping({1: tf.Variable(1.0)})
    held = C.Mapping(a=tf.Variable(1.0))
    with pytest.raises(ValueError, match="already|append-only"):
        held["a"] = tf.Variable(2.0)
    with pytest.raises(ValueError, match="Expected a trackable value"):
        C.UniqueNameTracker().track("text", "x")
    assert len(C.List() + [tf.Variable(1.0)]) == 1 and len([tf.Variable(1.0)] + C.List()) == 1


def test_arrays_are_restored_at_once_and_made_where_they_are_not(tf, tmp_path):
    state = tf.contrib.checkpoint.NumpyState()
    checkpoint = tf.train.Checkpoint(numpy=state)
    state.x = np.ones([2, 2])
    with tf.Session() as session:
        session.run(checkpoint.save_counter.initializer)
        path = checkpoint.save(str(tmp_path / "model"))
        state.x[1, 1] = 5.0
        checkpoint.restore(path)
        np.testing.assert_array_equal(state.x, np.ones([2, 2]))
        other = tf.contrib.checkpoint.NumpyState()
        tf.train.Checkpoint(numpy=other).restore(path)
        np.testing.assert_array_equal(other.x, np.ones([2, 2]))
    with pytest.raises(AttributeError):
        other.y
    with pytest.raises(NotImplementedError, match="is not a NumPy array"):
        other.y = [1.0]


def test_parts_of_one_value_are_saved_apart_and_restored_together(tf, tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    parts = tf.contrib.checkpoint.split_dependency(
        ["first", "second"], [tf.float32] * 2, lambda held: held.update(first=v[0], second=v[1]),
        lambda held: tf.assign(v, tf.stack([held["first"], held["second"]])), v.device)
    checkpoint = tf.train.Checkpoint(a=parts["first"], b=parts["second"])
    with tf.Session() as session:
        session.run([v.initializer, checkpoint.save_counter.initializer])
        path = checkpoint.save(str(tmp_path / "model"))
        assert tf.train.load_variable(path, "b/.ATTRIBUTES/VARIABLE_VALUE") == 2.0
        session.run(v.assign([5.0, 6.0]))
        checkpoint.restore(path).run_restore_ops()
        assert session.run(v).tolist() == [1.0, 2.0]
        with pytest.raises(AssertionError, match="must be restored together"):
            parts["first"].restore(v[0])
            parts["first"].restore(v[0])
