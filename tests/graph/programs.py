"""Small programs whose graphs are compared, node by node, with those that TensorFlow 1.15.5 builds for them.

Each function takes the API module and builds into the default graph.  The expected nodes are in data/tf115_graphs.json;
``python tests/graph/programs.py > tests/graph/data/tf115_graphs.json`` under TensorFlow 1.15 writes them anew.
"""
import json
import re


def operators(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.placeholder(tf.float32, [2, 3], name="y")
    x + y, x + 1, 1 + x, x - 2.0, 2.0 - x, x * y, 3 * x, x / y, x / 2, 1 / x, x // 2, 2 // x, x % 2, x ** 2, 2 ** x
    -x, abs(x), x < y, x <= 1, x > y, x >= 0.5, x @ tf.transpose(y)
    b = x > 0
    b & b, b | b, b ^ b, ~b


def integer_division(tf):
    i = tf.constant([7, -7], name="i")
    i / 2, i // 2, i % 3, 7 / i
    tf.div(i, 2)
    tf.truediv(i, 2, name="t")


def slices(tf):
    x = tf.placeholder(tf.float32, [4, 5, 6], name="x")
    i = tf.placeholder(tf.int32, [], name="i")
    x[0], x[-1], x[1:3], x[..., 0], x[:, None, 2], x[::2, ::-1], x[i], x[:i], x[i:i + 2, tf.newaxis]


def constants(tf):
    import numpy as np
    tf.constant(1)
    tf.constant([1.0, 2.0], name="c")
    tf.constant(0.5, shape=[2, 3])
    tf.constant("text"), tf.constant([b"a", "b"]), tf.constant(True), tf.constant([True, False])
    tf.constant(1 + 2j), tf.constant(np.float64(1)), tf.constant(np.arange(3)), tf.constant(2 ** 40)
    tf.constant([], name="empty"), tf.constant(np.zeros([0, 3], np.int32))
    tf.constant([1, 2, 3], tf.uint8), tf.constant(1.5, tf.float16), tf.constant([[1.0]], tf.float64)


def packing(tf):
    a = tf.constant(2)
    tf.convert_to_tensor([1, a])
    tf.convert_to_tensor([[a, 1], [2, a]])
    tf.reshape(tf.zeros([4]), [a, -1])


def variables(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(lambda: tf.zeros([2]), name="w", trainable=False)
    v + w
    v[0]
    tf.assign(v, [3.0, 4.0])
    v.assign_add(w)
    v.assign_sub([1.0, 1.0])
    tf.assign_add(w, v, name="more")
    v.read_value()
    tf.identity(v)
    tf.scatter_update(v, [0], [1.0])
    tf.scatter_add(v, [0], [1.0])
    v[1].assign(7.0)
    tf.Variable(3).count_up_to(5)
    tf.is_variable_initialized(v)
    tf.global_variables_initializer()
    tf.variables_initializer([w], name="only_w")


def got_variables(tf):
    tf.get_variable("a", [3, 4])
    tf.get_variable("b", initializer=[1.0, 2.0])
    tf.get_variable("i", [2], tf.int32)
    with tf.variable_scope("s"):
        tf.get_variable("c", [2], initializer=tf.constant_initializer(4.5))
        tf.get_variable("d", [2, 2], initializer=tf.zeros_initializer)
        with tf.variable_scope("t"):
            tf.get_variable("e", [3], initializer=tf.truncated_normal_initializer(stddev=2.0, seed=3))
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("c", [2])
        tf.constant(1, name="k")
    with tf.variable_scope("r", regularizer=lambda v: tf.reduce_sum(v * 2.0)):
        tf.get_variable("f", [2], initializer=tf.random_normal_initializer(seed=1))


def resource_variables(tf):
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    w = tf.get_variable("w", [3, 2], use_resource=True, initializer=tf.zeros_initializer())
    v + 1
    v[0]
    v.assign([2.0, 3.0])
    v.assign_add([1.0, 1.0])
    tf.assign(v, [1.0, 2.0])
    v.read_value()
    tf.scatter_update(v, [0], [1.0])
    v.scatter_nd_update([[0]], [1.0])
    v[0].assign(3.0)
    tf.identity(v)
    v.sparse_read([1])
    tf.is_variable_initialized(v)
    tf.matmul(w, w, transpose_b=True)
    tf.global_variables_initializer()


def partitioned_variables(tf):
    tf.get_variable("e", [10, 4], partitioner=tf.fixed_size_partitioner(3))
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2, axis=1)):
        w = tf.get_variable("w", [3, 5], initializer=tf.zeros_initializer())
    tf.convert_to_tensor(w)


def initializers(tf):
    tf.get_variable("u", [30, 20], initializer=tf.random_uniform_initializer(-1, 1, seed=5))
    tf.get_variable("g", [3, 3, 8, 16], initializer=tf.glorot_normal_initializer(seed=5))
    tf.get_variable("h", [8, 16], initializer=tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=7))
    tf.get_variable("o", [4], initializer=tf.ones_initializer())
    tf.get_variable("n", [4], tf.float64, initializer=tf.random_normal_initializer(1.0, 2.0))
    tf.get_variable("s", [4, 5], initializer=tf.uniform_unit_scaling_initializer(1.5, seed=2))


def seeds(tf):
    tf.set_random_seed(1234)
    tf.random_uniform([2])
    tf.random_normal([2], seed=7)
    tf.truncated_normal([2])
    tf.get_variable("w", [2, 3])
    tf.random_uniform([3], maxval=10, dtype=tf.int32)
    tf.random_shuffle([1, 2, 3])


def name_scopes(tf):
    with tf.name_scope("a") as scope:
        tf.constant(1, name="k")
        with tf.name_scope("b"):
            tf.constant(1)
        with tf.name_scope("b"):
            tf.constant(1)
        with tf.name_scope(None):
            tf.constant(1, name="root")
    with tf.name_scope(scope):
        tf.constant(1, name="k")
    with tf.name_scope("A"):
        tf.constant(1, name="K")
    with tf.name_scope(None, "default", [tf.constant(2)]):
        tf.constant(3)
    tf.constant(1, name="a/k")


def variable_scopes(tf):
    with tf.variable_scope("s") as scope:
        tf.get_variable("v", [1])
        with tf.name_scope("n"):
            tf.get_variable("w", [1])
            tf.constant(1)
            with tf.variable_scope("i"):
                tf.get_variable("x", [1])
                tf.constant(1)
    with tf.variable_scope("s"):
        tf.constant(1)
    with tf.variable_scope(scope, reuse=True):
        tf.constant(1)
    with tf.variable_scope("o"):
        with tf.variable_scope(scope):
            tf.constant(1)
            tf.get_variable("y", [1])
        with tf.variable_scope(scope, auxiliary_name_scope=False):
            tf.constant(1)
    for _ in range(3):
        with tf.variable_scope(None, "d"):
            tf.get_variable("z", [1])
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        tf.constant(1)
        tf.get_variable("top", [1])


def templates(tf):
    def scale(x):
        return x * tf.get_variable("k", [], initializer=tf.constant_initializer(3.0))

    t = tf.make_template("scaler", scale)
    t(tf.constant(1.0))
    t(tf.constant(2.0))
    tf.make_template("scaler", scale)(tf.constant(3.0))
    tf.make_template("now", scale, create_scope_now_=True)(tf.constant(3.0))


def custom_getters(tf):
    def outer(getter, name, *args, **kwargs):
        return tf.identity(getter(name, *args, **kwargs), name="outer")

    def inner(getter, name, *args, **kwargs):
        return getter(name + "_inner", *args, **kwargs) * 2.0

    with tf.variable_scope("s", custom_getter=outer):
        tf.get_variable("v", [1])
        with tf.variable_scope("t", custom_getter=inner):
            tf.get_variable("w", [1])


def control_dependencies(tf):
    a, b, c = (tf.constant(float(i)) for i in range(3))
    with tf.control_dependencies([a, b]):
        d = tf.identity(a)
        with tf.control_dependencies([c.op]):
            tf.no_op()
            tf.identity(d)
        with tf.control_dependencies(None):
            tf.no_op(name="free")
    tf.group(a, [b, c], name="all")
    tf.group()
    tf.tuple([a, b, None])
    v = tf.Variable(1.0)
    with tf.control_dependencies([v]):
        tf.constant(2.0)


def devices(tf):
    with tf.device("/gpu:0"):
        a = tf.constant(1.0, name="a")
        with tf.device("/job:worker/task:1"):
            tf.constant(1.0, name="b")
        with tf.device(None):
            tf.constant(1.0, name="c")
    with tf.device(tf.DeviceSpec(device_type="GPU", device_index=1)):
        d = tf.constant(2.0, name="d")
        tf.get_variable("v", [1], initializer=tf.zeros_initializer())
        with tf.device(lambda op: "/cpu:0" if op.type == "Const" else ""):
            tf.constant(1.0, name="e")
            tf.identity(a, name="f")
    with tf.device("/gpu:3"), tf.colocate_with(a):
        tf.constant(1.0, name="g")
    tf.group(a, d, name="both")
    tf.tuple([a, d])


def colocation(tf):
    a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        b = tf.constant(1.0, name="b")
        with tf.colocate_with(tf.constant(1.0, name="c")):
            tf.identity(b)
        with tf.colocate_with(b, ignore_existing=True):
            tf.constant(2.0, name="d")


def containers(tf):
    with tf.container("experiment"):
        tf.Variable(1.0)


def reductions(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_max(x, [0, 1], keepdims=True)
    tf.argmax(x, 1)
    tf.shape(x)
    tf.zeros_like(x), tf.ones([2, 3]), tf.zeros([2000])
    tf.cast(x, tf.int32)
    tf.concat([x, x], 0), tf.stack([x, x]), tf.split(x, 3, 1)


def scopes_entered_again(tf):
    with tf.variable_scope("a") as a:
        with tf.variable_scope("b") as b:
            tf.get_variable("x", [2])
    with tf.variable_scope(b):
        tf.no_op()
        tf.get_variable("y", [2])
        with tf.variable_scope("c"):
            tf.no_op()
        with tf.variable_scope(a):
            tf.no_op()
    with tf.variable_scope("z"):
        with tf.variable_scope(b):
            tf.get_variable("q", [2])
        with tf.name_scope(b.original_name_scope):
            tf.no_op()
    with tf.name_scope("n"):
        with tf.variable_scope(b, auxiliary_name_scope=False) as plain:
            tf.get_variable("r", [2])
            with tf.name_scope(plain.original_name_scope):
                tf.no_op()
        with tf.variable_scope("w", auxiliary_name_scope=False):
            tf.get_variable("r", [2])
    with tf.variable_scope("root", auxiliary_name_scope=False) as root:
        with tf.name_scope(root.original_name_scope):
            tf.no_op()
    with tf.variable_scope(a, reuse=tf.AUTO_REUSE):
        tf.get_variable("b/x", [2])
        tf.get_variable("new", [2])


def default_names(tf):
    for _ in range(2):
        with tf.variable_scope(None, "foo"):
            tf.get_variable("v", [1])
            tf.no_op()
    with tf.variable_scope("foo"):
        tf.no_op()
    with tf.variable_scope("out"):
        for _ in range(2):
            with tf.variable_scope(None, "foo"):
                tf.no_op()
    with tf.variable_scope("out"), tf.variable_scope(None, "foo"), tf.name_scope("s"):
        tf.get_variable("v", [1])
    with tf.name_scope("ns"), tf.variable_scope(None, "foo"):
        tf.get_variable("v", [1])


def created_in_parts(tf):
    import numpy as np
    tf.create_partitioned_variables([4, 6], [1, 3], tf.ones_initializer(), name="P")
    tf.create_partitioned_variables([4, 6], [2, 1], np.arange(24.0, dtype=np.float32).reshape(4, 6))
    tf.create_partitioned_variables([4], [2], tf.random_normal([4], seed=3), trainable=False, collections=["k"])


def scope_defaults(tf):
    with tf.variable_scope("a", initializer=tf.constant_initializer(3.0), regularizer=tf.reduce_sum,
                           caching_device="/cpu:0", dtype=tf.float64, use_resource=True):
        tf.get_variable("v", [2])
        with tf.variable_scope("b", dtype=tf.float32, use_resource=False, initializer=tf.ones_initializer(),
                               regularizer=tf.no_regularizer):
            tf.get_variable("w", [2])
            tf.get_variable("x", [2], dtype=tf.int32)


def reductions_of_what_is_not_a_tensor(tf):
    import numpy as np
    v = tf.Variable([[1.0, 2.0]], name="v")
    r = tf.Variable([[1.0, 2.0]], name="r", use_resource=True)
    tf.reduce_sum(v), tf.reduce_mean(r), tf.reduce_max(v, 1), tf.reduce_mean(np.ones(3, np.float32))
    tf.reduce_any([True])


def uninitialized(tf):
    a = tf.Variable(1.0, name="a")
    tf.get_local_variable("b", [2], use_resource=True)
    tf.report_uninitialized_variables()
    tf.report_uninitialized_variables([a], name="some")
    tf.report_uninitialized_variables([])
    tf.assert_variables_initialized([a])
    tf.is_variable_initialized(a)


def session_tensors(tf):
    tf.get_session_handle(tf.constant(1.0))
    handle = "GetSessionHandle;0;/job:localhost/replica:0/task:0/device:CPU:0"
    tf.get_session_tensor(handle, tf.float32)
    tf.delete_session_tensor(handle, name="forget")


PROGRAMS = [operators, integer_division, slices, constants, packing, variables, got_variables, resource_variables,
            partitioned_variables, initializers, seeds, name_scopes,
            variable_scopes, templates, custom_getters, control_dependencies, devices, colocation, containers,
            reductions, scopes_entered_again, default_names, created_in_parts, scope_defaults,
            reductions_of_what_is_not_a_tensor, uninitialized, session_tensors]


def _text(attr):
    """An attribute as one line of text; numbers to six digits, as the two libraries print them differently."""
    return re.sub(r"(\w+_val: |f: )(-?\d[^ ]*)", lambda m: f"{m[1]}{float(m[2]):.6g}", " ".join(str(attr).split()))


def nodes_of(tf, program):
    """The nodes of a program: [name, op, inputs, device, {attribute: text}]."""
    with tf.Graph().as_default() as graph:
        program(tf)
        nodes = []
        for node in graph.as_graph_def().node:
            attrs = {key: _text(node.attr[key]) for key in sorted(node.attr)}
            nodes.append([node.name, node.op, list(node.input), node.device, attrs])
        return nodes


if __name__ == "__main__":
    import tensorflow

    print(json.dumps({p.__name__: nodes_of(tensorflow, p) for p in PROGRAMS}, indent=0, sort_keys=True))
