"""``tf.train.Saver``: every option, what is kept, and the errors."""
import glob
import os
from pathlib import Path

import numpy as np
import pytest

CHECKPOINTS = Path(__file__).parent.parent / "fixtures" / "checkpoints"


@pytest.fixture(params=["off", "always"])
def session(request, tf):
    """session(): a session of the default graph, by reference and compiled."""
    made = []

    def _session():
        made.append(tf.Session(config=tf.ConfigProto(allow_soft_placement=True), jit=request.param))
        return made[-1]

    yield _session
    for one in made:
        one.close()


@pytest.fixture
def saved(tf, session, tmp_path):
    """saved(saver_options, **options of save): v = [1, 2] in a checkpoint; (what save gave, the saver)."""
    def _saved(saver_options=None, path="m", **options):
        if not tf.global_variables():
            tf.Variable([1.0, 2.0], name="v")
        saver = tf.train.Saver(**(saver_options or {}))
        sess = session()
        sess.run(tf.global_variables_initializer())
        return saver.save(sess, str(tmp_path / path), **options), saver

    return _saved


def files(folder):
    return sorted(os.listdir(folder))


def state_of(folder, name="checkpoint"):
    return (folder / name).read_text()


# -- files and names -----------------------------------------------------------------------------------------------

def test_steps(tf, saved, session, tmp_path):
    assert saved(global_step=np.int64(25))[0] == str(tmp_path / "m-25")
    assert saved({"pad_step_number": True}, global_step=7)[0] == str(tmp_path / "m-00000007")
    step = tf.train.get_or_create_global_step()
    sess, saver = session(), tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    assert saver.save(sess, str(tmp_path / "m"), global_step=step) == str(tmp_path / "m-0")
    assert saver.save(sess, str(tmp_path / "m"), global_step=step + 3) == str(tmp_path / "m-3")


def test_state_file(saved, tmp_path):
    saved(path="new/m")                                                    # the folder is made
    assert state_of(tmp_path / "new") == (f'model_checkpoint_path: "{tmp_path}/new/m"\n'
                                          f'all_model_checkpoint_paths: "{tmp_path}/new/m"\n')
    saved({"save_relative_paths": True}, path="new/m")
    assert state_of(tmp_path / "new") == 'model_checkpoint_path: "m"\nall_model_checkpoint_paths: "m"\n'
    saved(path="new/m", latest_filename="lately")
    assert "lately" in files(tmp_path / "new")


def test_a_folder_with_relative_paths_can_be_moved(tf, saved, tmp_path):
    saved({"save_relative_paths": True}, path="old/m")
    os.rename(tmp_path / "old", tmp_path / "new")
    assert tf.train.latest_checkpoint(str(tmp_path / "new")) == str(tmp_path / "new" / "m")


def test_a_full_disk(tf, session, files_no_longer_than, tmp_path):
    """The checkpoint before stays whole and the latest, and nothing is left of the one that does not fit."""
    big, small = tf.Variable(tf.zeros([20_000]), name="big"), tf.Variable(1.0, name="small")
    sess, saver = session(), tf.train.Saver()
    sess.run(tf.global_variables_initializer())
    first = saver.save(sess, str(tmp_path / "m"), global_step=1)
    before = files(tmp_path)
    sess.run([big.assign_add(tf.ones([20_000])), small.assign(2.0)])
    with files_no_longer_than(20_000), pytest.raises(tf.errors.OutOfRangeError, match="m-2.data.*; File too large"):
        saver.save(sess, str(tmp_path / "m"), global_step=2)            # the class that TensorFlow 1.15 raises for a long file
    assert files(tmp_path) == before and tf.train.latest_checkpoint(str(tmp_path)) == first
    saver.restore(sess, first)
    assert sess.run(small) == 1.0 and not sess.run(big).any()
    assert saver.save(sess, str(tmp_path / "m"), global_step=3).endswith("m-3")


def test_relative_paths(tf, saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, saver = saved(path="x")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert saver.save(sess, "a/m", global_step=1) == "a/m-1"
        assert saver.save(sess, "plain", global_step=2) == "plain-2"
    assert tf.train.latest_checkpoint("a") == "a/m-1" and tf.train.latest_checkpoint(".") == "./plain-2"


def test_what_is_written_besides_the_values(saved, tmp_path):
    saved(write_meta_graph=False, write_state=False)
    assert files(tmp_path) == ["m.data-00000-of-00001", "m.index"]
    saved(meta_graph_suffix="graph")
    assert files(tmp_path) == ["checkpoint", "m.data-00000-of-00001", "m.graph", "m.index"]


@pytest.mark.parametrize("options, message", [
    ({"latest_filename": "a/b"}, "must not contain path components"),
    ({"latest_filename": "m"}, "'latest_filename' collides with 'save_path'"),
    ({"path": "no/such/folder/m"}, "Parent directory of .* doesn't exist, can't save"),
    ({"path": "checkpoint"}, "collides")])
def test_names_that_cannot_be(saved, options, message):
    with pytest.raises(ValueError, match=message):
        saved(**options)


# -- what is kept ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options, left", [
    ({"max_to_keep": 1}, [2]), ({"max_to_keep": 2}, [1, 2]), ({"max_to_keep": 0}, [0, 1, 2]),
    ({"max_to_keep": None}, [0, 1, 2]), ({"max_to_keep": 1, "keep_checkpoint_every_n_hours": 1e-9}, [0, 1, 2]),
    ({"max_to_keep": 1, "write_version": 1}, [2]), ({"max_to_keep": 2, "sharded": True}, [1, 2])])
def test_old_checkpoints_are_removed(tf, session, tmp_path, options, left):
    tf.Variable(0, name="v")
    saver, sess = tf.train.Saver(**options), session()
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        saver.save(sess, str(tmp_path / "m"), global_step=step)
    found = {int(name.split("-")[1].split(".")[0]) for name in files(tmp_path) if name.startswith("m-")}
    assert sorted(found) == left
    kept = left[-options["max_to_keep"]:] if options["max_to_keep"] else []
    assert saver.last_checkpoints == [str(tmp_path / f"m-{step}") for step in kept]
    newest = tf.train.get_checkpoint_state(str(tmp_path))
    assert newest.model_checkpoint_path == str(tmp_path / "m-2") and len(newest.all_model_checkpoint_paths) == max(len(kept), 1)


def test_checkpoints_of_an_earlier_run_are_removed_in_their_turn(tf, session, tmp_path):
    tf.Variable(0, name="v")
    sess = session()
    sess.run(tf.global_variables_initializer())
    saver = tf.train.Saver(max_to_keep=2)
    for step in range(2):
        saver.save(sess, str(tmp_path / "m"), global_step=step)
    later = tf.train.Saver(max_to_keep=2)
    state = tf.train.get_checkpoint_state(str(tmp_path))
    later.recover_last_checkpoints([*state.all_model_checkpoint_paths, str(tmp_path / "gone")])
    assert later.last_checkpoints == [str(tmp_path / "m-0"), str(tmp_path / "m-1")]
    later.save(sess, str(tmp_path / "m"), global_step=2)
    assert not tf.train.checkpoint_exists(str(tmp_path / "m-0")) and tf.train.checkpoint_exists(str(tmp_path / "m-1"))
    later.set_last_checkpoints([str(tmp_path / "m-2")])
    assert later.last_checkpoints == [str(tmp_path / "m-2")]


# -- which variables -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("make, error, message", [
    (lambda tf, v: [], ValueError, "No variables to save"), (lambda tf, v: "abc", TypeError, "in a dict or a list: abc"),
    (lambda tf, v: [tf.constant(1.0)], TypeError, "Variable to save is not a Variable"),
    (lambda tf, v: [v.value()], TypeError, "Variable to save is not a Variable"),
    (lambda tf, v: {3: v}, TypeError, "Name is not a string: 3"),
    (lambda tf, v: {"a": tf.constant(1.0)}, TypeError, "Not a variable"),
    (lambda tf, v: [v, v], ValueError, "At least two variables have the same name: v"),
    (lambda tf, v: {"a": v, "b": v}, ValueError, "restored with two names: b"),
    (lambda tf, v: {"x": [v, tf.Variable(1.0)]}, ValueError, "Slices must all be slices")])
def test_wrong_variables(tf, make, error, message):
    v = tf.Variable([1.0], name="v")
    with pytest.raises(error, match=message):
        tf.train.Saver(make(tf, v))


def test_no_variables(tf, session):
    tf.constant(1)
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    saver = tf.train.Saver(allow_empty=True)
    assert saver.save(session(), "/nowhere/m", write_meta_graph=False) is None and saver.restore(session(), None) is None


def test_nodes_made_later(tf, session, tmp_path):
    saver = tf.train.Saver(defer_build=True)
    v = tf.Variable([3.0], name="v")
    with pytest.raises(RuntimeError, match=r"`build\(\)` should be called before save"):
        saver.save(session(), str(tmp_path / "m"))
    saver.build()
    saver.build()
    sess = session()
    sess.run(v.initializer)
    assert saver.save(sess, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="build cannot be deferred"):
        tf.train.Saver([v], defer_build=True)


def test_a_saver_of_nodes_that_are_there(tf, session, saved):
    path, saver = saved()
    other = tf.train.Saver(saver_def=saver.as_saver_def())
    assert other.as_saver_def() == saver.as_saver_def() == tf.train.Saver.from_proto(saver.to_proto()).to_proto()
    sess = session()
    other.restore(sess, path)
    assert sess.run("v:0").tolist() == [1, 2]
    with pytest.raises(ValueError, match="saver_def must specify the save_tensor_name"):
        tf.train.Saver(saver_def=tf.train.SaverDef())
    with pytest.raises(ValueError, match="saver_def must be a saver_pb2.SaverDef"):
        tf.train.Saver(saver_def=3)


def test_scopes_of_definitions(tf):
    tf.Variable(1.0, name="v")
    with tf.name_scope("a"):
        saver = tf.train.Saver()
    assert saver.to_proto("a").restore_op_name == "save/restore_all" and saver.to_proto("b") is None


def test_a_finished_graph(tf):
    tf.Variable(1.0)
    tf.get_default_graph().finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.train.Saver()


@pytest.mark.parametrize("kinds", [(False, True), (True, False)])
def test_reference_and_resource_variables_share_checkpoints(tf, session, tmp_path, kinds):
    for number, use_resource in enumerate(kinds):
        with tf.Graph().as_default():
            v = tf.get_variable("v", initializer=[float(number)], use_resource=use_resource)
            sess = tf.Session()
            if number == 0:
                sess.run(v.initializer)
                sess.run(tf.assign(v, [7.0]))
                tf.train.Saver().save(sess, str(tmp_path / "m"))
            else:
                tf.train.Saver().restore(sess, str(tmp_path / "m"))
                assert sess.run(v).tolist() == [7.0]


def test_partitions_are_restored_in_any_number(tf, session, tmp_path):
    value = np.arange(40, dtype=np.float32).reshape(10, 4)
    counts = (3, 2, 1)
    for count in counts:
        with tf.Graph().as_default():
            partitioner = tf.fixed_size_partitioner(count) if count > 1 else None
            table = tf.get_variable("t", [10, 4], partitioner=partitioner)
            sess = tf.Session()
            path = str(tmp_path / "m")
            if count == counts[0]:
                for part in table:
                    info = part._get_save_slice_info()
                    start = info.var_offset[0]
                    part.load(value[start:start + info.var_shape[0]], sess)
                tf.train.Saver().save(sess, path)
                assert tf.train.list_variables(path) == [("t", [10, 4])]
            else:
                tf.train.Saver().restore(sess, path)
                np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(table)), value)


def test_the_old_format(tf, session, saved, tmp_path):
    path, saver = saved({"write_version": tf.train.SaverDef.V1})
    assert files(tmp_path) == ["checkpoint", "m", "m.meta"]
    sess = session()
    saver.restore(sess, path)
    assert sess.run("v:0").tolist() == [1, 2]
    assert tf.train.NewCheckpointReader(path).get_tensor("v").tolist() == [1, 2]


def test_shards(tf, session, saved, tmp_path):
    with tf.device("/cpu:0"):
        tf.Variable([1.0, 2.0], name="v")
    tf.Variable(["a", "b"], name="s")
    path, saver = saved({"sharded": True})
    assert files(tmp_path) == ["checkpoint", "m.data-00000-of-00002", "m.data-00001-of-00002", "m.index", "m.meta"]
    sess = session()
    saver.restore(sess, path)
    assert sess.run(["v:0", "s:0"])[1].tolist() == [b"a", b"b"]


# -- restoring -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("use_resource", [False, True])
def test_another_shape(tf, session, saved, use_resource):
    path, _ = saved()
    with tf.Graph().as_default():
        v = tf.Variable([[0.0], [0.0]], name="v", use_resource=use_resource)
        sess = tf.Session()
        with pytest.raises(tf.errors.InvalidArgumentError, match="Restoring from checkpoint failed.*a mismatch between"):
            tf.train.Saver().restore(sess, path)
        tf.train.Saver(reshape=True).restore(sess, path)
        assert sess.run(v).tolist() == [[1.0], [2.0]]


def test_another_dtype_or_name(tf, saved):
    path, _ = saved()
    with tf.Graph().as_default():
        tf.Variable([0, 0], name="v")
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected dtype int32 does not equal original dtype float32"):
            tf.train.Saver().restore(tf.Session(), path)
    with tf.Graph().as_default():
        tf.Variable([0.0, 0.0], name="other")
        with pytest.raises(tf.errors.NotFoundError, match="Key other not found in checkpoint") as caught:
            tf.train.Saver().restore(tf.Session(), path)
        assert "list_variables" in str(caught.value) and caught.value.op.name == "save/RestoreV2"


@pytest.mark.parametrize("path, error, message", [
    (None, ValueError, "Can't load save_path when it is None"), ("", ValueError, "not a valid checkpoint"),
    (__file__ + ".m", ValueError, "not a valid checkpoint: "), (3, TypeError, "Expected binary or unicode")])
def test_no_checkpoint(tf, session, path, error, message):
    tf.Variable(1.0)
    with pytest.raises(error, match=message):
        tf.train.Saver().restore(session(), path)


def test_no_folder(tf, session):
    tf.Variable(1.0)
    with pytest.raises(tf.errors.NotFoundError, match="/nowhere; No such file"):
        tf.train.Saver().restore(session(), "/nowhere/m")


def test_wrong_sessions_and_values(tf, session, tmp_path):
    tf.Variable(1.0, name="v")
    with pytest.raises(TypeError, match="'sess' must be a Session; 3"):
        tf.train.Saver().save(3, str(tmp_path / "m"))
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        tf.train.Saver().save(session(), str(tmp_path / "m"))
    assert files(tmp_path) == []


def test_damaged_data(tf, session, saved, tmp_path):
    path, saver = saved()
    data = Path(path + ".data-00000-of-00001")
    data.write_bytes(b"\1" + data.read_bytes()[1:])
    with pytest.raises(tf.errors.DataLossError, match="tensor v in .* is damaged"):
        saver.restore(session(), path)


# -- checkpoints and MetaGraphs of TensorFlow ----------------------------------------------------------------------

@pytest.mark.parametrize("name", ["dtypes", "partitioned", "two_shards", "v1_format"])
def test_models_of_tensorflow_are_imported_and_restored(tf, session, name, tmp_path):
    meta = sorted(glob.glob(str(CHECKPOINTS / name / "*.meta")))[-1]
    prefix = meta.removesuffix(".meta")
    saver = tf.train.import_meta_graph(meta)
    sess, reader = session(), tf.train.NewCheckpointReader(prefix)
    saver.restore(sess, prefix)
    for variable in tf.global_variables():
        if variable._get_save_slice_info() is None:
            np.testing.assert_array_equal(sess.run(variable), reader.get_tensor(variable.op.name))
    if name == "partitioned":
        expected = np.load(CHECKPOINTS / name / "fetches.npz")
        np.testing.assert_array_equal(sess.run("look:0"), expected["look"])
        np.testing.assert_array_equal(sess.run("c:0"), expected["c"])
    saver.save(sess, str(tmp_path / "again"))
    assert tf.train.list_variables(str(tmp_path / "again")) == tf.train.list_variables(prefix)


@pytest.mark.parametrize("name", ["adam_mlp_ref", "adam_mlp_resource"])
def test_training_goes_on_where_tensorflow_left_it(tf, session, name):
    from jitgraph.formats import meta_graph

    meta = meta_graph.read_meta_graph_file(CHECKPOINTS / name / "model.ckpt-30.meta")
    summaries = {node.name for node in meta.graph_def.node if "Summary" in node.op}
    kept = [node for node in meta.graph_def.node if node.name not in summaries]
    del meta.graph_def.node[:]
    meta.graph_def.node.extend(kept)
    for key in list(meta.collection_def):
        if any(member.partition(":")[0] in summaries for member in meta.collection_def[key].node_list.value):
            del meta.collection_def[key]
    saver, sess = tf.train.import_meta_graph(meta), session()
    expected = np.load(CHECKPOINTS / name / "fetches.npz")
    saver.restore(sess, str(CHECKPOINTS / name / "model.ckpt-30"))
    feeds = {"x:0": expected["x"], "y:0": expected["y"]}
    np.testing.assert_allclose(sess.run("pred:0", feeds), expected["pred_at_30"], rtol=1e-5)
    train, = tf.get_collection("train_op")
    losses = [sess.run(["loss:0", train], feeds)[0] for _ in range(5)]
    np.testing.assert_allclose(losses, expected["losses_31_35"], rtol=1e-5)
    assert tf.get_collection("my_ints") == [5] and tf.get_collection("my_bytes") == [b"hello"]


def test_a_saver_in_a_graph_that_holds_one_already(tf, tmp_path):
    """An imported graph brings the nodes of the saver that it was exported with; the new one's have other names."""
    first = tf.Variable([1.0, 2.0], name="first")
    saver = tf.train.Saver()
    exported = tf.get_default_graph().as_graph_def()
    tf.reset_default_graph()
    tf.import_graph_def(exported, name="")
    second = tf.Variable([3.0], name="second")
    saver = tf.train.Saver()
    assert saver.as_saver_def().restore_op_name == "save/restore_all_1"
    assert saver.as_saver_def().filename_tensor_name == "save/Const_1:0"
    with tf.Session() as session:
        session.run(second.initializer)
        path = saver.save(session, str(tmp_path / "model"))
        session.run(second.assign([0.0]))
        saver.restore(session, path)
        assert session.run(second).tolist() == [3.0]
    assert first.op.type == "VariableV2"


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("listed", [lambda v: None, lambda v: [v], lambda v: {"other": v}])
def test_variables_that_are_read_through_another_device(tf, tmp_path, resource, listed):
    v = tf.get_variable("v", initializer=[1.0], use_resource=resource, caching_device="/cpu:0")
    assert v.value().op.type == "Identity" and v.value() is v.value()
    saver = tf.train.Saver(listed(v))
    with tf.Session() as session:
        session.run(v.initializer)
        prefix = saver.save(session, str(tmp_path / "model"))
        assert session.run(tf.convert_to_tensor(v.assign([2.0]))) == [2]
        saver.restore(session, prefix)
        assert session.run(v) == [1]
    kept = tf.train.export_meta_graph()
    tf.reset_default_graph()
    tf.train.import_meta_graph(kept, import_scope="again")
    again = tf.global_variables()[0]
    assert again.value().name == "again/v/Read/Identity:0" if resource else again.value().name == "again/v/read:0"
    tf.train.Saver([again])


def test_a_graph_without_variables_is_written_too(tf, tmp_path):
    tf.constant([1, 2], name="x")
    with tf.Session() as session:
        assert tf.train.Saver(allow_empty=True).save(session, str(tmp_path / "model")) is None
    assert [file.name for file in tmp_path.iterdir()] == ["model.meta"]
    tf.reset_default_graph()
    assert tf.train.import_meta_graph(str(tmp_path / "model.meta"), import_scope="a") is None
    assert tf.get_default_graph().get_tensor_by_name("a/x:0").shape == [2]


def test_each_save_deletes_one_checkpoint_at_most(tf, tmp_path):
    tf.Variable(1.0, name="v")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for keep in (2, 1, -1):
            saver = tf.train.Saver(max_to_keep=keep)
            saver.set_last_checkpoints_with_time([(str(tmp_path / name), 1.0) for name in "abc"])
            for name in "xy":
                saver.save(session, str(tmp_path / name))
            assert [path[-1] for path in saver.last_checkpoints] == ["c", "x", "y"]
        saver = tf.train.Saver(max_to_keep=-1)
        saver.save(session, str(tmp_path / "z"))
        assert saver.last_checkpoints == [] and not tf.train.checkpoint_exists(str(tmp_path / "z"))
