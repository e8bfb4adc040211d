"""Cheap values are computed where they are used, if what they are made of is in memory anyway."""
import numpy as np
import pytest

from jitgraph import compiler
from jitgraph.compiler import Options

SHAPE = (160, 200)


def kernels(tf, fetches, feeds, **fields):
    """For each kernel, its name and the bytes of the tensors that it writes."""
    program = compiler.compile(tf.get_default_graph(), fetches, [], dict.fromkeys(feeds, SHAPE), **fields)
    steps = [step[0] for step in program.layout.steps]
    return [(k.name, [str(b.dtype.name) for b, p in zip(k.buffers, k.params) if p.use != "in"]) for k in steps]


def drawn(seed=0):
    return np.random.RandomState(seed).standard_normal(SHAPE).astype(np.float32)


def test_the_mask_of_a_relu_belongs_to_its_gradient(tf, agree):
    x, w = tf.placeholder(tf.float32, SHAPE), tf.constant(drawn(1).T)
    y = tf.nn.relu(tf.matmul(x, w))
    gradient = tf.gradients(tf.square(tf.matmul(y, tf.constant(drawn(2).T[:160, :160]))), x)[0]
    found = kernels(tf, [gradient], [x])
    assert ("matmul_tiles_f32_max", ["float32"]) in found and any("gt_mul" in name for name, _ in found)
    off = kernels(tf, [gradient], [x], options=Options(off=frozenset({"late_values"})))
    assert ("matmul_tiles_f32_max_gt", ["float32", "float32"]) in off
    agree([gradient], {x: drawn()}, np.float32)


def test_a_part_of_the_chain_may_be_needed_in_both_kernels(tf, agree):
    """A mask of a product, of which sums are taken along both axes, which is two kernels."""
    x = tf.placeholder(tf.float32, SHAPE)
    product = tf.matmul(x, tf.constant(drawn(1)), transpose_b=True)
    mask = tf.cast(product > 0.5, tf.float32)
    fetches = [tf.reduce_sum(mask * product, 0), tf.reduce_sum(mask + product, 1)]
    assert [writes for _, writes in kernels(tf, fetches, [x])] == [["float32"]] * 3
    agree(fetches, {x: drawn()}, np.float32)


def test_a_mask_of_one_byte_is_written(tf, agree):
    """Reading it again takes a quarter of what reading the numbers that it came from takes."""
    x, other = tf.placeholder(tf.float32, SHAPE), tf.placeholder(tf.bool, SHAPE)
    mask = tf.less(x, 0.0)
    square = tf.matmul(tf.tanh(x), tf.tanh(x), transpose_b=True)
    fetches = [square, tf.logical_and(mask, tf.logical_xor(other, square[0, 0] > 0))]
    agree(fetches, {x: drawn(), other: drawn(1) > 0}, np.float32)


def test_a_value_that_is_fetched_stays(tf, agree):
    x = tf.placeholder(tf.float32, SHAPE)
    y = tf.nn.relu(x)
    mask = tf.cast(y > 0, tf.float32)
    fetches = [mask, tf.matmul(y, y, transpose_b=True), tf.reduce_sum(mask * y[::-1], 0)]
    agree(fetches, {x: drawn()}, np.float32)


@pytest.mark.parametrize("jit", ["always", "off"])
def test_a_variable_is_read_before_it_changes(tf, jit):
    """`v + 1` may not wait for its user, which runs after `v` has another value."""
    v = tf.Variable(drawn(), use_resource=True)
    later = v.read_value() + 1.0
    with tf.control_dependencies([later]):
        changed = v.assign(tf.zeros(SHAPE))
    with tf.control_dependencies([changed]):
        result = tf.reduce_sum(later * tf.matmul(tf.ones([160, 160]), tf.ones(SHAPE)))
    with tf.Session(jit=jit) as session:
        session.run(v.initializer)
        np.testing.assert_allclose(session.run(result), (drawn() + 1.0).sum(dtype=np.float64) * 160, rtol=1e-4)
        assert not session.run(v).any()


def test_a_large_value_is_computed_in_both_kernels(tf):
    """A sum along the columns, and its addend used with the sum: neither kernel writes the addend for the other."""
    shape = (2048, 1024)
    x, y = (tf.placeholder(tf.float32, shape) for _ in range(2))
    addend = x * 2.0 + y * 3.0
    result = addend - tf.reduce_sum(addend, 0)
    temporaries = {}
    for off in ((), ("late_values",)):
        program = compiler.compile(tf.get_default_graph(), [result], [], {x: shape, y: shape}, options=Options(off=frozenset(off)))
        temporaries[off] = {s.shape for s in program.layout.slots if s.kind == "temp"}
    assert shape in temporaries["late_values",] and shape not in temporaries[()]
    feeds = {t: np.random.RandomState(k).standard_normal(shape).astype(np.float32) for k, t in enumerate((x, y))}
    with tf.Session(jit="always") as session:
        whole = feeds[x].astype(np.float64) * 2 + feeds[y] * 3.0
        np.testing.assert_allclose(session.run(result, feeds), whole - whole.sum(0), rtol=1e-4, atol=1e-3)


def test_truth_values_are_kept_and_not_their_numbers(tf):
    """The mask of a ReLU whose result only a frame of zeros holds, and whose bias may have changed: a byte of each element."""
    h = x = tf.placeholder(tf.float32, [4, 64, 64, 16])
    for k in range(3):
        filters = tf.get_variable(f"w{k}", [3, 3, 16, 16])
        h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, filters, 1, "SAME"), tf.get_variable(f"b{k}", [16])))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(h)))
    masks = {}
    for off in ((), ("late_values",)):
        program = compiler.compile(tf.get_default_graph(), [], [train], {x: x.shape.as_list()}, options=Options(off=frozenset(off)))
        masks[off] = sorted(s.dtype.name for s in program.layout.slots if s.kind == "temp" and "ReluGrad" in s.value.node.op.name
                            and s.value.node.kind.name == "cast" or s.kind == "temp" and s.dtype == tf.bool)
    assert masks == {(): ["bool", "bool"], ("late_values",): ["float32", "float32"]}
    feeds = {x: np.random.RandomState(0).standard_normal(x.shape.as_list()).astype(np.float32)}
    agree_with_the_reference(tf, [train, tf.trainable_variables()], feeds)


@pytest.mark.parametrize("shape", [(192, 257, 2), (257, 192), (70, 3, 300)])
def test_a_reduction_that_stands_first_and_does_not_use_the_value(tf, agree, shape):
    x = tf.placeholder(tf.float32, [None] * len(shape))
    fetches = [tf.reduce_logsumexp(tf.abs(x), 1), *tf.nn.moments(tf.square(x), [1])]
    agree(fetches, {x: np.random.RandomState(0).standard_normal(shape).astype(np.float32)}, np.float32)


def test_one_costly_value_is_kept_for_several_cheap_ones(tf):
    """GELU's gradient needs 1 + tanh and 1 - tanh**2, a long time later: the hyperbolic tangent itself is kept, once."""
    x = tf.placeholder(tf.float32, [512, 256])
    w = tf.get_variable("w", [256, 256])
    h = tf.matmul(x, w)
    y = 0.5 * h * (1 + tf.tanh(h + 0.04 * h * h * h))
    loss = tf.reduce_sum(tf.square(tf.matmul(y, w)))
    gradient, = tf.gradients(loss, [w])
    kept = {}
    for off in ((), ("late_values",)):
        program = compiler.compile(tf.get_default_graph(), [gradient], [], {x: (512, 256)}, options=Options(off=frozenset(off)))
        kept[off] = sum("Tanh" in s.value.node.op.name or "add" in s.value.node.op.name
                        for s in program.layout.slots if s.kind == "temp" and s.value.node.op is not None and s.last > s.first + 1)
    assert kept[()] == 1 < kept["late_values",]
    agree_with_the_reference(tf, [gradient], {x: np.random.RandomState(0).standard_normal((512, 256)).astype(np.float32)})


# of h: (the function, how many arrays of its size its gradient reads beside that of what it gives, how many if none is made again)
ACTIVATIONS = {
    "gelu": (lambda tf, h: 0.5 * h * (1.0 + tf.erf(h * 0.70710678)), 1, 3),
    "swish": (lambda tf, h: h * tf.sigmoid(h), 1, 2),
    "mish": (lambda tf, h: h * tf.tanh(tf.nn.softplus(h)), 2, 3),
    "tanh": (lambda tf, h: tf.tanh(h), 1, 1),          # what it gives is kept in any case
    "logarithm of a sum": (lambda tf, h: tf.log(1.5 + tf.square(tf.sin(h))), 1, 3)}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("rows, again", [(4300, True), (512, False)])
def test_functions_of_a_large_value_are_computed_again(tf, name, rows, again):
    """What no cache holds takes longer to write and to read than a few functions of it take to compute; the bits are the same."""
    function, few, many = ACTIVATIONS[name]
    x, w = tf.placeholder(tf.float32, [rows, 64]), tf.get_variable("w", [64, 256])
    y = function(tf, tf.nn.bias_add(tf.matmul(x, w), tf.get_variable("b", [256])))
    loss = tf.reduce_mean(tf.square(tf.matmul(y, tf.get_variable("v", [256, 64]))))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    kept, found = {}, {}
    for off in ("", "rematerialization"):
        options = Options(off=frozenset([off] if off else []))
        program = compiler.compile(tf.get_default_graph(), [], [train], {x: x.shape.as_list()}, options=options)
        gradient = next(step[0] for step in program.layout.steps if step[0].name.startswith("cols_"))
        kept[off] = sum(b.shape[-1] == 256 and b.rank == 2 for b, p in zip(gradient.buffers, gradient.params) if p.use == "in") - 1
    assert kept["rematerialization"] == many
    assert kept[""] == (few if again else many)
    feeds = {x: np.random.RandomState(0).standard_normal((rows, 64)).astype(np.float32)}
    for off in ("", "rematerialization"):
        with pytest.MonkeyPatch.context() as patch, tf.Session(jit="always") as session:
            patch.setenv("JITGRAPH_WITHOUT", off)
            tf.set_random_seed(1)
            session.run([v.assign(tf.sin(tf.cast(tf.reshape(tf.range(v.shape.num_elements()), v.shape), tf.float32)))
                         for v in tf.trainable_variables()])
            session.run(train, feeds)
            found[off] = session.run(tf.trainable_variables())
    for one, other in zip(found[""], found["rematerialization"]):
        np.testing.assert_array_equal(one, other)


def test_functions_of_a_view_of_a_large_value_are_computed_again(tf):
    """Rows of words, to which a bias is added, become sentences of words again before the GELU."""
    x, w = tf.placeholder(tf.float32, [4096, 64]), tf.get_variable("w", [64, 512])
    h = tf.reshape(tf.nn.bias_add(tf.matmul(x, w), tf.get_variable("b", [512])), [32, 128, 512])
    y = 0.5 * h * (1.0 + tf.tanh(0.8 * (h + 0.04 * tf.pow(h, 3.0))))
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.reshape(y, [4096, 512]), tf.get_variable("v", [512, 64]))))
    train, kept = tf.train.GradientDescentOptimizer(0.1).minimize(loss), {}
    for off in ((), ("rematerialization",)):
        program = compiler.compile(tf.get_default_graph(), [], [train], {x: (4096, 64)}, options=Options(off=frozenset(off)))
        kept[off] = [s.value.node.op.type for s in program.layout.slots if s.kind == "temp" and s.shape[-1] == 512
                     and len(s.shape) > 1 and not s.value.node.op.name.startswith("gradients")]
    assert kept == {(): ["BiasAdd", "Mul"], ("rematerialization",): ["BiasAdd", "Tanh", "Mul"]}
    agree_with_the_reference(tf, [train, tf.trainable_variables()],
                             {x: np.random.RandomState(0).standard_normal((4096, 64)).astype(np.float32)})


def agree_with_the_reference(tf, steps, feeds):
    """Runs the steps one after the other, compiled and not; what the last one gives is the same."""
    found = []
    for jit in ("always", "off"):
        with tf.Session(jit=jit) as session:
            session.run([v.assign(np.cos(np.arange(v.shape.num_elements())).reshape(v.shape.as_list()) / 9)
                         for v in tf.trainable_variables()])
            found.append([session.run(step, feeds) for step in steps][-1])
    for a, b in zip(*(map(np.atleast_1d, values) for values in found)):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4 * np.abs(b).max())
