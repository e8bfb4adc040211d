"""SavedModels of TensorFlow 1, which have a graph and no objects, as objects with functions."""
import os

import pytest


def written(tf, folder, inputs, outputs, tags=("serve",), main=None, more=()):
    """The folder with the model of the default graph, which is then empty."""
    builder = tf.saved_model.builder.SavedModelBuilder(str(folder))
    signature = tf.saved_model.predict_signature_def(inputs, outputs)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer(), *more])
        builder.add_meta_graph_and_variables(session, list(tags), {"serving_default": signature}, main_op=main,
                                             assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS))
    builder.save()
    tf.reset_default_graph()
    return str(folder)


def values(tf, fetches, feeds=None):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches, feeds)


@pytest.fixture
def folder(tf, tmp_path):
    """y = w x + b where w is 3 and b is 1, as resource variables that were initialized otherwise."""
    x = tf.placeholder(tf.float32, [None], name="x")
    w, b = (tf.get_variable(name, initializer=0.0, use_resource=True) for name in ("w", "b"))
    y = tf.add(tf.multiply(x, w, name="wx"), b, name="y")
    return written(tf, tmp_path / "model", {"in": x}, {"out": y}, more=[w.assign(3.0), b.assign(1.0)])


def test_a_model_has_its_signatures_and_variables(tf, folder):
    loaded = tf.saved_model.load_v2(folder)
    assert [v.name for v in loaded.variables] == ["w:0", "b:0"]
    assert tf.global_variables() == loaded.variables and tf.trainable_variables() == [] and loaded.tensorflow_version
    function = loaded.signatures["serving_default"]
    x = tf.constant([1.0, 2.0])
    y, again = function(x)["out"], function(**{"in": x})["out"]
    (w,) = [v for v in loaded.variables if v.name == "w:0"]
    found = values(tf, [y, again, *tf.gradients(y, [w, x])])
    assert [part.tolist() for part in found] == [[4.0, 7.0], [4.0, 7.0], 3.0, [3.0, 3.0]]


def test_other_parts_of_the_graph(tf, folder):
    loaded = tf.saved_model.load_v2(folder, tags="serve")
    product = loaded.prune("x:0", "wx:0")
    last = loaded.prune(["wx:0"], {"y": loaded.graph.get_tensor_by_name("y:0")})
    assert values(tf, [product(tf.constant([2.0])), last(tf.constant([2.0]))]) == [[6.0], {"y": [3.0]}]


def test_several_models_in_one_graph_are_apart(tf, folder):
    one, two = (tf.saved_model.load_v2(folder) for _ in range(2))
    assert len(tf.global_variables()) == 4
    change = [v.assign(5.0) for v in two.variables]
    results = [loaded.signatures["serving_default"](tf.constant([1.0]))["out"] for loaded in (one, two)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(change)
        assert session.run(results) == [[4.0], [10.0]]


def test_reference_variables_stay_inside(tf, tmp_path):
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.get_variable("w", initializer=0.0, use_resource=False)
    folder = written(tf, tmp_path / "model", {"x": x}, {"y": x * w}, more=[w.assign(4.0)])
    loaded = tf.saved_model.load_v2(folder)
    assert loaded.variables == [] == tf.global_variables()          # as in TensorFlow, which says so in a warning
    assert [v.name for v in loaded.graph.get_collection("variables")] == ["w:0"]
    y = loaded.signatures["serving_default"](tf.constant([2.0]))["y"]
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(y) == [8.0]


def test_tables_are_filled_from_the_files_of_the_model(tf, tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\n")
    words = tf.placeholder(tf.string, [None])
    line, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        str(tmp_path / "words.txt"), tf.string, line, tf.int64, number), -1)
    folder = written(tf, tmp_path / "model", {"words": words}, {"ids": table.lookup(words)}, main=tf.tables_initializer())
    os.remove(tmp_path / "words.txt")
    loaded = tf.saved_model.load_v2(folder)
    (asset,) = loaded.asset_paths
    ids, path = values(tf, [loaded.signatures["serving_default"](tf.constant(["b", "c"]))["ids"], asset.asset_path])
    assert ids.tolist() == [1, -1] and path == os.path.join(folder, "assets", "words.txt").encode()


def test_control_flow_of_graph_files(tf, tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    w = tf.get_variable("w", initializer=2.0, use_resource=True)
    y = tf.while_loop(lambda y: y < 100.0, lambda y: tf.cond(y > 10.0, lambda: y * w, lambda: y + 1.0), [x])
    folder = written(tf, tmp_path / "model", {"x": x}, {"y": y})
    x = tf.constant(9.0)
    y = tf.saved_model.load_v2(folder).signatures["serving_default"](x)["y"]
    assert values(tf, [y, tf.gradients(y, x)[0]]) == [176.0, 16.0]


def test_a_model_with_several_graphs_asks_for_tags(tf, tmp_path):
    x = tf.placeholder(tf.float32, [], name="x")
    builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "model"))
    signature = tf.saved_model.predict_signature_def({"x": x}, {"y": x * 2})
    with tf.Session() as session:
        builder.add_meta_graph_and_variables(session, ["serve"], {"double": signature})
        builder.add_meta_graph(["train"])
    builder.save()
    folder = str(tmp_path / "model")
    with pytest.raises(ValueError, match="requires a 'tags=' argument if there is more than one MetaGraph"):
        tf.saved_model.load_v2(folder)
    with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
        tf.saved_model.load_v2(folder, "eval")
    assert list(tf.saved_model.load_v2(folder, ["serve"]).signatures) == ["double"]
    assert list(tf.saved_model.load_v2(folder, {"train"}).signatures) == []


def test_a_loaded_model_can_be_saved_as_an_object(tf, folder, tmp_path):
    loaded = tf.saved_model.load_v2(folder)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(loaded.variables[0].assign_add(1.0))
        tf.saved_model.save(loaded, str(tmp_path / "again"), loaded.signatures)
        expected = session.run(loaded.signatures["serving_default"](tf.constant([1.0, 2.0]))["out"])
    tf.reset_default_graph()
    again = tf.saved_model.load_v2(str(tmp_path / "again"))
    assert values(tf, again.signatures["serving_default"](tf.constant([1.0, 2.0]))["out"]).tolist() == expected.tolist()
