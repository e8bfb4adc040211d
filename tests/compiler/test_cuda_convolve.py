"""Convolutions for CUDA and their gradients, run by the simulator beside the reference."""

import numpy as np
import pytest

from jitgraph.compiler import TARGETS, compile
from jitgraph.compiler.place import DeviceStep

RNG = np.random.RandomState(0)
CASES = {
    # images, filter's rows, columns and results, stride, gap, padding
    "small": ((2, 5, 6, 3), (3, 3, 5), 1, 1, "SAME"),
    "four channels at once": ((2, 6, 5, 8), (3, 3, 12), 1, 1, "SAME"),
    "steps": ((2, 7, 9, 4), (3, 3, 8), 2, 1, "SAME"),
    "steps, one column too many": ((3, 9, 7, 4), (3, 3, 33), 2, 1, "VALID"),
    "step larger than the filter": ((1, 8, 10, 4), (2, 2, 7), 3, 1, "VALID"),
    "rows that no tap reaches": ((2, 6, 6, 8), (1, 1, 4), 2, 1, "SAME"),
    "gaps": ((1, 8, 7, 4), (3, 3, 4), 1, 2, "SAME"),
    "explicit": ((2, 6, 7, 3), (4, 4, 7), 2, 1, [[0, 0], [1, 2], [0, 3], [0, 0]]),
    "matrix product": ((2, 4, 4, 8), (1, 1, 10), 1, 1, "SAME"),
    "as wide as the image": ((3, 6, 4, 2), (4, 4, 9), 1, 1, "VALID"),
    "one column": ((2, 9, 1, 5), (3, 1, 7), 1, 2, "SAME"),
    "many results": ((1, 3, 3, 4), (2, 2, 130), 1, 1, "SAME"),
}


def program(tf, case, dtype, batch=None):
    size, taps, step, gap, padding = CASES[case]
    x = tf.placeholder(dtype, [batch, *size[1:]])
    w = tf.placeholder(dtype, [*taps[:2], size[3], taps[2]])
    y = tf.nn.conv2d(x, w, [1, step, step, 1], padding, dilations=[1, gap, gap, 1])
    feeds = {t: RNG.standard_normal(shape).astype(dtype) for t, shape in ((x, size), (w, w.shape.as_list()))}
    return [y, *tf.gradients(tf.square(y), [x, w])], feeds


LARGE = ("many results", "steps, one column too many", "four channels at once", "explicit", "step larger than the filter")


@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in LARGE)) for case in CASES])
def test_convolutions_and_their_gradients(tf, on_the_grid, case):
    fetches, feeds = program(tf, case, np.float32)
    names = [kernel.name for kernel in on_the_grid(fetches, feeds)]
    assert any(name.startswith(("convolve_", "product_")) for name in names)
    assert "convolve_filter_64_f32" in names


@pytest.mark.parametrize("case", ["small", pytest.param("steps", marks=pytest.mark.slow)])
def test_float64(tf, on_the_grid, case):
    on_the_grid(*program(tf, case, np.float64), np.float64)


def test_the_gradient_of_a_small_filter_is_made_of_more_parts(tf):
    """So many, each of pixels of its own, that all of a device has work."""
    parts = {}
    for channels in (16, 128, 512):
        x, w = tf.placeholder(tf.float32, [None, 8, 8, channels]), tf.placeholder(tf.float32, [3, 3, channels, channels])
        gradient = tf.gradients(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), [w])
        program = compile(tf.get_default_graph(), gradient, feeds={x: (40, 8, 8, channels), w: (3, 3, channels, channels)},
                          target=TARGETS["cuda"], until="place")
        (found,) = [node.out.shape[0] for node in program.nodes if node.kind.name == "conv_filter"]
        parts[channels] = found
    assert parts == {16: 40, 128: 4, 512: 1}        # of 64 pixels each; enough for 128 tiles; there are more without


@pytest.mark.slow
def test_groups_and_volumes(tf, on_the_grid):
    x, w = tf.placeholder(tf.float32, [None, 5, 4, 6]), tf.placeholder(tf.float32, [3, 3, 3, 8])
    y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    volume, v = tf.placeholder(tf.float32, [None, 4, 5, 4, 2]), tf.placeholder(tf.float32, [2, 3, 2, 2, 4])
    z = tf.nn.conv3d(volume, v, [1, 2, 1, 1, 1], "SAME")
    feeds = {t: RNG.standard_normal([d or 2 for d in t.shape.as_list()]).astype(np.float32) for t in (x, w, volume, v)}
    on_the_grid([y, z, *tf.gradients([tf.square(y), tf.square(z)], [x, w, volume, v])], feeds)


def test_all_columns_of_a_large_filter_lie_as_they_came(tf):
    """The CPU's tiles want them in blocks; here that would be one more copy."""
    x, w = tf.placeholder(tf.float32, [1, 2, 2, 64]), tf.placeholder(tf.float32, [3, 3, 64, 128])
    y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    program = compile(tf.get_default_graph(), [y], feeds={t: tuple(t.shape.as_list()) for t in (x, w)}, target=TARGETS["cuda"])
    names = [step.kernel.name for step in program.layout.steps if isinstance(step, DeviceStep)]
    assert names[-1] == "convolve_64_f32" and len(names) <= 3


def test_the_pixels_of_one_image_are_shared_out(tf, on_the_grid):
    x, w = tf.placeholder(tf.float32, [1, 20, 20, 3]), tf.placeholder(tf.float32, [3, 3, 3, 5])
    feeds = {t: RNG.standard_normal(t.shape.as_list()).astype(np.float32) for t in (x, w)}
    kernels = on_the_grid(tf.gradients(tf.square(tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME")), [w]), feeds)
    (found,) = [kernel for kernel in kernels if kernel.kind == "conv_filter"]
    assert found.nodes[0].out.shape[0] == 4         # of 200 pixels
