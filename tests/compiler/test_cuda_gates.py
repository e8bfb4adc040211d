"""What the object code of kernels for CUDA must hold, looked at where no GPU is: registers, spills, widths, divisions.

Every kernel written by hand is compiled here for two generations of devices, from the graphs that use it.
"""

import itertools
import re

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, Options, compile
from jitgraph.compiler.emit import cuda_compile, cuda_rows, cuda_tiles
from jitgraph.compiler.place import DeviceStep

from .assembled import compile_kernel
from .suite_kernels import PRECISE
from .test_cuda_rows import BUILDS, arrays

pytestmark = pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")
CAPABILITIES = [(8, 0), (9, 0)]
DOUBLE = ("normal", "truncated_normal")     # whose numbers TensorFlow makes in float64


def convolution(tf):
    x, w = tf.placeholder(tf.float32, [None, 9, 9, 8]), tf.placeholder(tf.float32, [3, 3, 8, 12])
    found = [tf.nn.conv2d(x, w, [1, step, step, 1], "SAME") for step in (1, 2)]
    return found + tf.gradients(found, [x, w])


def uneven_convolution(tf):
    """Channels of which no four are neighbours."""
    x, w = tf.placeholder(tf.float32, [None, 9, 9, 3]), tf.placeholder(tf.float32, [3, 3, 3, 5])
    return tf.gradients([tf.nn.conv2d(x, w, [1, step, step, 1], "SAME") for step in (1, 2)], [x, w])


def windows(tf):
    x, w = tf.placeholder(tf.float32, [None, 9, 9, 8]), tf.placeholder(tf.float32, [3, 3, 8, 2])
    found = [tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
             tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"), tf.nn.max_pool3d(x[None], [1, 2, 2, 2, 1], [1] * 5, "SAME")[0]]
    return found + tf.gradients(found, [x, w])


def products(tf):
    x, y = tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.float32, [64, 48])
    z, w = tf.placeholder(tf.float32, [None, 33]), tf.placeholder(tf.float32, [33, 47])
    return tf.gradients(tf.square(tf.matmul(x, y)), [x, y]) + tf.gradients(tf.square(tf.matmul(z, w)), [z, w])


def half_products(tf):
    """Factors of 16 bits, of which eight, and of which no eight, are neighbours."""
    found = []
    for dtype, k, n in (("float16", 64, 48), ("bfloat16", 64, 48), ("float16", 33, 47)):
        x, y = tf.placeholder(dtype, [None, k]), tf.placeholder(dtype, [k, n])
        found += tf.gradients(tf.square(tf.nn.relu(tf.matmul(x, y))), [x, y])
    return found


def half_convolution(tf):
    found = []
    for dtype, channels, out in (("float16", 8, 16), ("bfloat16", 8, 16), ("float16", 3, 5)):
        x, w = tf.placeholder(dtype, [None, 9, 9, channels]), tf.placeholder(dtype, [3, 3, channels, out])
        found += tf.gradients([tf.nn.conv2d(x, w, [1, step, step, 1], "SAME") for step in (1, 2)], [x, w])
    return found


def large_convolution(tf):
    """What a library may decline."""
    found = []
    for dtype, channels, out in (("float32", 64, 64), ("float32", 33, 35), ("float16", 64, 64), ("float16", 33, 35)):
        x, w = tf.placeholder(dtype, [None, 112, 112, channels]), tf.placeholder(dtype, [3, 3, channels, out])
        y = [tf.nn.conv2d(x, w, [1, step, step, 1], "SAME") for step in (1, 2)]
        found += [*y, *tf.gradients(y, [x, w])]
    return found


def sequences(tf):
    table, rows = tf.placeholder(tf.float32, [1000, 64]), tf.placeholder(tf.int32, [None])
    v = tf.get_variable("v", [100, 5])
    wide = tf.placeholder(tf.float32, [None, 5000])
    return [tf.convert_to_tensor(tf.gradients(tf.sin(tf.gather(table, rows)), table)[0]), tf.cumsum(table, 0), tf.cumsum(v, 0),
            *tf.nn.top_k(table, 5), tf.scatter_sub(v, rows, tf.ones([2, 5])), *tf.nn.top_k(wide, 7), *tf.nn.top_k(wide, 5000)]


def half_sequences(tf):
    found = []
    for dtype in ("float16", "bfloat16"):
        table, long = tf.placeholder(dtype, [1000, 64]), tf.placeholder(dtype, [None, 5000])
        found += [tf.cumsum(table, 0), tf.cumprod(table, 1, exclusive=True), tf.cumsum(long, 1), tf.cumsum(long, 1, exclusive=True)]
    return found


def random(tf):
    return [tf.random.normal([100]), tf.random.truncated_normal([100]), tf.random.uniform([100]),
            tf.random.uniform([100], 0, 9, tf.int64), tf.random.shuffle(tf.range(100))]


def half_windows(tf):
    found = []
    for dtype in ("float16", "bfloat16"):
        x = tf.placeholder(dtype, [None, 9, 9, 8])
        pools = [tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"), tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")]
        found += [*pools, *tf.gradients(pools, [x])]
        w = tf.placeholder(dtype, [3, 3, 8, 2])
        y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
        found += [y, *tf.gradients(y, [x])]
    return found


def factors(tf):
    x, y = tf.placeholder(tf.float32, [2, 64, 64]), tf.placeholder(tf.float32, [2, 64, 32])
    return [tf.matrix_triangular_solve(tf.cholesky(x), y)]


GRAPHS = [convolution, uneven_convolution, windows, products, half_products, half_convolution, half_windows, sequences,
          half_sequences, random, factors, large_convolution]


def by_hand(tf, build):
    """{text: kernel} of those written by hand that a graph needs."""
    fetches = build(tf)
    feeds = {op.outputs[0]: tuple(2 if d is None else d for d in op.outputs[0].shape.as_list())
             for op in tf.get_default_graph().get_operations() if op.type == "Placeholder"}
    options = Options(libraries=frozenset(["library_convolutions"]), tf32=True)
    steps = compile(tf.get_default_graph(), fetches, feeds=feeds, target=TARGETS["cuda"], options=options).layout.steps
    kernels = [step.kernel for step in steps if isinstance(step, DeviceStep)]
    return {kernel.source: kernel for kernel in kernels if kernel.threads and not kernel.loops}


@pytest.mark.parametrize("build", GRAPHS)
def test_object_code(tf, build):
    kernels = by_hand(tf, build).values()
    assert kernels
    for kernel, capability in itertools.product(kernels, CAPABILITIES):     # that which is lowered for one serves the other, too
        made = compile_kernel(kernel, capability)
        assert made.spilled == made.stack == 0, kernel.name
        assert made.registers <= 128 and made.shared <= 48 << 10, kernel.name
        assert ".f64" not in made.ptx or kernel.name.startswith(DOUBLE), kernel.name
        assert "div.s64" not in made.ptx and "rem.s64" not in made.ptx, kernel.name
        assert ".extern" not in made.ptx and "call" not in made.ptx, kernel.name


def test_loop_nests(program):
    for kernel, capability in itertools.product(program.schedule().kernels, CAPABILITIES):
        made = compile_kernel(kernel, capability)
        assert made.spilled == made.stack == 0 and ".local" not in made.ptx, kernel.name
        assert made.registers <= 128 and made.shared <= 48 << 10, kernel.name
        sums = any(s.kind == "reduce" and s.prim in ("add", "mul") for s in kernel.body)
        assert ".f64" not in made.ptx or sums, kernel.name
        assert ".extern" not in made.ptx and "call" not in made.ptx, kernel.name


@pytest.mark.parametrize("build", [convolution, products])
def test_neighbours_move_together(tf, build):
    """Where four channels or columns always lie together, they come and go by instructions of 16 bytes."""
    for kernel in by_hand(tf, build).values():
        ptx = compile_kernel(kernel).ptx
        even = "convolve" in kernel.name or kernel.name.endswith("444")
        assert ("ld.global.nc.v4.f32" in ptx) == ("st.global.v4.f32" in ptx) == even, kernel.name


@pytest.mark.parametrize("build", [half_convolution, half_products])
def test_neighbours_of_16_bits_move_by_eight(tf, build):
    """Factors come by instructions of 16 bytes, and no pair of bytes by itself, where eight always lie together."""
    kernels = by_hand(tf, build).values()
    assert len([kernel for kernel in kernels if is_even(kernel)]) >= 4
    for kernel in kernels:
        factors = {param.dtype for param in kernel.params if param.use == "in"} & {"f16", "fb16"}
        ptx = compile_kernel(kernel).ptx
        assert factors and is_even(kernel) == bool(re.search(r"ld\.global\S*\.v4\.u32", ptx)), kernel.name
        alone = len(re.findall(r"ld\.global(?:\.nc)?\.[bu]16", ptx))
        assert not is_even(kernel) or alone == len(re.findall("scalar_fb?16", kernel.source)), kernel.name


def is_even(kernel):
    """Whether a product takes both of its factors by eight."""
    return "take8(a_next" in kernel.source and "take8(b_next" in kernel.source


def test_every_form_is_one_of_the_tests(tf):
    """A kernel that is written by hand and in no graph above would not be looked at."""
    from jitgraph.compiler.primitives.kind import KINDS

    wanted = {name for name, kind in KINDS.items() if "cuda" in kind.kernels}
    found = set()
    for each in GRAPHS:
        tf.reset_default_graph()
        found |= {kernel.kind for kernel in by_hand(tf, each).values()}
    assert wanted - found == set()


def test_maps_move_four_neighbours_at_once(tf):
    x, y = tf.placeholder(tf.float32, [None, 12]), tf.placeholder(tf.float32, [12])
    program = compile(tf.get_default_graph(), [tf.nn.relu(x * 2.0 + y)], feeds={x: (5, 12), y: (12,)}, target=TARGETS["cuda"])
    (kernel,) = [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep)]
    made = compile_kernel(kernel)
    assert "ld.global.nc.v4.f32" in made.ptx and "st.global.v4.f32" in made.ptx and "st.global.f32" not in made.ptx
    assert ".local" not in made.ptx and made.stack == made.spilled == 0


ELEMENTWISE = ("abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp expm1 floor lgamma log log1p reciprocal "
               "rint rsqrt sigmoid sign sin sinh softplus softsign sqrt square tan tanh pow atan2 floordiv floormod divide").split()


@pytest.mark.slow
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_float32_is_computed_in_float32(tf, name):
    """But for the functions that are named as carrying more digits on the way."""
    x, y = tf.placeholder(tf.float32, [8]), tf.placeholder(tf.float32, [8])
    function = getattr(tf.math, name)
    z = function(x, y) if name in ("pow", "atan2", "floordiv", "floormod", "divide") else function(x)
    program = compile(tf.get_default_graph(), [z], feeds={x: (8,), y: (8,)}, target=TARGETS["cuda"])
    (kernel,) = [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep)]
    for capability in CAPABILITIES:
        made = compile_kernel(kernel, capability)
        assert (".f64" in made.ptx) == (name in PRECISE) and made.spilled == made.stack == 0 and made.registers <= 128


LENGTHS = {32768: CAPABILITIES, 24576: [(8, 0)], 20001: [(8, 0)], 16388: [(8, 0)], 16384: [(8, 0)], 4096: CAPABILITIES,
           1024: [(9, 0)], 1000: CAPABILITIES, 1001: [(9, 0)], 10: CAPABILITIES}       # {columns: capabilities}
MOST_REGISTERS = (32768, 16384, 4096, 1001)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("columns", [n if n in MOST_REGISTERS else pytest.param(n, marks=pytest.mark.slow) for n in LENGTHS])
@pytest.mark.parametrize("build", ["softmax", "log_softmax", "layer_norm", "moments"])
def test_rows_stay_on_the_multiprocessor(scheduled, build, columns):
    (kernel,) = scheduled(BUILDS[build], *arrays(build, 2, columns)).kernels
    for capability in LENGTHS[columns]:
        made = compile_kernel(kernel, capability)
        # 1,024 threads have 64 registers each, and two passes over a row want up to four more of a GPU of 8.0
        room = 16 if columns > 16384 and capability == (8, 0) else 0
        assert made.spilled <= room and made.stack <= room
        check_row(kernel, build, made, columns)


def check_row(kernel, build, made, columns):
    assert kernel.threads and ".local" not in made.ptx and made.registers <= 128
    assert made.shared <= 48 << 10
    if columns > 16384:         # of which a part waits in shared memory, and a part is read again
        assert made.shared > 4 << 10
        return
    loads = [len(re.findall(rf"ld\.global\.nc{width}\.f32", made.ptx)) for width in (r"\.v4", "")]
    groups = -(-columns // ((4 if columns % 4 == 0 else 1) * cuda_rows.team(columns)))
    wanted = groups * (3 if build == "layer_norm" else 1)
    numbers = made.ptx.count("ld.global.nc.f32") - (0 if columns % 4 == 0 else wanted)     # that are passed by value
    assert loads[columns % 4 > 0] == wanted + numbers * (columns % 4 > 0) and numbers <= 2


@pytest.mark.parametrize("side, registers", [(32, 64), (64, 80)])
def test_tiles_need_little(scheduled, monkeypatch, side, registers):
    monkeypatch.setattr(cuda_tiles, "ENOUGH", 1 if side == 64 else 1 << 20)
    (kernel,) = scheduled(lambda b, x: b.transpose(x, (0, 2, 1)) * 2.0, np.ones((3, 64, 64), np.float32)).kernels
    for capability in CAPABILITIES:
        made = compile_kernel(kernel, capability)
        assert kernel.threads and 0 <= made.shared - 4 * side * (side + 1) <= 1024 and made.stack == made.spilled == 0
        assert made.registers <= registers and made.ptx.count("bar.sync") == 2 and ".local" not in made.ptx


@pytest.mark.parametrize("build", GRAPHS)
def test_sizes_keep_their_names(tf, build):
    """A block that has several items needs them again: nothing else may be called so."""
    for kernel in by_hand(tf, build).values():
        given = re.findall(r"^    (\w+) = sizes\[\d+\]$", kernel.source, re.M)
        for name in given:
            assert len(re.findall(rf"\b{name}\b(?:, \w+)* [-+]?= ", kernel.source)) == 1, (kernel.name, name)
