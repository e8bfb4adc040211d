"""Convolutions that are left to a library: which they are, and the kernels that do what it declines."""

from dataclasses import replace

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, Options, compile
from jitgraph.compiler import show as shown
from jitgraph.compiler.emit import cuda_compile
from jitgraph.compiler.place import DeviceStep
from jitgraph.compiler.targets import CUDA

from . import assembled

LIBRARY = Options(libraries=frozenset(["library_convolutions"]))
TF32 = replace(LIBRARY, tf32=True)
WITHOUT = replace(LIBRARY, off=LIBRARY.libraries)
compiles = pytest.mark.skipif(cuda_compile.missing() is not None, reason=cuda_compile.missing() or "")


@pytest.fixture
def all_are_large(monkeypatch):
    monkeypatch.setattr(type(CUDA), "tuning", replace(CUDA.tuning, library_worth=0, library_exact=0))


@pytest.fixture
def program(tf):
    """program(fetches, options): what is compiled of them for a device."""
    def make(fetches, options=LIBRARY, **given):
        graph = tf.get_default_graph()
        feeds = {op.outputs[0]: tuple(d or 8 for d in op.outputs[0].shape.as_list())
                 for op in graph.get_operations() if op.type == "Placeholder"}
        return compile(graph, fetches, feeds=feeds, target=TARGETS["cuda"], options=options, **given)

    return make


def kernels(program):
    return [step.kernel for step in program.layout.steps if isinstance(step, DeviceStep)]


def convolution(tf, side=28, channels=64, out=64, taps=3, stride=1, padding="SAME", dtype="float32"):
    """(images, filter, results)"""
    x, w = tf.placeholder(dtype, [None, side, side, channels]), tf.placeholder(dtype, [taps, taps, channels, out])
    return x, w, tf.nn.conv2d(x, w, [1, stride, stride, 1], padding)


def test_a_convolution_and_its_gradients_share_a_copy_of_the_filter(tf, program, all_are_large):
    x, w, y = convolution(tf, stride=2)
    found = kernels(program([y, *tf.gradients(y, [x, w], tf.placeholder(tf.float32, [None, 14, 14, 64]))]))
    made = {kernel.library.what: kernel for kernel in found if kernel.library is not None}
    operands = {what: kernel.library.operands for what, kernel in made.items()}
    assert operands == {"forward": (0, 1, 2), "input": (2, 1, 0), "filter": (0, 2, 1)}
    assert all(kernel.library.sizes[1:] == [28, 28, 64, 14, 14, 64, 3, 3, 0, 0] for kernel in made.values())
    copy = made["forward"].buffers[1]
    assert copy is made["input"].buffers[1] and copy.shape == (64, 3, 3, 64)
    assert len(found) == 4          # with that copy, and no frame of zeros around anything


@pytest.mark.parametrize("options, batch, librarys", [(TF32, 1, False), (TF32, 8, True), (LIBRARY, 8, False), (LIBRARY, 600, True)])
def test_small_ones_are_kernels_with_what_follows_them(tf, program, options, batch, librarys):
    """From 2 ** 26 additions and multiplications on a library's is worth one launch more, without tensor cores from 2 ** 33 on."""
    x, w = tf.placeholder(tf.float32, [batch, 14, 14, 64]), tf.placeholder(tf.float32, [3, 3, 64, 64])
    found = kernels(program([tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"))], options))
    assert any(kernel.library for kernel in found) == librarys
    assert any("max" in kernel.name and kernel.name.startswith("convolve") for kernel in found) != librarys


def test_depthwise_ones_and_those_of_the_host_are_not_the_librarys(tf, program):
    x, w = tf.placeholder(tf.float32, [None, 56, 56, 256]), tf.placeholder(tf.float32, [3, 3, 256, 1])
    with tf.device("/cpu:0"):
        y = convolution(tf)[2]
    made = program([tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), y])
    assert not any(kernel.library for kernel in kernels(made))


@pytest.mark.parametrize("dtype, options, element, short", [
    ("float32", LIBRARY, "f32", False), ("float32", TF32, "f32", True), ("float64", TF32, "f64", False),
    ("float16", TF32, "f16", False), ("bfloat16", LIBRARY, "fb16", False)])
def test_what_it_is_told_of_elements(tf, program, all_are_large, dtype, options, element, short):
    (call,) = (kernel.library for kernel in kernels(program([convolution(tf, dtype=dtype)[2]], options)) if kernel.library)
    assert (call.element, call.short) == (element, short)


@pytest.mark.parametrize("options, told", [
    (LIBRARY, "by cuDNN"),
    (Options(), "by this kernel: cuDNN was not found (jitgraph doctor says where it is looked for)"),
    (WITHOUT, "by this kernel: library_convolutions is switched off")])
def test_the_plan_says_who_makes_a_convolution(tf, program, all_are_large, options, told):
    made = program([convolution(tf)[2]], options)
    assert [step["because"] for step in shown.describe(made, lambda kernel: {})["plan"] if step["kind"] == "cuda"][-1] == told


def test_the_plan_says_that_a_small_one_is_not_worth_it(tf, program):
    made = program([convolution(tf, side=4, channels=4)[2]])
    told = [step["because"] for step in shown.describe(made, lambda kernel: {})["plan"]]
    assert "by this kernel: cuDNN would be no faster at a convolution of this size" in told


def test_numpys_meaning_of_its_primitives_is_that_of_the_others(tf, program, all_are_large):
    """Images with other zeros before than after them, steps and gaps."""
    rng = np.random.default_rng(0)
    for stride, gap, padding in ((2, 1, "SAME"), (1, 2, "SAME"), (2, 1, [[0, 0], [1, 2], [0, 3], [0, 0]])):
        x, w = tf.placeholder(tf.float32, [2, 8, 7, 3]), tf.placeholder(tf.float32, [3, 3, 3, 4])
        y = tf.nn.conv2d(x, w, [1, stride, stride, 1], padding, dilations=[1, gap, gap, 1])
        dy = tf.placeholder(tf.float32, y.shape)
        made = program([y, *tf.gradients(y, [x, w], dy)], until="place")
        images, weights, gradient = (rng.standard_normal(t.shape.as_list()).astype(np.float32) for t in (x, w, dy))
        turned = np.ascontiguousarray(np.moveaxis(weights, -1, 0))
        given = {"image_conv": (images, turned), "image_conv_input": (gradient, turned), "image_conv_filter": (images, gradient)}
        found = {node.kind.name: node.kind.meaning(node, *given[node.kind.name]) for node in made.nodes if node.kind.name in given}
        with tf.Session(jit="off") as session:
            wanted = session.run([y, *tf.gradients(y, [x, w], dy)], {x: images, w: weights, dy: gradient})
        np.testing.assert_allclose(found["image_conv"], wanted[0], atol=1e-5)
        np.testing.assert_allclose(found["image_conv_input"], wanted[1], atol=1e-5)
        np.testing.assert_allclose(np.moveaxis(found["image_conv_filter"], 0, -1), wanted[2], atol=1e-5)


@compiles
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow), "float16"])
def test_kernels_for_what_it_declines_keep_all_in_registers(tf, program, all_are_large, dtype):
    x, w, y = convolution(tf, stride=2, dtype=dtype)
    found = kernels(program([y, *tf.gradients(y, [x, w])]))
    names = set()
    for kernel in found:
        if kernel.library is not None:
            made = assembled.compile_kernel(kernel)
            assert made.spilled == made.stack == 0
            assert dtype == "float64" or ".f64" not in made.ptx
            names.add(kernel.library.what)
    assert names == {"forward", "input", "filter"}
