"""Floats of 16 bits under the CUDA target: the results of the CPU target, by kernels whose arithmetic is float32's."""

import re

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, compile
from jitgraph.compiler.emit import cuda_compile
from jitgraph.compiler.place import DeviceStep, HostStep
from jitgraph.graph import dtypes

from .assembled import compile_kernel

HALVES = ["float16", "bfloat16"]
RNG = np.random.RandomState(5)


def draw(dtype, *shape):
    return RNG.standard_normal(shape).astype(dtypes.as_dtype(dtype).as_numpy_dtype)


def steps(tf, fetches, feeds):
    tensors = [one for one in fetches if isinstance(one, tf.Tensor)]
    return compile(tf.get_default_graph(), tensors, [one for one in fetches if one not in tensors],
                   {t: a.shape for t, a in feeds.items()}, target=TARGETS["cuda"]).layout.steps


@pytest.fixture
def both(tf, monkeypatch):
    """both(fetches, feeds): their results under the CPU target and by simulated kernels, with none of the host among them."""
    def run(fetches, feeds):
        assert not any(isinstance(step, (tuple, HostStep)) for step in steps(tf, fetches, feeds))
        results = []
        for target in ("cpu", "cuda-simulator"):
            monkeypatch.setenv("JITGRAPH_TARGET", target)
            with tf.Session(jit="always") as session:
                session.run(tf.global_variables_initializer())
                results.append(session.run(fetches, feeds))
        return zip(*results)

    return run


def same(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    return got.dtype == wanted.dtype and got.shape == wanted.shape and np.array_equal(
        got.astype(np.float64), wanted.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("columns", [16, 20, 7])
def test_arithmetic_rounds_as_the_cpu_does(tf, both, dtype, columns):
    x, y = (tf.placeholder(dtype, [3, columns]) for _ in range(2))
    fetches = [(x * y + 3.0) / (x - y) - tf.sqrt(tf.abs(x)), tf.maximum(x, y) - tf.floor(x), tf.nn.relu(tf.transpose(x)),
               tf.where(x > y, x, -y), tf.concat([x, y], 0), tf.gather(x, [2, 0]), tf.sign(x) * x[:, :1]]
    for wanted, got in both(fetches, {x: draw(dtype, 3, columns), y: draw(dtype, 3, columns)}):
        assert same(got, wanted)


@pytest.mark.parametrize("dtype", HALVES)
def test_what_is_no_number_stays_so(tf, both, dtype):
    kind = dtypes.as_dtype(dtype).as_numpy_dtype
    values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 6e4, -6e4, 1e-7], kind)
    x, y = tf.placeholder(dtype, [8]), tf.placeholder(dtype, [8])
    fetches = [x + x, x * y, tf.maximum(x, y), x < y, tf.is_nan(x), tf.is_inf(x), tf.reduce_max(x), tf.reduce_min(x), tf.argmax(x),
               tf.nn.relu(x), tf.nn.top_k(x, 8).values]
    for wanted, got in both(fetches, {x: values, y: values[::-1].copy()}):
        assert same(got, wanted)


@pytest.mark.parametrize("dtype", HALVES)
def test_casts(tf, both, dtype):
    x, i, d = tf.placeholder(dtype, [24]), tf.placeholder(tf.int32, [24]), tf.placeholder(tf.float64, [24])
    other = "bfloat16" if dtype == "float16" else "float16"
    fetches = [tf.cast(x, to) for to in (tf.float32, tf.float64, tf.int32, tf.bool, other)] \
        + [tf.cast(value, dtype) for value in (i, d, tf.cast(d, tf.float32), i > 0)]
    feeds = {x: draw(dtype, 24) * 9, i: RNG.randint(-70000, 70000, 24), d: RNG.standard_normal(24) * 1e4}
    for wanted, got in both(fetches, feeds):
        assert same(got, wanted)


@pytest.mark.parametrize("dtype, least", [("float16", 2.0 ** -10), ("bfloat16", 2.0 ** -7)])
def test_sums_and_products_are_carried_in_float32(tf, both, dtype, least):
    """To a unit in the last place, or two where several operations round."""
    x, w, image = tf.placeholder(dtype, [6, 40]), tf.placeholder(dtype, [40, 12]), tf.placeholder(dtype, [2, 6, 6, 3])
    filters = tf.placeholder(dtype, [3, 3, 3, 4])
    fetches = [tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.nn.softmax(x), tf.matmul(x, w), tf.nn.relu(tf.matmul(x, w) + x[:, :12]),
               tf.nn.conv2d(image, filters, [1, 2, 2, 1], "SAME"), tf.nn.avg_pool(image, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
               tf.nn.max_pool(image, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), tf.cumsum(x, 1), tf.tanh(x), tf.exp(x)]
    fetches += tf.gradients(fetches[3], [x, w]) + tf.gradients(fetches[5], [image, filters])
    feeds = {one: draw(dtype, *one.shape.as_list()) for one in (x, w, image, filters)}
    for wanted, got in both(fetches, feeds):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=2 * least, atol=2 * least)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("ta, tb, m, k, n", [(False, False, 24, 40, 16), (True, True, 24, 40, 16), (False, True, 5, 13, 7),
                                             (True, False, 3, 8, 65), (False, False, 1, 9, 6), (False, False, 4, 1, 6)])
def test_a_product_is_rounded_once(tf, both, dtype, ta, tb, m, k, n):
    """The sum of exact products in float32, rounded at the end: also of one row or one term, which are no products then."""
    x, y = draw(dtype, *((k, m) if ta else (m, k))), draw(dtype, *((n, k) if tb else (k, n)))
    left, right = tf.placeholder(dtype, x.shape), tf.placeholder(dtype, y.shape)
    ((wanted, got),) = both([tf.matmul(left, right, ta, tb)], {left: x, right: y})
    exact = (x.T if ta else x).astype(np.float64) @ (y.T if tb else y).astype(np.float64)
    unit = np.spacing(np.abs(exact).astype(np.float16)) if dtype == "float16" else np.abs(exact) * 2.0 ** -7 + 1e-6
    assert got.dtype == wanted.dtype and (np.abs(got.astype(np.float64) - exact) <= 0.51 * unit + 1e-5).all()


def test_products_and_convolutions_read_16_bits_and_write_16(tf):
    """Nothing of the size of a factor or a result lies in memory as float32."""
    x, w = tf.placeholder(tf.float16, [64, 128]), tf.placeholder(tf.float16, [128, 256])
    image, taps = tf.placeholder(tf.float16, [2, 9, 9, 16]), tf.placeholder(tf.float16, [3, 3, 16, 8])
    fetches = [tf.nn.relu(tf.matmul(x, w) + w[0]), tf.nn.conv2d(image, taps, [1, 1, 1, 1], "SAME")]
    fetches += tf.gradients(fetches[1], [image])
    kernels = [step.kernel for step in steps(tf, fetches, {t: np.empty(t.shape.as_list()) for t in (x, w, image, taps)})
               if isinstance(step, DeviceStep)]
    assert {kernel.kind for kernel in kernels} >= {"matmul", "conv", "conv_input"}
    for kernel in kernels:
        assert {param.dtype for param in kernel.params} == {"f16"}, kernel.name


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("ksize, stride", [(2, 2), (3, 2), (5, 1)])
def test_pools_read_16_bits_and_write_16(tf, both, dtype, ksize, stride):
    """Sums are made in float32 and rounded once, of windows that are whole images, too."""
    x, array = tf.placeholder(dtype, [2, 5, 5, 4]), draw(dtype, 2, 5, 5, 4)
    array[0, :3], array[1, :2, :2] = -np.inf, np.nan
    shape, padding = ([1, ksize, ksize, 1], [1, stride, stride, 1]), "VALID" if ksize == 5 else "SAME"
    pools = [pool(x, *shape, padding) for pool in (tf.nn.max_pool, tf.nn.avg_pool)]
    fetches = [*pools, *(tf.gradients(one, x)[0] for one in pools)]
    for wanted, got in both(fetches, {x: array}):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=2.0 ** -7, atol=1e-3)
    for step in steps(tf, fetches, {x: array}):
        if isinstance(step, DeviceStep) and step.kernel.kind.startswith("pool"):
            assert {param.dtype for param in step.kernel.params} <= {"f16", "fb16"}, step.kernel.name


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("how", [{}, {"exclusive": True, "reverse": True}], ids=["", "exclusive and reverse"])
def test_running_sums_read_16_bits_and_write_16(tf, both, dtype, how):
    """They are made in float32, and each is rounded once: long ones, which a block makes, too."""
    x, long = tf.placeholder(dtype, [3, 40]), tf.placeholder(dtype, [2, 600])
    feeds = {x: draw(dtype, 3, 40), long: draw(dtype, 2, 600)}
    feeds[x][0, 3], feeds[x][1, 7] = np.inf, np.nan
    fetches = [tf.cumsum(x, 1, **how), tf.cumprod(x, 0, **how), tf.cumsum(long, 1, **how)]
    for wanted, got in both(fetches, feeds):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=2.0 ** -7, atol=1e-3)
    made = [step.kernel for step in steps(tf, fetches, feeds) if isinstance(step, DeviceStep)]
    assert [kernel.kind for kernel in made] == ["scan"] * 3
    for kernel in made:
        assert {param.dtype for param in kernel.params} <= {"f16", "fb16"}, kernel.name


def test_running_sums_of_short_integers_stay_integers(tf, both):
    x = tf.placeholder(tf.int16, [2, 9])
    ((wanted, got),) = both([tf.cumsum(x, 1)], {x: np.full((2, 9), 30000, np.int16)})
    assert same(got, wanted)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("multiplier, stride", [(1, 1), (2, 2)])
def test_depthwise_convolutions_read_16_bits_and_write_16(tf, both, dtype, multiplier, stride):
    x, w = tf.placeholder(dtype, [2, 6, 5, 4]), tf.placeholder(dtype, [3, 3, 4, multiplier])
    y = tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], "SAME")
    fetches, feeds = [y, *tf.gradients(y, [x, w])], {x: draw(dtype, 2, 6, 5, 4), w: draw(dtype, 3, 3, 4, multiplier)}
    for wanted, got in both(fetches, feeds):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=2.0 ** -7, atol=0.02)
    made = [step.kernel for step in steps(tf, fetches[:2], feeds) if isinstance(step, DeviceStep)]
    assert {kernel.kind for kernel in made} >= {"depthwise", "depthwise_input"}
    for kernel in made:
        assert {param.dtype for param in kernel.params} <= {"f16", "fb16"}, kernel.name


def test_the_mean_of_a_whole_image_does_not_overflow(tf, both):
    x = tf.placeholder(tf.float16, [1, 4, 4, 8])
    ((wanted, got),) = both([tf.nn.avg_pool(x, [1, 4, 4, 1], [1, 1, 1, 1], "VALID")], {x: np.full((1, 4, 4, 8), 3e4, np.float16)})
    assert same(got, wanted) and (got == np.float16(3e4)).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_large_tiles(tf, both, monkeypatch, dtype):
    """128 rows and columns, of which a thread has 64 sums."""
    monkeypatch.setattr("jitgraph.compiler.emit.cuda_products.MANY", 2)
    monkeypatch.setattr("jitgraph.compiler.emit.cuda_products.EMPTY", 4)
    x, y = tf.placeholder(dtype, [136, 24]), tf.placeholder(dtype, [24, 136])
    product = tf.nn.relu(tf.matmul(x, y))
    feeds = {x: draw(dtype, 136, 24), y: draw(dtype, 24, 136)}
    for wanted, got in both([product], feeds):
        np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=2.0 ** -7, atol=1e-5)
    (kernel,) = [step.kernel for step in steps(tf, [product], feeds) if isinstance(step, DeviceStep)]
    assert "_128_" in kernel.name and kernel.name.endswith("884")
    if cuda_compile.missing() is None:
        made = compile_kernel(kernel, (8, 0))
        assert made.spilled == made.stack == 0 and made.registers <= 128 and made.shared <= 48 << 10


@pytest.mark.parametrize("optimizer", ["GradientDescentOptimizer", "MomentumOptimizer", "AdamOptimizer", "RMSPropOptimizer"])
def test_optimizers_update_on_the_device(tf, both, optimizer):
    v = tf.get_variable("v", initializer=tf.constant(draw("float16", 16)))
    x = tf.placeholder(tf.float16, [16])
    more = {"momentum": 0.9} if optimizer == "MomentumOptimizer" else {}
    more |= {"epsilon": 1e-3} if optimizer in ("AdamOptimizer", "RMSPropOptimizer") else {}
    train = getattr(tf.train, optimizer)(0.1, **more).minimize(tf.reduce_sum(tf.square(v - x)))
    with tf.control_dependencies([train]):
        after = v.read_value()
    for wanted, got in both([after], {x: draw("float16", 16)}):
        np.testing.assert_allclose(got.astype(np.float32), wanted.astype(np.float32), rtol=2.0 ** -9, atol=2.0 ** -9)


@pytest.mark.parametrize("dtype", HALVES)
def test_what_is_placed_on_the_cpu_stays_there(tf, monkeypatch, dtype):
    monkeypatch.setenv("JITGRAPH_TARGET", "cuda-simulator")
    x, array = tf.placeholder(dtype, [8]), draw(dtype, 8)
    with tf.device("/cpu:0"):
        y = tf.tanh(x * 2)
    with tf.Session(jit="always") as session:
        got = session.run(y + x, {x: array})
    wanted = (np.tanh(array.astype(np.float32) * 2) + array.astype(np.float32))
    np.testing.assert_allclose(got.astype(np.float32), wanted, rtol=2e-2)


@pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
@pytest.mark.parametrize("dtype", HALVES)
def test_object_code_moves_16_bytes_and_computes_in_float32(tf, dtype):
    x, y, b = tf.placeholder(dtype, [256, 1024]), tf.placeholder(dtype, [256, 1024]), tf.placeholder(dtype, [1024])
    # the cast is not that of x, which the mean begins with
    fetches = [tf.tanh(x * y + b), tf.nn.softmax(x), tf.reduce_mean(x, 0), tf.reduce_max(y, 1), tf.cast(y, tf.float32)]
    kernels = [step.kernel for step in steps(tf, fetches, {t: np.empty(t.shape.as_list()) for t in (x, y, b)})
               if isinstance(step, DeviceStep)]
    assert len(kernels) >= 5
    for kernel in kernels:
        for capability in ((8, 0), (9, 0)):
            made = compile_kernel(kernel, capability)
            assert made.spilled == made.stack == 0 and ".f64" not in made.ptx, kernel.name
        if kernel.kind in ("map", "rows"):
            assert re.search(r"ld\.global\S*\.v4\.u32", made.ptx), kernel.name
            assert kernel.name.startswith("rows_max") and "exp" not in kernel.name or re.search(r"st\.global\.v4\.", made.ptx)
