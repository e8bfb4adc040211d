"""Models that TensorFlow saved: see data/write_objects.py."""
import shutil
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture(params=["tf115_objects", "tf221_objects"])
def folder(request, tmp_path):
    """A copy of the model, since files are found beside it wherever it stands."""
    return shutil.copytree(DATA / request.param, tmp_path / request.param)


def values(tf, fetches):
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


def test_objects_are_loaded(tf, folder):
    loaded = tf.saved_model.load_v2(folder)
    assert loaded.named == {"w": loaded.w} and [v.trainable for v in (loaded.w, *loaded.parts)] == [True, False]
    assert loaded.tensorflow_version == {"tf115_objects": "1.15.5", "tf221_objects": "2.21.0"}[folder.name]
    w, (part,) = values(tf, [loaded.w, loaded.parts])
    assert w.tolist() == [[2.0], [3.0]] and part == 5.0


def test_functions_are_loaded(tf, folder):
    loaded = tf.saved_model.load_v2(folder)
    x = tf.constant([[1.0, 2.0]])
    y = loaded(x)["y"]
    (one, nothing), (many, both) = loaded.scale(tf.constant(2.0)), loaded.scale(tf.constant([1.0, 2.0]), k=3, both=tf.constant(7))
    assert nothing is None
    served = loaded.signatures["serving_default"](x=x)["y"]
    found = values(tf, [y, one, many, both, served, tf.gradients(y, loaded.w)[0]])
    assert [part.tolist() for part in found] == [[[8.0]], 20.0, [15.0, 30.0], 7, [[8.0]], [[1.0], [2.0]]]
    with pytest.raises(ValueError, match=r"(?s)Could not find matching function.*2 option\(s\)"):
        loaded.scale(x, k=2)


def test_a_table_finds_its_file(tf, folder):
    ids = tf.saved_model.load_v2(folder).ids(["b", "c"])
    assert len(tf.get_collection(tf.GraphKeys.TABLE_INITIALIZERS)) == 1
    assert values(tf, ids).tolist() == [1, -1]


def test_a_session_loads_them_too(tf, folder):
    with tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], folder)
        output = meta.signature_def["serving_default"].outputs["y"].name
        assert session.run(output, {"serving_default_x:0": [[1.0, 0.0]]}) == 2.0
        gradient = tf.gradients(session.graph.get_tensor_by_name(output), session.graph.get_tensor_by_name("serving_default_x:0"))
        assert session.run(gradient, {"serving_default_x:0": [[1.0, 0.0]]})[0].tolist() == [[2.0, 3.0]]


def test_one_model_may_be_loaded_twice(tf, folder):
    one, two = (tf.saved_model.load_v2(folder) for _ in range(2))
    assert [v.name for v in tf.global_variables() if v.name.startswith("w")] == ["w:0", "w_1:0"]
    x = tf.constant([[1.0, 1.0]])
    results = [one(x)["y"], two(x)["y"], one.ids(["a"]), two.ids(["b"])]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(two.w.assign([[0.0], [1.0]]))
        assert session.run(results) == [[[5.0]], [[1.0]], [0], [1]]


def test_what_was_loaded_can_be_saved(tf, folder, tmp_path):
    loaded = tf.saved_model.load_v2(folder)
    again = str(tmp_path / "again")
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(loaded.w.assign([[4.0], [5.0]]))
        tf.saved_model.save(loaded, again, loaded.signatures)
    shutil.rmtree(folder)
    tf.reset_default_graph()
    loaded = tf.saved_model.load_v2(again)
    y, ids = values(tf, [loaded.signatures["serving_default"](tf.constant([[1.0, 1.0]]))["y"], loaded.ids(tf.constant(["a", "b"]))])
    assert y == 9.0 and ids.tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["ref", "resource"])
def test_signatures_of_a_flat_model(tf, kind):
    folder = Path(__file__).parent.parent / "fixtures" / "savedmodel" / kind
    expected = np.load(folder / "expected.npz")
    loaded = tf.saved_model.load_v2(folder)
    assert [v.name for v in loaded.variables] == ([] if kind == "ref" else ["W:0", "b:0"])
    results = {**loaded.signatures["serving_default"](x=tf.constant(expected["x"])),
               **loaded.signatures["lookup"](words=tf.constant(expected["words"].astype(object)))}
    for name, value in values(tf, results).items():
        np.testing.assert_allclose(value, expected[name], 1e-5)
