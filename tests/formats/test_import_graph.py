"""GraphDefs into graphs: TensorFlow's rules and errors, and files that come out as they went in."""
import random
import time
from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format
from google.protobuf.message import DecodeError

from jitgraph.graph.errors import OpError
from jitgraph.protobuf import messages

GRAPHS = Path(__file__).parent.parent / "fixtures" / "graphs"


def graph_def(text):
    return text_format.Parse(text, messages.GraphDef())


def const(name):
    return (f'node {{ name: "{name}" op: "Const" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} attr {{ key: "value" '
            'value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }')


def node(name, *inputs, op="Identity", dtype="DT_FLOAT", more=""):
    listed = " ".join(f'input: "{text}"' for text in inputs)
    return f'node {{ name: "{name}" op: "{op}" {listed} attr {{ key: "T" value {{ type: {dtype} }} }} {more} }}'


def load(name):
    return messages.GraphDef.FromString((GRAPHS / name / "graph.pb").read_bytes())


def op_names(tf):
    return [op.name for op in tf.get_default_graph().get_operations()]


# -- files of TensorFlow -------------------------------------------------------------------------------------------

IMPORTED = sorted(path.name for path in GRAPHS.iterdir())


def plain(text):
    """An input as TensorFlow writes it: output 0 is not spelled out."""
    return text.removesuffix(":0")


@pytest.mark.parametrize("name", IMPORTED)
def test_a_file_comes_out_as_it_went_in(tf, name):
    original = load(name)
    tf.import_graph_def(original, name="")
    exported = tf.get_default_graph().as_graph_def()
    found = {n.name: n for n in exported.node}
    assert found.keys() == {n.name for n in original.node}
    for wanted in original.node:
        made = found[wanted.name]
        assert (made.op, made.device, list(made.input)) == (wanted.op, wanted.device, [plain(i) for i in wanted.input])
        assert dict(made.attr) == dict(wanted.attr), wanted.name
    assert exported.library == original.library


def test_scalars_of_old_files_are_placeholders_of_any_shape(tf):
    placeholder = ('node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" '
                   'value { shape { } } } }')
    for version, rank in ((21, None), (22, 0)):
        p, = tf.import_graph_def(graph_def(placeholder + f"versions {{ producer: {version} }}"), return_elements=["p:0"])
        assert p.shape.ndims == rank


def test_text_and_binary_are_the_same(tf):
    text = (GRAPHS / "04_variables_ref" / "graph.pbtxt").read_text()
    parsed = text_format.Parse(text, tf.GraphDef())
    assert parsed == load("04_variables_ref")
    tf.import_graph_def(parsed, name="")
    assert text_format.Parse(str(tf.get_default_graph().as_graph_def()), tf.GraphDef()).node


def test_tensors_keep_the_form_they_had(tf):
    value = 'attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} attr {{ key: "value" value {{ tensor {{ dtype: DT_FLOAT {} }} }} }}'
    forms = ["tensor_shape { dim { size: 3 } } float_val: 1 float_val: 2", "tensor_shape { dim { size: 3 } }",
             "tensor_shape { dim { size: 1 } } tensor_content: 'abcd'",
             "tensor_shape { dim { size: 1000000 } dim { size: 1000000 } }"]
    original = graph_def("".join(f'node {{ name: "c{i}" op: "Const" {value.format(form)} }}' for i, form in enumerate(forms)))
    tf.import_graph_def(original, name="")
    assert tf.get_default_graph().as_graph_def().node == original.node
    with tf.Session() as session:
        assert session.run("c0:0").tolist() == [1, 2, 2] and session.run("c1:0").tolist() == [0, 0, 0]


# -- names, scopes, devices ----------------------------------------------------------------------------------------

def test_prefixes_and_names_are_made_unique(tf):
    tf.constant(1.0, name="c")
    tf.import_graph_def(graph_def(const("c")), name="")
    tf.import_graph_def(graph_def(const("c")), name="q")
    tf.import_graph_def(graph_def(const("c")), name="q")
    tf.import_graph_def(graph_def(const("layer/w")), name="")
    assert op_names(tf) == ["c", "c_1", "q/c", "q_1/c", "layer/w"]
    with tf.name_scope("layer") as scope:
        assert scope == "layer/" and tf.constant(1.0, name="w").op.name == "layer/w_1"


def test_names_of_scopes_with_nodes_are_taken(tf):
    with tf.name_scope("outer"), tf.name_scope("inner"):
        tf.constant(1.0, name="c")
    with tf.name_scope("empty"):
        pass
    names = ["outer", "inner", "c", "outer/inner", "outer/inner/c", "empty"]
    made = tf.import_graph_def(graph_def("".join(map(const, names))), return_elements=names, name="")
    assert [op.name for op in made] == ["outer_1", "inner", "c", "outer/inner_1", "outer/inner/c_1", "empty"]


def test_nodes_are_made_in_the_order_of_the_file_where_it_leaves_a_choice(tf):
    tf.import_graph_def(graph_def(node("z", "y") + node("y", "x") + const("x") + const("w")), name="")
    assert op_names(tf) == ["x", "y", "z", "w"]


def test_scopes_around_an_import_apply(tf):
    first = tf.no_op(name="first")
    file = graph_def('node { name: "a" op: "NoOp" device: "/cpu:0" } node { name: "b" op: "NoOp" input: "^a" }')
    with tf.device("/job:w"), tf.control_dependencies([first]), tf.name_scope("s"):
        tf.import_graph_def(file)
    a, b = (tf.get_default_graph().get_operation_by_name(f"s/import/{name}") for name in "ab")
    assert (a.device, b.device) == ("/job:w/device:CPU:0", "/job:w")
    assert a.control_inputs == [first] and b.control_inputs == [a, first]


def test_colocation_is_under_the_prefix_and_takes_the_device(tf):
    groups = 'attr { key: "_class" value { list { s: "loc:@c" } } }'
    file = graph_def(const("c").replace('op: "Const"', 'op: "Const" device: "/device:GPU:1"') + node("z", "c", more=groups))
    with tf.device("/cpu:0"):
        z, = tf.import_graph_def(file, return_elements=["z"])
    assert z.colocation_groups() == [b"loc:@import/c"] and z.device == "/device:GPU:1"


def test_what_is_colocated_follows_the_names_and_devices_of_its_group(tf):
    def bound(name, group, device=""):
        groups = f'attr {{ key: "_class" value {{ list {{ s: "loc:@{group}" }} }} }}'
        return f'node {{ name: "{name}" op: "NoOp" device: "{device}" {groups} }}'

    file = graph_def(bound("b", "a") + bound("a", "a", "/device:CPU:0") + bound("d", "c", "/device:CPU:0") + bound("c", "c"))
    for suffix in "", "_1":
        made = tf.import_graph_def(file, return_elements=list("abcd"), name="")
        assert [op.name for op in made] == [letter + suffix for letter in "abcd"]
        assert [op.colocation_groups() for op in made] == [[f"loc:@{letter}{suffix}".encode()] for letter in "aacc"]
        assert [op.device for op in made] == ["/device:CPU:0", "/device:CPU:0", "", ""]


def test_a_graph_is_as_old_as_the_oldest_that_joined_it(tf):
    assert str(tf.get_default_graph().graph_def_versions) == "producer: 134\n"
    for versions, joined in (
            ("producer: 30 bad_consumers: 5", "producer: 30 bad_consumers: 5"),
            ("producer: 40 min_consumer: 3 bad_consumers: 2", "producer: 30 min_consumer: 3 bad_consumers: [2, 5]")):
        tf.import_graph_def(graph_def(const("c") + f"versions {{ {versions} }}"))
        found = tf.get_default_graph().as_graph_def().versions
        assert found == tf.get_default_graph().graph_def_versions == text_format.Parse(joined, type(found)())
    tf.function(lambda x: x + 1.0)(tf.constant(1.0))
    assert tf.get_default_graph().as_graph_def().versions.min_consumer == 12      # older readers know no functions


def test_shapes_noted_by_the_writer_are_used(tf):
    hint = 'attr { key: "_output_shapes" value { list { shape { dim { size: 2 } } } } }'
    placeholder = f'node {{ name: "p" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} {hint} }}'
    p, = tf.import_graph_def(graph_def(placeholder), return_elements=["p:0"])
    assert p.shape.as_list() == [2] and p.op.get_attr("shape").unknown_rank
    with pytest.raises(ValueError, match="has an _output_shapes attribute inconsistent with the GraphDef for output #0"):
        tf.import_graph_def(graph_def(const("c") + node("z", "c", more=hint)))


# -- the input map and the results ---------------------------------------------------------------------------------

def test_input_map(tf):
    file = graph_def(const("c") + const("d") + node("a", "c", "^d"))
    five = tf.constant(5.0, name="five")
    a, c = tf.import_graph_def(file, input_map={"c": five, "^d": five}, return_elements=["a", "c:0"])
    assert a.inputs[0] is five and a.control_inputs == [five.op] and c is five
    a, = tf.import_graph_def(file, input_map={"c:0": 7.0}, return_elements=["a"])
    assert a.inputs[0].op.name == "import_1/_inputs/Const"
    # what is mapped need not be in the file
    tf.import_graph_def(graph_def(node("a", "absent:3")), input_map={"absent:3": five})


@pytest.mark.parametrize("make, error, message", [
    (lambda tf: {"x:0": tf.constant(1.0)}, ValueError, r"not found in graph_def: \[x:0\]"),
    (lambda tf: {"c:0": tf.constant(1)}, ValueError, "was passed int32 from Const:0 incompatible with expected float32"),
    (lambda tf: {"c:0:0": tf.constant(1.0)}, ValueError, "Cannot convert 'c:0:0' to a tensor name"),
    (lambda tf: [1], TypeError, "must be a dictionary mapping strings to Tensor"),
    (lambda tf: {1: tf.constant(1.0)}, TypeError, "must be a dictionary mapping strings to Tensor")])
def test_wrong_input_maps(tf, make, error, message):
    with pytest.raises(error, match=message):
        tf.import_graph_def(graph_def(const("c") + node("a", "c")), input_map=make(tf))


def test_values_in_the_input_map_need_a_name(tf):
    with pytest.raises(ValueError, match="requires a non-empty `name`"):
        tf.import_graph_def(graph_def(const("c") + node("a", "c")), input_map={"c:0": 5.0}, name="")


def test_tensors_of_another_graph(tf):
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    with pytest.raises(ValueError, match="does not exist in graph"):
        tf.import_graph_def(graph_def(const("c") + node("a", "c")), input_map={"c:0": other})


@pytest.mark.parametrize("elements, message", [
    (["x"], "Requested return node 'x' not found"), (["c:1"], "Invalid return output 1 of node 'c', which has 1"),
    (["x:0"], "not found in graph def"), (["c:0:0"], "Cannot convert 'c:0:0' to a tensor name"),
    (["c:x"], "Cannot convert 'c:x' to a tensor name")])
def test_results_that_are_not_there(tf, elements, message):
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def(const("c")), return_elements=elements)
    assert op_names(tf) == []


def test_results(tf):
    op, tensor, again = tf.import_graph_def(graph_def(const("c")), return_elements=["c", b"c:0", "c:0"])
    assert op is tensor.op and tensor is again
    assert tf.import_graph_def(graph_def(const("c")), return_elements=[]) == []
    assert tf.import_graph_def(graph_def(const("c"))) is None
    with pytest.raises(TypeError, match="must be a list of strings"):
        tf.import_graph_def(graph_def(const("c")), return_elements=[1])


# -- files that are no graphs --------------------------------------------------------------------------------------

@pytest.mark.parametrize("text, message", [
    (node("a", "b"), "Node 'a': Unknown input node 'b'"),
    (node("a", "^b"), "Node 'a': Unknown input node '\\^b'"),
    (node("a", ":0"), "Unknown input node ':0'"),
    (node("a", "x:y"), "Unknown input node 'x:y'"),
    (const("c") + 'node { name: "z" op: "Identity" input: "c" }', "NodeDef missing attr 'T' from Op<name=Identity; "),
    (const("c") + 'node { name: "z" op: "Identity" input: "c" attr { key: "T" value { i: 3 } } }',
     "AttrValue had value with type 'int' when 'type' expected for attr 'T'"),
    (const("c") + node("z", "c", dtype="DT_INT32"), "Input 0 of node import/z was passed float32 from import/c:0 incomp"),
    (const("c") + node("z", "c", "c"), "NodeDef expected inputs 'float32' do not match 2 inputs specified"),
    (const("c") + node("z", "c", op="Add"), "NodeDef expected inputs 'float32, float32' do not match 1 inputs"),
    (const("c") + node("z", "c:1"), "Connecting to invalid output 1 of source node c which has 1 outputs"),
    (const("c") + node("z", "^c", "c"), "Control dependencies must come after regular dependencies"),
    (const("c") + const("c"), "Node 'c' is not unique"),
    (node("a", "b") + node("b", "a"), "2 nodes in a cycle: a, b"),
    (node("a", "a"), "1 nodes in a cycle: a"),
    (const("c") + node("a", "c", "^b") + node("b", "a"), "2 nodes in a cycle"),
    (const("c d"), "Node 'c d': Node name contains invalid characters"),
    (const(""), "Node name contains invalid characters"),
    (const("c") + node("z", "c", more='attr { key: "_class" value { list { s: "loc:@no" } } }'),
     "Node 'z' expects to be colocated with unknown node 'no'"),
    ('node { name: "d" op: "NoOp" device: "bogus" }', "device of node 'd'"),
    (const("c") + "versions { producer: 22 min_consumer: 100000 }", "min consumer version 100000 above current"),
    (const("c") + "versions { bad_consumers: 134 }", "disallows consumer version 134"),
    (const("c") + "versions { producer: -1 }", "below min producer 0")])
def test_files_that_are_no_graphs(tf, text, message):
    with pytest.raises(ValueError, match=message):
        tf.import_graph_def(graph_def(const("fine") + text))
    assert op_names(tf) == [] and tf.constant(1.0, name="fine").op.name == "fine"


def test_an_op_that_is_not_known_is_named_with_its_node(tf):
    with pytest.raises(tf.errors.NotFoundError, match=r"Op type not registered 'Foo'.*node 'z'"):
        tf.import_graph_def(graph_def('node { name: "z" op: "Foo" }'))
    with pytest.raises(TypeError, match="graph_def must be a GraphDef proto"):
        tf.import_graph_def(3)


def test_shapes_that_clash_name_the_node_and_the_line(tf):
    p = ('node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { '
         'shape { dim { size: 2 } dim { size: 3 } } } } }')
    with pytest.raises(ValueError, match=r"for 'import/m' \(op: 'MatMul'\).*test_import_graph.py"):
        tf.import_graph_def(graph_def(p + node("m", "p", "p", op="MatMul")))


def test_a_finalized_graph(tf):
    tf.get_default_graph().finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.import_graph_def(graph_def(const("c")))


def test_unknown_attributes_are_kept_unless_they_are_the_writers_default(tf):
    file = graph_def(const("c") + node("z", "c", more='attr { key: "novel" value { i: 3 } }'))
    z, = tf.import_graph_def(file, return_elements=["z"])
    assert z.get_attr("novel") == 3
    ops = text_format.Parse('op { name: "Identity" attr { name: "novel" type: "int" default_value { i: 3 } } }',
                            messages.OpList())
    z, = tf.import_graph_def(file, return_elements=["z"], producer_op_list=ops)
    with pytest.raises(ValueError, match="no attr named 'novel'"):
        z.get_attr("novel")


# -- control flow and functions ------------------------------------------------------------------------------------

def test_loops_are_closed(tf):
    file = load("08_cond_v1")
    tf.import_graph_def(file, name="")
    merge = next(op for op in tf.get_default_graph().get_operations() if op.type == "Merge"
                 and op.inputs[1].op.type == "NextIteration")
    wanted = next(n for n in file.node if n.name == merge.name)
    assert [t.op.name for t in merge.inputs] == list(wanted.input) and merge in merge.inputs[1].consumers()
    assert merge.inputs[0].consumers().count(merge) == 1


def test_other_cycles_through_a_merge(tf):
    n = 'attr { key: "N" value { i: 2 } }'
    with pytest.raises(ValueError, match="in a cycle"):
        tf.import_graph_def(graph_def(const("c") + node("m", "c", "i", op="Merge", more=n) + node("i", "m")))
    with pytest.raises(ValueError, match="come from later iterations|in a cycle"):
        tf.import_graph_def(graph_def(node("m", "i", "i", op="Merge", more=n) + node("i", "m", op="NextIteration")))


FUNCTION = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "twice" input: "x" }
library {
  function { signature { name: "twice" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
    node_def { name: "add" op: "AddV2" input: "a" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "b" value: "add:z:0" } }
  gradient { function_name: "twice" gradient_func: "grad" } }
"""


def test_functions_come_out_as_they_went_in(tf):
    file = graph_def(FUNCTION)
    y, = tf.import_graph_def(file, return_elements=["y:0"], name="")
    assert y.dtype is tf.float32 and y.op.type == "twice"
    exported = tf.get_default_graph().as_graph_def()
    assert exported.library == file.library and list(exported.node[1].input) == ["x"]
    tf.import_graph_def(file)                                   # the same function once more
    file.library.function[0].ret["b"] = "add:z:1"
    with pytest.raises(ValueError, match="Cannot add function 'twice'"):
        tf.import_graph_def(file)


STATED_GRADIENT = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "twice" input: "x" }
library {
  function { signature { name: "twice" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
    node_def { name: "add" op: "AddV2" input: "a" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "b" value: "add:z:0" } }
  function { signature { name: "grad" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "d" type: DT_FLOAT }
                         output_arg { name: "b" type: DT_FLOAT } }
    node_def { name: "mul" op: "Mul" input: "a" input: "d" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "b" value: "mul:z:0" } }
  gradient { function_name: "twice" gradient_func: "grad" } }
versions { producer: 134 }
"""


def test_nodes_named_by_a_function_run_and_have_its_gradient(tf, run):
    x, y = tf.import_graph_def(graph_def(STATED_GRADIENT), return_elements=["x:0", "y:0"], name="")
    assert run([y, tf.gradients(3 * y, x)], {x: 5.0}) == [10.0, [15.0]]
    node = next(n for n in tf.get_default_graph().as_graph_def().node if n.name == "y")
    assert node.op == "twice" and not node.attr


def test_the_gradient_of_a_defun_is_written_with_it(tf, run):
    from jitgraph.functions.defun import Defun

    gradient = Defun(tf.float32, tf.float32)(lambda a, d: a * d)
    x = tf.placeholder(tf.float32, [], name="x")
    Defun(tf.float32, grad_func=gradient)(lambda a: a + a)(x, name="y")
    file = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.import_graph_def(file, return_elements=["x:0", "y:0"])
        assert session.run(tf.gradients(y, x), {x: 5.0}) == [5.0]


# -- anything --------------------------------------------------------------------------------------------------------

def _mutated(source, rng):
    """A GraphDef with one to three changes that a faulty writer might make."""
    file = messages.GraphDef()
    file.CopyFrom(source)
    for _ in range(rng.randrange(1, 4)):
        one, other = rng.choice(file.node), rng.choice(file.node)
        kind = rng.randrange(7)
        if kind == 0 and one.input:
            texts = [other.name, other.name + ":1", "^" + other.name, "", "^", ":", "a:b"]
            one.input[rng.randrange(len(one.input))] = rng.choice(texts)
        elif kind == 1:
            one.op = other.op
        elif kind == 2 and one.attr and other.attr:
            one.attr[rng.choice(sorted(one.attr))].CopyFrom(other.attr[rng.choice(sorted(other.attr))])
        elif kind == 3:
            one.input.append(other.name)
        elif kind == 4 and one.input:
            del one.input[rng.randrange(len(one.input))]
        elif kind == 5:
            one.attr["value"].tensor.tensor_shape.dim.add(size=rng.choice([-1, 0, 3, 2**62]))
        elif one.attr:
            one.attr[rng.choice(sorted(one.attr))].type = rng.choice([0, 1, 7, 20, 21, 101, 99])
    return file


@pytest.mark.parametrize("name", ["03_mlp_const", "07_lstm_while_v1_grad", "08_cond_v1", "17_names_devices_control"])
def test_damaged_files_end_in_an_error_and_leave_nothing(tf, name):
    rng, source = random.Random(3), load(name)
    data = source.SerializeToString()
    start = time.process_time()
    for number in range(150):
        if number % 3:
            file = _mutated(source, rng)
        else:
            content = bytearray(data)
            content[rng.randrange(len(content))] = rng.randrange(256)
            try:
                file = messages.GraphDef.FromString(bytes(content))
            except DecodeError:
                continue
        with tf.Graph().as_default() as graph:
            try:
                tf.import_graph_def(file)
            except (ValueError, OpError):
                assert graph.get_operations() == []
    assert time.process_time() - start < 60


def test_importing_does_not_take_long(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    for _ in range(3000):
        x = x + 1.0
    file = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph:
        start = time.process_time()
        tf.import_graph_def(file)
        assert time.process_time() - start < 6 and graph.version == 6001


def test_what_is_imported_runs(tf):
    x = tf.placeholder(tf.float32, [None], name="x")
    tf.identity(tf.cumsum(x) * 2.0, name="y")
    file = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        y, = tf.import_graph_def(file, return_elements=["y:0"])
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(y, {"import/x:0": [1, 2, 3]}), [2, 6, 12])
