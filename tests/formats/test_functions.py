"""Functions of control flow in files: they run again, and come out as they went in."""
import numpy as np
import pytest
from google.protobuf import text_format

from jitgraph.graph.calls import bodies
from jitgraph.protobuf import messages


def build(tf):
    """Branches and loops within each other, over variables of both kinds; fetches z, q and the gradient g."""
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.get_variable("w", initializer=2.0)
    r = tf.get_variable("r", initializer=3.0, use_resource=True)
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * w, lambda: x - r)
    _, z = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, tf.cond(i > 1, lambda: z * w + r, lambda: z)), [0, y])
    z = tf.identity(z, name="z")
    first, second = tf.split(z, 2)
    tf.identity(tf.cond(first[0] > second[0], lambda: tf.split(x, 2)[1], lambda: second), name="q")
    tf.identity(tf.gradients(z, x)[0], name="g")


FETCHES = ["z:0", "q:0", "g:0"]
FEEDS = [[1.0, 2.0], [-1.0, -2.0], [3.0, -1.0]]


def assert_equal_runs(found, expected):
    for row, wanted in zip(found, expected):
        for value, other in zip(row, wanted):
            np.testing.assert_allclose(value, other, rtol=1e-6)


@pytest.mark.parametrize("jit", ["off", "always"])
@pytest.mark.parametrize("scope", [None, "inside"])
def test_control_flow_comes_back_with_its_variables(tf, tmp_path, jit, scope):
    build(tf)
    with tf.Session(jit=jit) as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.assign(tf.global_variables()[0], 1.5))
        expected = [session.run(FETCHES, {"x:0": x}) for x in FEEDS]
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    prefix = "" if scope is None else scope + "/"
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(path + ".meta", import_scope=scope)
        with tf.Session(jit=jit) as session:
            saver.restore(session, path)
            assert_equal_runs([session.run([prefix + f for f in FETCHES], {prefix + "x:0": x}) for x in FEEDS], expected)


def test_functions_come_out_as_they_went_in(tf):
    build(tf)
    first = tf.get_default_graph().as_graph_def()
    names = [f.signature.name for f in first.library.function]
    assert len(set(names)) == len(names) and tf.get_default_graph().as_graph_def() == first
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(first, name="")
        second = graph.as_graph_def()
    assert {n.name: n for n in second.node} == {n.name: n for n in first.node}
    assert {f.signature.name: f for f in second.library.function} == {f.signature.name: f for f in first.library.function}


def test_a_function_that_was_changed_gets_a_name_of_its_own(tf):
    build(tf)
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        node = next(op for op in graph.get_operations() if op.type in ("If", "StatelessIf"))
        branch = bodies(node)[0]
        with branch.as_default():
            branch.outputs = [tf.negative(branch.outputs[0])]
        changed = graph.as_graph_def()
        name = next(n for n in changed.node if n.name == node.name).attr["then_branch"].func.name
        before = next(n for n in graph_def.node if n.name == node.name).attr["then_branch"].func.name
        assert name not in {f.signature.name for f in graph_def.library.function} and name.startswith(before)
        assert next(f for f in changed.library.function if f.signature.name == name).node_def[-1].op == "Neg"


IF = """
node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } attr { key: "shape"
  value { shape { unknown_rank: true } } } }
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape"
  value { shape { unknown_rank: true } } } }
node { name: "y" op: "StatelessIf" input: "p" input: "x"
  attr { key: "Tcond" value { type: DT_BOOL } }
  attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } }
  attr { key: "then_branch" value { func { name: "double" attr { key: "T" value { type: DT_FLOAT } } } } }
  attr { key: "else_branch" value { func { name: "second" } } }
  attr { key: "output_shapes" value { list { } } } }
library {
  function { signature { name: "double" input_arg { name: "a" type_attr: "T" } output_arg { name: "b" type_attr: "T" }
      attr { name: "T" type: "type" } }
    node_def { name: "add" op: "AddV2" input: "a" input: "a" attr { key: "T" value { placeholder: "T" } } }
    ret { key: "b" value: "add:z:0" } }
  function { signature { name: "second" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
    node_def { name: "parts" op: "Split" input: "zero:output:0" input: "a" attr { key: "T" value { type: DT_FLOAT } }
      attr { key: "num_split" value { i: 2 } } }
    node_def { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
    ret { key: "b" value: "parts:output:1" } } }
"""


def graph_def(text=IF):
    return text_format.Parse(text, messages.GraphDef())


@pytest.mark.parametrize("jit", ["off", "always"])
def test_functions_as_tensorflow_writes_them(tf, jit):
    """An attribute that the caller fills in, outputs by name, a node that comes after its user."""
    y, = tf.import_graph_def(graph_def(), return_elements=["y:0"], name="")
    with tf.Session(jit=jit) as session:
        assert session.run(y, {"p:0": True, "x:0": [1.0, 2.0]}).tolist() == [2, 4]
        assert session.run(y, {"p:0": False, "x:0": [1.0, 2.0]}).tolist() == [2]
    exported = tf.get_default_graph().as_graph_def()
    assert exported.library == graph_def().library and exported.node == graph_def().node


@pytest.mark.parametrize("before, after, message", [
    ('name: "second" }', 'name: "absent" }', "the function 'absent' is not in the library"),
    ('op: "AddV2"', 'op: "Foo"', "Op type not registered 'Foo'"),
    ('value: "add:z:0"', 'value: "add:w:0"', "has no output 'w'"),
    ('value: "add:z:0"', 'value: "nothing:z:0"', "not found in graph def"),
    ('placeholder: "T"', 'placeholder: "U"', "needs the attribute 'U' of its caller"),
    ('input_arg { name: "a" type: DT_FLOAT }', "", "takes 0 arguments, but is given 1"),
    ('input_arg { name: "a" type: DT_FLOAT }', 'input_arg { name: "a" type: DT_INT32 }', "was passed float32 from import/x:0"),
    ('attr { key: "Tout" value { list { type: DT_FLOAT } } }', 'attr { key: "Tout" value { list { type: DT_HALF } } }',
     "the function 'double' gives float32, where float16 is expected"),
    ('input: "a" input: "a"', 'input: "add" input: "a"', "1 nodes in a cycle: add")])
def test_functions_that_do_not_fit(tf, before, after, message):
    text = IF.replace(before, after)
    assert text != IF
    with pytest.raises((ValueError, tf.errors.NotFoundError), match=message):
        tf.import_graph_def(graph_def(text))
    graph = tf.get_default_graph()
    assert graph.get_operations() == [] and not graph.as_graph_def().library.function


def calls(name, *callees):
    """A function that hands its argument through an If of two others."""
    then, other = callees
    return (f'function {{ signature {{ name: "{name}" input_arg {{ name: "a" type: DT_BOOL }}'
            ' output_arg { name: "b" type: DT_BOOL } }'
            ' node_def { name: "if" op: "StatelessIf" input: "a" input: "a" attr { key: "Tcond" value { type: DT_BOOL } }'
            ' attr { key: "Tin" value { list { type: DT_BOOL } } } attr { key: "Tout" value { list { type: DT_BOOL } } }'
            f' attr {{ key: "then_branch" value {{ func {{ name: "{then}" }} }} }}'
            f' attr {{ key: "else_branch" value {{ func {{ name: "{other}" }} }} }} }} ret {{ key: "b" value: "if:output:0" }} }}')


LEAF = """function { signature { name: "f40" input_arg { name: "a" type: DT_BOOL } output_arg { name: "b" type: DT_BOOL } }
  node_def { name: "i" op: "Identity" input: "a" attr { key: "T" value { type: DT_BOOL } } }
  ret { key: "b" value: "i:output:0" } }"""


def caller(functions):
    first = functions.partition('name: "')[2].partition('"')[0]
    node = calls("", first, first).partition("node_def")[2].rpartition(" ret")[0].replace('input: "a"', 'input: "p"')
    return ('node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } } node ' + node
            + " library { " + functions + " }")


def test_functions_that_call_themselves(tf):
    with pytest.raises(ValueError, match="'f' calls itself"):
        tf.import_graph_def(graph_def(caller(calls("f", "g", "g") + calls("g", "f", "f"))))


def test_small_files_with_very_many_nodes(tf, monkeypatch):
    from jitgraph.formats import functions

    monkeypatch.setattr(functions, "_LARGEST", 500)
    chain = "".join(calls(f"f{i}", f"f{i + 1}", f"f{i + 1}") for i in range(40)) + LEAF
    with pytest.raises(ValueError, match="more than 500 nodes together"):
        tf.import_graph_def(graph_def(caller(chain)))


@pytest.mark.parametrize("resource", [False, True])
def test_a_loop_that_begins_as_a_variable(tf, resource):
    """What changes from round to round is no variable, though it begins as one's value; what does not change still is one."""
    start = tf.get_variable("start", initializer=[1.0], use_resource=resource)
    step = tf.get_variable("step", initializer=[2.0], use_resource=resource)
    tf.identity(tf.while_loop(lambda k, x: k < 3, lambda k, x: (k + 1, x + step), [0, start])[1], name="reached")
    stated = tf.train.export_meta_graph()
    tf.reset_default_graph()
    tf.train.import_meta_graph(stated)
    reached = tf.get_default_graph().get_tensor_by_name("reached:0")
    train = tf.train.GradientDescentOptimizer(1.0).minimize(reached)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(reached) == [7]
        session.run(train)
        assert [value.tolist() for value in session.run(tf.trainable_variables())] == [[0], [-1]]


def test_all_calls_of_a_function_share_one_in_a_file(tf):
    """But for one that a gradient has added to, which hands out what it has computed."""
    @tf.function
    def grown(x):
        return tf.exp(tf.sin(x)) * x

    x = tf.placeholder(tf.float32, [None], name="x")
    first = grown(grown(x))
    assert len(tf.get_default_graph().as_graph_def().library.function) == 1
    slope, = tf.gradients(grown(first), x)
    definition = tf.get_default_graph().as_graph_def()
    called = [node.attr["f"].func.name for node in definition.node if node.op == "PartitionedCall"]
    library = {function.signature.name for function in definition.library.function}
    assert set(called) <= library and len(called) == 6 and len(library) < 6
    with tf.Session() as session:
        expected = session.run(slope, {x: [0.5, 0.25]})
    with tf.Graph().as_default():
        again, = tf.import_graph_def(definition, return_elements=[slope.name], name="")
        with tf.Session() as session:
            assert session.run(again, {"x:0": [0.5, 0.25]}).tolist() == expected.tolist()
