"""SavedModels: written, loaded, and their signatures."""
import os

import pytest
from google.protobuf import text_format

from jitgraph.protobuf import messages
from jitgraph.saved_model import loader, signatures


@pytest.fixture
def exported(tf, tmp_path):
    """A model y = x * w with an asset and an operation that adds 1 to w after loading; its folder."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "vocab.txt").write_text("a\nb\n")
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.Variable(3.0, name="w")
    y = tf.multiply(x, w, name="y")
    asset = tf.constant(str(tmp_path / "src" / "vocab.txt"), name="asset")
    main = tf.group(w.assign(w + 1.0), tf.assign(tf.Variable("", name="path", collections=[]), asset), name="main")
    sm = tf.saved_model
    builder = sm.builder.SavedModelBuilder(str(tmp_path / "model"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(
            session, [sm.tag_constants.SERVING, "first"], {"double": sm.predict_signature_def({"in": x}, {"out": y})},
            assets_collection=[asset], main_op=main)
        builder.add_meta_graph([sm.tag_constants.TRAINING], strip_default_attrs=True)
    assert builder.save() == str(tmp_path / "model" / "saved_model.pb").encode()
    tf.reset_default_graph()
    return str(tmp_path / "model")


def test_files(exported):
    assert sorted(os.listdir(exported)) == ["assets", "saved_model.pb", "variables"]
    assert os.listdir(os.path.join(exported, "assets")) == ["vocab.txt"]
    assert sorted(os.listdir(os.path.join(exported, "variables"))) == ["variables.data-00000-of-00001", "variables.index"]


@pytest.mark.parametrize("scope", [None, "inside"])
def test_loading(tf, exported, scope):
    prefix = "" if scope is None else scope + "/"
    with tf.Session() as session:
        meta = tf.saved_model.loader.load(session, {"first", "serve"}, exported, import_scope=scope)
        signature = meta.signature_def["double"]
        assert signature.method_name == tf.saved_model.signature_constants.PREDICT_METHOD_NAME
        x, y = (tf.saved_model.utils.get_tensor_from_tensor_info(info, import_scope=scope)
                for info in (signature.inputs["in"], signature.outputs["out"]))
        assert session.run(y, {x: [1.0, 2.0]}).tolist() == [4.0, 8.0]
        assert session.run(prefix + "path:0").decode() == os.path.join(exported, "assets", "vocab.txt")


def test_models_that_are_not_there(tf, exported, tmp_path):
    with tf.Session() as session:
        with pytest.raises(RuntimeError, match=r"tags 'serve' could not be found.*available_tags: \["):
            tf.saved_model.loader.load(session, ["serve"], exported)
        with pytest.raises(OSError, match="SavedModel file does not exist at"):
            tf.saved_model.loader.load(session, ["serve"], str(tmp_path))
        (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
        with pytest.raises(OSError, match="Cannot parse file"):
            tf.saved_model.loader.load(session, ["serve"], str(tmp_path))
    assert tf.saved_model.maybe_saved_model_directory(exported) and not tf.saved_model.contains_saved_model(exported + "x")


def test_text(tf, tmp_path):
    tf.Variable(1.0, name="w")
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, ["t"], legacy_init_op=tf.no_op(name="after"))
    builder.save(as_text=True)
    assert sorted(os.listdir(tmp_path / "m")) == ["saved_model.pbtxt", "variables"]
    model = loader.parse_saved_model(tmp_path / "m")
    assert text_format.Parse((tmp_path / "m" / "saved_model.pbtxt").read_text(), messages.SavedModel()) == model
    assert list(model.meta_graphs[0].collection_def["legacy_init_op"].node_list.value) == ["after"]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["t"], str(tmp_path / "m"))
        assert session.run("w:0") == 1.0


def test_assets_of_one_name(tf, tmp_path):
    tensors = []
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "words").write_text(folder)
        tensors.append(tf.constant(str(tmp_path / folder / "words")))
    builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))
    with tf.Session() as session:
        builder.add_meta_graph_and_variables(session, ["t"], assets_collection=tensors)
    assert [(tmp_path / "m" / "assets" / name).read_text() for name in ("words", "words_1")] == ["a", "b"]


@pytest.mark.parametrize("options, error, message", [
    (lambda tf: {"assets_collection": [tf.constant("/absent/x")]}, "NotFoundError", "/absent/x; No such file"),
    (lambda tf: {"assets_collection": [tf.constant(1)]}, TypeError, "must be of dtype string"),
    (lambda tf: {"assets_collection": ["path"]}, ValueError, "Invalid asset filepath tensor"),
    (lambda tf: {"assets_collection": [tf.placeholder(tf.string)]}, TypeError, "must be a constant string"),
    (lambda tf: {"main_op": 3}, TypeError, "main_op needs to be an Operation: 3"),
    (lambda tf: {"main_op": tf.no_op(), "legacy_init_op": tf.no_op()}, ValueError, "already contains one or more main ops"),
    (lambda tf: {"signature_def_map": {"s": tf.saved_model.build_signature_def({"i": messages.TensorInfo(dtype=1)})}},
     AssertionError, "must have one of the 'encoding' fields"),
    (lambda tf: {"signature_def_map": {"s": tf.saved_model.build_signature_def({"i": messages.TensorInfo(name="x")})}},
     AssertionError, "must have the dtype field set")])
def test_what_cannot_be_added(tf, tmp_path, options, error, message):
    tf.Variable(1.0)
    builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))
    error = getattr(tf.errors, error) if isinstance(error, str) else error
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(error, match=message):
            builder.add_meta_graph_and_variables(session, ["t"], **options(tf))


def test_the_order_of_adding(tf, tmp_path):
    tf.constant(1.0)
    builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))
    with pytest.raises(AssertionError, match="has not been saved yet"):
        builder.add_meta_graph(["t"])
    with tf.Session() as session:
        builder.add_meta_graph_and_variables(session, ["t"])
        with pytest.raises(AssertionError, match="has already been saved"):
            builder.add_meta_graph_and_variables(session, ["u"])
    with pytest.raises(AssertionError, match="isn't empty"):
        tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "m"))


# -- signatures ------------------------------------------------------------------------------------------------------

@pytest.fixture
def tensors(tf):
    return {"text": tf.placeholder(tf.string, name="text"), "number": tf.placeholder(tf.float32, [None], name="number")}


def test_signatures_of_the_three_methods(tf, tensors):
    text, number = tensors["text"], tensors["number"]
    classify = signatures.classification_signature_def(text, text, number)
    assert classify.method_name == "tensorflow/serving/classify" and set(classify.outputs) == {"classes", "scores"}
    regress = signatures.regression_signature_def(text, number)
    assert regress.outputs["outputs"].name == "number:0" and regress.inputs["inputs"].tensor_shape.unknown_rank
    predict = signatures.predict_signature_def({"a": number}, {"b": text})
    assert predict.inputs["a"].tensor_shape.dim[0].size == -1
    assert all(map(signatures.is_valid_signature, (classify, regress, predict)))
    assert not signatures.is_valid_signature(signatures.build_signature_def())
    del regress.inputs["inputs"]
    assert not signatures.is_valid_signature(regress) and not signatures.is_valid_signature(None)


@pytest.mark.parametrize("make, message", [
    (lambda t, n: signatures.classification_signature_def(None, t, None), "examples cannot be None"),
    (lambda t, n: signatures.classification_signature_def(t, None, None), "cannot both be None"),
    (lambda t, n: signatures.classification_signature_def(n, t, None), "examples must be a string Tensor"),
    (lambda t, n: signatures.classification_signature_def(t, n, None), "classes must be a string Tensor"),
    (lambda t, n: signatures.classification_signature_def(t, None, t), "scores must be a float Tensor"),
    (lambda t, n: signatures.regression_signature_def(None, n), "examples cannot be None"),
    (lambda t, n: signatures.regression_signature_def(t, None), "predictions cannot be None"),
    (lambda t, n: signatures.regression_signature_def(n, n), "examples must be a string Tensor"),
    (lambda t, n: signatures.regression_signature_def(t, t), "output must be a float Tensor"),
    (lambda t, n: signatures.predict_signature_def(None, {"a": t}), "inputs cannot be None or empty"),
    (lambda t, n: signatures.predict_signature_def({"a": t}, {}), "outputs cannot be None or empty")])
def test_tensors_that_do_not_suit(tensors, make, message):
    with pytest.raises(ValueError, match=message):
        make(tensors["text"], tensors["number"])


def test_sparse_tensors(tf):
    parts = (tf.placeholder(tf.int64, [None, 1]), tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [1]))
    info = signatures.build_tensor_info(tf.SparseTensor(*parts))
    found = signatures.get_tensor_from_tensor_info(info)
    assert (found.indices, found.values, found.dense_shape) == parts
    with pytest.raises(ValueError, match="Invalid TensorInfo.encoding"):
        signatures.get_tensor_from_tensor_info(messages.TensorInfo())


def test_main_ops(tf):
    tf.Variable(1.0)
    assert tf.saved_model.main_op.main_op().type == "NoOp"
    op = tf.saved_model.main_op_with_restore(tf.no_op(name="restore"))
    assert op.control_inputs[-1].type == "NoOp"


def test_the_dtype_of_a_variable_is_that_of_a_reference(tf):
    kinds = [tf.saved_model.build_tensor_info(one).dtype for one in (
        tf.Variable(1), tf.Variable(1, use_resource=True), tf.Variable(1).read_value(), tf.SparseTensor([[0]], [1], [2]))]
    assert kinds == [tf.int32.as_datatype_enum + 100, *[tf.int32.as_datatype_enum] * 3]
