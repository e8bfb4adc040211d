"""Exports of before SavedModels: written, kept, read; one that TensorFlow 1.15's Exporter wrote is read too."""
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jitgraph import compat

OF_TENSORFLOW = Path(__file__).parent / "data" / "tf115_export"


def exported(tf, folder, signature="regression", steps=(3,), **init):
    """Writes y = 3 x into numbered folders; returns their names."""
    exporter = tf.contrib.session_bundle.exporter
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.multiply(x, tf.get_variable("w", initializer=3.0), name="y")
    step = tf.train.get_or_create_global_step()
    made = {"regression": lambda: exporter.regression_signature(x, y),
            "classification": lambda: exporter.classification_signature(x, scores_tensor=y),
            "generic": lambda: exporter.generic_signature({"x": x, "y": y})}[signature]()
    export = exporter.Exporter(tf.train.Saver())
    keep = init.pop("keep", None)
    export.init(default_graph_signature=made, **init)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        folders = []
        for number in steps:
            session.run(step.assign(number))
            folders.append(export.export(str(folder) + "/", step, session, exports_to_keep=keep))
    return folders


def test_an_export_of_tensorflow_is_read(tf):
    session, meta = tf.contrib.session_bundle.session_bundle.load_session_bundle_from_path(str(OF_TENSORFLOW))
    assert session.run("y:0", {"x:0": [[3, 4]]}).tolist() == [[11.0]]
    assert session.run("content:0") == b"a\nb\n"        # the first operation read the file beside the graph
    assert "serving_signatures" in meta.collection_def and session.graph is tf.get_default_graph()


def test_its_signatures_are_read_as_those_of_a_saved_model(tf):
    shim = tf.contrib.session_bundle.bundle_shim
    _, meta = shim.load_session_bundle_or_saved_model_bundle_from_path(str(OF_TENSORFLOW))
    signature = meta.signature_def["serving_default"]
    assert signature.method_name == "tensorflow/serving/predict"
    assert signature.inputs["x"].name == "x:0" and signature.outputs["y"].name == "y:0"


@pytest.mark.parametrize("kind, method, outputs", [
    ("regression", "tensorflow/serving/regress", ["outputs"]), ("classification", "tensorflow/serving/classify", ["scores"]),
    ("generic", None, None)])
def test_a_default_signature_comes_back(tf, tmp_path, kind, method, outputs):
    folder, = exported(tf, tmp_path, kind)
    assert folder == str(tmp_path / "00000003").encode()
    session, meta = tf.contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(folder)
    assert np.allclose(session.run("y:0", {"x:0": [1, 2]}), [3, 6])
    if method is None:
        assert not meta.signature_def
    else:
        signature = meta.signature_def["serving_default"]
        assert signature.method_name == method and sorted(signature.outputs) == outputs


def test_the_graph_that_serves_may_be_another(tf, tmp_path):
    with tf.Graph().as_default() as serving, tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, name="x")
        tf.multiply(x, tf.get_variable("w", initializer=0.0) + 1, name="served")
        tf.train.get_or_create_global_step()
        tf.train.Saver()
    folder, = exported(tf, tmp_path, graph_def=serving.as_graph_def(), clear_devices=True)
    session, meta = tf.contrib.session_bundle.session_bundle.load_session_bundle_from_path(folder)
    assert session.run("served:0", {"x:0": 2}) == 8
    assert not any(node.device for node in meta.graph_def.node)


def test_which_exports_stay(tf, tmp_path):
    gc = tf.contrib.session_bundle.gc
    exported(tf, tmp_path, steps=(1, 2, 3, 8, 9), keep=gc.union(gc.largest_export_versions(2), gc.mod_export_version(2)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["00000002", "00000008", "00000009"]


def test_what_cannot_be_exported(tf, tmp_path):
    exporter = tf.contrib.session_bundle.exporter
    with pytest.raises(RuntimeError, match="Duplicate export dir"):
        exported(tf, tmp_path, steps=(1, 1))
    export = exporter.Exporter(tf.train.Saver())
    with pytest.raises(RuntimeError, match="init must be called first"):
        export.export(str(tmp_path), "global_step:0")
    for asset, error in ((tf.placeholder(tf.string), "Only constants"), (tf.constant(1), "should be string"),
                         (tf.constant(["a", "b"]), "Only scalar"), ("a", "not a Tensor")):
        with pytest.raises(TypeError, match=error):
            export.init(assets_collection=[asset])
    with pytest.raises(ValueError, match="invalid asset filepath"):
        export.init(assets_collection=[tf.constant("")])
    with pytest.raises(TypeError, match="init_op needs to be an Operation"):
        export.init(init_op=tf.constant(1))
    with pytest.raises(RuntimeError, match="init should be called only once"):
        export.init()


def test_a_folder_that_is_no_export(tf, tmp_path):
    bundle, shim = tf.contrib.session_bundle.session_bundle, tf.contrib.session_bundle.bundle_shim
    assert not bundle.maybe_session_bundle_dir(str(tmp_path)) and bundle.maybe_session_bundle_dir(str(OF_TENSORFLOW))
    with pytest.raises(RuntimeError, match="Expected meta graph file missing"):
        bundle.load_session_bundle_from_path(str(tmp_path))
    with pytest.raises(RuntimeError, match="not found at specified export location"):
        shim.load_session_bundle_or_saved_model_bundle_from_path(str(tmp_path))


def test_a_saved_model_is_read_too(tf, tmp_path):
    x = tf.placeholder(tf.float32, name="x")
    with tf.Session() as session:
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x}, {"y": 2 * x})
    session, meta = tf.contrib.session_bundle.bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(
        str(tmp_path / "saved"), ["serve"])
    assert session.run(meta.signature_def["serving_default"].outputs["y"].name, {"x:0": 2}) == 4


def test_programs_import_it_by_tensorflows_names(tf):
    compat.install()
    try:
        from tensorflow.contrib.session_bundle import exporter, manifest_pb2

        assert exporter.Exporter is tf.contrib.session_bundle.exporter.Exporter
        assert manifest_pb2.Signatures.DESCRIPTOR.full_name == "tensorflow.serving.Signatures"
    finally:
        compat.uninstall()


@pytest.mark.parametrize("path, name", [("session_bundle.session_bundle", "load_session_bundle_from_path"),
                                        ("session_bundle.exporter", "Exporter"), ("lookup.lookup_ops", "HashTable"),
                                        ("graph_editor.util", "get_unique_graph")])
def test_a_module_that_is_imported_by_its_path_has_what_its_namespace_has(path, name):
    done = subprocess.run([sys.executable, "-c", f"""
from jitgraph import compat
compat.install()
import tensorflow.contrib.{path} as found
import tensorflow as tf
assert callable(found.{name}) and tf.contrib.{path}.{name} is found.{name}"""], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
