"""Objects with variables and functions: saved, and loaded in another graph."""
import functools
import os

import numpy as np
import pytest

from jitgraph.protobuf import messages


def model(tf, base=None):
    """A module with variables, in a list and a dict too, and functions, one of which has several sets of arguments."""

    class Model(base or tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[2.0], [3.0]], use_resource=True, name="w")
            self.b = tf.Variable(1.0, use_resource=True, name="b", trainable=False)
            self.parts = [tf.Variable(5.0, use_resource=True, name="p")]
            self.held = {"k": self.b}

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def __call__(self, x):
            return {"y": tf.matmul(x, self.w) + self.b}

        @tf.function
        def scale(self, x, k=2):
            return x * self.parts[0] * k

    made = Model()
    made.scale(tf.constant(3.0))
    made.scale(tf.constant([1.0, 2.0]), 3)
    return made


def saved(tf, made, folder, signatures=None, before=()):
    """The folder, with the model as it is after its variables are initialized and `before` has run; then the graph is empty."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(list(before))
        count = tf.get_default_graph().version
        tf.saved_model.save(made, str(folder), signatures)
        assert tf.get_default_graph().version == count      # which TensorFlow's is not
    tf.reset_default_graph()
    return str(folder)


def values(tf, fetches):
    """What the fetches are once variables are initialized and tables filled."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(fetches)


@pytest.fixture
def folder(tf, tmp_path):
    made = model(tf)
    return saved(tf, made, tmp_path / "model", made.__call__, [made.w.assign([[4.0], [5.0]])])


def test_what_was_saved_is_loaded(tf, folder):
    loaded = tf.saved_model.load_v2(folder)
    assert [v.name for v in tf.global_variables()] == ["w:0", "b:0", "p:0"] and tf.trainable_variables() == []
    assert (loaded.w.trainable, loaded.b.trainable) == (True, False) and loaded.held == {"k": loaded.b}
    x = tf.constant([[1.0, 2.0]])
    y, z, many = loaded(x), loaded.scale(tf.constant(2.0)), loaded.scale(tf.constant([1.0, 2.0]), k=3)
    signature = loaded.signatures["serving_default"]
    assert signature.structured_input_signature == ((), {"x": tf.TensorSpec([None, 2], tf.float32, "x")})
    assert y["y"].shape.as_list() == [1, 1] and y["y"].op.type == "StatefulPartitionedCall"
    by_position, by_name = signature(x), signature(x=x)
    gradient = tf.gradients(y["y"], [loaded.w, x])
    found = values(tf, [y["y"], z, many, by_position["y"], by_name["y"], gradient, loaded.parts[0]])
    assert found[0] == found[3] == found[4] == 15.0 and found[1] == 20.0 and found[2].tolist() == [15.0, 30.0] and found[6] == 5.0
    assert found[5][0].tolist() == [[1.0], [2.0]] and found[5][1].tolist() == [[4.0, 5.0]]


def test_a_loaded_model_can_be_trained_and_saved_again(tf, folder, tmp_path):
    loaded = tf.saved_model.load_v2(folder)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(loaded(tf.ones([1, 2]))["y"]), var_list=[loaded.w])
    again = saved(tf, loaded, tmp_path / "again", loaded.signatures["serving_default"], [step])
    loaded = tf.saved_model.load_v2(again)
    assert values(tf, loaded.w).ravel().tolist() == pytest.approx([3.9, 4.9])
    assert values(tf, loaded.signatures["serving_default"](tf.ones([1, 2]))["y"]) == pytest.approx(9.8)
    assert values(tf, loaded.scale(tf.constant([1.0, 2.0]), 3)).tolist() == [15.0, 30.0]


def test_a_session_serves_the_signature(tf, folder):
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, ["serve"], folder)
        signature = meta.signature_def["serving_default"]
        assert signature.inputs["x"].name == "serving_default_x:0" and signature.method_name == "tensorflow/serving/predict"
        assert session.run(signature.outputs["y"].name, {"serving_default_x:0": [[1.0, 1.0]]}) == 10.0


def test_the_file_states_objects_and_functions(folder):
    with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
        (meta,) = messages.SavedModel.FromString(file.read()).meta_graphs
    objects = meta.object_graph_def
    assert [node.WhichOneof("kind") for node in objects.nodes] == [
        "user_object", "variable", "variable", "user_object", "user_object", "user_object", "variable", "function", "function",
        "bare_concrete_function"]
    names = [child.local_name for child in objects.nodes[0].children]
    assert names == ["w", "b", "parts", "held", "signatures", "__call__", "scale"]
    assert len(objects.nodes[8].function.concrete_functions) == 2 and meta.meta_info_def.tags == ["serve"]
    assert {len(stated.bound_inputs) for stated in objects.concrete_functions.values()} == {1, 2}


def test_other_objects_than_modules(tf, tmp_path):
    made = tf.train.Checkpoint(v=tf.Variable(3.0, use_resource=True))
    made.double = tf.function(lambda x: 2.0 * x * made.v, input_signature=[tf.TensorSpec([], tf.float32, name="number")])
    loaded = tf.saved_model.load_v2(saved(tf, made, tmp_path / "model"))
    assert list(loaded.signatures) == ["serving_default"]       # there is one function that can be it
    assert values(tf, [loaded.double(4.0), loaded.signatures["serving_default"](number=tf.constant(1.0))]) == [
        24.0, {"output_0": 6.0}]


def test_constants_and_structures_go_with_functions(tf, tmp_path):
    outside = tf.constant([1.0, 2.0])
    made = tf.Module()
    made.f = tf.function(lambda pair: (pair["a"] + outside, [tf.SparseTensor([[0]], pair["b"], [4]), None]))
    made.f({"a": tf.constant(1.0), "b": tf.constant([7])})
    loaded = tf.saved_model.load_v2(saved(tf, made, tmp_path / "model"))
    total, (sparse, nothing) = loaded.f({"a": tf.constant(2.0), "b": tf.constant([8])})
    assert nothing is None
    total, dense = values(tf, [total, tf.sparse.to_dense(sparse)])
    assert total.tolist() == [3.0, 4.0] and dense.tolist() == [8, 0, 0, 0]


def test_tables_and_files_go_with_functions(tf, tmp_path):
    (tmp_path / "words.txt").write_text("a\nb\nc\n")
    made = tf.Module()
    line, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    made.words = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
        str(tmp_path / "words.txt"), tf.string, line, tf.int64, number), 1)
    made.numbers = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["x", "y"], [10.0, 20.0]), -1.0)
    made.f = tf.function(lambda s: (made.words.lookup(s), made.numbers.lookup(s)),
                         input_signature=[tf.TensorSpec([None], tf.string)])
    folder = saved(tf, made, tmp_path / "model")
    os.remove(tmp_path / "words.txt")
    assert os.listdir(os.path.join(folder, "assets")) == ["words.txt"]
    moved = str(tmp_path / "moved")
    os.rename(folder, moved)
    ids, numbers = values(tf, tf.saved_model.load_v2(moved).f(tf.constant(["c", "x", "z"])))
    assert ids.tolist() == [2, 3, 3] and numbers.tolist() == [-1.0, 10.0, -1.0]
    tf.reset_default_graph()
    with tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], moved)
        outputs = meta.signature_def["serving_default"].outputs
        assert session.run(outputs["output_0"].name, {"serving_default_s:0": ["b"]}).tolist() == [1]


def test_functions_with_control_flow(tf, tmp_path):
    made = tf.Module()
    made.v = tf.Variable(2.0, use_resource=True)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)])
    def power(x, n):
        for _ in tf.range(n):
            if x < 100.0:
                x = x * made.v
        return x

    made.power = power
    loaded = tf.saved_model.load_v2(saved(tf, made, tmp_path / "model"))
    x = tf.constant(3.0)
    y = loaded.power(x, tf.constant(4))
    assert values(tf, [y, tf.gradients(y, [x, loaded.v])]) == [48.0, [16.0, 96.0]]


def test_functions_that_assign(tf, tmp_path):
    made = tf.Module()
    made.v = tf.Variable(1.0, use_resource=True)
    made.add = tf.function(lambda x: made.v.assign_add(x), input_signature=[tf.TensorSpec([], tf.float32)])
    loaded = tf.saved_model.load_v2(saved(tf, made, tmp_path / "model"))
    added = loaded.add(tf.constant(2.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(added), session.run(added), session.run(loaded.v)] == [3.0, 5.0, 5.0]
        loaded.v.load(7.0, session)
        assert session.run(added) == 9.0


def test_arguments_that_no_function_takes(tf, folder):
    loaded = tf.saved_model.load_v2(folder)
    with pytest.raises(ValueError, match=r"Could not find matching function to call loaded from the SavedModel. Got:\n  Positional "
                                         r"arguments \(2 total\)"):
        loaded.scale(tf.constant(1.0), k=5)
    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        loaded(tf.constant([1.0]))
    signature = loaded.signatures["serving_default"]
    with pytest.raises(TypeError, match=r"Expected argument names \['x'\] but got values for \['y'\]. Missing: \['x'\]"):
        signature(y=tf.ones([1, 2]))
    with pytest.raises(ValueError, match="not compatible with the shape this function was traced with"):
        signature(tf.constant([1.0]))


def test_what_cannot_be_loaded(tf, folder, tmp_path):
    with pytest.raises(ValueError, match=r"one MetaGraph with tags \['serve'\], but got an incompatible argument tags=\['foo'\]"):
        tf.saved_model.load_v2(folder, tags="foo")
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load_v2(str(tmp_path / "none"))


def test_what_cannot_be_saved(tf, tmp_path):
    folder = str(tmp_path / "model")
    made = tf.Module()
    with pytest.raises(ValueError, match="Expected a Trackable object for export, got 3"):
        tf.saved_model.save(3, folder)
    with pytest.raises(ValueError, match="Expected a TensorFlow function to generate a signature for, but got"):
        tf.saved_model.save(made, folder, tf.function(lambda x: x))
    made.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(ValueError, match="session"):
        tf.saved_model.save(made, folder)
    made.signatures = {}
    with tf.Session(), pytest.raises(ValueError, match="which has an attribute named 'signatures'. This is a reserved attribute"):
        tf.saved_model.save(made, folder)


def test_functions_that_cannot_be_saved(tf, tmp_path):
    folder, spec = str(tmp_path / "model"), tf.TensorSpec([], tf.float32)
    elsewhere, reference = tf.Variable(1.0, use_resource=True), tf.Variable(1.0, use_resource=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value, kind, text in ((elsewhere, AssertionError, "references untracked object"),
                                  (reference, ValueError, "references a symbolic Tensor .* not a simple constant")):
            made = tf.Module()
            made.f = tf.function(functools.partial(tf.multiply, value), input_signature=[spec])
            with pytest.raises(kind, match=text):
                tf.saved_model.save(made, folder)
        made.f = tf.function(lambda x: [[x]], input_signature=[spec])
        with pytest.raises(ValueError, match="Got non-flat outputs"):
            tf.saved_model.save(made, folder, made.f)
        made.f = tf.function(lambda x: {"y": tf.SparseTensor([[0]], [x], [1])}, input_signature=[spec])
        with pytest.raises(ValueError, match="Got a dictionary containing non-Tensor value"):
            tf.saved_model.save(made, folder, made.f)


def test_a_loaded_list_has_its_order(tf, tmp_path):
    made = tf.Module()
    made.many = [tf.Variable(np.float32(k), use_resource=True) for k in range(12)]
    loaded = tf.saved_model.load_v2(saved(tf, made, tmp_path / "model"))
    assert values(tf, loaded.many) == list(range(12)) and loaded.signatures == {}


def test_what_an_optimizer_keeps_is_saved_with_it(tf, tmp_path):
    v = tf.Variable(1.0, use_resource=True, name="v")
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    step = optimizer.minimize(v * v, var_list=[v])
    loaded = tf.saved_model.load_v2(saved(tf, tf.train.Checkpoint(v=v, optimizer=optimizer), tmp_path / "model", before=[step]))
    found = dict(zip((one.name for one in tf.global_variables()), values(tf, tf.global_variables())))
    assert found == pytest.approx({"v:0": 0.8, "v/Momentum:0": 2.0}) and loaded.v.name == "v:0"


def test_arguments_by_name_and_further_ones(tf, tmp_path):
    made = tf.Module()

    @tf.function
    def f(x, factor=2.0, *more, scale=1.0, **others):
        return factor * scale * tf.add_n([x, *more, *(others[name] for name in sorted(others))])

    made.f = f
    one = tf.constant(1.0)
    made.f(one)
    made.f(one, 3.0, one, one, scale=2.0, z=one)
    assert [concrete._keywords for concrete in f.concrete_functions()] == [["x"], ["x", "more_0", "more_1", "z"]]
    loaded = tf.saved_model.load_v2(saved(tf, made, tmp_path / "model"))
    one = tf.constant(1.0)
    assert values(tf, [loaded.f(one), loaded.f(x=one), loaded.f(one, 3.0, one, one, z=one, scale=2.0)]) == [2.0, 2.0, 24.0]
    with pytest.raises(TypeError):
        loaded.f()


def test_loaded_functions_inside_of_others(tf, folder):
    loaded = tf.saved_model.load_v2(folder)

    def step(k, a):
        return k + 1, loaded(tf.concat([a, a], 1))["y"]

    y = tf.while_loop(lambda k, a: k < 2, step, (0, tf.ones([1, 1])))[1]
    doubled = tf.function(lambda x: 2.0 * loaded.scale(x))(tf.constant(3.0))
    mapped = tf.map_fn(loaded.scale, tf.constant([1.0, 2.0]))
    rows = tf.data.Dataset.from_tensor_slices([[1.0, 2.0]]).map(lambda row: loaded(row[None])["y"]).make_initializable_iterator()
    row = rows.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(rows.initializer)
        assert session.run([y, doubled, row, tf.gradients(y, loaded.w)[0][0]]) == [91.0, 60.0, 15.0, 19.0]
        assert session.run(mapped).tolist() == [10.0, 20.0]
