"""Values of checkpoints: reading them, starting from them, assigning them."""
import numpy as np
import pytest


@pytest.fixture
def folder(tf, tmp_path):
    """A folder with a checkpoint of old/w = [7, 8], old/sub/b = [1] and p = 0 to 11 as [4, 3]."""
    with tf.Graph().as_default():
        tf.get_variable("old/w", initializer=[7.0, 8.0])
        tf.get_variable("old/sub/b", initializer=[1])
        tf.get_variable("p", initializer=np.arange(12, dtype=np.float32).reshape(4, 3))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, str(tmp_path / "m"))
    return str(tmp_path)


def values(tf):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return {v.op.name: session.run(v).tolist() for v in tf.global_variables()}


def test_reading(tf, folder):
    assert tf.train.list_variables(folder) == [("old/sub/b", [1]), ("old/w", [2]), ("p", [4, 3])]
    assert tf.train.load_variable(folder + "/m", "old/w:0").tolist() == [7, 8]
    assert tf.train.load_checkpoint(folder).has_tensor("p")
    assert tf.contrib.framework.list_variables(folder) == tf.train.list_variables(folder)


def test_reading_what_is_not_there(tf, tmp_path):
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in given directory"):
        tf.train.load_checkpoint(str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.list_variables(str(tmp_path / "absent"))


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("by", ["name", "variable", "scope"])
def test_starting_from_a_checkpoint(tf, folder, use_resource, by):
    with tf.variable_scope("new", use_resource=use_resource):
        w = tf.get_variable("w", [2])
    targets = {"name": {"old/w": "new/w"}, "variable": {"old/w": w}, "scope": {"old/": "new/"}}
    tf.train.init_from_checkpoint(folder, targets[by])
    assert values(tf) == {"new/w": [7, 8]}
    assert w.initial_value.op.name == "checkpoint_initializer" and w.initial_value.shape.as_list() == [2]


def test_starting_a_whole_scope(tf, folder):
    with tf.variable_scope("old"):
        tf.get_variable("w", [2])
        with tf.variable_scope("sub"):
            tf.get_variable("b", [1], tf.int32)
    tf.train.init_from_checkpoint(folder, {"/": "/"})
    assert values(tf) == {"old/w": [7, 8], "old/sub/b": [1]}


@pytest.mark.parametrize("by_list", [False, True])
def test_starting_partitions(tf, folder, by_list):
    parts = tf.get_variable("q", [4, 3], partitioner=tf.fixed_size_partitioner(2))
    tf.train.init_from_checkpoint(folder, {"p": list(parts) if by_list else "q"})
    assert values(tf)["q/part_1"] == [[6, 7, 8], [9, 10, 11]]


@pytest.mark.parametrize("mapping, message", [
    ({"absent": "w"}, "Tensor absent is not found in"), ({"absent/": "/"}, r"Tensor absent/w \(w in absent/\) is not found"),
    ({"p": "w"}, r"Shape of variable w:0 \(\(2,\)\) doesn't match with shape of tensor p \(\[4, 3\]\)"),
    ({"old/w": "zzz"}, "Assignment map with scope only name zzz should map to scope only old/w")])
def test_maps_that_do_not_fit(tf, folder, mapping, message):
    tf.get_variable("w", [2])
    with pytest.raises(ValueError, match=message):
        tf.train.init_from_checkpoint(folder, mapping)


@pytest.mark.parametrize("use_resource", [False, True])
def test_assigning(tf, folder, use_resource):
    w = tf.get_variable("w", [2], use_resource=use_resource)
    parts = tf.get_variable("q", [4, 3], partitioner=tf.fixed_size_partitioner(2), use_resource=use_resource)
    op, feeds = tf.contrib.framework.assign_from_checkpoint(folder, {"old/w": w, "p": list(parts)})
    with tf.Session() as session:
        session.run(op, feeds)
        assert session.run(w).tolist() == [7, 8] and session.run(parts._variable_list[1]).tolist()[0] == [6, 7, 8]


def test_assigning_what_is_missing(tf, folder):
    w = tf.get_variable("w", [2])
    assign = tf.contrib.framework.assign_from_checkpoint
    with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[w\]"):
        assign(folder, [w])
    assert assign(folder, [w], ignore_missing_vars=True)[1] == {}
    assert tf.contrib.framework.assign_from_checkpoint_fn(folder + "/m", [w], ignore_missing_vars=True) is None
    with pytest.raises(ValueError, match="Total size of new array must be unchanged for p"):
        assign(folder, {"p": w})


def test_assigning_by_a_function(tf, folder):
    w = tf.get_variable("w", [1, 2])
    restore = tf.contrib.framework.assign_from_checkpoint_fn(folder + "/m", {"old/w": w}, reshape_variables=True)
    with tf.Session() as session:
        restore(session)
        assert session.run(w).tolist() == [[7, 8]]


def test_a_checkpoint_of_the_name_of_a_folder(tf, tmp_path):
    (tmp_path / "model").mkdir()
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.Session() as session:
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"), write_state=False)
        session.run(v.assign([0.0, 0.0]))
        op, feeds = tf.contrib.framework.assign_from_checkpoint(path, [v])
        session.run(op, feeds)
        assert session.run(v).tolist() == [1, 2]
        session.run(v.assign([0.0, 0.0]))
        tf.contrib.framework.assign_from_checkpoint_fn(path, [v], ignore_missing_vars=True)(session)
        assert session.run(v).tolist() == [1, 2]
