"""Device names."""
import pytest

from jitgraph.graph.devices import DeviceSpec, canonical, merged


@pytest.mark.parametrize("name, expected", [
    ("/cpu:0", "/device:CPU:0"), ("/gpu:1", "/device:GPU:1"), ("/device:gpu:2", "/device:GPU:2"), ("", ""),
    ("/cpu", "/device:CPU:*"), ("gpu", "/device:GPU:*"),
    ("/job:w/replica:1/task:2/device:CPU:*", "/job:w/replica:1/task:2/device:CPU:*"), ("/job:ps", "/job:ps"),
    ("/device:XLA_CPU:0", "/device:XLA_CPU:0")])
def test_canonical_names(name, expected):
    assert canonical(name) == expected


@pytest.mark.parametrize("name", ["/foo:1", "nonsense", "/JOB:x", "/gpu:x"])
def test_malformed_names(name):
    with pytest.raises(ValueError, match="Unknown attribute"):
        canonical(name)


def test_the_inner_name_decides():
    assert merged("/job:a/gpu:0", "/gpu:1") == "/job:a/device:GPU:1"
    assert merged("/cpu:0", "/job:b") == "/job:b/device:CPU:0"


def test_specs():
    spec = DeviceSpec(job="w", task=1, device_type="gpu", device_index=0)
    assert spec.to_string() == "/job:w/task:1/device:GPU:0" == spec.replace(task=1).to_string()
    assert spec == DeviceSpec.from_string(spec.to_string()) and hash(spec) == hash(spec.replace())
    assert spec.make_merged_spec(DeviceSpec(task=3)).task == 3


def test_device_functions_see_the_operation(tf):
    with tf.device("/job:a"), tf.device(lambda op: f"/task:{len(op.inputs)}"):
        a = tf.constant(1.0)
        b = tf.identity(a)
    assert (a.device, b.device) == ("/job:a/task:0", "/job:a/task:1")


def test_a_device_has_one_type():
    with pytest.raises(ValueError, match="Cannot specify multiple device types"):
        canonical("/gpu:0/cpu:0")


def test_parsing_forgets_what_was_there(tf):
    spec = tf.DeviceSpec(job="b", task=2)
    assert spec.parse_from_string("/cpu:0").to_string() == "/device:CPU:0"


def test_the_outermost_colocation_gives_the_device(tf):
    with tf.device("/gpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.device("/cpu:1"):
        b = tf.constant(1.0, name="b")
    with tf.colocate_with(a), tf.colocate_with(b):
        c = tf.constant(1.0, name="c")
    assert c.device == "/device:GPU:0" and c.op.colocation_groups() == [b"loc:@a", b"loc:@b"]


def test_a_device_function_keeps_its_spelling(tf):
    """A name of a block is written in full, what a function answers as it stands, unless a block outside adds to it."""
    with tf.device(lambda op: "/gpu:0"):
        a = tf.constant(1.0)
    with tf.device("/gpu:0"):
        b = tf.constant(1.0)
    with tf.device("/job:w"), tf.device(lambda op: "/gpu:0"):
        c = tf.constant(1.0)
    assert [t.device for t in (a, b, c)] == ["/gpu:0", "/device:GPU:0", "/job:w/device:GPU:0"]
    with tf.device(lambda op: "/gpux:a:b"), pytest.raises(ValueError):
        tf.constant(1.0)


def test_what_takes_the_place_of_an_operation_is_told_the_device(tf):
    """Keras asks so for the device: by `_set_device` in 2.2.4, by `_set_device_from_string` later."""
    told = []

    class Old:
        def _set_device(self, device):
            told.append(device)

    class New:
        def _set_device_from_string(self, name):
            told.append(name)

    graph = tf.get_default_graph()
    graph._apply_device_functions(New())
    with tf.device("/job:w"), tf.device("/gpu:1"):
        graph._apply_device_functions(New())
        graph._apply_device_functions(Old())
    with tf.device(lambda op: "/cpu:0"):
        graph._apply_device_functions(New())
    assert told == ["/job:w/device:GPU:1", DeviceSpec(job="w", device_type="GPU", device_index=1), "/cpu:0"]


def placed(tf):
    """(name, device, groups) of the nodes that make no initial values, as TensorFlow 1.15 gives them below."""
    return [(node.name, node.device, [one.decode() for one in node.attr["_class"].list.s])
            for node in tf.get_default_graph().as_graph_def().node if "nitializer" not in node.name]


class Counting:
    """A device function that answers another CPU at each call, and keeps the types that it was asked for."""

    def __init__(self):
        self.asked = []

    def __call__(self, op):
        self.asked.append(op.type)
        return f"cpu:{len(self.asked) - 1}"


def test_what_writes_to_a_variable_is_placed_where_that_is(tf):
    """Device blocks and functions have no say in it, so that a function which deals variables out counts each once."""
    function = Counting()
    with tf.device(function):
        v, r = tf.get_variable("v", [2]), tf.get_variable("r", [2], use_resource=True)
    w = tf.get_variable("w", [2])
    with tf.device("/device:CPU:3"):
        zero = tf.zeros([2], name="zero")
        tf.assign(v, zero), tf.assign(w, zero), tf.assign_add(r, zero)
    assert function.asked == ["VariableV2", "VarHandleOp", "VarIsInitializedOp", "ReadVariableOp"]
    assert placed(tf) == [
        ("v", "cpu:0", ["loc:@v"]), ("v/Assign", "cpu:0", ["loc:@v"]), ("v/read", "cpu:0", ["loc:@v"]),
        ("r", "cpu:1", ["loc:@r"]), ("r/IsInitialized/VarIsInitializedOp", "cpu:2", []), ("r/Assign", "/device:CPU:1", []),
        ("r/Read/ReadVariableOp", "cpu:3", []), ("w", "", ["loc:@w"]), ("w/Assign", "", ["loc:@w"]), ("w/read", "", ["loc:@w"]),
        ("zero", "/device:CPU:3", []), ("Assign", "cpu:0", ["loc:@v"]), ("Assign_1", "", ["loc:@w"]),
        ("AssignAddVariableOp", "/device:CPU:3", []), ("ReadVariableOp", "/device:CPU:3", [])]


def test_variables_in_blocks_of_colocation(tf):
    with tf.device("/device:CPU:1"):
        v = tf.get_variable("v", [2])
    with tf.device("/device:CPU:3"), tf.get_default_graph().colocate_with(None, ignore_existing=True):
        tf.zeros([3], name="free")
    with tf.colocate_with(v.op), tf.variable_scope("t", caching_device="/device:CPU:5"):
        tf.get_variable("q", [2])
        r = tf.get_variable("r", [2], use_resource=True)
        tf.identity(r, name="copy")
    assert placed(tf)[3:] == [
        ("free", "", []), ("t/q", "/device:CPU:1", ["loc:@v"]), ("t/q/Assign", "/device:CPU:1", ["loc:@v"]),
        ("t/q/read", "/device:CPU:1", ["loc:@v"]), ("t/r", "/device:CPU:1", ["loc:@v"]),
        ("t/r/IsInitialized/VarIsInitializedOp", "/device:CPU:1", ["loc:@v"]), ("t/r/Assign", "/device:CPU:1", []),
        ("t/r/Read/ReadVariableOp", "/device:CPU:1", ["loc:@v"]), ("t/r/Read/Identity", "/device:CPU:5", []),
        ("t/copy", "/device:CPU:1", ["loc:@v"])]


def test_gates_of_gradients_are_beside_them(tf):
    function = Counting()
    x, y = tf.placeholder("float"), tf.placeholder("float")
    with tf.device(function):
        product = x * y
        tf.gradients(product, [x, y], gate_gradients=True)
    assert "NoOp" not in function.asked
    gates = [(name.rpartition("/")[2], device) for name, device, _ in placed(tf) if "tuple" in name]
    assert [name for name, _ in gates] == ["NoOp", "NoOp_1", "group_deps", "control_dependency", "control_dependency_1"]
    devices = [device for _, device in gates]
    assert devices[2] == "" and {f"/device:{device.upper()}" for device in devices[3:]} == set(devices[:2])
