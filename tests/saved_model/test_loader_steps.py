"""``SavedModelLoader``: graph, variables and the initial operation of a SavedModel, step by step."""
import pytest

import jitgraph.compat
from jitgraph.saved_model.loader import SavedModelLoader


@pytest.fixture
def exported(tf, tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.Variable(5.0, name="x"), tf.Variable(7.0, name="y")
        total = tf.add(x, y, name="total")
        session.run([x.initializer, y.initializer])
        builder = tf.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(session, ["serve"], main_op=tf.assign(y, x * 2, name="doubled").op)
        builder.save()
        assert total.name == "total:0"
    return folder


@pytest.mark.parametrize("scope", [None, "inner"])
def test_each_step_does_its_part(tf, exported, scope):
    loader = SavedModelLoader(exported)
    start = f"{scope}/" if scope else ""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver, (total,) = loader.load_graph(graph, ["serve"], scope, return_elements=["total:0"])
        assert total.name == f"{start}total:0"
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(total)
        loader.restore_variables(session, saver, scope)
        assert session.run(total) == 12.0
        loader.run_init_ops(session, ["serve"], scope)
        assert session.run(total) == 15.0
    with tf.Graph().as_default(), tf.Session() as session:
        assert loader.load(session, ["serve"]) == loader.get_meta_graph_def_from_tags({"serve"})
        assert session.run("total:0") == 15.0


def test_what_is_missing_is_said(tf, exported, tmp_path):
    loader = SavedModelLoader(exported)
    with pytest.raises(RuntimeError, match="'train' could not be found"):
        loader.get_meta_graph_def_from_tags(["train"])
    with tf.Session() as session, pytest.raises(ValueError, match="no saver"):
        tf.Variable(1.0, name="alone")
        loader.restore_variables(session, None)
    with pytest.raises(OSError, match="does not exist"):
        SavedModelLoader(str(tmp_path))


def test_programs_find_it_in_the_inner_module():
    jitgraph.compat.install()
    try:
        from tensorflow.python.saved_model import loader_impl

        assert loader_impl.SavedModelLoader is SavedModelLoader
        assert loader_impl.parse_saved_model is not None and loader_impl.load is jitgraph.saved_model.loader.load
    finally:
        jitgraph.compat.uninstall()
