"""Random convolutions and poolings, compiled against the reference.

Each example draws one from the whole space of parameters: what it is, sizes, batches down to none, 1 to 130 channels, groups,
taps, strides, gaps, paddings, layouts, whether the graph knows the batch; its result and its gradients must agree, with all
optimisations and with each of them switched off, and nothing of it may run on the host.
"""
import math
import os
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import jitgraph as tf
from jitgraph.compiler.options import OPTIMISATIONS

EXAMPLES = int(os.environ.get("JITGRAPH_FUZZ_EXAMPLES", "25"))
FEW = max(EXAMPLES // 10, 1) if "JITGRAPH_FUZZ_EXAMPLES" in os.environ else 5        # the first of which is the simplest
MOST = 1 << 21          # multiplications of an example
FORMATS = {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class Case(NamedTuple):
    """A convolution or pooling; one number for each axis of space in `size`, `taps`, `strides` and `gaps`."""

    kind: str
    dtype: str
    batch: int
    size: list[int]
    groups: int
    channels: int       # of a group
    results: int        # of a group; of a depthwise convolution, of a channel
    taps: list[int]
    strides: list[int]
    gaps: list[int]
    padding: object     # "SAME", "VALID" or ((before, after), ...)
    last: bool          # whether channels are the last axis
    dynamic: bool       # whether only the run knows the batch


@st.composite
def cases(draw):
    kind = draw(st.sampled_from(["conv2d", "conv2d", "depthwise", "depthwise", "conv3d", "transpose", "max_pool", "avg_pool"]))
    axes = 3 if kind == "conv3d" else 2
    each = lambda numbers: draw(st.lists(numbers, min_size=axes, max_size=axes))
    size = each(st.integers(1, 9 if axes == 3 else 24))
    taps = each(st.sampled_from([1, 2, 3, 3, 4, 5, 7, 9] if axes == 2 else [1, 2, 3]))
    strides, gaps = [draw(st.integers(1, 3))] * axes, [draw(st.sampled_from([1, 1, 1, 2, 3]))] * axes
    gaps = gaps if kind in ("conv2d", "depthwise", "conv3d") else [1] * axes
    groups = draw(st.sampled_from([1, 1, 1, 2, 3, 8])) if kind == "conv2d" else 1
    channels = draw(st.one_of(st.integers(1, 9), st.integers(1, 130))) if axes == 2 else draw(st.integers(1, 20))
    results = draw(st.integers(1, 3)) if kind == "depthwise" else draw(st.one_of(st.integers(1, 9), st.integers(1, 130)))
    pads = st.tuples(st.integers(0, 3), st.integers(0, 3))
    padding = draw(st.sampled_from(["SAME", "VALID", "EXPLICIT"] if kind == "conv2d" else ["SAME", "VALID"]))
    padding = tuple(draw(pads) for _ in range(axes)) if padding == "EXPLICIT" else padding
    dtype = draw(st.sampled_from(["float32", "float32", "float32", "float64", "float16"]))
    case = Case(kind, dtype, draw(st.integers(0, 3)), size, groups, max(channels // groups, 1), max(results // groups, 1), taps,
                strides, gaps, padding, last=draw(st.booleans()), dynamic=draw(st.booleans()))
    pads = padding if isinstance(padding, tuple) else [(0, 0)] * axes
    if padding != "SAME":
        assume(all(n + sum(p) >= (t - 1) * g + 1 for n, p, t, g in zip(size, pads, taps, gaps)))
    assume(case.batch * math.prod(size) * math.prod(taps) * groups * case.channels * case.results <= MOST)
    if kind == "transpose":
        assume(math.prod(strides) * case.batch > 0 and case.last)
    return case


def built(case, x, w):
    """The result for images `x` and filter `w`."""
    axes = len(case.size)
    layout = FORMATS[axes][0 if case.last else 1]
    around = lambda numbers, one=1: [one, *numbers, one] if case.last else [one, one, *numbers]
    padding = case.padding
    if isinstance(padding, tuple):
        padding = around([list(pair) for pair in padding], [0, 0])
    if case.kind == "conv2d":
        return tf.nn.conv2d(x, w, around(case.strides), padding, data_format=layout, dilations=around(case.gaps))
    if case.kind == "conv3d":
        return tf.nn.conv3d(x, w, around(case.strides), padding, layout, around(case.gaps))
    if case.kind == "depthwise":
        return tf.nn.depthwise_conv2d_native(x, w, around(case.strides), padding, data_format=layout, dilations=around(case.gaps))
    if case.kind == "transpose":
        grown = [n * s if padding == "SAME" else (n - 1) * s + t for n, s, t in zip(case.size, case.strides, case.taps)]
        return tf.nn.conv2d_transpose(x, w, [tf.shape(x)[0], *grown, case.results], around(case.strides), padding)
    return getattr(tf.nn, case.kind)(x, around(case.taps), around(case.strides), padding, data_format=layout)


def compare(case):
    tf.reset_default_graph()
    rng = np.random.RandomState(case.batch + sum(case.size))
    depth = case.groups * case.channels
    shape = [case.batch, *case.size, depth] if case.last else [case.batch, depth, *case.size]
    kernel = {"depthwise": [depth, case.results], "transpose": [case.results, depth]}.get(
        case.kind, [case.channels, case.groups * case.results])
    x = tf.placeholder(case.dtype, [None if case.dynamic else shape[0], *shape[1:]])
    w = tf.placeholder(case.dtype, [*case.taps, *kernel])
    y = built(case, x, w)
    weights = tf.cast(tf.range(tf.size(y)) % 7 - 3, case.dtype)
    gradients = [g for g in tf.gradients(tf.reduce_sum(tf.reshape(y, [-1]) * weights), [x, w]) if g is not None]
    feeds = {x: rng.standard_normal(shape).astype(case.dtype), w: rng.standard_normal(w.shape.as_list()).astype(case.dtype)}
    with tf.Session(jit="off") as reference, tf.Session(jit="always") as session:
        expected, found = reference.run([y, *gradients], feeds), session.run([y, *gradients], feeds)
        if case.batch:
            assert not [line.name for line in session.explain([y, *gradients], feeds, runs=1).lines if line.kind == "host"]
    error = {"float16": 4e-3, "float32": 3e-5, "float64": 1e-12}[case.dtype]
    for want, have in zip(expected, found, strict=True):
        assert want.shape == have.shape and want.dtype == have.dtype
        scale = np.abs(want.astype(np.float64)).max() if want.size else 1.0
        np.testing.assert_allclose(have.astype(np.float64), want.astype(np.float64), rtol=0, atol=error * max(scale, 1.0))


def random_windows(examples):
    """Runs a test of a case on so many random ones."""
    found = settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck),
                     derandomize="JITGRAPH_FUZZ_EXAMPLES" not in os.environ)
    return lambda test: pytest.mark.filterwarnings("ignore")(found(given(case=cases())(test)))


@random_windows(EXAMPLES)
def test_windows_compute_what_the_reference_computes(case):
    compare(case)


@pytest.mark.parametrize("name", OPTIMISATIONS)
@random_windows(FEW)
def test_they_do_with_any_optimisation_switched_off(name, case):
    with mock.patch.dict(os.environ, JITGRAPH_WITHOUT=",".join([name, os.environ.get("JITGRAPH_WITHOUT", "")])):
        compare(case)
