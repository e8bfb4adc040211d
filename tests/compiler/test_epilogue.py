"""Elementwise work on a product or a convolution is done by the kernel that makes it."""

import functools

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, Options, compile
from jitgraph.compiler.emit import cuda_compile, cuda_products
from jitgraph.compiler.place import DeviceStep

from .assembled import compile_kernel

RNG = np.random.RandomState(0)


def given(tf, *shapes):
    """Placeholders, and what to feed them."""
    placeholders = [tf.placeholder(tf.float32, shape) for shape in shapes]
    values = [RNG.standard_normal([d or 3 for d in shape]).astype(np.float32) for shape in shapes]
    return placeholders, dict(zip(placeholders, values))


def dense(tf, columns):
    (x, w, bias, other, rate), feeds = given(tf, (None, 8), (8, columns), (columns,), (None, columns), ())
    y = tf.nn.relu(tf.matmul(x, w) + bias)
    return [y + other * rate, tf.cast(y > 0.5, tf.float32) * 2.0, y > 1.0], feeds


def masked_gradient(tf):
    (x, w, mask), feeds = given(tf, (None, 8), (8, 12), (None, 8))
    return [tf.gradients(tf.square(tf.matmul(x, w)), x)[0] * tf.cast(mask > 0, tf.float32)], feeds


def batches(tf):
    (x, y), feeds = given(tf, (2, 3, 5), (2, 5, 6))
    return [tf.tanh(tf.matmul(x, y) * 0.5)], feeds


def two_products(tf):
    """One of them is written, and read by the other's kernel."""
    (x, w, y, v), feeds = given(tf, (3, 8), (8, 12), (3, 6), (6, 12))
    return [tf.nn.relu(tf.matmul(x, w) + tf.matmul(y, v))], feeds


def convolution(tf, step):
    (x, w, bias), feeds = given(tf, (2, 5, 6, 4), (3, 3, 4, 8), (8,))
    y = tf.nn.conv2d(x, w, [1, step, step, 1], "SAME")
    gradient = tf.gradients(tf.nn.conv2d(x * 2.0, w, [1, step, step, 1], "SAME"), [x])[0]
    return [tf.nn.relu6(tf.nn.bias_add(y, bias)), tf.nn.elu(gradient)], feeds


def framed(tf, channels, step, batch=None):
    """Results that the next convolution finds with zeros around them; the last is masked by them in a gradient."""
    (x, w, bias, v), feeds = given(tf, (batch, 5, 6, 4), (3, 3, 4, channels), (channels,), (3, 3, channels, 5))
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, step, step, 1], "SAME"), bias))
    point = tf.nn.elu(tf.nn.conv2d(x, w[:1, :1], [1, 1, 1, 1], "SAME"))
    return [tf.nn.conv2d(y, v, [1, 1, 1, 1], "SAME"), tf.nn.conv2d(point, v, [1, 1, 1, 1], "SAME"), y], feeds


JOINED = {"four columns at once": (lambda tf: dense(tf, 12), 1), "columns one by one": (lambda tf: dense(tf, 7), 1),
          "the mask of a gradient": (masked_gradient, 2), "batches": (batches, 1), "two products": (two_products, 2),
          "convolution": (lambda tf: convolution(tf, 1), 2), "convolution in steps": (lambda tf: convolution(tf, 2), 2),
          "into a frame": (lambda tf: framed(tf, 8, 1, 2), 4), "into a frame, one by one": (lambda tf: framed(tf, 3, 2), 4)}


@pytest.mark.parametrize("name", JOINED)
def test_what_is_done_with_a_product_joins_its_kernel(tf, on_the_grid, name):
    build, products = JOINED[name]
    fetches, feeds = build(tf)
    kernels = [kernel for kernel in on_the_grid(fetches, feeds) if kernel.kind in ("matmul", "conv", "conv_input")]
    assert len(kernels) >= products and any(len(kernel.nodes) > 1 for kernel in kernels)


def kernels(tf, fetches, feeds, **options):
    tensors = [one for one in fetches if isinstance(one, tf.Tensor)]
    program = compile(tf.get_default_graph(), tensors, [one for one in fetches if one not in tensors],
                      {fed: value.shape for fed, value in feeds.items()}, target=TARGETS["cuda"], options=Options(**options))
    return [step.kernel.kind for step in program.layout.steps if isinstance(step, DeviceStep)]


def test_a_layer_of_a_network_is_one_launch(tf):
    fetches, feeds = dense(tf, 12)
    assert kernels(tf, fetches, feeds) == ["matmul"]
    assert kernels(tf, fetches, feeds, off=frozenset(["epilogues"])) == ["matmul", "map"]
    fetches, feeds = convolution(tf, 1)
    assert kernels(tf, fetches[:1], feeds)[-1] == "conv"        # after what puts zeros around the images


def test_a_layer_before_a_padded_convolution_is_one_launch(tf):
    """Its results go right into the frame that the next one reads; the same where their number is known to the run alone."""
    for channels, batch in ((8, 2), (8, None), (3, 2)):
        fetches, feeds = framed(tf, channels, 1, batch)
        assert "map" not in kernels(tf, fetches[:2], feeds)[2:]
        assert "map" in kernels(tf, fetches[:2], feeds, off=frozenset(["epilogues"]))[2:]


@pytest.mark.parametrize("use", [
    lambda tf, y, others: [y, tf.nn.relu(y)],                           # is wanted itself
    lambda tf, y, others: [tf.nn.softmax(y)],                           # sums along its rows
    lambda tf, y, others: [tf.transpose(y) + 1.0],                      # stored across
    lambda tf, y, others: [y + tf.transpose(others[0])],                # another tensor is read across
    lambda tf, y, others: [y * others[1]],                              # and one has a number for each row
    lambda tf, y, others: [tf.gather(others[2], tf.cast(y, tf.int32))]])        # may fail
def test_other_uses_have_kernels_of_their_own(tf, use):
    (x, w, *others), feeds = given(tf, (3, 8), (8, 12), (12, 3), (3, 1), (9,))
    assert kernels(tf, use(tf, tf.matmul(x, w), others), feeds)[0] == "matmul"
    assert len(kernels(tf, use(tf, tf.matmul(x, w), others), feeds)) > 1


def test_a_factor_is_read_before_it_changes(tf, monkeypatch):
    """What joins a product is computed where its user stands: not behind the update of a variable that the product reads."""
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    v = tf.Variable(tf.eye(4))
    x = tf.placeholder(tf.float32, [4, 4])
    product = tf.matmul(x, v)
    with tf.control_dependencies([product]):
        changed = tf.assign(v, x * 3.0)
    with tf.control_dependencies([changed]):
        later = v.read_value()
    value = RNG.standard_normal((4, 4)).astype(np.float32)
    with tf.Session(jit="always") as session:
        for _ in range(2):
            session.run(v.initializer)
            assert session.run(product + later, {x: value}) == pytest.approx(value * 4, abs=1e-5)


def trained(tf, dtype, momentum=False):
    """A layer, a step of training that changes its weights, and an assignment of what it gives."""
    x, w = tf.placeholder(dtype, [8, 12]), tf.Variable(tf.ones([12, 16], dtype) * 0.5)
    kept = tf.Variable(tf.zeros([8, 16], dtype))
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
    optimizer = tf.train.MomentumOptimizer(0.01, 0.9) if momentum else tf.train.GradientDescentOptimizer(0.01)
    return x, w, kept, optimizer.minimize(loss), tf.assign(kept, tf.nn.relu(tf.matmul(x, w)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("momentum", [False, True], ids=["descent", "momentum"])
def test_what_changes_variables_joins_a_product(tf, monkeypatch, dtype, momentum):
    """An optimizer's update is done where the gradient is made: it is not written."""
    x, w, kept, step, assigned = trained(tf, dtype, momentum)
    value = RNG.standard_normal((8, 12)).astype(x.dtype.as_numpy_dtype)
    assert kernels(tf, [assigned.op], {x: value}) == ["matmul"]
    assert kernels(tf, [step], {x: value}) == ["matmul", "matmul"]
    found = []
    for target in ("cpu", "cuda-simulator"):
        monkeypatch.setenv("JITGRAPH_TARGET", target)
        with tf.Session(jit="always") as session:
            session.run(tf.global_variables_initializer())
            for _ in range(2):
                session.run(step, {x: value})
            session.run(assigned.op, {x: value})
            found.append([array.astype(np.float32) for array in session.run([w, kept])])
    bound = 1e-5 if dtype == "float32" else 0.05
    for wanted, got in zip(*found):
        np.testing.assert_allclose(got, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("use", [
    lambda tf, v, y: tf.assign(v, tf.nn.relu(y)),                       # the product reads what other blocks have changed
    lambda tf, v, y: tf.assign_sub(v, y * 0.1)])
def test_a_factor_that_changes_is_read_first(tf, monkeypatch, use):
    v = tf.Variable(np.ones([12, 12], np.float32))
    x, (value,) = tf.placeholder(tf.float32, [12, 12]), [RNG.standard_normal((12, 12)).astype(np.float32)]
    changed = use(tf, v, tf.matmul(x, v))
    assert kernels(tf, [changed.op], {x: value}) == ["matmul", "map"]
    transposed = use(tf, v, tf.matmul(tf.transpose(v), x))
    assert kernels(tf, [transposed.op], {x: value})[-1] == "map"


def test_a_failed_run_leaves_variables_that_a_product_changes(tf, monkeypatch):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, i, v = tf.placeholder(tf.float32, [8, 8]), tf.placeholder(tf.int32, [3]), tf.Variable(np.zeros([8, 8], np.float32))
    fails, changed = tf.gather(x + 1.0, i), tf.assign(v, tf.matmul(x, x) * 2.0)
    feeds = {x: np.ones([8, 8], np.float32), i: np.array([1, 9, 2], np.int32)}
    assert "matmul" in kernels(tf, [fails, changed.op], feeds) and "map" not in kernels(tf, [changed.op], feeds)
    with tf.Session(jit="always") as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run([fails, changed.op], feeds)
        assert not session.run(v).any()
        session.run([fails, changed.op], {**feeds, i: [1, 2, 3]})
        np.testing.assert_array_equal(session.run(v), np.full([8, 8], 16.0, np.float32))


def test_a_product_on_the_host_that_changes_a_variable_may_be_left_halfway(tf):
    """So it is written apart, and the variable is changed by what runs to its end."""
    x, _, _, _, assigned = trained(tf, "float32")
    layout = compile(tf.get_default_graph(), [], [assigned.op], {x: (8, 12)}).layout
    assert [step[0].joins for step in layout.steps] == [None, None]


# -- on the host: after each item of the product, while that is in the cache -------------------------------------------------

def product(m, k, n, **how):
    def build(tf, dtype):
        x, w = (tf.placeholder(dtype, shape) for shape in ((None, m, k) if how.pop("batch", False) else (m, k), (k, n)))
        return tf.matmul(x, w) if len(x.shape) == 2 else tf.matmul(x, tf.tile(w[None], [tf.shape(x)[0], 1, 1]))

    return build


def images(name, size, channels, filters, taps=3, step=1, count=None):
    def build(tf, dtype):
        x, w = tf.placeholder(dtype, [count, size, size, channels]), tf.placeholder(dtype, [taps, taps, channels, filters])
        steps = [1, step, step, 1]
        if name == "depthwise":
            return tf.nn.depthwise_conv2d(x, w, steps, "SAME")
        if name == "input":
            wide = tf.placeholder(dtype, [2, size * step, size * step, filters])
            return tf.gradients(tf.nn.conv2d(wide, tf.transpose(w, [0, 1, 3, 2]), steps, "SAME"), wide, grad_ys=x)[0]
        return tf.nn.conv2d(x, w, steps, "SAME")

    return build


MADE = {
    "tiles": (product(250, 40, 300), "matmul_tiles"),
    "tiles of batches": (product(40, 33, 35, batch=True), "matmul_tiles"),
    "few rows": (product(3, 40, 70), "matmul_tiles"),
    "BLAS": (product(130, 6, 20), "matmul_"),
    "convolution": (images("forward", 7, 8, 24), "convolve_"),
    "filter in blocks": (images("forward", 12, 130, 160), "convolve_"),
    "in steps": (images("forward", 12, 5, 34, step=2), "convolve_"),
    "winograd": (images("forward", 16, 32, 32), "winograd_"),
    "input": (images("input", 9, 8, 24), "convolve_input"),
    "input, in steps": (images("input", 5, 8, 24, step=2), "convolve_input"),
    "input, in steps longer than the filter": (images("input", 5, 8, 160, taps=2, step=3), ""),
    "depthwise": (images("depthwise", 9, 6, 2), "depthwise"),
}


def uses(tf, y):
    """What networks do with a product, and what they seldom do."""
    columns, dtype = y.shape[-1].value, y.dtype
    bias, rate, flag = (tf.placeholder(kind, shape) for kind, shape in ((dtype, [columns]), (dtype, []), (tf.bool, [columns])))
    other = tf.placeholder(dtype, y.shape)
    across = tf.placeholder(dtype, [*y.shape[:-2], columns, y.shape[-2]])
    order = [*range(len(y.shape) - 2), len(y.shape) - 1, len(y.shape) - 2]
    return {"bias and relu": tf.nn.relu(y + bias), "number": y * rate, "residual": tf.nn.relu(y * bias + other),
            "mask": tf.where(tf.greater(other, 0.5), tf.tanh(y), tf.zeros_like(other)),
            "column of each row": y * tf.reduce_max(other, -1, keepdims=True),
            "across": y + tf.transpose(across, order), "truth": y * tf.cast(flag, dtype),
            "many operands": functools.reduce(lambda a, k: a * tf.placeholder(dtype, [columns], f"c{k}"), range(9), y) + bias,
            "two results": [tf.nn.relu(y - bias), tf.cast(y - bias > 0, tf.int32) * 3]}


def filled(tf, size=2):
    """Numbers for all placeholders of the graph."""
    found, random = {}, np.random.RandomState(1)
    for op in tf.get_default_graph().get_operations():
        if op.type == "Placeholder":
            (tensor,) = op.outputs
            shape = [size if d is None else d for d in tensor.shape.as_list()]
            found[tensor] = random.standard_normal(shape).astype(tensor.dtype.as_numpy_dtype)
    return found


def with_and_without(tf, monkeypatch, fetches, feeds):
    """What a run gives with epilogues and without, and the names of the kernels with."""
    found = []
    for off in ("", "epilogues"):
        monkeypatch.setenv("JITGRAPH_WITHOUT", off)
        with tf.Session(jit="always") as session:
            results = session.run(fetches, feeds)
            names = [kernel.name for plan in session.plans for made in plan.compiled for kernel, _ in made.kernels if kernel.joins]
        found.append((results, names))
    (joined, names), (apart, none) = found
    assert not none
    return joined, apart, names


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MADE)
def test_an_item_of_the_host_goes_on_with_its_part(tf, monkeypatch, name, dtype):
    build, kernel = MADE[name]
    y = build(tf, dtype)
    for use, fetches in uses(tf, y).items():
        joined, apart, names = with_and_without(tf, monkeypatch, fetches, filled(tf))
        for a, b in zip(*(one if isinstance(one, list) else [one] for one in (joined, apart))):
            np.testing.assert_array_equal(a, b, err_msg=use)
        if use in ("bias and relu", "number", "residual") and kernel:
            assert names and names[0].startswith(kernel), use


@pytest.mark.parametrize("size", [0, 1, 5])
def test_batches_of_any_size(tf, monkeypatch, size):
    y = images("forward", 9, 8, 16)(tf, "float32")
    joined, apart, names = with_and_without(tf, monkeypatch, tf.nn.relu(y + 1.0), filled(tf, size))
    np.testing.assert_array_equal(joined, apart)
    assert names == ["convolve_f32_add_max"] and joined.shape == (size, 9, 9, 16)


def test_products_share_a_kernel_whatever_is_done_with_them(tf):
    (x, w, v), feeds = given(tf, (50, 64), (64, 64), (64, 64))
    y = tf.tanh(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v) + 1.0)
    program = compile(tf.get_default_graph(), [y], feeds={fed: value.shape for fed, value in feeds.items()})
    first, second = [step[0] for step in program.layout.steps]
    assert first.source != second.source and first.joins[0].source == second.joins[0].source


@pytest.mark.parametrize("use", [
    lambda tf, y, others: [y, tf.nn.relu(y)],
    lambda tf, y, others: [tf.nn.softmax(y)],
    lambda tf, y, others: [tf.transpose(y) + 1.0],
    lambda tf, y, others: [tf.cast(y, tf.int32)],                       # which has no place for the product
    lambda tf, y, others: [tf.gather(others[2], tf.cast(y, tf.int32))]])
def test_other_uses_have_kernels_of_their_own_on_the_host(tf, use):
    (x, w, *others), feeds = given(tf, (40, 64), (64, 48), (48, 40), (40, 1), (9,))
    program = compile(tf.get_default_graph(), use(tf, tf.matmul(x, w), others), feeds={t: v.shape for t, v in feeds.items()})
    assert all(step[0].joins is None for step in program.layout.steps)


@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
@pytest.mark.parametrize("many", [1, 10**9], ids=["large tiles", "small tiles"])
def test_object_code(tf, monkeypatch, many):
    """Sums stay in registers, and what belongs to them moves by 16 bytes."""
    monkeypatch.setattr(cuda_products, "MANY", many)
    monkeypatch.setattr(cuda_products, "EMPTY", 1e9)
    fetches, feeds = dense(tf, 12)
    program = compile(tf.get_default_graph(), fetches[:1], feeds={fed: value.shape for fed, value in feeds.items()},
                      target=TARGETS["cuda"])
    (kernel,) = [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep)]
    assert kernel.name.startswith("product_128" if many == 1 else "product_64")
    check(kernel)


def check(kernel):
    for capability in ((8, 0), (9, 0)):
        made = compile_kernel(kernel, capability)
        assert made.spilled == made.stack == 0 and ".local" not in made.ptx and made.registers <= 128
        assert "st.global.v4.f32" in made.ptx and "st.global.f32" not in made.ptx
        assert "div.s64" not in made.ptx and "rem.s64" not in made.ptx


@pytest.mark.slow
@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
def test_object_code_of_updates(tf):
    x, _, _, step, _ = trained(tf, "float32", momentum=True)
    program = compile(tf.get_default_graph(), [], [step], {x: (8, 12)}, target=TARGETS["cuda"])
    kernel = [one.kernel for one in program.layout.steps if isinstance(one, DeviceStep)][-1]
    assert [param.use for param in kernel.params].count("inout") == 2
    check(kernel)


@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
def test_object_code_of_frames(tf):
    fetches, feeds = framed(tf, 8, 1)
    program = compile(tf.get_default_graph(), fetches[:1], feeds={fed: value.shape for fed, value in feeds.items()},
                      target=TARGETS["cuda"])
    joined = [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep) and "frame0" in step.kernel.source]
    assert len(joined) == 1
    check(joined[0])


@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
@pytest.mark.parametrize("size", [None, 5])
def test_object_code_of_frames_of_float64(tf, size):
    """Channels one by one, rows and columns that only a run tells: of all kernels those that need the most registers."""
    x, w = tf.placeholder(tf.float64, [None, size, size, 2]), tf.placeholder(tf.float64, [3, 3, 2, 3])
    v = tf.placeholder(tf.float64, [3, 3, 3, 2])
    y = tf.nn.conv2d(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), v, [1, 1, 1, 1], "SAME")
    feeds = {x: (2, 5, 5, 2), w: (3, 3, 2, 3), v: (3, 3, 3, 2)}
    program = compile(tf.get_default_graph(), [y], feeds=feeds, target=TARGETS["cuda"])
    (joined,) = [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep) and "frame0" in step.kernel.source]
    for capability in ((8, 0), (9, 0)):
        made = compile_kernel(joined, capability)
        assert made.spilled == made.stack == 0 and ".local" not in made.ptx and made.registers <= 128
