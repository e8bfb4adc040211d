"""Graph files with the control flow of TensorFlow 1.15, and what it gave for them: ``data/make_control_flow_v1.py``."""
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format

from jitgraph.protobuf import messages

FOLDER = Path(__file__).parent / "data" / "control_flow_v1"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))


def load(tf, case, **arguments):
    """Imports a graph; returns the arrays recorded with it."""
    data = np.load(FOLDER / f"{case}.npz")
    tf.import_graph_def(messages.GraphDef.FromString(data["graph"].tobytes()), **{"name": "", **arguments})
    return data


def feeds_of(data, run):
    keys = [key for key in data.files if key.startswith(f"{run}|feed|")]
    return {key.split("|")[2]: data[key].astype(object) if data[key].dtype.kind == "S" else data[key] for key in keys}


def assert_close(value, wanted, what):
    value = np.asarray(value)
    if wanted.dtype.kind == "S":
        assert value.ravel().tolist() == wanted.ravel().tolist(), what
    elif wanted.dtype.kind == "f":
        assert (value.shape, value.dtype) == (wanted.shape, wanted.dtype), what
        np.testing.assert_allclose(value, wanted, 1e-4, 1e-5, err_msg=what)
    else:
        np.testing.assert_array_equal(value, wanted, what)


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", NAMES)
def test_values(tf, name, jit):
    data = load(tf, name)
    fetches = [str(fetch) for fetch in data["fetches"]]
    with tf.Session(jit=jit) as session:
        if data["init"]:
            session.run(str(data["init"]))
        for run in range(int(data["runs"])):
            if f"{run}|error" in data.files:
                with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
                    session.run(fetches, feeds_of(data, run))
                continue
            for fetch, value in zip(fetches, session.run(fetches, feeds_of(data, run))):
                assert_close(value, data[f"{run}|fetch|{fetch}"], f"{name}, run {run}: {fetch}")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_comes_out_as_it_went_in(tf, name):
    data = load(tf, name)
    original = messages.GraphDef.FromString(data["graph"].tobytes())
    with tf.Session() as session:           # raising it for a run leaves no trace
        if data["init"]:
            session.run(str(data["init"]))
        if "0|error" not in data.files:
            session.run([str(fetch) for fetch in data["fetches"]], feeds_of(data, 0))
    exported = {node.name: node for node in tf.get_default_graph().as_graph_def().node}
    assert exported.keys() == {node.name for node in original.node}
    for node in original.node:
        made = exported[node.name]
        assert (made.op, list(made.input)) == (node.op, list(node.input)) and dict(made.attr) == dict(node.attr), node.name


# -- gradients that are taken here, through what was imported ---------------------------------------------------------

# name -> the fetch whose gradient in x is recorded as another fetch of the file
GRADIENTS = {"cond_gradient": (0, 1), "cond_nested": (0, 1), "case_chain": (0, 2), "while_power": (0, 1),
             "while_second_order": (0, 1), "while_growing": (0, 1), "while_maximum": (0, 1), "while_nested": (0, 1),
             "cond_in_while": (0, 1), "while_in_cond": (0, 1), "cond_while_cond": (0, 1), "array_loop": (0, 3),
             "maps": (0, 6), "dynamic_rnn": (0, 3), "map_nested": (0, 1), "condition_with_cond": (1, 2),
             "while_swap_variables": (1, 4), "while_print_and_identity": (0, 1), "while_int_float_mix": (1, 3)}


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_through_imported_control_flow(tf, name, jit):
    data = load(tf, name)
    y, wanted = (str(data["fetches"][k]) for k in GRADIENTS[name])
    graph = tf.get_default_graph()
    gradient, = tf.gradients(graph.get_tensor_by_name(y), graph.get_tensor_by_name("x:0"))
    with tf.Session(jit=jit) as session:
        if data["init"]:
            session.run(str(data["init"]))
        for run in range(int(data["runs"])):
            found, value = session.run([gradient, y], feeds_of(data, run))
            assert_close(found, data[f"{run}|fetch|{wanted}"], f"{name}, run {run}")
            assert_close(value, data[f"{run}|fetch|{y}"], f"{name}, run {run}, forward")


def test_a_loop_runs_once_for_its_value_and_its_gradient(tf):
    data = load(tf, "while_power")
    graph, y = tf.get_default_graph(), str(data["fetches"][0])
    gradient, = tf.gradients(graph.get_tensor_by_name(y), graph.get_tensor_by_name("x:0"))
    with tf.Session(jit="off") as session:
        session.run([gradient, y], feeds_of(data, 2))
        loops = [op for op in session.plans[0].ops if op.type in ("While", "StatelessWhile")]
    assert len(loops) == 2


def test_the_scopes_of_a_gradient_are_not_those_of_the_loop(tf):
    data = load(tf, "while_power")
    y = tf.get_default_graph().get_tensor_by_name(str(data["fetches"][0]))
    with tf.control_dependencies([y]), tf.name_scope("train"):
        gradient, = tf.gradients(y, tf.get_default_graph().get_tensor_by_name("x:0"))
    with tf.Session() as session:
        assert session.run(gradient, {"n:0": 3, "x:0": 2.0}) == 12.0


def test_gradients_of_second_order_through_a_gradient_of_a_file(tf):
    data = load(tf, "while_power")
    graph = tf.get_default_graph()
    with pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
        tf.gradients(graph.get_tensor_by_name(str(data["fetches"][1])), graph.get_tensor_by_name("x:0"))


# -- feeds, fetches, targets inside ------------------------------------------------------------------------------------

def test_a_tensor_of_a_branch(tf):
    load(tf, "cond_two")                    # cond/mul = x * 2 in the true branch, cond/sub = x - 1 in the other
    with tf.Session() as session:
        assert session.run(["cond/mul:0", "cond/Merge:0", "cond/Merge:1"], {"p:0": True, "x:0": 1.5}) == [3.0, 3.0, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Retval does not have value: cond/mul:0"):
            session.run("cond/mul:0", {"p:0": False, "x:0": 1.5})
        assert session.run("cond/mul", {"p:0": False, "x:0": 1.5}) is None
        assert session.run("cond/Merge:0", {"p:0": True, "x:0": 1.5, "cond/mul:0": 7.0}) == 7.0
        assert session.run("cond/Merge:0", {"p:0": False, "x:0": 1.5, "cond/sub:0": 8.0}) == 8.0


def test_a_tensor_of_an_iteration_cannot_be_fetched(tf):
    load(tf, "while_power")
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="'while/mul' has been marked as not fetchable"):
            session.run("while/mul:0", {"n:0": 3, "x:0": 2.0})
        assert session.run("while/mul", {"n:0": 3, "x:0": 2.0}) is None


def test_two_copies_of_one_file(tf):
    load(tf, "while_nested", name="a")
    data = load(tf, "while_nested", name="b")
    y = str(data["fetches"][0])
    feeds = {f"{scope}/{key}": value for scope, run in (("a", 0), ("b", 1)) for key, value in feeds_of(data, run).items()}
    with tf.Session() as session:
        found = session.run([f"a/{y}", f"b/{y}"], feeds)
    assert_close(found[0], data[f"0|fetch|{y}"], "a")
    assert_close(found[1], data[f"1|fetch|{y}"], "b")


def test_what_is_built_on_imported_control_flow(tf):
    data = load(tf, "while_power")
    y = tf.get_default_graph().get_tensor_by_name(str(data["fetches"][0]))
    z = tf.cond(y > 2.0, lambda: y * 10.0, lambda: y)
    with tf.Session() as session:
        assert session.run(z, {"n:0": 3, "x:0": 2.0}) == 80.0
        assert session.run(z, {"n:0": 0, "x:0": 2.0}) == 1.0


def test_an_import_inside_functions(tf):
    def nested(x, n):
        return load_into(tf, "while_nested", {"x:0": x, "n:0": n}, "while/Exit_1:0")

    p, a = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    y = tf.cond(p, lambda: nested(a, tf.constant(3)), lambda: a)
    z = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, nested(v, i + 1)), [0, a])[1]
    for jit in ("off", "always"):
        with tf.Session(jit=jit) as session:
            assert session.run(y, {p: False, a: 1.2}) == np.float32(1.2)
            np.testing.assert_allclose(session.run([y, z], {p: True, a: 1.2}),
                                       [by_hand(1.2, 3), by_hand(by_hand(1.2, 1), 2)], 1e-5)


def load_into(tf, case, input_map, element):
    data = np.load(FOLDER / f"{case}.npz")
    found, = tf.import_graph_def(messages.GraphDef.FromString(data["graph"].tobytes()), input_map, [element])
    return tf.reshape(found, [])


def by_hand(a, n):
    """What while_nested computes."""
    s = 0.0
    for i in range(n):
        t = 1.0
        for _ in range(i + 1):
            t = t * a + s
        s += t
    return s


def test_a_run_in_several_calls(tf):
    load(tf, "while_power")
    with tf.Session() as session:
        handle = session.partial_run_setup(["while/Exit_1:0", "n:0"], ["x:0", "n:0"])
        assert session.partial_run(handle, "n:0", {"n:0": 3}) == 3
        assert session.partial_run(handle, "while/Exit_1:0", {"x:0": 2.0}) == 8.0


def test_errors_name_the_operation_of_the_graph(tf):
    data = load(tf, "assert_guard")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(str(data["fetches"][0]), {"x:0": -1.0})
    assert caught.value.op is tf.get_default_graph().get_operation_by_name("Assert/AssertGuard/Assert")


def test_training_through_an_imported_loop(tf):
    v = tf.Variable(np.ones((2, 3), np.float32), use_resource=False)
    data = np.load(FOLDER / "while_matrix.npz")
    y, = tf.import_graph_def(messages.GraphDef.FromString(data["graph"].tobytes()), {"x:0": v}, [str(data["fetches"][0])])
    loss = tf.reduce_sum(tf.square(y))
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(v.initializer)
        losses = [session.run([loss, train])[0] for _ in range(5)]
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]


def test_random_numbers_go_on_from_run_to_run_whichever_way_they_are_reached(tf):
    x = tf.random_uniform([2], seed=5, name="r")
    p = tf.placeholder(tf.bool, [], name="p")
    f, t = tf.raw_ops.Switch(data=x, pred=p)
    y, _ = tf.raw_ops.Merge(inputs=[f, t + 1.0])
    with tf.Session() as session:
        first, second, third = session.run(x), session.run(y, {p: False}), session.run(x)
    with tf.Session() as session:
        wanted = [session.run(x) for _ in range(3)]
    np.testing.assert_array_equal([first, second, third], wanted)


def test_a_scalar_loop_of_a_file_is_native_code(tf):
    data = load(tf, "collatz")
    with tf.Session(jit="always") as session:
        assert session.run([str(fetch) for fetch in data["fetches"]], {"n:0": 837799}) == [524, 1]
        loop, = [op for op in session.plans[0].ops if op.type in ("While", "StatelessWhile")]
        assert [caller.kernel is not None for (op, _), caller in session._state.functions.items() if op is loop] == [True]


# -- training ----------------------------------------------------------------------------------------------------------

TRAINING = Path(__file__).parent.parent / "fixtures" / "training" / "lstm_float32"


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_recurrent_net_trains_as_recorded(tf, optimizer, jit):
    tf.train.import_meta_graph(str(TRAINING / f"{optimizer}.meta"))
    data, wanted = np.load(TRAINING / "data.npz"), np.load(TRAINING / f"{optimizer}.npz")["loss"]
    batches = [(data["x"][k:k + 4], data["y"][k:k + 4]) for k in range(0, 16, 4)]
    assert len(data["x"]) == 16
    with tf.Session(jit=jit) as session:
        session.run("init")
        losses = [session.run(["loss:0", "train"], {"x:0": batches[k % 4][0], "y:0": batches[k % 4][1]})[0]
                  for k in range(30)]
    np.testing.assert_allclose(losses, wanted[:30], 1e-5)


# -- older versions of the ops -----------------------------------------------------------------------------------------

OLD = """
node { name: "size" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
       attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 3 } } } }
node { name: "two" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
       attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 2 int_val: 0 } } } }
node { name: "flow" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 0 } } } }
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "array" op: "TensorArrayVERSION" input: "size" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "element_shape" value { shape {} } } }
node { name: "put" op: "TensorArrayScatterVERSION" input: "array" input: "two" input: "x" input: "flow"
       attr { key: "T" value { type: DT_FLOAT } } }
node { name: "all" op: "TensorArrayConcatVERSION" input: "array" input: "put" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "some" op: "TensorArrayGatherVERSION" input: "array" input: "two" input: "put"
       attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "count" op: "TensorArraySizeVERSION" input: "array" input: "put" }
"""


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("version", ["", "V2"])
def test_tensor_arrays_of_older_files(tf, version, jit):
    tf.import_graph_def(text_format.Parse(OLD.replace("VERSION", version), messages.GraphDef()), name="")
    with tf.Session(jit=jit) as session:
        some, count = session.run(["some:0", "count:0"], {"x:0": [5.0, 6.0]})
        assert some.tolist() == [5.0, 6.0] and count == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="Concat saw a scalar shape at index 0"):
            session.run("all:0", {"x:0": [5.0, 6.0]})
